// Session::Bind: inputs and outputs where the caller has them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "onnx/defs/parser.h"
#include "weft/session.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Session SessionOf(const char* graph, SessionOptions options = {}) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(graph);
  auto parsed = parser.Parse(*proto.mutable_graph());
  EXPECT_TRUE(parsed.IsOK()) << parsed.ErrorMessage();
  proto.set_ir_version(10);
  proto.add_opset_import()->set_version(21);
  return Session::LoadFromMemory(proto.SerializeAsString(), std::move(options)).value();
}

std::string ErrorOf(const absl::StatusOr<Binding>& bound) {
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument) << bound.status();
  return std::string(bound.status().message());
}

TEST(Binding, ReadsAndWritesTheSameMemoryRunAfterRun) {
  for (const char* device : {"cpu", "cpu+emulated", "emulated"}) {
    SCOPED_TRACE(device);
    const Session session = SessionOf("g (float[N] x) => (float[N] y, float[N] z) { y = Neg (x) z = Exp (y) }", {.device = device});
    std::array<float, 2> x = {1, 2}, y = {};
    auto binding = session.Bind({{"x", Tensor::View(x.data(), {2})}}, {{"y", Tensor::View(y.data(), {2})}});
    ASSERT_TRUE(binding.ok()) << binding.status();
    auto first = binding->Run();
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_THAT(y, ElementsAre(-1, -2));
    EXPECT_EQ(first->at("y").tensor().data(), y.data());
    EXPECT_NE(first->at("z").tensor().owner(), nullptr);

    x = {0, 5};
    auto second = binding->Run();
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_THAT(y, ElementsAre(0, -5));
    EXPECT_EQ(second->at("z").tensor().data<float>()[0], 1);
    EXPECT_EQ(first->at("z").tensor().data<float>()[0], std::exp(-1.0f));  // the first run's own
  }
}

// A later step fails, so nothing can have been copied at the end.
TEST(Binding, ComputesInTheMemoryGiven) {
  for (const char* graph : {
           "g (float[3] x, int64[1] i) => (float[3] y, float[1] z) { y = Neg (x) z = Gather (x, i) }",
           // The memory goes through an overwriting step and a view.
           "g (float[3] x, int64[1] i) => (float[3,1] y, float[1] z) { a = Neg (x) b = Abs (a) c = Neg (b) one = Constant <value_ints = [1]> () y = Unsqueeze (c, one) z = Gather (x, i) }",
           // Its size is known when it is made.
           "g (float[3] x, int64[1] i) => (float[n] y, float[1] z) { k = Greater (x, x) m = Not (k) a = Abs (x) b = Compress (a, m) y = Neg (b) w = Gather (x, i) z = Add (w, w) }",
       }) {
    SCOPED_TRACE(graph);
    const Session session = SessionOf(graph, {.opt_level = 0});
    std::array<float, 3> x = {1, 2, 3}, y = {};
    int64_t i = 7;  // out of range
    const Dims dims = session.outputs()[0].dims.size() == 2 ? Dims{3, 1} : Dims{3};
    auto binding = session.Bind({{"x", Tensor::View(x.data(), {3})}, {"i", Tensor::View(&i, {1})}}, {{"y", Tensor::View(y.data(), dims)}});
    ASSERT_TRUE(binding.ok()) << binding.status();
    EXPECT_EQ(binding->Run().status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(y, ElementsAre(-1, -2, -3));
    i = 2;
    auto outputs = binding->Run();
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(outputs->at("y").tensor().data(), y.data());
    EXPECT_EQ(outputs->at("y").tensor().dims(), dims);
  }
}

TEST(Binding, CopiesWhatLivesElsewhere) {
  const Session session = SessionOf(
      "g (float[2] x, string[2] s) => (float[2] same, float[2] weight, float[2] once, float[1,2] twice, string[2] t, float[k] body)\n"
      "<float[2] w = {8, 9}>\n"
      "{ same = Identity (x) weight = Identity (w) once = Neg (x) shape = Constant <value_ints = [1, 2]> () twice = Reshape (once, shape)\n"
      "  t = Identity (s) yes = Constant <value = bool {1}> ()\n"
      "  body = If (yes) <then_branch = a () => (float[2] p) { p = Neg (x) }, else_branch = b () => (float[2] q) { q = Abs (x) }> }");
  std::array<float, 2> x = {1, 2}, same = {}, weight = {}, once = {}, twice = {}, body = {};
  std::array<std::string, 2> s = {"one", "two, too long to be held without an allocation"}, t;
  auto binding = session.Bind({{"x", Tensor::View(x.data(), {2})}, {"s", Tensor::View(s.data(), {2})}},
                              {{"same", Tensor::View(same.data(), {2})},
                               {"weight", Tensor::View(weight.data(), {2})},
                               {"once", Tensor::View(once.data(), {2})},
                               {"twice", Tensor::View(twice.data(), {1, 2})},
                               {"t", Tensor::View(t.data(), {2})},
                               {"body", Tensor::View(body.data(), {2})}});
  ASSERT_TRUE(binding.ok()) << binding.status();
  auto outputs = binding->Run();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(same, x);
  EXPECT_THAT(weight, ElementsAre(8, 9));
  EXPECT_THAT(once, ElementsAre(-1, -2));
  EXPECT_EQ(twice, once);
  EXPECT_EQ(t, s);
  EXPECT_EQ(body, once);
}

TEST(Binding, OutputsThatAreNotBoundOwnTheirMemory) {
  const Session session = SessionOf(
      "g (float[2] x) => (float[2] y, float[1,2] z, seq(float[2]) list)\n"
      "{ y = Neg (x) shape = Constant <value_ints = [1, 2]> () z = Reshape (y, shape) list = SequenceConstruct (x, y) }");
  std::array<float, 2> x = {1, 2}, y = {};
  auto binding = session.Bind({{"x", Tensor::View(x.data(), {2})}}, {{"y", Tensor::View(y.data(), {2})}});
  ASSERT_TRUE(binding.ok()) << binding.status();
  auto outputs = binding->Run();
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  x = y = {};
  EXPECT_THAT(outputs->at("z").tensor().span<float>(), ElementsAre(-1, -2));
  EXPECT_THAT(outputs->at("list").sequence().items[0].tensor().span<float>(), ElementsAre(1, 2));
  EXPECT_THAT(outputs->at("list").sequence().items[1].tensor().span<float>(), ElementsAre(-1, -2));
}

TEST(Binding, RefusesMemoryThatDoesNotFit) {
  const Session session = SessionOf("g (float[N] x) => (float[N] y, float[2] z) { y = Neg (x) two = Constant <value_ints = [2]> () z = Expand (x, two) }");
  alignas(8) std::array<float, 6> memory = {};
  const Tensor x = Tensor::View(memory.data(), {2}), y = Tensor::View(memory.data() + 2, {2});
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"w", y}})), HasSubstr("no output 'w', expected one of 'y', 'z'"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor()}})), HasSubstr("empty handle"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor::Wrap(DType::kInt32, {2}, y.data())}})), HasSubstr("expected float[N]"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor::View(memory.data(), {1, 2})}})), HasSubstr("rank"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"z", Tensor::View(memory.data() + 2, {3})}})), HasSubstr("'z' has another size on axis 0"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor::View<float>(nullptr, {2})}})), HasSubstr("address 0"));
  void* odd = reinterpret_cast<char*>(y.data()) + 2;
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor::Wrap(DType::kFloat32, {2}, odd)}})), HasSubstr("no multiple of 4"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", Tensor::Wrap(DType::kFloat32, {2}, odd)}}, {})), HasSubstr("input 'x' of type float"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", Tensor::View(memory.data() + 1, {2})}})), HasSubstr("overlaps input 'x'"));
  EXPECT_THAT(ErrorOf(session.Bind({{"x", x}}, {{"y", y}, {"z", Tensor::View(memory.data() + 3, {2})}})),
              HasSubstr("output 'z' overlaps that for output 'y'"));
  EXPECT_THAT(ErrorOf(session.Bind({}, {{"y", y}})), HasSubstr("input 'x' is missing"));

  auto too_small = session.Bind({{"x", x}}, {{"y", Tensor::View(memory.data() + 2, {1})}});
  ASSERT_TRUE(too_small.ok()) << too_small.status();
  const absl::Status status = too_small->Run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("output 'y' is float[2], but the memory given for it float[1]"));
  EXPECT_THAT(memory, ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(Binding, RefusesASizeFoundInTheRun) {
  const Session session = SessionOf("g (float[3] x, bool[3] keep) => (float[n] y) { y = Compress (x, keep) }");
  std::array<float, 3> x = {1, 2, 3}, y = {};
  std::array<bool, 3> keep = {true, false, true};
  auto binding = session.Bind({{"x", Tensor::View(x.data(), {3})}, {"keep", Tensor::View(keep.data(), {3})}}, {{"y", Tensor::View(y.data(), {2})}});
  ASSERT_TRUE(binding.ok()) << binding.status();
  ASSERT_TRUE(binding->Run().ok());
  EXPECT_THAT(y, ElementsAre(1, 3, 0));
  keep[1] = true;
  EXPECT_THAT(std::string(binding->Run().status().message()), HasSubstr("output 'y' is float[3], but the memory given for it float[2]"));
  EXPECT_EQ(y[2], 0);
}

TEST(Binding, ManyOfOneSessionRunAtOnce) {
  const Session session = SessionOf("g (float[N] x) => (float[N] y) { a = Exp (x) y = Log (a) }");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&session, t] {
      std::vector<float> x(100 + t, static_cast<float>(t)), y(x.size());
      const std::array<int64_t, 1> dims = {static_cast<int64_t>(x.size())};
      auto binding = session.Bind({{"x", Tensor::View(x.data(), dims)}}, {{"y", Tensor::View(y.data(), dims)}});
      ASSERT_TRUE(binding.ok()) << binding.status();
      for (int run = 0; run < 20; ++run) {
        std::fill(y.begin(), y.end(), -1.0f);
        ASSERT_TRUE(binding->Run().ok());
        EXPECT_THAT(y, ::testing::Each(::testing::FloatNear(static_cast<float>(t), 1e-5f)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weft
