// Ops for tests of text and verifier: attributes of every kind, optional operands, bodies.
#ifndef WEFT_TESTS_GRAPH_TEST_OP_H_
#define WEFT_TESTS_GRAPH_TEST_OP_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attributes.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace weft {

struct EveryAttrs {
  int64_t need = 0;
  int64_t i = 7;
  float f = 1.0f;
  std::string s = "default";
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string> strings;
  Tensor tensor;
  std::vector<Tensor> tensors;
  Type type;
  std::optional<float> maybe;
  std::vector<int64_t> empty = {1};
};
WEFT_ATTRS(EveryAttrs, RequiredField<&EveryAttrs::need>("need"), Field<&EveryAttrs::i>("i"), Field<&EveryAttrs::f>("f"),
           Field<&EveryAttrs::s>("s"), Field<&EveryAttrs::ints>("ints"), Field<&EveryAttrs::floats>("floats"),
           Field<&EveryAttrs::strings>("strings"), Field<&EveryAttrs::tensor>("tensor"),
           Field<&EveryAttrs::tensors>("tensors"), Field<&EveryAttrs::type>("type"), Field<&EveryAttrs::maybe>("maybe"),
           Field<&EveryAttrs::empty>("empty"));

inline constexpr std::string_view kTestBodies[] = {"then", "else"};

// Keeps the types it is given; runs the bodies' inference on their own inputs' types.
inline absl::Status InferNothing(InferContext&) { return absl::OkStatus(); }

inline constexpr Op kEveryOp = {.domain = "weft.test",
                                .name = "Every",
                                .inputs = Arity(0, 16),
                                .outputs = Arity(0, 16),
                                .attrs = &kAttrSchema<EveryAttrs>,
                                .infer = &InferNothing};
inline constexpr Op kIfOp = {.domain = "weft.test",
                             .name = "If",
                             .inputs = Arity(0, 16),
                             .outputs = Arity(0, 16),
                             .regions = kTestBodies,
                             .infer = &InferNothing};
// The inputs may not be omitted, the first apart.
inline constexpr Op kVariadicOp = {.domain = "weft.test",
                                   .name = "Variadic",
                                   .inputs = Arity(2, Arity::kVariadic),
                                   .outputs = 1,
                                   .optional_inputs = 0b1,
                                   .infer = &InferNothing};

inline const Op* FindTestOp(std::string_view domain, std::string_view name) {
  for (const Op* op : {&kEveryOp, &kIfOp, &kVariadicOp}) {
    if (op->domain == domain && op->name == name) return op;
  }
  return FindOp(domain, name);
}

}  // namespace weft

#endif  // WEFT_TESTS_GRAPH_TEST_OP_H_
