// Types of values in a graph: tensor(dtype, shape), sequence, optional, map.
#ifndef WEFT_GRAPH_TYPE_H_
#define WEFT_GRAPH_TYPE_H_

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/dim.h"
#include "weft/dtype.h"
#include "weft/tensor.h"
#include "weft/value.h"

namespace weft {

// The shape of a tensor: unknown rank, or one Dim an axis.
class Shape {
 public:
  Shape() = default;  // unknown rank
  Shape(std::initializer_list<Dim> dims) : known_(true), dims_(dims) {}
  explicit Shape(std::vector<Dim> dims) : known_(true), dims_(std::move(dims)) {}
  static Shape Of(absl::Span<const int64_t> dims) { return Shape(std::vector<Dim>(dims.begin(), dims.end())); }

  bool has_rank() const { return known_; }
  int rank() const { return static_cast<int>(dims_.size()); }  // only if has_rank()
  const Dim& operator[](int axis) const { return dims_[axis]; }
  Dim& operator[](int axis) { return dims_[axis]; }
  const std::vector<Dim>& dims() const { return dims_; }
  std::vector<Dim>& dims() { return dims_; }

  // The integers, where every dim is one.
  std::optional<Dims> Concrete() const;
  // The product of the dims (1 for a scalar); only if has_rank().
  Dim NumElements() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.known_ == b.known_ && a.dims_ == b.dims_; }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  std::string ToString() const;  // "[1,3,H,W]"; "[...]" for unknown rank

 private:
  bool known_ = false;
  std::vector<Dim> dims_;
};

struct Type {
  using Kind = ValueKind;

  Kind kind = Kind::kUnknown;
  DType dtype = DType::kUndefined;   // tensor: element type; map: key type
  Shape shape;                       // tensor only
  std::shared_ptr<const Type> elem;  // sequence, optional: what they hold; map: the value type

  static Type Unknown() { return Type(); }
  static Type OfTensor(DType dtype, Shape shape = Shape());
  static Type OfTensor(const Tensor& tensor);
  static Type OfSequence(Type elem);
  static Type OfOptional(Type elem);
  static Type OfMap(DType key, Type value);
  // The type of a run-time value; of sequences and maps as far as it shows.
  static Type Of(const Value& value);

  bool is_tensor() const { return kind == Kind::kTensor; }
  // The first tensor type found going inwards through sequence and optional; null if none.
  const Type* InnerTensor() const;

  friend bool operator==(const Type& a, const Type& b);
  friend bool operator!=(const Type& a, const Type& b) { return !(a == b); }
  std::string ToString() const;  // ONNX text: "float[1,3,H,W]", "float" (a scalar), "float[]" (unknown rank), "seq(float[N])", "map(int64, float)"
};

}  // namespace weft

#endif  // WEFT_GRAPH_TYPE_H_
