// Attributes of MultiHeadAttention of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_MULTI_HEAD_ATTENTION_H_
#define WEFT_GRAPH_OPS_MULTI_HEAD_ATTENTION_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

struct MultiHeadAttentionAttrs {
  float mask_filter_value = -10000;  // added to the score of a key that key_padding_mask hides
  int64_t num_heads = 0;
  float scale = 0;  // 0: 1 / sqrt(head size)
  bool unidirectional = false;
};
WEFT_ATTRS(MultiHeadAttentionAttrs, Field<&MultiHeadAttentionAttrs::mask_filter_value>("mask_filter_value"),
           RequiredField<&MultiHeadAttentionAttrs::num_heads>("num_heads"), Field<&MultiHeadAttentionAttrs::scale>("scale"),
           Field<&MultiHeadAttentionAttrs::unidirectional>("unidirectional"));

// Its operands by number.
struct MhaInputs {
  enum : int { kQuery, kKey, kValue, kBias, kMask, kAttentionBias, kPastKey, kPastValue, kPastLength, kCacheIndirection };
};

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MULTI_HEAD_ATTENTION_H_
