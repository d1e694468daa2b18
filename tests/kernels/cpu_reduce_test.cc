// Reductions of src/kernels/cpu against the reference kernels.
#include "graph/ops/reduce.h"

#include <cmath>
#include <limits>

#include "cpu_case.h"
#include "graph/ops/pool.h"
#include "onednn_case.h"

namespace weft {
namespace {

const Op* const kOps[] = {&ops::ReduceSum, &ops::ReduceMean, &ops::ReduceMax, &ops::ReduceMin};

struct Case {
  Dims dims;
  std::vector<int64_t> axes;  // none: all
};

const Case kCases[] = {
    {{7}, {}},
    {{1}, {0}},
    {{}, {}},
    {{3, 5}, {1}},
    {{3, 5}, {0}},
    {{2, 64, 3}, {1}},
    {{2, 65, 64}, {1}},
    {{4, 130}, {-1}},
    {{130, 65}, {0}},
    {{2, 3, 4, 5}, {2, 3}},
    {{2, 3, 4, 5}, {1, 2}},
    {{2, 3, 1, 5}, {1, 3}},  // neighbours but for an axis of size 1
    {{2, 3, 1, 5}, {2, 3}},
    {{1, 9, 1}, {0, 2}},
    {{5000}, {0}},
    {{5000, 3}, {0}},
    {{3, 5000}, {1}},
    {{300, 200}, {0}},
    {{300, 200}, {1}},
    {{2, 300, 200}, {1}},
};

std::vector<Value> Operands(Tensor x, const std::vector<int64_t>& axes) {
  std::vector<Value> inputs = {Value(std::move(x))};
  if (!axes.empty()) inputs.push_back(Value(Tensor::Of<int64_t>({static_cast<int64_t>(axes.size())}, axes)));
  return inputs;
}

void ExpectAgrees(const Op& op, const Attrs& attrs, const std::vector<Value>& inputs) {
  auto expected = Evaluate(op, attrs, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  Tensor first;
  ForEachInstructionSet([&] {
    auto found = RunOnCpuKernel(op, attrs, inputs);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(FloatsDiffer(*found, (*expected)[0].tensor(), 2e-6), "");
    if (first.empty_handle()) first = *found;
    EXPECT_EQ(FloatsDiffer(*found, first, 0), "") << "other numbers than the baseline";
  });
}

TEST(CpuReduce, AgreesOverTheGrid) {
  RandomTensors random(11);
  for (const Case& c : kCases) {
    const Tensor x = random(c.dims);
    for (const Op* op : kOps) {
      SCOPED_TRACE(absl::StrCat(ToAbsl(op->name), " of ", DimsToString(c.dims)));
      for (int64_t keepdims : {0, 1}) {
        ReduceAttrs attrs;
        attrs.keepdims = keepdims;
        ExpectAgrees(*op, attrs, Operands(x, c.axes));
      }
    }
  }
}

TEST(CpuReduce, GlobalMaxPool) {
  RandomTensors random(12);
  for (const Dims& dims : {Dims{1, 3, 7}, Dims{2, 5, 9, 13}, Dims{1, 2, 3, 4, 5}, Dims{1, 512, 508}, Dims{2, 3, 1}}) {
    SCOPED_TRACE(DimsToString(dims));
    ExpectAgrees(ops::GlobalMaxPool, NoAttrs(), {Value(random(dims))});
  }
}

TEST(CpuReduce, SpecialNumbersWhereverTheyAre) {
  const float inf = std::numeric_limits<float>::infinity();
  for (float special : {std::numeric_limits<float>::quiet_NaN(), inf, -inf, 1e-42f, std::numeric_limits<float>::max()}) {
    for (int64_t at : {0, 1, 63, 64, 129, 199}) {
      RandomTensors random(13);
      Tensor x = random({200, 70});
      for (int64_t j = 0; j < 70; ++j) x.data<float>()[at * 70 + j] = special;
      for (const Op* op : kOps) {
        SCOPED_TRACE(absl::StrCat(ToAbsl(op->name), " with ", special, " at ", at));
        ExpectAgrees(*op, ReduceAttrs(), Operands(x, {0}));
        ExpectAgrees(*op, ReduceAttrs(), Operands(x, {1}));
        ExpectAgrees(*op, ReduceAttrs(), Operands(x, {}));
      }
    }
  }
}

TEST(CpuReduce, NothingButInfinities) {
  for (float value : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Tensor x = *Tensor::Allocate(DType::kFloat32, {3, 100});
    for (float& v : x.span<float>()) v = value;
    for (const Op* op : kOps) ExpectAgrees(*op, ReduceAttrs(), Operands(x, {1}));
  }
}

TEST(CpuReduce, Refusals) {
  RandomTensors random(14);
  auto refused = [&](const ReduceAttrs& attrs, const std::vector<Value>& inputs) {
    return absl::IsUnimplemented(RunOnCpuKernel(ops::ReduceSum, attrs, inputs).status());
  };
  ReduceAttrs noop;
  noop.noop_with_empty_axes = 1;
  EXPECT_TRUE(refused(noop, Operands(random({2, 3}), {})));
  EXPECT_TRUE(refused(ReduceAttrs(), Operands(random({2, 3, 4}), {0, 2})));
  EXPECT_TRUE(refused(ReduceAttrs(), Operands(random({2, 0}), {1})));
  EXPECT_TRUE(refused(ReduceAttrs(), Operands(*Tensor::Allocate(DType::kInt32, {2, 3}), {1})));
}

}  // namespace
}  // namespace weft
