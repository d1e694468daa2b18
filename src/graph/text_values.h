// Types, tensors and attribute values of the text form of graphs.
#ifndef WEFT_GRAPH_TEXT_VALUES_H_
#define WEFT_GRAPH_TEXT_VALUES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "graph/attributes.h"
#include "graph/scanner.h"
#include "graph/type.h"

namespace weft {

class ValueParser : public Scanner {
 public:
  using Scanner::Scanner;

  absl::StatusOr<Type> ParseType() { return ParseType(0); }
  absl::StatusOr<Tensor> ParseTensor();
  // The elements of a tensor whose type stood at `type_pos`.
  absl::StatusOr<Tensor> ParseTensorData(const Type& type, size_t type_pos);
  absl::StatusOr<AttrValue> ParseAttrValue(AttrKind kind);

 private:
  Dim FreshSymbol();
  absl::StatusOr<Dim> ParseDim();
  absl::StatusOr<Type> ParseType(int depth);
  template <class T>
  absl::StatusOr<Tensor> ParseElements(DType dtype, const Dims& dims, int64_t count);
  template <class T, class ParseItem>
  absl::StatusOr<AttrValue> ParseList(ParseItem parse_item);

  int64_t next_symbol_ = 0;
};

}  // namespace weft

#endif  // WEFT_GRAPH_TEXT_VALUES_H_
