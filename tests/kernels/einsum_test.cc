#include "graph/ops/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "absl/strings/str_join.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

// 1, 2, 3, ...
template <class T = float>
Tensor Count(std::vector<int64_t> dims) {
  Tensor tensor = *Tensor::Allocate(DTypeOf<T>::value, dims);
  std::iota(tensor.data<T>(), tensor.data<T>() + tensor.size(), T(1));
  return tensor;
}

template <class T = float>
std::string Sum(const std::string& equation, std::vector<Value> inputs) {
  auto out = Evaluate(ops::Einsum, EinsumAttrs{equation}, inputs);
  if (!out.ok()) return std::string(out.status().message());
  const Tensor& y = (*out)[0].tensor();
  return absl::StrCat(DimsToString(y.dims()), " ", absl::StrJoin(y.span<T>(), " "));
}

TEST(Einsum, Products) {
  EXPECT_EQ(Sum("ij,jk", {Count({2, 3}), Count({3, 2})}), "[2,2] 22 28 49 64");
  EXPECT_EQ(Sum("ij , jk -> ki", {Count({2, 3}), Count({3, 2})}), "[2,2] 22 49 28 64");
  EXPECT_EQ(Sum("ij,j->i", {Count({2, 3}), Count({3})}), "[2] 14 32");
  EXPECT_EQ(Sum("i,j->ji", {Count({2}), Count({3})}), "[3,2] 1 2 2 4 3 6");
  EXPECT_EQ(Sum("ij,ij->ij", {Count({2, 2}), Count({2, 2})}), "[2,2] 1 4 9 16");
  EXPECT_EQ(Sum("i,i,i->", {Count({3}), Count({3}), Count({3})}), "[] 36");
  EXPECT_EQ(Sum("ij,jk,kl->il", {Count({1, 2}), Count({2, 2}), Count({2, 1})}), "[1,1] 27");
  EXPECT_EQ(Sum(",->", {Count({}), Count({})}), "[] 1");
}

TEST(Einsum, OneOperand) {
  EXPECT_EQ(Sum("ii", {Count({3, 3})}), "[] 15");
  EXPECT_EQ(Sum("ii->i", {Count({3, 3})}), "[3] 1 5 9");
  EXPECT_EQ(Sum("ba", {Count({2, 3})}), "[3,2] 1 4 2 5 3 6");
  EXPECT_EQ(Sum("bA", {Count({2, 3})}), "[3,2] 1 4 2 5 3 6");  // upper case comes first
  EXPECT_EQ(Sum("ij->j", {Count({2, 3})}), "[3] 5 7 9");
}

TEST(Einsum, Broadcasts) {
  EXPECT_EQ(Sum("...i,...i->...", {Count({2, 1, 2}), Count({1, 2, 2})}), "[2,2] 5 11 11 25");
  EXPECT_EQ(Sum("i...->...", {Count({2, 2})}), "[2] 4 6");
  EXPECT_EQ(Sum("...i->i", {Count({2, 2})}), "[2] 4 6");  // axes of the ellipsis are summed as letters are
  EXPECT_EQ(Sum("ij,ij->i", {Count({2, 1}), Count({2, 3})}), "[2] 6 30");
  EXPECT_EQ(Sum("ij->ij", {Count({1, 2})}), "[1,2] 1 2");
}

TEST(Einsum, EmptySumsAndOtherTypes) {
  EXPECT_EQ(Sum("ij,jk->ik", {Count({2, 0}), Count({0, 2})}), "[2,2] 0 0 0 0");
  EXPECT_EQ(Sum("ij->i", {Count({2, 0})}), "[2] 0 0");
  EXPECT_EQ(Sum<int8_t>("i,i->", {Tensor::Of<int8_t>({2}, {100, -1}), Tensor::Of<int8_t>({2}, {2, 3})}), absl::StrCat("[] ", int8_t{-59}));
  EXPECT_EQ(Sum<int64_t>("i,j->ij", {Count<int64_t>({2}), Count<int64_t>({2})}), "[2,2] 1 2 2 4");
}

TEST(Einsum, Refusals) {
  EXPECT_THAT(Sum("i1->i", {Count({2, 2})}), HasSubstr("term 'i1'"));
  EXPECT_THAT(Sum("i->i->i", {Count({2})}), HasSubstr("term 'i->i'"));
  EXPECT_THAT(Sum("i->ii", {Count({2})}), HasSubstr("'i' twice"));
  EXPECT_THAT(Sum("i->j", {Count({2})}), HasSubstr("'j'"));
  EXPECT_THAT(Sum("i->...i", {Count({2})}), HasSubstr("ellipsis in its output"));
  EXPECT_THAT(Sum("i,i", {Count({2})}), HasSubstr("has 2 inputs, the node 1"));
  EXPECT_THAT(Sum("ij", {Count({2})}), HasSubstr("expected rank 2"));
  EXPECT_THAT(Sum("ii", {Count({1, 2})}), HasSubstr("diagonal"));
  EXPECT_THAT(Sum("i,i", {Count({2}), Count({3})}), HasSubstr("2 and 3"));
  EXPECT_THAT(Sum("...,...", {Count({2}), Count({2, 2})}), HasSubstr("stands for 1 axes in one input and 2"));
}

}  // namespace
}  // namespace weft
