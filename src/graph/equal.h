// Structural equality of graphs.
#ifndef WEFT_GRAPH_EQUAL_H_
#define WEFT_GRAPH_EQUAL_H_

#include <string>

#include "graph/graph.h"

namespace weft {

// Says where two graphs first differ ("node 't' (Add): input 1 is 'a', 'b' in the other"); "" where they are equal:
// names, types and order of inputs, captures and outputs; constants by name, bit for bit; nodes in order, with names,
// attributes, operands and the names and types of their outputs; the same of regions. Ids are not compared, nor are
// values that were removed or never defined. A region's captures count by what they stand for: two bodies are equal
// where they read the same outer values in the same places, whatever the captures' names and order and whether one is
// there twice or is never read.
std::string Difference(const Graph& a, const Graph& b);

inline bool Equal(const Graph& a, const Graph& b) { return Difference(a, b).empty(); }

}  // namespace weft

#endif  // WEFT_GRAPH_EQUAL_H_
