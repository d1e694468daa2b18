// Value: what an ONNX model takes and returns: a tensor, a sequence, an optional or a map.
#ifndef WEFT_VALUE_H_
#define WEFT_VALUE_H_

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "weft/export.h"
#include "weft/tensor.h"

namespace weft WEFT_API {

enum class ValueKind : uint8_t { kUnknown, kTensor, kSequence, kOptional, kMap };

class Value;

// ONNX sequence(T): values of one type. `elem_dtype` is the element type of the tensors in it, kept for the empty sequence.
struct Sequence {
  std::vector<Value> items;
  DType elem_dtype = DType::kUndefined;
};

// ONNX optional(T): one value or none.
struct Optional {
  std::vector<Value> item;  // zero or one
  DType elem_dtype = DType::kUndefined;
};

// ONNX map(K, V): `keys` is a rank-1 tensor of strings or integers, `values` is a rank-1 tensor of as many elements.
struct Map {
  Tensor keys;
  Tensor values;
};

class Value {
 public:
  Value() = default;  // holds nothing: an omitted optional input or output
  Value(Tensor tensor) : held_(std::move(tensor)) {}  // NOLINT: implicit on purpose
  Value(Sequence sequence) : held_(std::make_shared<const Sequence>(std::move(sequence))) {}  // NOLINT
  Value(Optional optional) : held_(std::make_shared<const Optional>(std::move(optional))) {}  // NOLINT
  Value(Map map) : held_(std::make_shared<const Map>(std::move(map))) {}                      // NOLINT

  bool empty() const { return std::holds_alternative<std::monostate>(held_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(held_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<const Sequence>>(held_); }
  bool is_optional() const { return std::holds_alternative<std::shared_ptr<const Optional>>(held_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(held_); }

  // Each must match what is held.
  const Tensor& tensor() const { return std::get<Tensor>(held_); }
  Tensor& tensor() { return std::get<Tensor>(held_); }
  const Sequence& sequence() const { return *std::get<std::shared_ptr<const Sequence>>(held_); }
  const Optional& optional() const { return *std::get<std::shared_ptr<const Optional>>(held_); }
  const Map& map() const { return *std::get<std::shared_ptr<const Map>>(held_); }

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, std::shared_ptr<const Optional>,
               std::shared_ptr<const Map>>
      held_;
};

}  // namespace weft

#endif  // WEFT_VALUE_H_
