#include "graph/ops/strings.h"

#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

Tensor Result(const Op& op, const Attrs& attrs, std::vector<Value> inputs, int output = 0) {
  auto out = Evaluate(op, attrs, inputs, output + 1);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return Tensor();
  }
  return (*out)[output].tensor();
}

std::string Error(const Op& op, const Attrs& attrs, std::vector<Value> inputs) {
  return std::string(Evaluate(op, attrs, inputs).status().message());
}

Tensor Strings(std::initializer_list<std::string> values) { return Tensor::Of<std::string>({static_cast<int64_t>(values.size())}, values); }

TEST(StringNormalizer, StopWordsGoAndCaseChangesInEveryAlphabet) {
  StringNormalizerAttrs attrs{.case_change_action = "UPPER", .stopwords = {"THE"}};
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringNormalizer, attrs, {Strings({"the", "äé", "The", "жσ"})}), Strings({"ÄÉ", "ЖΣ"})));
  attrs.is_case_sensitive = true;
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringNormalizer, attrs, {Strings({"the", "THE"})}), Strings({"THE"})));
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringNormalizer, attrs, {Tensor::Of<std::string>({1, 1}, {"THE"})}), Tensor::Of<std::string>({1, 1}, {""})));
  EXPECT_EQ(Error(ops::StringNormalizer, attrs, {Strings({"\xff"})}), "a string is not UTF-8");
  EXPECT_EQ(Error(ops::StringNormalizer, attrs, {Tensor::Of<std::string>({2, 1}, {"a", "b"})}),
            "input 0 (X) has shape [2,1], expected [C] or [1,C]");
}

TEST(StringSplit, AtWhiteSpace) {
  const Tensor x = Strings({"  a b\u00a0 c ", "", "\t"});
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringSplit, StringSplitAttrs{}, {x}),
                           Tensor::Of<std::string>({3, 3}, {"a", "b", "c", "", "", "", "", "", ""})));
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringSplit, StringSplitAttrs{.maxsplit = 1}, {x}),
                           Tensor::Of<std::string>({3, 2}, {"a", "b\u00a0 c", "", "", "", ""})));
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringSplit, StringSplitAttrs{}, {x}, 1), Tensor::Of<int64_t>({3}, {3, 0, 0})));
}

TEST(StringSplit, AtDelimiters) {
  StringSplitAttrs attrs{.delimiter = "--"};
  const Tensor x = Strings({"--a----b", "---"});
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringSplit, attrs, {x}), Tensor::Of<std::string>({2, 4}, {"", "a", "", "b", "", "-", "", ""})));
  attrs.maxsplit = 0;
  EXPECT_TRUE(BitwiseEqual(Result(ops::StringSplit, attrs, {x}), Tensor::Of<std::string>({2, 1}, {"--a----b", "---"})));
}

TEST(RegexFullMatch, WholeStringsByTheRulesOfRe2) {
  EXPECT_TRUE(BitwiseEqual(Result(ops::RegexFullMatch, RegexFullMatchAttrs{"\\pL+"}, {Strings({"äЖ", "a1", ""})}), Tensor::Of<bool>({3}, {true, false, false})));
  EXPECT_EQ(Error(ops::RegexFullMatch, RegexFullMatchAttrs{"a(?=b)"}, {Strings({"a"})}),
            "pattern 'a(?=b)' is no regular expression of RE2: invalid perl operator: (?=");
}

TfIdfVectorizerAttrs Ngrams() {
  TfIdfVectorizerAttrs attrs;
  attrs.mode = "TF";
  attrs.min_gram_length = 1;
  attrs.max_gram_length = 2;
  attrs.ngram_counts = {0, 2};
  attrs.pool_int64s = {5, 6, 5, 6, 6, 6};
  attrs.ngram_indexes = {3, 2, 1, 1};  // 5; 6; 5 6; 6 6
  return attrs;
}

TEST(TfIdfVectorizer, CountsWithSkipsAndWeights) {
  TfIdfVectorizerAttrs attrs = Ngrams();
  const Tensor x = Tensor::Of<int32_t>({2, 4}, {5, 6, 6, 5, 7, 7, 7, 7});
  EXPECT_TRUE(BitwiseEqual(Result(ops::TfIdfVectorizer, attrs, {x}), Tensor::Of<float>({2, 4}, {0, 2, 2, 2, 0, 0, 0, 0})));
  attrs.max_skip_count = 1;  // 5 . 6 besides
  EXPECT_TRUE(BitwiseEqual(Result(ops::TfIdfVectorizer, attrs, {x}), Tensor::Of<float>({2, 4}, {0, 3, 2, 2, 0, 0, 0, 0})));
  attrs.mode = "IDF";
  attrs.weights = {0.5f, 2, 4, 8};
  EXPECT_TRUE(BitwiseEqual(Result(ops::TfIdfVectorizer, attrs, {x}), Tensor::Of<float>({2, 4}, {0, 12, 2, 0.5f, 0, 0, 0, 0})));
  attrs.mode = "TFIDF";
  EXPECT_TRUE(BitwiseEqual(Result(ops::TfIdfVectorizer, attrs, {x}), Tensor::Of<float>({2, 4}, {0, 16, 4, 1, 0, 0, 0, 0})));
}

TEST(TfIdfVectorizer, PoolsThatDoNotAddUpAreRefused) {
  const Tensor x = Tensor::Of<int64_t>({1}, {5});
  TfIdfVectorizerAttrs attrs = Ngrams();
  attrs.min_gram_length = 2;
  attrs.ngram_counts = {0, 3};
  EXPECT_EQ(Error(ops::TfIdfVectorizer, attrs, {x}), "ngram_counts puts the n-grams of 2 items at 3 to 6 of a pool of 6");
  attrs = Ngrams();
  attrs.pool_int64s[4] = 5;
  EXPECT_EQ(Error(ops::TfIdfVectorizer, attrs, {x}), "n-grams 2 and 3 of the pool are equal");
  attrs = Ngrams();
  attrs.ngram_indexes.pop_back();
  EXPECT_EQ(Error(ops::TfIdfVectorizer, attrs, {x}), "the pool holds 4 n-grams, ngram_indexes has 3 elements");
  attrs = Ngrams();
  attrs.max_gram_length = 3;
  EXPECT_EQ(Error(ops::TfIdfVectorizer, attrs, {x}), "n-grams of 1 to 3 items are asked for, expected a range within 1 to 2, the size of ngram_counts");
}

}  // namespace
}  // namespace weft
