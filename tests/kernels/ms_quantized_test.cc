// Quantised products of ONNX Runtime; expected values are ONNX Runtime's.
#include "graph/ops/ms_quantized.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/evaluate.h"

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Value Scale(float value) { return Tensor::Scalar<float>(value); }
Value Zero(uint8_t value) { return Tensor::Scalar<uint8_t>(value); }
Value Floats(Dims dims, const std::vector<float>& values) { return Tensor::Of<float>(dims, values); }
Value Bytes(Dims dims, const std::vector<uint8_t>& values) { return Tensor::Of<uint8_t>(dims, values); }
Value Signed(Dims dims, const std::vector<int8_t>& values) { return Tensor::Of<int8_t>(dims, values); }

template <class T>
std::vector<T> Result(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  auto out = Evaluate(op, attrs, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.status();
    return {};
  }
  const auto y = (*out)[0].tensor().span<T>();
  return {y.begin(), y.end()};
}

TEST(MatMulIntegerToFloat, ScalesAndZeroPointsForEachColumn) {
  const Value a = Bytes({1, 2}, {12, 9}), b = Signed({2, 2}, {1, -2, 3, 4}), zeros = Signed({2}, {1, -1});
  EXPECT_THAT(Result<float>(ops::MatMulIntegerToFloat, Attrs(),
                            {a, b, Scale(0.5f), Floats({2}, {2, 4}), Zero(10), zeros, Floats({2}, {100, 200})}),
              ElementsAre(98, 186));
  EXPECT_THAT(Result<float>(ops::MatMulIntegerToFloat, Attrs(), {a, b, Floats({1}, {0.5f}), Floats({1}, {2})}), ElementsAre(39, 12));
}

TEST(DynamicQuantizeMatMul, QuantisesATo255Steps) {
  // A from 0 to 255 in steps of 1: 2.5 rounds to 2, 3.5 to 4.
  const Value a = Floats({2, 2}, {255, 2.5f, 3.5f, 0}), b = Signed({2, 1}, {1, 10});
  EXPECT_THAT(Result<float>(ops::DynamicQuantizeMatMul, Attrs(), {a, b, Scale(2), Value(), Floats({1}, {-1})}), ElementsAre(549, 7));
  EXPECT_THAT(Evaluate(ops::DynamicQuantizeMatMul, Attrs(), {a, b, Scale(2), Value(), Floats({2}, {1, 2})}).status().message(),
              HasSubstr("input 4 (bias) has shape [2]"));
}

TEST(QGemm, FloatWithoutAScaleOfItsOutput) {
  const Value a = Bytes({2, 1}, {12, 9}), b = Bytes({2, 2}, {3, 5, 1, 2}), c = Tensor::Of<int32_t>({2}, {100, -100});
  std::vector<Value> inputs = {a, Scale(0.5f), Zero(10), b, Floats({2}, {1, 2}), Bytes({2}, {1, 2}), c};
  const QGemmAttrs attrs{.alpha = 2, .transA = true, .transB = true};
  EXPECT_THAT(Result<float>(ops::QGemm, attrs, inputs), ElementsAre(100, -204));
  inputs.insert(inputs.end(), {Scale(8), Zero(31)});
  EXPECT_THAT(Result<uint8_t>(ops::QGemm, attrs, inputs), ElementsAre(43, 5));
  inputs.pop_back();
  EXPECT_THAT(Evaluate(ops::QGemm, attrs, inputs).status().message(), HasSubstr("of y_scale and y_zero_point there is one without the other"));
}

}  // namespace
}  // namespace weft
