// Attributes of RotaryEmbedding, ONNX's and that of the domain com.microsoft.
#ifndef WEFT_GRAPH_OPS_ROTARY_EMBEDDING_H_
#define WEFT_GRAPH_OPS_ROTARY_EMBEDDING_H_

#include <cstdint>

#include "graph/attributes.h"

namespace weft {

// Pairs (x1, x2) of each head's vector are turned by the angle of their position, of which cosine and sine are given:
//
//   x1' = cos * x1 - sin * x2,  x2' = sin * x1 + cos * x2
//
// A pair is the elements i and half + i of the part that is turned or, interleaved, 2i and 2i + 1; the rest passes as it is.
struct RotaryEmbeddingAttrs {
  bool interleaved = false;
  int64_t num_heads = 0;             // of X of rank 3
  int64_t rotary_embedding_dim = 0;  // elements that are turned; 0: all
};
WEFT_ATTRS(RotaryEmbeddingAttrs, Field<&RotaryEmbeddingAttrs::interleaved>("interleaved"),
           Field<&RotaryEmbeddingAttrs::num_heads>("num_heads"),
           Field<&RotaryEmbeddingAttrs::rotary_embedding_dim>("rotary_embedding_dim"));

struct MsRotaryEmbeddingAttrs {
  bool interleaved = false;
  bool is_packed_batching = false;  // says of rows of different lengths; they are computed alike
  int64_t num_heads = 0;            // of input of rank 3; 0: as many as the caches' width makes
  int64_t rotary_embedding_dim = 0;
  float scale = 1;
};
WEFT_ATTRS(MsRotaryEmbeddingAttrs, Field<&MsRotaryEmbeddingAttrs::interleaved>("interleaved"),
           Field<&MsRotaryEmbeddingAttrs::is_packed_batching>("is_packed_batching"),
           Field<&MsRotaryEmbeddingAttrs::num_heads>("num_heads"),
           Field<&MsRotaryEmbeddingAttrs::rotary_embedding_dim>("rotary_embedding_dim"), Field<&MsRotaryEmbeddingAttrs::scale>("scale"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_ROTARY_EMBEDDING_H_
