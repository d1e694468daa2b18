// Ops of ai.onnx.ml on maps: ZipMap, CastMap, DictVectorizer (ONNX Operators-ml.md).
#ifndef WEFT_GRAPH_OPS_MAP_H_
#define WEFT_GRAPH_OPS_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

// The keys, of one type or the other.
struct ZipMapAttrs {
  std::vector<int64_t> classlabels_int64s;
  std::vector<std::string> classlabels_strings;
};
WEFT_ATTRS(ZipMapAttrs, Field<&ZipMapAttrs::classlabels_int64s>("classlabels_int64s"),
           Field<&ZipMapAttrs::classlabels_strings>("classlabels_strings"));

struct CastMapAttrs {
  std::string cast_to = "TO_FLOAT";  // TO_FLOAT, TO_INT64, TO_STRING
  std::string map_form = "DENSE";    // the values in the order of their keys; SPARSE: each at its key
  int64_t max_map = 1;               // of SPARSE: the length of the output
};
WEFT_ATTRS(CastMapAttrs, Field<&CastMapAttrs::cast_to>("cast_to"), Field<&CastMapAttrs::map_form>("map_form"),
           Field<&CastMapAttrs::max_map>("max_map"));

// The keys of each place of the output, of one type or the other.
struct DictVectorizerAttrs {
  std::vector<int64_t> int64_vocabulary;
  std::vector<std::string> string_vocabulary;
};
WEFT_ATTRS(DictVectorizerAttrs, Field<&DictVectorizerAttrs::int64_vocabulary>("int64_vocabulary"),
           Field<&DictVectorizerAttrs::string_vocabulary>("string_vocabulary"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_MAP_H_
