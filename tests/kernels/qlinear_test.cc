// The QLinear ops of ONNX Runtime; expected values are ONNX Runtime's.
#include "graph/ops/qlinear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "graph/ops/shape.h"
#include "graph/ops/unary.h"
#include "kernels/evaluate.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value Scale(float value) { return Tensor::Scalar<float>(value); }
Value Zero(uint8_t value) { return Tensor::Scalar<uint8_t>(value); }
Value Bytes(Dims dims, const std::vector<uint8_t>& values) { return Tensor::Of<uint8_t>(dims, values); }

std::vector<int> Result(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto y = (*out)[0].tensor().span<uint8_t>();
  return {y.begin(), y.end()};
}

TEST(QLinearAdd, RoundsWithTheZeroPoint) {
  // 0.25 * x + 0.5 * y over 0.5: x / 2 + y, ties among them.
  const Value a = Bytes({2, 2}, {1, 3, 2, 255}), b = Bytes({2}, {10, 200});
  EXPECT_THAT(Result(ops::QLinearAdd, Attrs(), {a, Scale(0.25f), Value(), b, Scale(0.5f), Value(), Scale(0.5f)}), ElementsAre(10, 202, 11, 255));
  EXPECT_THAT(Result(ops::QLinearAdd, Attrs(), {a, Scale(0.25f), Value(), b, Scale(0.5f), Zero(10), Scale(0.5f), Zero(1)}),
              ElementsAre(2, 192, 2, 255));
}

TEST(QLinearMul, Broadcasts) {
  EXPECT_THAT(Result(ops::QLinearMul, Attrs(), {Bytes({3}, {0, 5, 9}), Scale(0.5f), Zero(1), Bytes({}, {7}), Scale(2), Zero(3), Scale(4), Zero(2)}),
              ElementsAre(1, 6, 10));
}

TEST(QLinearLeakyRelu, HasALeakOfItsOwn) {
  EXPECT_THAT(Result(ops::QLinearLeakyRelu, LeakyReluAttrs{0.5f}, {Bytes({3}, {0, 100, 255}), Scale(1), Zero(100), Scale(2), Zero(50)}),
              ElementsAre(25, 50, 128));
}

TEST(QLinearSoftmax, BeforeOpset13OverAllAxesFromTheFirst) {
  const std::vector<Value> inputs = {Bytes({1, 2, 2}, {3, 3, 3, 3}), Scale(1), Value(), Scale(1 / 256.0f), Zero(0)};
  EXPECT_THAT(Result(ops::QLinearSoftmax, QLinearSoftmaxAttrs{.axis = 1, .opset = 13}, inputs), ElementsAre(128, 128, 128, 128));
  EXPECT_THAT(Result(ops::QLinearSoftmax, QLinearSoftmaxAttrs{.axis = 1, .opset = 12}, inputs), ElementsAre(64, 64, 64, 64));
}

TEST(QLinearConcat, EachTensorHasItsScale) {
  const Value a = Bytes({1, 2}, {10, 20}), b = Bytes({1, 1}, {7});
  EXPECT_THAT(Result(ops::QLinearConcat, ConcatAttrs{1}, {Scale(2), Zero(3), a, Scale(1), Zero(0), b, Scale(4), Zero(5)}), ElementsAre(8, 13, 7));
  EXPECT_THAT(Evaluate(ops::QLinearConcat, ConcatAttrs{1}, {Scale(2), Zero(3), a, Scale(1), Zero(0), b}).status().message(),
              HasSubstr("has 6 inputs, expected 2 and then 3 for each tensor"));
}

TEST(QLinearAveragePool, ChannelsLastAndTies) {
  QLinearAveragePoolAttrs attrs{.kernel_shape = {1, 2}, .pads = {0, 0, 0, 1}, .strides = {1, 2}};
  const std::vector<uint8_t> x = {10, 20, 30, 100, 120, 141};
  // [1, 2, 1, 3] and [1, 1, 3, 2]
  EXPECT_THAT(Result(ops::QLinearAveragePool, attrs, {Bytes({1, 2, 1, 3}, x), Scale(1), Zero(0), Scale(2), Zero(1)}),
              ElementsAre(8, 16, 56, 72));
  attrs.channels_last = attrs.count_include_pad = true;
  EXPECT_THAT(Result(ops::QLinearAveragePool, attrs, {Bytes({1, 1, 3, 2}, x), Scale(1), Zero(0), Scale(2), Zero(1)}),
              ElementsAre(11, 31, 31, 36));
}

TEST(QLinearGlobalAveragePool, SeesTies) {
  const Value x = Bytes({1, 2, 1, 2}, {10, 11, 12, 21});
  const std::vector<Value> inputs = {x, Scale(0.03f), Zero(11), Scale(0.03f), Zero(11)};
  EXPECT_THAT(Result(ops::QLinearGlobalAveragePool, QLinearGlobalAveragePoolAttrs{}, inputs), ElementsAre(11, 17));
  EXPECT_THAT(Result(ops::QLinearGlobalAveragePool, QLinearGlobalAveragePoolAttrs{true}, inputs), ElementsAre(11, 16));
}

TEST(QLinearWhere, Chooses) {
  EXPECT_THAT(Result(ops::QLinearWhere, Attrs(),
                  {Tensor::Of<bool>({2}, {true, false}), Bytes({}, {10}), Scale(1), Zero(0), Bytes({}, {10}), Scale(2), Zero(5), Scale(1), Zero(1)}),
              ElementsAre(11, 11));
}

TEST(QLinear, ScalesHoldForTheWholeTensor) {
  EXPECT_THAT(Evaluate(ops::QLinearSigmoid, Attrs(), {Bytes({2}, {1, 2}), Tensor::Of<float>({2}, {1, 2}), Value(), Scale(1), Zero(0)})
                  .status()
                  .message(),
              HasSubstr("input 1 (its scale) has shape [2], expected a scalar"));
}

}  // namespace
}  // namespace weft
