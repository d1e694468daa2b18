// Ops on strings: StringConcat, StringNormalizer, StringSplit, RegexFullMatch, TfIdfVectorizer (ONNX Operators.md).
#ifndef WEFT_GRAPH_OPS_STRINGS_H_
#define WEFT_GRAPH_OPS_STRINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct StringNormalizerAttrs {
  std::string case_change_action = "NONE";  // NONE, LOWER, UPPER
  bool is_case_sensitive = false;           // of the stop words
  std::string locale;                       // "tr_TR"; empty: the implementation's
  std::vector<std::string> stopwords;
};
WEFT_ATTRS(StringNormalizerAttrs, Field<&StringNormalizerAttrs::case_change_action>("case_change_action"),
           Field<&StringNormalizerAttrs::is_case_sensitive>("is_case_sensitive"), Field<&StringNormalizerAttrs::locale>("locale"),
           Field<&StringNormalizerAttrs::stopwords>("stopwords"));

struct StringSplitAttrs {
  std::string delimiter;            // empty: runs of white space
  std::optional<int64_t> maxsplit;  // negative: as many as there are
};
WEFT_ATTRS(StringSplitAttrs, Field<&StringSplitAttrs::delimiter>("delimiter"), Field<&StringSplitAttrs::maxsplit>("maxsplit"));

struct RegexFullMatchAttrs {
  std::string pattern;  // of RE2
};
WEFT_ATTRS(RegexFullMatchAttrs, Field<&RegexFullMatchAttrs::pattern>("pattern"));

// The pool holds n-grams of 1 item, then of 2, ...; those of n items begin at ngram_counts[n - 1]. The i-th of all counts for output
// ngram_indexes[i].
struct TfIdfVectorizerAttrs {
  int64_t max_gram_length = 0;
  int64_t max_skip_count = 0;
  int64_t min_gram_length = 0;
  std::string mode;  // TF, IDF, TFIDF
  std::vector<int64_t> ngram_counts;
  std::vector<int64_t> ngram_indexes;
  std::vector<int64_t> pool_int64s;
  std::vector<std::string> pool_strings;
  std::vector<float> weights;  // one for each n-gram, or none
};
WEFT_ATTRS(TfIdfVectorizerAttrs, RequiredField<&TfIdfVectorizerAttrs::max_gram_length>("max_gram_length"),
           RequiredField<&TfIdfVectorizerAttrs::max_skip_count>("max_skip_count"),
           RequiredField<&TfIdfVectorizerAttrs::min_gram_length>("min_gram_length"), RequiredField<&TfIdfVectorizerAttrs::mode>("mode"),
           RequiredField<&TfIdfVectorizerAttrs::ngram_counts>("ngram_counts"),
           RequiredField<&TfIdfVectorizerAttrs::ngram_indexes>("ngram_indexes"),
           Field<&TfIdfVectorizerAttrs::pool_int64s>("pool_int64s"), Field<&TfIdfVectorizerAttrs::pool_strings>("pool_strings"),
           Field<&TfIdfVectorizerAttrs::weights>("weights"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_STRINGS_H_
