// Session: names, types and shapes of what goes in and out, who owns it, limits, and many threads on one session.
#include "weft/session.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "../golden/values.h"
#include "onnx/defs/parser.h"
#include "run_text.h"

namespace weft {
namespace {

using ::testing::HasSubstr;

Tensor Floats(std::initializer_list<int64_t> dims, std::initializer_list<float> values) { return Tensor::Of<float>(dims, values); }

absl::StatusOr<Session> SessionOf(const char* graph, SessionOptions options = {}) {
  onnx::ModelProto proto;
  onnx::OnnxParser parser(graph);
  auto status = parser.Parse(*proto.mutable_graph());
  if (!status.IsOK()) return absl::InvalidArgumentError(status.ErrorMessage());
  proto.set_ir_version(10);
  proto.add_opset_import()->set_version(21);
  return Session::LoadFromMemory(proto.SerializeAsString(), std::move(options));
}

void ExpectRefused(const absl::Status& status, absl::StatusCode code, std::initializer_list<const char*> parts) {
  EXPECT_EQ(status.code(), code) << status;
  for (const char* part : parts) EXPECT_THAT(status.message(), HasSubstr(part));
  EXPECT_EQ(status.message().find('\n'), std::string::npos);
}

constexpr char kSum[] = "g (float[N,3] x, float[N,3] y, int64[2] k) => (float[N,3] z, int64[2] j) { z = Add (x, y) j = Neg (k) }";

ValueMap SumInputs() {
  return {{"x", Floats({1, 3}, {1, 2, 3})}, {"y", Floats({1, 3}, {10, 20, 30})}, {"k", Tensor::Of<int64_t>({2}, {4, 5})}};
}

TEST(Session, TellsWhatItTakesAndGives) {
  auto session = SessionOf("g (float[N,3] x, float s, int64[2] k = {1, 2}) => (float[N,3] z) { a = Add (x, s) b = Cast <to = 1> (k) n = ReduceSum (b) z = Mul (a, n) }");
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_EQ(session->inputs().size(), 3u);
  const ValueInfo& x = session->inputs()[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, "float[N,3]");
  EXPECT_EQ(x.kind, ValueKind::kTensor);
  EXPECT_EQ(x.dtype, DType::kFloat32);
  EXPECT_EQ(x.dims, (std::vector<std::string>{"N", "3"}));
  EXPECT_FALSE(x.has_default);
  EXPECT_TRUE(session->inputs()[1].has_rank);
  EXPECT_TRUE(session->inputs()[1].dims.empty());
  EXPECT_EQ(session->inputs()[2].name, "k");
  EXPECT_TRUE(session->inputs()[2].has_default);
  ASSERT_EQ(session->outputs().size(), 1u);
  EXPECT_EQ(session->outputs()[0].type, "float[N,3]");
}

TEST(Session, InputErrorsNameThePlaceWhatIsThereAndWhatIsExpected) {
  auto session = SessionOf(kSum);
  ASSERT_TRUE(session.ok()) << session.status();
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  auto with = [&](const char* name, Value value) {
    ValueMap inputs = SumInputs();
    inputs[name] = std::move(value);
    return session->Run(inputs).status();
  };
  EXPECT_TRUE(session->Run(SumInputs()).ok());
  ExpectRefused(with("w", Floats({1}, {1})), kInvalid, {"'w'", "'x', 'y', 'k'"});
  ExpectRefused(with("X", Floats({1}, {1})), kInvalid, {"'X'"});
  ExpectRefused(with("x", Tensor::Of<int64_t>({1, 3}, {1, 2, 3})), kInvalid, {"'x'", "int64[1,3]", "float[N,3]"});
  ExpectRefused(with("x", Floats({3}, {1, 2, 3})), kInvalid, {"'x'", "rank", "float[3]", "float[N,3]"});
  ExpectRefused(with("x", Floats({1, 2}, {1, 2})), kInvalid, {"'x'", "axis 1", "float[1,2]", "float[N,3]"});
  ExpectRefused(with("k", Tensor::Of<int64_t>({3}, {1, 2, 3})), kInvalid, {"'k'", "int64[3]", "int64[2]"});
  ExpectRefused(with("x", Value(Sequence{{Floats({1}, {1})}, DType::kFloat32})), kInvalid, {"'x'", "seq(", "float[N,3]"});
  ExpectRefused(with("x", Value()), kInvalid, {"'x'", "missing", "float[N,3]"});
  ExpectRefused(with("x", Tensor()), kInvalid, {"'x'", "float[N,3]"});
  ValueMap fewer = SumInputs();
  fewer.erase("y");
  ExpectRefused(session->Run(fewer).status(), kInvalid, {"'y'", "missing", "float[N,3]"});
  // Two sizes under one name, which the node refuses.
  ValueMap other = SumInputs();
  other["x"] = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  other["y"] = Floats({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ExpectRefused(session->Run(other).status(), kInvalid, {"Add", "2", "3"});
  EXPECT_TRUE(session->Run(SumInputs()).ok());
}

TEST(Session, OneNameForTwoSizesThatTheModelTakes) {
  auto session = SessionOf("g (float[N] x, float[N] y) => (float[N] z) { z = Concat <axis = 0> (x, y) }");
  ASSERT_TRUE(session.ok()) << session.status();
  auto outputs = session->Run({{"x", Floats({1}, {1})}, {"y", Floats({2}, {2, 3})}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(CompareValues(Floats({3}, {1, 2, 3}), outputs->at("z"), NumericClass::kExact), "");
}

TEST(Session, ADefaultMayBeOverridden) {
  auto session = SessionOf("g (float[2] x, float[2] w = {1, 2}) => (float[2] y, float[2] w) { y = Add (x, w) }");
  ASSERT_TRUE(session.ok()) << session.status();
  const Tensor x = Floats({2}, {10, 20}), other = Floats({2}, {5, 6});
  for (int round = 0; round < 2; ++round) {
    auto outputs = session->Run({{"x", x}});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(CompareValues(Floats({2}, {11, 22}), outputs->at("y"), NumericClass::kExact), "");
    outputs = session->Run({{"x", x}, {"w", other}});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(CompareValues(Floats({2}, {15, 26}), outputs->at("y"), NumericClass::kExact), "");
    EXPECT_EQ(CompareValues(other, outputs->at("w"), NumericClass::kExact), "");
  }
  ExpectRefused(session->Run({{"x", x}, {"w", Floats({3}, {1, 2, 3})}}).status(), absl::StatusCode::kInvalidArgument, {"'w'", "float[3]", "float[2]"});
}

TEST(Session, OutputsOwnTheirMemory) {
  auto session = SessionOf(R"(g (float[2] x) => (float[2] x, float[2] w, float[2] y, float[1,2] v, float[2] e) < float[2] w = {3, 4} > {
    y = Neg (x)
    shape = Constant <value = int64[2] {1, 2}> ()
    v = Reshape (y, shape)
    e = Identity (x)
  })");
  ASSERT_TRUE(session.ok()) << session.status();
  float memory[2] = {1, 2};
  auto first = session->Run({{"x", Tensor::View(memory, {2})}});
  ASSERT_TRUE(first.ok()) << first.status();
  memory[0] = memory[1] = 99;
  // Whoever writes into one output changes nothing else: not the others, not the weights.
  first->at("w").tensor().data<float>()[0] = 77;
  first->at("y").tensor().data<float>()[0] = 77;
  EXPECT_EQ(CompareValues(Floats({2}, {1, 2}), first->at("x"), NumericClass::kExact), "");
  EXPECT_EQ(CompareValues(Floats({2}, {1, 2}), first->at("e"), NumericClass::kExact), "");
  EXPECT_EQ(CompareValues(Floats({1, 2}, {-1, -2}), first->at("v"), NumericClass::kExact), "");
  auto second = session->Run({{"x", Floats({2}, {5, 6})}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(CompareValues(Floats({2}, {3, 4}), second->at("w"), NumericClass::kExact), "");
  EXPECT_EQ(CompareValues(Floats({1, 2}, {-1, -2}), first->at("v"), NumericClass::kExact), "");
}

TEST(Session, SequencesOwnTheirItems) {
  auto session = SessionOf("g (seq(float[N]) s, bool c) => (seq(float[N]) t) { t = Identity (s) }");
  ASSERT_TRUE(session.ok()) << session.status();
  float memory[2] = {1, 2};
  auto outputs = session->Run({{"s", Value(Sequence{{Tensor::View(memory, {2})}, DType::kFloat32})}, {"c", Tensor::Scalar<bool>(true)}});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  memory[0] = 99;
  EXPECT_EQ(CompareValues(Value(Sequence{{Floats({2}, {1, 2})}, DType::kFloat32}), outputs->at("t"), NumericClass::kExact), "");
}

TEST(Session, OutlivesNothingAfterAMove) {
  auto session = SessionOf(kSum);
  ASSERT_TRUE(session.ok()) << session.status();
  Session moved = *std::move(session);
  EXPECT_TRUE(moved.Run(SumInputs()).ok());
}

// Rows of x in, each times its position; the shape says which row.
constexpr char kThreads[] = R"(g (float[N,M] x, int64 n) => (float[N,M] y, float[] all) < float[1] half = {0.5} > {
  a = Neg (x)
  b = Relu (a)
  c = Mul (b, half)
  y = Add (c, x)
  yes = Constant <value = bool {1}> ()
  last, all = Loop (n, yes, y) <body = b (int64 i, bool go, float[N,M] s) => (bool again, float[N,M] t, float[N,M] u) {
    again = Identity (go)
    t = Add (s, a)
    u = Identity (t)
  }>
})";

TEST(Session, ManyThreadsAtOnce) {
  for (Way way : Ways()) {
    SCOPED_TRACE(way.name);
    way.options.threads = 2;
    auto session = SessionOf(kThreads, way.options);
    ASSERT_TRUE(session.ok()) << session.status();
    std::atomic<int> wrong = 0;
    auto caller = [&](int id) {
      for (int k = 0; k < 40; ++k) {
        const int64_t n = 1 + (id + k) % 5, m = 1 + k % 7;
        Tensor x = *Tensor::Allocate(DType::kFloat32, {n, m}), y = *Tensor::Allocate(DType::kFloat32, {n, m});
        for (int64_t i = 0; i < x.size(); ++i) {
          x.data<float>()[i] = static_cast<float>(2 * ((id * 31 + k + i) % 9 - 4));
          y.data<float>()[i] = x.data<float>()[i] < 0 ? x.data<float>()[i] / 2 : x.data<float>()[i];
        }
        auto outputs = session->Run({{"x", x}, {"n", Tensor::Scalar<int64_t>(3)}});
        if (!outputs.ok() || CompareValues(y, outputs->at("y"), NumericClass::kExact) != "") {
          ++wrong;
          continue;
        }
        const Tensor& all = outputs->at("all").tensor();
        for (int64_t i = 0; i < all.size(); ++i) {
          const int64_t t = i / x.size(), at = i % x.size();
          if (all.data<float>()[i] != y.data<float>()[at] - static_cast<float>(t + 1) * x.data<float>()[at]) ++wrong;
        }
      }
    };
    std::vector<std::thread> callers;
    for (int id = 0; id < 4; ++id) callers.emplace_back(caller, id);
    for (std::thread& thread : callers) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Session, MemoryLimit) {
  SessionOptions options;
  options.memory_limit_bytes = 1 << 16;
  auto session = SessionOf("g (float[N] x) => (float[1] y) { a = Neg (x) b = Concat <axis = 0> (a, x) y = ReduceSum (b) }", options);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(session->Run({{"x", *Tensor::Allocate(DType::kFloat32, {100})}}).ok());
  EXPECT_LE(session->stats().arena_bytes, 1 << 16);
  EXPECT_GE(session->stats().arena_bytes, session->stats().arena_lower_bound_bytes);
  EXPECT_GT(session->stats().arena_lower_bound_bytes, 0);
  ExpectRefused(session->Run({{"x", *Tensor::Allocate(DType::kFloat32, {100000})}}).status(), absl::StatusCode::kResourceExhausted, {"arena", "65536"});
  EXPECT_TRUE(session->Run({{"x", *Tensor::Allocate(DType::kFloat32, {100})}}).ok());
}

TEST(Session, DeadlineAndCancellation) {
  auto session = SessionOf(kSum);
  ASSERT_TRUE(session.ok()) << session.status();
  RunOptions late;
  late.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  ExpectRefused(session->Run(SumInputs(), late).status(), absl::StatusCode::kDeadlineExceeded, {"deadline"});
  const std::atomic<bool> stop = true;
  RunOptions cancelled;
  cancelled.cancelled = &stop;
  ExpectRefused(session->Run(SumInputs(), cancelled).status(), absl::StatusCode::kCancelled, {"cancelled"});
  EXPECT_TRUE(session->Run(SumInputs()).ok());
}

TEST(Session, WhatCannotBeLoaded) {
  ExpectRefused(Session::LoadFromMemory("").status(), absl::StatusCode::kInvalidArgument, {});
  ExpectRefused(Session::LoadFromMemory("not a model").status(), absl::StatusCode::kInvalidArgument, {});
  ExpectRefused(Session::Load("/nowhere/model.onnx").status(), absl::StatusCode::kNotFound, {"/nowhere/model.onnx"});
  SessionOptions elsewhere;
  elsewhere.device = "tpu";
  ExpectRefused(SessionOf(kSum, elsewhere).status(), absl::StatusCode::kUnimplemented, {"tpu", "cpu"});
  SessionOptions misspelt;
  misspelt.disabled_passes = {"fold-constant"};
  ExpectRefused(SessionOf(kSum, misspelt).status(), absl::StatusCode::kInvalidArgument, {"fold-constant", "fold-constants"});
  // All that is missing comes in one message.
  ExpectRefused(SessionOf("g (float[2] x) => (float[2] y) { a = Sqroot (x) y = Cubert (a) }").status(), absl::StatusCode::kUnimplemented, {"Sqroot", "Cubert"});
}

}  // namespace
}  // namespace weft
