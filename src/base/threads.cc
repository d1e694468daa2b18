#include "base/threads.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace weft {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// ceil(quota / period) of one group's "quota period"; 0 for "max", -1 and what is no number.
int QuotaThreads(std::string_view text) {
  const std::vector<std::string> words = absl::StrSplit(ToAbsl(text), absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double quota = 0, period = 0;
  if (words.size() < 2 || !absl::SimpleAtod(words[0], &quota) || !absl::SimpleAtod(words[1], &period)) return 0;
  if (!(quota > 0) || !(period > 0)) return 0;
  return static_cast<int>(std::min(std::ceil(quota / period), 1e6));
}

}  // namespace

int CgroupThreads(std::string_view memberships, std::string_view root) {
  int least = 0;
  auto meet = [&](const std::string& text) {
    if (const int threads = QuotaThreads(text); threads > 0) least = least == 0 ? threads : std::min(least, threads);
  };
  for (absl::string_view line : absl::StrSplit(ToAbsl(memberships), '\n', absl::SkipEmpty())) {
    // "0::/user.slice" (v2) or "4:cpu,cpuacct:/docker/1" (v1). In a container the path may be the host's: then only ""
    // exists.
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    const bool v2 = fields[1].empty();
    if (!v2 && std::find(controllers.begin(), controllers.end(), "cpu") == controllers.end()) continue;
    std::string group = fields[2];
    while (true) {
      while (!group.empty() && group.back() == '/') group.pop_back();
      if (v2) {
        meet(ReadFile(absl::StrCat(ToAbsl(root), group, "/cpu.max")));
      } else {
        const std::string folder = absl::StrCat(ToAbsl(root), "/cpu", group);
        meet(absl::StrCat(ReadFile(folder + "/cpu.cfs_quota_us"), " ", ReadFile(folder + "/cpu.cfs_period_us")));
      }
      if (group.empty()) break;
      group.resize(group.find_last_of('/') + 1);
    }
  }
  return least;
}

int AvailableThreads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : omp_get_num_procs();
  if (const int quota = CgroupThreads(ReadFile("/proc/self/cgroup"), "/sys/fs/cgroup"); quota > 0)
    count = std::min(count, quota);
  return std::max(count, 1);
}

void ParallelFor(int64_t count, int64_t cost, absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  if (count <= 0) return;
  constexpr double kWorthwhile = 1 << 16;  // operations; a parallel region costs some microseconds
  const double work = static_cast<double>(count) * static_cast<double>(std::max<int64_t>(cost, 1));
  const int64_t most = std::min<int64_t>(omp_in_parallel() ? 1 : omp_get_max_threads(), count);
  const auto threads = static_cast<int64_t>(std::min(static_cast<double>(most), std::floor(work / kWorthwhile) + 1));
  if (threads <= 1) {
    body(0, count);
    return;
  }
  // The first `longer` ranges have one index more than the others.
  const int64_t share = count / threads, longer = count % threads;
#pragma omp parallel for num_threads(static_cast <int>(threads)) schedule(static, 1)
  for (int64_t t = 0; t < threads; ++t) {
    const int64_t begin = t * share + std::min(t, longer);
    body(begin, begin + share + (t < longer ? 1 : 0));
  }
}

}  // namespace weft
