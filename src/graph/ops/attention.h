// Attributes of Attention and FlexAttention, and what inference of all the attentions shares.
#ifndef WEFT_GRAPH_OPS_ATTENTION_H_
#define WEFT_GRAPH_OPS_ATTENTION_H_

#include <cstdint>
#include <optional>

#include "graph/attributes.h"
#include "graph/infer.h"
#include "graph/op.h"

namespace weft {

struct AttentionAttrs {
  bool is_causal = false;
  std::optional<int64_t> kv_num_heads;
  int64_t left_window_size = -1;  // -1: no bound
  std::optional<int64_t> q_num_heads;
  int64_t qk_matmul_output_mode = 0;  // output 3: scores, 1 with softcap, 2 with bias as well, 3 after Softmax
  int64_t right_window_size = -1;
  std::optional<float> scale;  // absent: 1 / sqrt(head size)
  float softcap = 0;           // 0: none
  std::optional<int64_t> softmax_precision;  // a value of TensorProto.DataType; absent: Q's type
};
WEFT_ATTRS(AttentionAttrs, Field<&AttentionAttrs::is_causal>("is_causal"), Field<&AttentionAttrs::kv_num_heads>("kv_num_heads"),
           Field<&AttentionAttrs::left_window_size>("left_window_size"), Field<&AttentionAttrs::q_num_heads>("q_num_heads"),
           Field<&AttentionAttrs::qk_matmul_output_mode>("qk_matmul_output_mode"),
           Field<&AttentionAttrs::right_window_size>("right_window_size"), Field<&AttentionAttrs::scale>("scale"),
           Field<&AttentionAttrs::softcap>("softcap"), Field<&AttentionAttrs::softmax_precision>("softmax_precision"));

// softmax(score_mod(scale * Q K^T)), changed by prob_mod, times V. Its regions: score_mod, prob_mod.
struct FlexAttentionAttrs {
  std::optional<float> scale;                // absent: 1 / sqrt(head size)
  std::optional<int64_t> softmax_precision;  // a value of TensorProto.DataType; absent: double where Q is, float otherwise

  DType precision(DType q) const {
    if (softmax_precision) return static_cast<DType>(*softmax_precision);
    return q == DType::kFloat64 ? q : DType::kFloat32;
  }
};
WEFT_ATTRS(FlexAttentionAttrs, Field<&FlexAttentionAttrs::scale>("scale"),
           Field<&FlexAttentionAttrs::softmax_precision>("softmax_precision"));

// The size that each of `heads` heads has in the hidden axis. Errors: Invalid where it cannot be divided.
absl::StatusOr<Dim> HeadSize(const Dim& hidden, int64_t heads, std::string_view operand);
// The number of query heads is a multiple of that of key heads, and there are some.
absl::Status CheckHeadCounts(const Dim& q_heads, const Dim& kv_heads);
// Input i (attention_bias), added to scores [B,H,S,T], is of that shape, or has 1 in place of B or H.
absl::Status CheckAttentionBias(const InferContext& ctx, int i, const std::vector<Dim>& scores);

// FLOPs of both products for scores [B,H,S,T] and heads of these sizes; nothing where a dim is no integer.
Cost AttentionCost(const std::vector<Dim>& scores, const Dim& head_size, const Dim& v_head_size);

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_ATTENTION_H_
