#include "base/threads.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace weft {
namespace {

namespace fs = std::filesystem;

TEST(AvailableThreads, FollowsTheAffinityMask) {
  EXPECT_GE(AvailableThreads(), 1);
  std::thread([] {
    cpu_set_t mine, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
    EXPECT_LE(AvailableThreads(), CPU_COUNT(&mine));
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &mine)) CPU_SET(cpu, &one);
    }
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(AvailableThreads(), 1);
  }).join();
}

class CgroupThreadsTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int Threads(std::string_view memberships) { return CgroupThreads(memberships, root_.string()); }

  const fs::path root_ = fs::path(testing::TempDir()) / ("cgroup" + std::to_string(getpid()));
};

TEST_F(CgroupThreadsTest, NoQuotaAnywhere) {
  EXPECT_EQ(Threads(""), 0);
  EXPECT_EQ(Threads("0::/\n"), 0);
  Write("cpu.max", "max 100000\n");
  EXPECT_EQ(Threads("0::/\n"), 0);
}

TEST_F(CgroupThreadsTest, Version2RoundsUp) {
  Write("cpu.max", "150000 100000\n");
  EXPECT_EQ(Threads("0::/\n"), 2);
  Write("cpu.max", "200000 100000\n");
  EXPECT_EQ(Threads("0::/\n"), 2);
  Write("cpu.max", "1000 100000\n");
  EXPECT_EQ(Threads("0::/\n"), 1);
}

TEST_F(CgroupThreadsTest, TheLeastQuotaOnTheWayUpCounts) {
  Write("a/cpu.max", "300000 100000");
  Write("a/b/cpu.max", "800000 100000");
  Write("a/b/c/cpu.max", "max 100000");
  EXPECT_EQ(Threads("0::/a/b/c\n"), 3);
  Write("a/b/c/cpu.max", "50000 100000");
  EXPECT_EQ(Threads("0::/a/b/c\n"), 1);
  EXPECT_EQ(Threads("0::/a/b\n"), 3);
  EXPECT_EQ(Threads("0::/other\n"), 0);
}

TEST_F(CgroupThreadsTest, AContainerSeesItsGroupAsTheRoot) {
  Write("cpu.max", "200000 100000");
  EXPECT_EQ(Threads("0::/docker/0123abcd\n"), 2);
}

TEST_F(CgroupThreadsTest, Version1) {
  Write("cpu/g/cpu.cfs_quota_us", "250000\n");
  Write("cpu/g/cpu.cfs_period_us", "100000\n");
  Write("cpu/cpu.cfs_quota_us", "-1\n");
  Write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Threads("9:memory:/g\n4:cpu,cpuacct:/g\n0::/\n"), 3);
  EXPECT_EQ(Threads("4:cpu:/\n"), 0);
  EXPECT_EQ(Threads("4:cpuacct:/g\n"), 0);
}

TEST_F(CgroupThreadsTest, NonsenseIsNoQuota) {
  for (const char* text : {"", "100000", "0 0", "-5 100000", "x y", "100000 0", "nan 1", "1 nan"}) {
    Write("cpu.max", text);
    EXPECT_EQ(Threads("0::/\n"), 0) << text;
  }
  Write("cpu.max", "1e300 1");
  EXPECT_GT(Threads("0::/\n"), 0);
  for (const char* memberships : {":", "::", "0:", "\n\n", "0::", "0::relative/path", "4:cpu:"})
    EXPECT_GE(Threads(memberships), 0);
}

TEST(ParallelFor, CoversEveryIndexOnce) {
  for (int64_t count : {0, 1, 2, 3, 5, 64, 1001}) {
    for (int64_t cost : {int64_t{0}, int64_t{1}, int64_t{1} << 20, INT64_MAX}) {
      std::vector<std::atomic<int>> seen(count);
      ParallelFor(count, cost, [&](int64_t begin, int64_t end) {
        EXPECT_LT(begin, end);
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
  ParallelFor(-1, 1, [](int64_t, int64_t) { ADD_FAILURE(); });
}

TEST(ParallelFor, CountsBeyondAnyProductOfThem) {
  std::atomic<int64_t> sum = 0;
  ParallelFor(INT64_MAX, INT64_MAX, [&](int64_t begin, int64_t end) { sum += end - begin; });
  EXPECT_EQ(sum, INT64_MAX);
}

TEST(ParallelFor, SmallLoopsAndNestedOnesStayOnTheThread) {
  int calls = 0;  // no other thread may touch it
  const std::thread::id caller = std::this_thread::get_id();
  ParallelFor(1000, 1, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 1000);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  omp_set_num_threads(3);
  std::atomic<int> outer = 0, inner = 0;
  ParallelFor(3, 1 << 20, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ++outer;
      ParallelFor(100, 1 << 20, [&](int64_t from, int64_t to) { inner += from == 0 && to == 100; });
    }
  });
  EXPECT_EQ(outer, 3);
  EXPECT_EQ(inner, 3);
}

}  // namespace
}  // namespace weft
