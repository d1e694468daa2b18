// Loops over the threads that this run of a session was given.
#ifndef WEFT_BASE_THREADS_H_
#define WEFT_BASE_THREADS_H_

#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"

namespace weft {

// Processors this process may use: the affinity mask and the cgroup quota, not the host's count. At least 1.
int AvailableThreads();

// The processors, rounded up, that cgroups leave a process: the least quota (v2 cpu.max or v1 cpu.cfs_quota_us) among
// its own group and those above. `memberships` is the text of /proc/self/cgroup, `root` the folder cgroups are mounted
// on. 0 where no group has a quota.
int CgroupThreads(std::string_view memberships, std::string_view root);

// Calls body(begin, end) over disjoint ranges that cover [0, count), on at most omp_get_max_threads() threads. `cost`
// is a rough count of operations per index: loops below about 64k operations in all run on the calling thread, as do
// those within a parallel region.
void ParallelFor(int64_t count, int64_t cost, absl::FunctionRef<void(int64_t begin, int64_t end)> body);

}  // namespace weft

#endif  // WEFT_BASE_THREADS_H_
