// The emulated device: its queue, its locked memory, and models that run on it.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "onnx/defs/parser.h"
#include "runtime/device.h"
#include "weft/session.h"

namespace weft {
namespace {

Tensor OnDevice(Dims dims) {
  auto block = EmulatedDevice().Allocate(MemoryClass::kActivations, 4096);
  EXPECT_TRUE(block.ok()) << block.status();
  return Tensor::Wrap(DType::kFloat32, dims, block->get(), *block);
}

TEST(EmulatedDevice, DoesWorkInOrder) {
  Device& device = EmulatedDevice();
  const Tensor there = OnDevice({3});
  Tensor in = Tensor::Of<float>({3}, {1, 2, 3});
  device.CopyIn(in, there);
  in.data<float>()[0] = 99;  // staged already
  for (int k = 0; k < 100; ++k) {
    device.Submit([there] {
      for (float& x : there.span<float>()) x = 2 * x - 1;
    });
  }
  device.Submit([there] {
    for (float& x : there.span<float>()) x = x == 1 ? 7 : 8;
  });
  const Tensor out = *Tensor::Allocate(DType::kFloat32, {3});
  device.CopyOut(there, out);
  device.Wait();
  EXPECT_EQ(std::vector<float>(out.data<float>(), out.data<float>() + 3), (std::vector<float>{7, 8, 8}));
}

TEST(EmulatedDevice, KnowsItsMemory) {
  const Tensor there = OnDevice({4}), here = *Tensor::Allocate(DType::kFloat32, {4});
  EXPECT_TRUE(EmulatedDevice().Owns(there.data()));
  EXPECT_TRUE(EmulatedDevice().Owns(there.data<float>() + 3));
  EXPECT_FALSE(EmulatedDevice().Owns(here.data()));
  EXPECT_FALSE(CpuDevice().Owns(there.data()));
  EXPECT_TRUE(CpuDevice().Owns(here.data()));
}

TEST(EmulatedDeviceDeathTest, ItsMemoryIsLockedToOthers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const Tensor there = OnDevice({4});
  EXPECT_EXIT(*there.data<volatile float>() = 1, testing::KilledBySignal(SIGSEGV), "");
}

absl::StatusOr<ValueMap> RunModel(const std::string& device, const std::string& text, const ValueMap& inputs) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(text.c_str());
  const auto parsed = parser.Parse(proto);
  EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
  SessionOptions options;
  options.device = device;
  options.check_plans = true;
  auto session = Session::LoadFromMemory(proto.SerializeAsString(), options);
  if (!session.ok()) return session.status();
  return session->Run(inputs);
}

std::vector<float> Floats(const Value& value) {
  const Tensor& t = value.tensor();
  return {t.data<float>(), t.data<float>() + t.size()};
}

class OnEveryDevice : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, OnEveryDevice, testing::Values("cpu", "emulated", "cpu+emulated"), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '+', '_');
  return name;
});

// Values cross in both directions, constants are on both sides, an output is read again.
TEST_P(OnEveryDevice, ValuesCross) {
  auto out = RunModel(GetParam(), R"(
<ir_version: 8, opset_import: ["" : 17]>
g (float[N,2] x) => (float[N,2] y, float[N,2] z)
<float[2] c = {10, 20}>
{
   a = Add (x, c)
   b = Neg (a)
   y = Mul (b, c)
   d = Sub (y, x)
   z = Add (d, b)
}
)",
                 {{"x", Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Floats(out->at("y")), (std::vector<float>{-110, -440, -130, -480}));
  EXPECT_EQ(Floats(out->at("z")), (std::vector<float>{-122, -464, -146, -508}));
}

// Sizes that depend on data, on a device: found here, computed there.
TEST_P(OnEveryDevice, SizesOfData) {
  auto out = RunModel(GetParam(), R"(
<ir_version: 8, opset_import: ["" : 17]>
g (float[N] x, int64[k] s) => (float[p,q] y)
{
   r = Relu (x)
   e = Reshape (r, s)
   t = Transpose <perm = [1, 0]> (e)
   u = Exp (t)
   y = Log (u)
}
)",
                 {{"x", Tensor::Of<float>({6}, {1, 2, 3, 4, 5, -6})}, {"s", Tensor::Of<int64_t>({2}, {2, -1})}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->at("y").tensor().dims(), (Dims{3, 2}));
  const std::vector<float> expected = {1, 4, 2, 5, 3, 0};
  const std::vector<float> found = Floats(out->at("y"));
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

TEST_P(OnEveryDevice, Bodies) {
  auto out = RunModel(GetParam(), R"(
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, int64 n) => (float[2] y, float[k,2] all)
<bool yes = {1}>
{
   h = Neg (x)
   y, all = Loop (n, yes, x) <body = step (int64 i, bool go, float[2] v) => (bool again, float[2] w, float[2] kept)
   {
      again = Identity (go)
      w = Add (v, h)
      kept = Exp (h)
   }>
}
)",
                 {{"x", Tensor::Of<float>({2}, {0, 0})}, {"n", Tensor::Scalar<int64_t>(3)}});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(Floats(out->at("y")), (std::vector<float>{0, 0}));
  EXPECT_EQ(Floats(out->at("all")), (std::vector<float>(6, 1)));
}

// What goes wrong on a device is said with the node's name, and the next run is not harmed.
TEST_P(OnEveryDevice, ErrorsNameTheNode) {
  const std::string model = R"(
<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] x, int64[1,2] i) => (float[1,2,2] y)
{
   [pick] t = Gather (x, i)
   a = Neg (t)
   b = Neg (a)
   y = Exp (b)
}
)";
  const Tensor x = Tensor::Of<float>({3, 2}, {0, 0, 0, 0, 0, 0});
  auto wrong = RunModel(GetParam(), model, {{"x", x}, {"i", Tensor::Of<int64_t>({1, 2}, {0, 3})}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(wrong.status().message().find("pick"), std::string::npos) << wrong.status();
  auto right = RunModel(GetParam(), model, {{"x", x}, {"i", Tensor::Of<int64_t>({1, 2}, {0, 2})}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(Floats(right->at("y")), (std::vector<float>(4, 1)));
}

}  // namespace
}  // namespace weft
