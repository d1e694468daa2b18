#include "graph/ops/map.h"

#include <gtest/gtest.h>

#include "kernels/evaluate.h"

namespace weft {
namespace {

Map IntKeys(std::initializer_list<int64_t> keys, Tensor values) {
  return {Tensor::Of<int64_t>({static_cast<int64_t>(keys.size())}, keys), std::move(values)};
}

TEST(ZipMap, OneMapForEachRow) {
  auto out = Evaluate(ops::ZipMap, ZipMapAttrs{.classlabels_strings = {"b", "a"}}, {Tensor::Of<float>({2, 2}, {1, 2, 3, 4})});
  ASSERT_TRUE(out.ok()) << out.status();
  const auto& maps = (*out)[0].sequence().items;
  ASSERT_EQ(maps.size(), 2);
  EXPECT_EQ(maps[1].map().keys.data<std::string>()[1], "a");
  EXPECT_EQ(maps[1].map().values.data<float>()[1], 4);
  EXPECT_EQ(Evaluate(ops::ZipMap, ZipMapAttrs{.classlabels_int64s = {1, 2}}, {Tensor::Of<float>({1, 3}, {1, 2, 3})}).status().message(),
            "the number of columns of X and of keys is 3 in one place and 2 in another, expected equal");
}

TEST(CastMap, DenseByKeyAndSparseAtKey) {
  const Value map = IntKeys({3, 0}, Tensor::Of<std::string>({2}, {"7", "-1"}));
  CastMapAttrs attrs{.cast_to = "TO_INT64"};
  auto out = Evaluate(ops::CastMap, attrs, {map});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(BitwiseEqual((*out)[0].tensor(), Tensor::Of<int64_t>({1, 2}, {-1, 7})));
  attrs.map_form = "SPARSE";
  attrs.max_map = 4;
  out = Evaluate(ops::CastMap, attrs, {map});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(BitwiseEqual((*out)[0].tensor(), Tensor::Of<int64_t>({1, 4}, {-1, 0, 0, 7})));
  attrs.max_map = 3;
  EXPECT_EQ(Evaluate(ops::CastMap, attrs, {map}).status().message(), "key 3 of a sparse map, expected 0 to 2");
}

TEST(DictVectorizer, KeysTakeTheirPlaces) {
  const Value map = IntKeys({3, 9, 0}, Tensor::Of<double>({3}, {1.5, 2.5, 3.5}));
  auto out = Evaluate(ops::DictVectorizer, DictVectorizerAttrs{.int64_vocabulary = {0, 1, 3}}, {map});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE(BitwiseEqual((*out)[0].tensor(), Tensor::Of<double>({1, 3}, {3.5, 0, 1.5})));
  EXPECT_EQ(Evaluate(ops::DictVectorizer, DictVectorizerAttrs{.string_vocabulary = {"a"}}, {map}).status().message(),
            "input 0 (X) is of type map(int64, double), expected keys of type string");
}

}  // namespace
}  // namespace weft
