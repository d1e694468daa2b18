// Attributes of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#ifndef WEFT_GRAPH_OPS_LOSS_H_
#define WEFT_GRAPH_OPS_LOSS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "graph/attributes.h"

namespace weft {

struct LossAttrs {
  std::optional<int64_t> ignore_index;  // samples of this target count nothing
  std::string reduction = "mean";       // none, sum, mean
};
WEFT_ATTRS(LossAttrs, Field<&LossAttrs::ignore_index>("ignore_index"), Field<&LossAttrs::reduction>("reduction"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_LOSS_H_
