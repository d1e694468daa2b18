// Attributes of GroupQueryAttention of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_GROUP_QUERY_ATTENTION_H_
#define WEFT_GRAPH_OPS_GROUP_QUERY_ATTENTION_H_

#include <cstdint>
#include <string>

#include "graph/attributes.h"

namespace weft {

// Attention over a cache of keys and values, to which the new ones are appended.
//
//   past     [B,Hkv,C,D]   of batch b the first P[b] positions count
//   present  [B,Hkv,max(C, total_sequence_length),D]   P[b] old positions, then Q[b] new ones: T[b] = seqlens_k[b] + 1 in all
//
// Q[b] is query_seqlens[b] or, without it, the sequence length S; but at the first prompt, where S is total_sequence_length, at most T[b].
struct GroupQueryAttentionAttrs {
  bool causal = true;
  bool do_rotary = false;
  std::optional<float> k_norm_epsilon;
  std::string k_quant_type = "NONE";
  int64_t kv_cache_bit_width = 0;
  int64_t kv_num_heads = 0;
  int64_t local_window_size = -1;  // keys that a query reads, its own the last of them; -1: all
  int64_t num_heads = 0;
  std::optional<float> q_norm_epsilon;
  std::optional<float> qk_norm_epsilon;
  int64_t qk_output = 0;
  bool rotary_interleaved = false;
  float scale = 0;  // 0: 1 / sqrt(head size)
  bool sliding_window_cache = false;
  bool smooth_softmax = false;  // a key of score 0 and value 0 is read as well
  float softcap = 0;            // 0: none
  std::string v_quant_type = "NONE";
};
WEFT_ATTRS(GroupQueryAttentionAttrs, Field<&GroupQueryAttentionAttrs::causal>("causal"),
           Field<&GroupQueryAttentionAttrs::do_rotary>("do_rotary"),
           Field<&GroupQueryAttentionAttrs::k_norm_epsilon>("k_norm_epsilon"),
           Field<&GroupQueryAttentionAttrs::k_quant_type>("k_quant_type"),
           Field<&GroupQueryAttentionAttrs::kv_cache_bit_width>("kv_cache_bit_width"),
           RequiredField<&GroupQueryAttentionAttrs::kv_num_heads>("kv_num_heads"),
           Field<&GroupQueryAttentionAttrs::local_window_size>("local_window_size"),
           RequiredField<&GroupQueryAttentionAttrs::num_heads>("num_heads"),
           Field<&GroupQueryAttentionAttrs::q_norm_epsilon>("q_norm_epsilon"),
           Field<&GroupQueryAttentionAttrs::qk_norm_epsilon>("qk_norm_epsilon"),
           Field<&GroupQueryAttentionAttrs::qk_output>("qk_output"),
           Field<&GroupQueryAttentionAttrs::rotary_interleaved>("rotary_interleaved"),
           Field<&GroupQueryAttentionAttrs::scale>("scale"),
           Field<&GroupQueryAttentionAttrs::sliding_window_cache>("sliding_window_cache"),
           Field<&GroupQueryAttentionAttrs::smooth_softmax>("smooth_softmax"), Field<&GroupQueryAttentionAttrs::softcap>("softcap"),
           Field<&GroupQueryAttentionAttrs::v_quant_type>("v_quant_type"));

// Its operands by number.
struct GqaInputs {
  enum : int { kQuery, kKey, kValue, kPastKey, kPastValue, kSeqlensK, kTotalLength, kCos, kSin, kPositionIds, kBias, kHeadSink,
               kKScale, kVScale, kQNorm, kKNorm, kQuerySeqlens };
};

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_GROUP_QUERY_ATTENTION_H_
