#include "base/threads.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace weft {
namespace {

// Processors by the cgroup's quota (v2, then v1), rounded up; 0 where there is none.
int QuotaThreads() {
  std::string quota;
  double period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> quota >> period) {
    if (quota == "max" || period <= 0) return 0;
    return static_cast<int>(std::ceil(std::atof(quota.c_str()) / period));
  }
  double microseconds = 0;
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> microseconds && v1_period >> period && microseconds > 0 && period > 0) {
    return static_cast<int>(std::ceil(microseconds / period));
  }
  return 0;
}

}  // namespace

int AvailableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : omp_get_num_procs();
  if (const int quota = QuotaThreads(); quota > 0) count = std::min(count, quota);
  return std::max(count, 1);
}

void ParallelFor(int64_t count, int64_t cost, absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  constexpr double kWorthwhile = 1 << 16;  // operations; a parallel region costs some microseconds
  const double work = static_cast<double>(count) * static_cast<double>(std::max<int64_t>(cost, 1));
  const int64_t threads = std::min<int64_t>({omp_get_max_threads(), count, static_cast<int64_t>(work / kWorthwhile) + 1});
  if (threads <= 1 || omp_in_parallel()) {
    if (count > 0) body(0, count);
    return;
  }
#pragma omp parallel for num_threads(static_cast<int>(threads)) schedule(static, 1)
  for (int64_t t = 0; t < threads; ++t) {
    const int64_t begin = count * t / threads, end = count * (t + 1) / threads;
    if (begin < end) body(begin, end);
  }
}

}  // namespace weft
