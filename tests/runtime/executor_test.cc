// What a run computes where values share memory: views, steps that overwrite an input, outputs that are inputs, constants or each other.
#include "runtime/executor.h"

#include "run_text.h"

namespace weft {
namespace {

Tensor Floats(std::initializer_list<int64_t> dims, std::initializer_list<float> values) { return Tensor::Of<float>(dims, values); }
Tensor Ints(std::initializer_list<int64_t> dims, std::initializer_list<int64_t> values) { return Tensor::Of<int64_t>(dims, values); }

TEST(Executor, NoStepOverwritesWhatIsReadLater) {
  // a is read by both; the last reader alone may overwrite it.
  ExpectOutputs(R"(g (float[2] x) => (float[2] y) {
    a = Neg (x)
    b = Abs (a)
    c = Relu (a)
    d = Add (b, a)
    y = Add (d, c)
  })", {Floats({2}, {1, -3})}, {Floats({2}, {0, 9})});
}

TEST(Executor, NoStepOverwritesInputsAndConstants) {
  ExpectOutputs(R"(g (float[2] x) => (float[2] y, float[2] z) < float[2] w = {4, -5} > {
    y = Neg (x)
    z = Neg (w)
  })", {Floats({2}, {1, -3})}, {Floats({2}, {-1, 3}), Floats({2}, {-4, 5})});
}

TEST(Executor, NoStepOverwritesThroughAView) {
  // v and s lie in a's memory: Relu must not write there while s is to be read, nor into the input behind r.
  ExpectOutputs(R"(g (float[2,2] x) => (float[4] y, float[4] z, float[4] q) < int64[1] flat = {-1} > {
    a = Neg (x)
    v = Reshape (a, flat)
    s = Identity (v)
    y = Relu (v)
    z = Abs (s)
    r = Reshape (x, flat)
    q = Neg (r)
  })", {Floats({2, 2}, {1, -2, 3, -4})}, {Floats({4}, {0, 2, 0, 4}), Floats({4}, {1, 2, 3, 4}), Floats({4}, {-1, 2, -3, 4})});
}

TEST(Executor, OneMemoryTwiceInOneStep) {
  ExpectOutputs(R"(g (float[2] x) => (float[2] y, float[2] z) < int64[1] two = {2} > {
    a = Neg (x)
    b = Identity (a)
    y = Mul (a, b)
    c = Abs (x)
    d = Reshape (c, two)
    t = Sub (c, d)
    z = Add (t, t)
  })", {Floats({2}, {2, -3})}, {Floats({2}, {4, 9}), Floats({2}, {0, 0})});
}

TEST(Executor, AStepThatBroadcastsKeepsItsSmallerInput) {
  ExpectOutputs(R"(g (float[2,2] x, float[2] r) => (float[2,2] y, float[2] z) {
    a = Neg (r)
    y = Add (x, a)
    z = Relu (a)
  })", {Floats({2, 2}, {1, 2, 3, 4}), Floats({2}, {10, -20})}, {Floats({2, 2}, {-9, 22, -7, 24}), Floats({2}, {0, 20})});
}

TEST(Executor, AnOutputThatIsReadAgainStays) {
  ExpectOutputs(R"(g (float[2] x) => (float[2] a, float[2] b, float[2] c) {
    a = Neg (x)
    b = Relu (a)
    c = Neg (b)
  })", {Floats({2}, {1, -3})}, {Floats({2}, {-1, 3}), Floats({2}, {0, 3}), Floats({2}, {-0.0f, -3})});
}

TEST(Executor, OutputsThatAreInputsConstantsViewsOrListedTwice) {
  ExpectOutputs(R"(g (float[2] x) => (x, w, y, y, v, e) < float[2] w = {7, 8}, int64[2] shape = {1, 2} > {
    y = Neg (x)
    v = Reshape (y, shape)
    e = Reshape (x, shape)
  })", {Floats({2}, {1, 2})},
                {Floats({2}, {1, 2}), Floats({2}, {7, 8}), Floats({2}, {-1, -2}), Floats({2}, {-1, -2}), Floats({1, 2}, {-1, -2}), Floats({1, 2}, {1, 2})});
}

TEST(Executor, GraphWithoutNodes) { ExpectOutputs("g (float[1] x) => (x) { }", {Floats({1}, {1})}, {Floats({1}, {1})}); }

TEST(Executor, EmptyTensors) {
  ExpectOutputs(R"(g (float[N,2] x) => (float[] y, int64[2] n, float[] c, float[2] s) < int64[1] axes = {0} > {
    a = Neg (x)
    y = Relu (a)
    n = Shape (y)
    c = Concat <axis = 0> (y, x)
    s = ReduceSum <keepdims = 0> (c, axes)
  })", {Floats({0, 2}, {})}, {Floats({0, 2}, {}), Ints({2}, {0, 2}), Floats({0, 2}, {}), Floats({2}, {0, 0})});
  ExpectOutputs(R"(g (float[2,0] a, float[0,3] b) => (float[2,3] y) { y = MatMul (a, b) })", {Floats({2, 0}, {}), Floats({0, 3}, {})},
                {Floats({2, 3}, {0, 0, 0, 0, 0, 0})});
}

TEST(Executor, Scalars) {
  ExpectOutputs("g (float x) => (float y, int64[0] s) { y = Neg (x) s = Shape (y) }", {Floats({}, {2})}, {Floats({}, {-2}), Ints({0}, {})});
}

TEST(Executor, SizesThatTheRunDecides) {
  // The sizes of r, of its views and of what is computed from it are elements of an input.
  const char* text = R"(g (float[4] x, int64 n) => (int64[] r, int64[] y, int64[] twice, float[] z, float[4] b)
  < int64 zero = {0}, int64 one = {1}, int64[1] flat = {-1}, int64[1] start = {0}, float[2] w = {5, 6} > {
    a = Neg (x)
    r = Range (zero, n, one)
    v = Reshape (r, flat)
    y = Neg (v)
    twice = Add (v, v)
    end = Reshape (n, flat)
    head = Slice (a, start, end)
    z = Concat <axis = 0> (head, w, head)
    b = Abs (a)
  })";
  const Tensor x = Floats({4}, {1, -2, 3, -4}), b = Floats({4}, {1, 2, 3, 4});
  ExpectOutputs(text, {x, Ints({}, {3})},
                {Ints({3}, {0, 1, 2}), Ints({3}, {0, -1, -2}), Ints({3}, {0, 2, 4}), Floats({8}, {-1, 2, -3, 5, 6, -1, 2, -3}), b});
  ExpectOutputs(text, {x, Ints({}, {0})}, {Ints({0}, {}), Ints({0}, {}), Ints({0}, {}), Floats({2}, {5, 6}), b});
}

TEST(Executor, ShapesThatAnInputHolds) {
  ExpectOutputs(R"(g (float[2,2] x, int64[k] shape, int64[k] sizes) => (float[] y, float[] z) {
    a = Neg (x)
    v = Reshape (a, shape)
    y = Abs (v)
    z = Expand (v, sizes)
  })", {Floats({2, 2}, {1, 2, 3, 4}), Ints({3}, {1, 4, 1}), Ints({3}, {1, 4, 2})},
                {Floats({1, 4, 1}, {1, 2, 3, 4}), Floats({1, 4, 2}, {-1, -1, -2, -2, -3, -3, -4, -4})});
}

TEST(Executor, AViewOfAnotherSizeIsRefused) {
  for (const Way& way : Ways()) {
    auto program = CompileText("g (float[4] x, int64[k] shape) => (float[] y) { y = Reshape (x, shape) }", way.options);
    ASSERT_TRUE(program.ok()) << program.status();
    Execution execution(**program);
    auto outputs = RunOn(execution, {Floats({4}, {1, 2, 3, 4}), Ints({2}, {100, 100})});
    EXPECT_EQ(outputs.status().code(), absl::StatusCode::kInvalidArgument) << way.name << ": " << outputs.status();
    // And the execution is as good as before.
    outputs = RunOn(execution, {Floats({4}, {1, 2, 3, 4}), Ints({1}, {4})});
    EXPECT_TRUE(outputs.ok()) << way.name << ": " << outputs.status();
  }
}

TEST(Executor, OmittedOutputsAreNotMade) {
  ExpectOutputs(R"(g (float[2] x) => (float[1] b) { "", b = Split <num_outputs = 2> (x) })", {Floats({2}, {1, 9})}, {Floats({1}, {9})});
}

TEST(Executor, ManyShapesInOneExecution) {
  for (const Way& way : Ways()) {
    auto program = CompileText("g (float[M,N] x) => (float[M,N] y, int64[2] s) { a = Neg (x) b = Abs (a) y = Sub (b, a) s = Shape (b) }", way.options);
    ASSERT_TRUE(program.ok()) << program.status();
    Execution execution(**program);
    // More signatures than plans are kept, growing and shrinking, and back again.
    for (int i = 0; i < 60; ++i) {
      const int64_t m = i * 7 % 25, n = 1 + i % 3;
      Tensor x = *Tensor::Allocate(DType::kFloat32, {m, n}), y = *Tensor::Allocate(DType::kFloat32, {m, n});
      for (int64_t k = 0; k < x.size(); ++k) {
        x.data<float>()[k] = static_cast<float>(k - 3);
        y.data<float>()[k] = k < 3 ? 0.0f : static_cast<float>(2 * (k - 3));
      }
      auto outputs = RunOn(execution, {x});
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      EXPECT_EQ(CompareValues(y, (*outputs)[0], NumericClass::kExact), "") << way.name << ", " << m << " by " << n;
      EXPECT_EQ(CompareValues(Ints({2}, {m, n}), (*outputs)[1], NumericClass::kExact), "");
    }
  }
}

TEST(Executor, ResultsOutliveTheNextRun) {
  auto program = CompileText("g (float[2] x) => (float[2] y, float[2] v) { a = Neg (x) y = Abs (a) v = Identity (y) }", Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  auto execution = std::make_unique<Execution>(**program);
  auto first = RunOn(*execution, {Floats({2}, {1, 2})});
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(RunOn(*execution, {Floats({2}, {30, 40})}).ok());
  execution.reset();
  EXPECT_EQ(CompareValues(Floats({2}, {1, 2}), (*first)[0], NumericClass::kExact), "");
  EXPECT_EQ(CompareValues(Floats({2}, {1, 2}), (*first)[1], NumericClass::kExact), "");
}

}  // namespace
}  // namespace weft
