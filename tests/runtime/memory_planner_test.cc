#include "runtime/memory_planner.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(LowerBound, IsTheMostBytesAliveAtOneTime) {
  EXPECT_EQ(LowerBound({}), 0);
  const std::vector<Buffer> buffers = {{0, 2, 10}, {1, 3, 5}, {2, 4, 7}};
  EXPECT_EQ(LowerBound(buffers), 15);  // half-open lifespans: the first ends as the third begins
}

TEST(PlanGreedy, SharesAddressesBetweenLifespansThatDoNotMeet) {
  const std::vector<Buffer> buffers = {{0, 2, 64}, {2, 4, 64}, {4, 6, 64}};
  const MemoryPlan plan = PlanGreedy(buffers);
  EXPECT_EQ(plan.height, 64);
  EXPECT_EQ(plan.lower_bound, 64);
  EXPECT_TRUE(ValidatePlan(buffers, plan).ok());
}

TEST(PlanGreedy, AlignsOffsets) {
  const std::vector<Buffer> buffers = {{0, 2, 10, 64}, {0, 2, 10, 64}, {0, 2, 3, 1}};
  const MemoryPlan plan = PlanGreedy(buffers);
  EXPECT_TRUE(ValidatePlan(buffers, plan).ok());
  EXPECT_EQ(plan.offsets[0] % 64, 0);
  EXPECT_EQ(plan.offsets[1] % 64, 0);
}

TEST(PlanGreedy, IsValidAndWithinItsBoundsOnRandomProblems) {
  std::mt19937 rng(1);
  for (int problem = 0; problem < 200; ++problem) {
    std::vector<Buffer> buffers(1 + rng() % 60);
    for (Buffer& b : buffers) {
      b.lower = rng() % 40;
      b.upper = b.lower + 1 + rng() % 12;
      b.size = 1 + rng() % 5000;
      b.alignment = rng() % 2 ? 64 : 1;
    }
    const MemoryPlan plan = PlanGreedy(buffers);
    ASSERT_TRUE(ValidatePlan(buffers, plan).ok()) << ValidatePlan(buffers, plan);
    EXPECT_GE(plan.height, plan.lower_bound);
    EXPECT_EQ(plan.lower_bound, LowerBound(buffers));
  }
}

TEST(ValidatePlan, SeesWhatIsWrong) {
  const std::vector<Buffer> buffers = {{0, 2, 10, 1}, {1, 3, 10, 8}};
  MemoryPlan plan{{0, 16}, 26, 20};
  EXPECT_TRUE(ValidatePlan(buffers, plan).ok());
  EXPECT_FALSE(ValidatePlan(buffers, MemoryPlan{{0, 8}, 18, 20}).ok());   // overlap
  EXPECT_FALSE(ValidatePlan(buffers, MemoryPlan{{0, 12}, 22, 20}).ok());  // not aligned
  EXPECT_FALSE(ValidatePlan(buffers, MemoryPlan{{-16, 16}, 26, 20}).ok());
  EXPECT_FALSE(ValidatePlan(buffers, MemoryPlan{{0, 16}, 25, 20}).ok());  // another height
  EXPECT_FALSE(ValidatePlan(buffers, MemoryPlan{{0}, 10, 20}).ok());
}

}  // namespace
}  // namespace weft
