// Lowering: which kernels are chosen and why, weights counted once, and the plans a program keeps.
#include "runtime/program.h"

#include <gmock/gmock.h>

#include "run_text.h"
#include "runtime/plan.h"

namespace weft {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Value Zeros(std::initializer_list<int64_t> dims) { return *Tensor::Allocate(DType::kFloat32, absl::MakeConstSpan(dims.begin(), dims.size())); }

TEST(Program, AKernelIsChosenAndTheRefusedSayWhy) {
  const char* text = R"(g (float[1,1,3,3] x, float[1,1,2,2] w) => (float[] y, float[] z) < float[1,1,2,2] k = {1, 2, 3, 4} > {
    y = Conv (x, k)
    z = Conv (x, w)
  })";
  auto program = CompileText(text, Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<Step>& steps = (*program)->steps();
  EXPECT_EQ(steps[0].kernel->name, "onednn.conv");
  EXPECT_THAT(steps[0].refused, IsEmpty());
  EXPECT_EQ(steps[0].fallback->name, "ref");
  EXPECT_EQ(steps[1].kernel->name, "ref");
  EXPECT_THAT(steps[1].refused, ElementsAre("onednn.conv: the weight is no constant"));
  program = CompileText(text, Ways()[2].options);  // reference kernels alone
  ASSERT_TRUE(program.ok()) << program.status();
  for (const Step& step : (*program)->steps()) EXPECT_EQ(step.kernel->name, "ref");
}

TEST(Program, WeightsCountOnceHoweverManyBodiesReadThem) {
  auto program = CompileText(R"(g (float[4] x, bool c) => (float[4] y, float[4] z) < float[4] w = {1, 2, 3, 4} > {
    y = If (c) <then_branch = t () => (float[4] p) { p = Add (x, w) }, else_branch = e () => (float[4] q) { q = Sub (x, w) }>
    z = Mul (x, w)
  })", Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ((*program)->WeightsBytes(), 16);
}

TEST(Program, PlansAreKeptBySignature) {
  auto program = CompileText("g (float[M,N] x, float[] s) => (float[M,N] y) { y = Add (x, s) }");
  ASSERT_TRUE(program.ok()) << program.status();
  auto bind = [&](const Value& x, const Value& s) { return *(*program)->Bind({&x, &s}); };
  const auto plan = bind(Zeros({2, 3}), Zeros({}));
  EXPECT_EQ(bind(Zeros({2, 3}), Zeros({})), plan);
  EXPECT_NE(bind(Zeros({3, 2}), Zeros({})), plan);
  EXPECT_NE(bind(Zeros({2, 3}), Zeros({1})), plan) << "another rank";
  EXPECT_EQ(bind(Zeros({2, 3}), Zeros({})), plan);
  // The last ones used stay; what was pushed out is planned again.
  for (int64_t m = 10; m < 50; ++m) {
    bind(Zeros({m, 1}), Zeros({}));
    if (m >= 30) continue;
    EXPECT_EQ(bind(Zeros({2, 3}), Zeros({})), plan) << m;
  }
  EXPECT_NE(bind(Zeros({2, 3}), Zeros({})), plan);
}

TEST(Program, WhatShapesDecideIsComputedWhenPlanned) {
  auto program = CompileText(R"(g (float[N,3] x) => (float[] y) < int64[1] front = {0}, int64[1] minus = {-1} > {
    s = Shape (x)
    n = Gather (s, front)
    flat = Concat <axis = 0> (n, minus)
    y = Reshape (x, flat)
  })", Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  const Value x = Zeros({5, 3});
  auto plan = (*program)->Bind({&x});
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::vector<StepPlan::When> when;
  for (const StepPlan& step : (*plan)->steps) when.push_back(step.when);
  EXPECT_THAT(when, ElementsAre(StepPlan::When::kSkip, StepPlan::When::kSkip, StepPlan::When::kSkip, StepPlan::When::kView));
  EXPECT_EQ((*plan)->arenas[0].bytes, 0);
}

TEST(Program, AChainTakesTheMemoryOfOneValue) {
  auto program = CompileText("g (float[N] x) => (float[] y) { a = Exp (x) b = Neg (a) c = Sqrt (b) d = Abs (c) y = ReduceSum (d) }", Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  const Value x = Zeros({1024});
  auto plan = (*program)->Bind({&x});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ((*plan)->arenas[0].bytes, 4096);
  EXPECT_EQ((*plan)->arenas[0].lower_bound, 4096);
}

TEST(Program, TooLargeForAnyMemory) {
  auto program = CompileText("g (float[N] x, float[M,1] z) => (float[] y) { a = Add (x, z) b = Exp (a) y = ReduceSum (b) }", Ways()[1].options);
  ASSERT_TRUE(program.ok()) << program.status();
  // Of a size that could be had; what is made of it could not.
  float one = 1;
  const Value x = Tensor::View(&one, {int64_t{1} << 33}), z = Tensor::View(&one, {int64_t{1} << 33, 1});
  auto plan = (*program)->Bind({&x, &z});
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kResourceExhausted) << plan.status();
}

}  // namespace
}  // namespace weft
