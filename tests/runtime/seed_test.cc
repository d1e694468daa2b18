// Which random numbers a run draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "onnx/defs/parser.h"
#include "weft/session.h"

namespace weft {
namespace {

constexpr char kModel[] = R"(
<ir_version: 8, opset_import: ["" : 17]>
g (int64 n) => (float[2] a, float[2] b, float[k,1] c)
{
   a = RandomUniform <shape = [2]> ()
   b = RandomUniform <shape = [2]> ()
   yes = Constant <value = bool {1}> ()
   c = Loop (n, yes) <body = step (int64 i, bool go) => (bool again, float[1] x)
   {
      again = Identity (go)
      x = RandomUniform <shape = [1]> ()
   }>
}
)";

std::vector<float> Draw(uint64_t seed) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(kModel);
  EXPECT_TRUE(parser.Parse(proto).IsOK());
  auto session = Session::LoadFromMemory(proto.SerializeAsString());
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok()) return {};
  RunOptions options;
  options.seed = seed;
  auto out = session->Run({{"n", Value(Tensor::Scalar<int64_t>(3))}}, options);
  EXPECT_TRUE(out.ok()) << out.status();
  std::vector<float> drawn;
  for (const char* name : {"a", "b", "c"}) {
    const Tensor& t = out->at(name).tensor();
    drawn.insert(drawn.end(), t.data<float>(), t.data<float>() + t.size());
  }
  return drawn;
}

TEST(Seed, NodesAndIterationsDrawTheirOwnNumbers) {
  std::vector<float> drawn = Draw(1);
  ASSERT_EQ(drawn.size(), 7u);
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(std::adjacent_find(drawn.begin(), drawn.end()), drawn.end());
}

TEST(Seed, OfTheRunDecides) {
  EXPECT_EQ(Draw(1), Draw(1));
  EXPECT_NE(Draw(1), Draw(2));
}

}  // namespace
}  // namespace weft
