// Bodies: what they capture, what they return, and what the outer graph does with the memory of both.
#include <atomic>
#include <chrono>
#include <thread>

#include "run_text.h"

namespace weft {
namespace {

Tensor Floats(std::initializer_list<int64_t> dims, std::initializer_list<float> values) { return Tensor::Of<float>(dims, values); }
Tensor Bool(bool value) { return Tensor::Scalar<bool>(value); }
Tensor Int(int64_t value) { return Tensor::Scalar<int64_t>(value); }

TEST(ControlFlow, IfTakesOneBranchOfOuterValues) {
  const char* text = R"(g (float[2] x, bool c) => (float[2] y, float[2] z) < float[2] w = {10, 20} > {
    a = Neg (x)
    y = If (c) <then_branch = t () => (float[2] p) { p = Add (a, w) }, else_branch = e () => (float[2] q) { q = Sub (a, x) }>
    z = Abs (a)
  })";
  const Tensor x = Floats({2}, {1, -2}), z = Floats({2}, {1, 2});
  ExpectOutputs(text, {x, Bool(true)}, {Floats({2}, {9, 22}), z});
  ExpectOutputs(text, {x, Bool(false)}, {Floats({2}, {-2, 4}), z});
}

TEST(ControlFlow, ABranchMayReturnWhatItCaptures) {
  // y is a itself, whose memory Neg could otherwise take over for z.
  const char* text = R"(g (float[2] x, bool c) => (float[2] z, float[2] s) {
    a = Neg (x)
    y = If (c) <then_branch = t () => (float[2] p) { p = Identity (a) }, else_branch = e () => (float[2] q) { q = Identity (x) }>
    z = Neg (a)
    s = Add (y, y)
  })";
  ExpectOutputs(text, {Floats({2}, {1, -2}), Bool(true)}, {Floats({2}, {1, -2}), Floats({2}, {-2, 4})});
  ExpectOutputs(text, {Floats({2}, {1, -2}), Bool(false)}, {Floats({2}, {1, -2}), Floats({2}, {2, -4})});
}

TEST(ControlFlow, ABranchMayReturnConstantsAndOuterInputsAsGraphOutputs) {
  ExpectOutputs(R"(g (float[2] x, bool c) => (float[2] y, float[2] z) < float[2] w = {7, 8} > {
    y, z = If (c) <then_branch = t () => (float[2] p, float[2] r) { p = Identity (w) r = Identity (x) },
                   else_branch = e () => (float[2] q, float[2] s) { q = Identity (x) s = Identity (x) }>
  })", {Floats({2}, {1, 2}), Bool(true)}, {Floats({2}, {7, 8}), Floats({2}, {1, 2})});
}

TEST(ControlFlow, BranchesOfDifferentShapes) {
  const char* text = R"(g (float[2,2] x, bool c) => (float[] y, int64[] s) < int64[1] flat = {-1} > {
    y = If (c) <then_branch = t () => (float[4] p) { p = Reshape (x, flat) }, else_branch = e () => (float[2,2] q) { q = Neg (x) }>
    s = Shape (y)
  })";
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  ExpectOutputs(text, {x, Bool(true)}, {Floats({4}, {1, 2, 3, 4}), Tensor::Of<int64_t>({1}, {4})});
  ExpectOutputs(text, {x, Bool(false)}, {Floats({2, 2}, {-1, -2, -3, -4}), Tensor::Of<int64_t>({2}, {2, 2})});
}

TEST(ControlFlow, LoopCarriesScansAndReadsOuterValues) {
  const char* text = R"(g (float[2] x, int64 n) => (float[2] last, float[] all, float[2] a) < bool yes = {1} > {
    a = Neg (x)
    last, all = Loop (n, yes, x) <body = b (int64 i, bool go, float[2] s) => (bool again, float[2] t, float[2] u) {
      again = Identity (go)
      t = Add (s, a)
      u = Mul (t, a)
    }>
  })";
  const Tensor x = Floats({2}, {1, -2}), a = Floats({2}, {-1, 2});
  ExpectOutputs(text, {x, Int(3)}, {Floats({2}, {-2, 4}), Floats({3, 2}, {-0.0f, 0, 1, 4, 2, 8}), a});
  ExpectOutputs(text, {x, Int(0)}, {x, Floats({0, 2}, {}), a});
}

TEST(ControlFlow, LoopEndsByItsCondition) {
  ExpectOutputs(R"(g (float x, float limit) => (float y, int64[] i) < bool yes = {1}, int64 many = {1000000} > {
    y, i = Loop (many, yes, x) <body = b (int64 k, bool go, float s) => (bool again, float t, int64 j) {
      t = Add (s, s)
      again = Less (t, limit)
      j = Identity (k)
    }>
  })", {Floats({}, {1}), Floats({}, {10})}, {Floats({}, {16}), Tensor::Of<int64_t>({4}, {0, 1, 2, 3})});
}

TEST(ControlFlow, LoopStatesThatTradePlaces) {
  // Each iteration's results are the other's arguments: the body's memory must not be reused beneath them.
  ExpectOutputs(R"(g (float[2] x, float[2] y, int64 n) => (float[2] p, float[2] q) < bool yes = {1} > {
    p, q = Loop (n, yes, x, y) <body = b (int64 i, bool go, float[2] s, float[2] t) => (bool again, float[2] u, float[2] v) {
      again = Identity (go)
      u = Neg (t)
      v = Identity (s)
    }>
  })", {Floats({2}, {1, 2}), Floats({2}, {10, 20}), Int(3)}, {Floats({2}, {10, 20}), Floats({2}, {-1, -2})});
}

TEST(ControlFlow, LoopStatesThatGrow) {
  ExpectOutputs(R"(g (float[N] x, int64 n) => (float[] y) < bool yes = {1} > {
    y = Loop (n, yes, x) <body = b (int64 i, bool go, float[] s) => (bool again, float[] t) {
      again = Identity (go)
      a = Neg (s)
      t = Concat <axis = 0> (a, x)
    }>
  })", {Floats({1}, {1}), Int(4)}, {Floats({5}, {1, -1, 1, -1, 1})});
}

TEST(ControlFlow, ScanOverRowsWithAnOuterValue) {
  ExpectOutputs(R"(g (float[T,2] x, float[2] w) => (float[2] sum, float[] prefix, float[2] a) {
    a = Neg (w)
    zero = Sub (w, w)
    sum, prefix = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] row) => (float[2] t, float[2] u) {
      m = Mul (row, a)
      t = Add (s, m)
      u = Identity (t)
    }> (zero, x)
  })", {Floats({3, 2}, {1, 2, 3, 4, 5, 6}), Floats({2}, {1, -1})},
                {Floats({2}, {-9, 12}), Floats({3, 2}, {-1, 2, -4, 6, -9, 12}), Floats({2}, {-1, 1})});
}

TEST(ControlFlow, BodiesInBodiesReadThroughAllScopes) {
  ExpectOutputs(R"(g (float[2] x, int64 n, bool c) => (float[2] y) < bool yes = {1} > {
    a = Neg (x)
    y = Loop (n, yes, x) <body = b (int64 i, bool go, float[2] s) => (bool again, float[2] t) {
      again = Identity (go)
      h = Mul (s, a)
      t = If (c) <then_branch = p () => (float[2] u) { u = Add (h, a) }, else_branch = q () => (float[2] v) { v = Identity (h) }>
    }>
  })", {Floats({2}, {2, 3}), Int(2), Bool(true)}, {Floats({2}, {10, 33})});
}

constexpr char kEndless[] = R"(g (float x) => (float y) < bool yes = {1} > {
  y = Loop ("", yes, x) <body = b (int64 i, bool go, float s) => (go, s) { }>
})";

TEST(ControlFlow, ALoopWithoutEndStopsAtTheDeadline) {
  for (const Way& way : Ways()) {
    auto program = CompileText(kEndless, way.options);
    ASSERT_TRUE(program.ok()) << program.status();
    Execution execution(**program);
    RunControl control;
    control.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    auto outputs = RunOn(execution, {Floats({}, {1})}, control);
    EXPECT_EQ(outputs.status().code(), absl::StatusCode::kDeadlineExceeded) << way.name << ": " << outputs.status();
  }
}

TEST(ControlFlow, ALoopWithoutEndCanBeCancelled) {
  auto program = CompileText(kEndless);
  ASSERT_TRUE(program.ok()) << program.status();
  Execution execution(**program);
  std::atomic<bool> cancelled = false;
  RunControl control;
  control.cancelled = &cancelled;
  std::thread other([&] { cancelled = true; });
  auto outputs = RunOn(execution, {Floats({}, {1})}, control);
  other.join();
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kCancelled) << outputs.status();
}

TEST(ControlFlow, AnErrorInABodySaysWhere) {
  auto program = CompileText(R"(g (float[4] x, int64[k] shape, bool c) => (float[] y) {
    [choice] y = If (c) <then_branch = t () => (float[] p) { [bend] p = Reshape (x, shape) }, else_branch = e () => (float[4] q) { q = Identity (x) }>
  })");
  ASSERT_TRUE(program.ok()) << program.status();
  Execution execution(**program);
  const std::vector<Value> bad = {Floats({4}, {1, 2, 3, 4}), Tensor::Of<int64_t>({1}, {5}), Bool(true)};
  auto outputs = RunOn(execution, bad);
  EXPECT_EQ(outputs.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"choice", "then_branch", "bend"}) EXPECT_TRUE(outputs.status().message().find(part) != std::string::npos) << outputs.status();
  // The branch that is not taken is not looked at.
  outputs = RunOn(execution, {bad[0], bad[1], Bool(false)});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
}

}  // namespace
}  // namespace weft
