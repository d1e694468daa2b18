// Inference of one node by itself, for tests of op records.
#ifndef WEFT_TESTS_GRAPH_INFER_ONE_H_
#define WEFT_TESTS_GRAPH_INFER_ONE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace weft {

// An input: a type, or a tensor whose elements are known too.
struct TestInput {
  TestInput(Type t) : type(std::move(t)) {}  // NOLINT: implicit on purpose
  TestInput(Tensor t) : type(Type::OfTensor(t)), tensor(std::move(t)) {}  // NOLINT
  TestInput(std::nullopt_t) : present(false) {}  // NOLINT
  bool present = true;
  Type type;
  std::optional<Tensor> tensor;
};

// The outputs' types as text, joined by "; ", or the error's message.
inline std::string InferOne(const Op& op, Attrs attrs, std::vector<TestInput> inputs, int num_outputs = 1) {
  NodeView node;
  node.op = &op;
  node.attrs = &attrs;
  node.inputs.resize(inputs.size());
  node.outputs.resize(num_outputs);
  node.output_present.assign(num_outputs, true);
  std::vector<std::optional<std::vector<Dim>>> elements(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present) continue;
    node.inputs[i].type = &inputs[i].type;
    if (!inputs[i].tensor) continue;
    node.inputs[i].tensor = &*inputs[i].tensor;
    elements[i] = ElementsOf(*inputs[i].tensor);
    if (elements[i]) node.inputs[i].elements = &*elements[i];
  }
  int64_t fresh = 0;
  auto no_region = [](int, absl::Span<const Type>) -> absl::StatusOr<std::vector<Type>> { return Internal("no regions here"); };
  InferContext ctx(node, no_region, fresh);
  if (absl::Status status = op.infer(ctx); !status.ok()) return std::string(status.message());
  return absl::StrJoin(node.outputs, "; ", [](std::string* out, const Type& type) { out->append(type.ToString()); });
}

inline Type F32(std::vector<Dim> dims) { return Type::OfTensor(DType::kFloat32, Shape(std::move(dims))); }
inline Type I32(std::vector<Dim> dims) { return Type::OfTensor(DType::kInt32, Shape(std::move(dims))); }
inline Type I64(std::vector<Dim> dims) { return Type::OfTensor(DType::kInt64, Shape(std::move(dims))); }
inline Dim Sym(const char* name) { return Dim::Symbol(name); }

}  // namespace weft

#endif  // WEFT_TESTS_GRAPH_INFER_ONE_H_
