// Attributes of LinearAttention.
#ifndef WEFT_GRAPH_OPS_LINEAR_ATTENTION_H_
#define WEFT_GRAPH_OPS_LINEAR_ATTENTION_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

// Each key head has a state S [d_k,d_v], which every position changes and is then read by:
//
//   S = exp(decay) * S               "gated", "gated_delta"
//   v = beta * (v - S^T k)           "delta", "gated_delta"
//   S = S + k v^T
//   output = scale * S^T q
struct LinearAttentionAttrs {
  int64_t chunk_size = 64;  // a hint
  int64_t kv_num_heads = 0;
  int64_t q_num_heads = 0;
  float scale = 0;  // 0: 1 / sqrt(d_k)
  std::string update_rule = "gated_delta";

  bool gated() const { return update_rule == "gated" || update_rule == "gated_delta"; }
  bool delta() const { return update_rule == "delta" || update_rule == "gated_delta"; }
};
WEFT_ATTRS(LinearAttentionAttrs, Field<&LinearAttentionAttrs::chunk_size>("chunk_size"),
           RequiredField<&LinearAttentionAttrs::kv_num_heads>("kv_num_heads"),
           RequiredField<&LinearAttentionAttrs::q_num_heads>("q_num_heads"), Field<&LinearAttentionAttrs::scale>("scale"),
           Field<&LinearAttentionAttrs::update_rule>("update_rule"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_LINEAR_ATTENTION_H_
