// infer-cli bench: latency and throughput of one model.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "cli/cli.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchCommand {
  std::string model;
  int warmup = 3;
  int64_t iters = 0;
  double duration_s = 3;
  int concurrency = 1;
  CommonOptions common;
};

constexpr int64_t kFewestIterations = 3;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Timing {
  std::vector<double> latencies_ms;  // sorted
  double wall_s = 0;
};

// `concurrency` callers on one session, until the iterations or the time are used up, and at least kFewestIterations in all.
absl::StatusOr<Timing> Measure(const Session& session, const ValueMap& inputs, const BenchCommand& command) {
  std::atomic<int64_t> started{0};
  std::mutex mutex;
  Timing timing;
  absl::Status failure;
  const Clock::time_point start = Clock::now();
  auto caller = [&] {
    std::vector<double> mine;
    absl::Status status;
    while (true) {
      const int64_t i = started.fetch_add(1);
      const bool enough = command.iters > 0 ? i >= std::max(command.iters, kFewestIterations)
                                            : i >= kFewestIterations && MillisecondsSince(start) >= command.duration_s * 1e3;
      if (enough) break;
      const Clock::time_point begin = Clock::now();
      status = session.Run(inputs).status();
      if (!status.ok()) break;
      mine.push_back(MillisecondsSince(begin));
    }
    std::lock_guard lock(mutex);
    timing.latencies_ms.insert(timing.latencies_ms.end(), mine.begin(), mine.end());
    if (failure.ok()) failure = status;
  };
  if (command.concurrency == 1) {
    caller();
  } else {
    std::vector<std::thread> callers;
    for (int i = 0; i < command.concurrency; ++i) callers.emplace_back(caller);
    for (std::thread& thread : callers) thread.join();
  }
  timing.wall_s = MillisecondsSince(start) / 1e3;
  WEFT_RETURN_IF_ERROR(failure);
  std::sort(timing.latencies_ms.begin(), timing.latencies_ms.end());
  return timing;
}

// The smallest sample that `share` of all samples do not exceed (nearest rank).
double Percentile(const std::vector<double>& sorted, double share) {
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

int64_t PeakRssBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

absl::Status Bench(const BenchCommand& command) {
  WEFT_ASSIGN_OR_RETURN(SessionOptions options, command.common.ToSessionOptions());
  WEFT_ASSIGN_OR_RETURN(const Session session, Session::Load(command.model, options));
  WEFT_ASSIGN_OR_RETURN(const ValueMap inputs, MakeInputs(session, command.common));
  const Clock::time_point first = Clock::now();
  WEFT_RETURN_IF_ERROR(session.Run(inputs).status());
  const double first_run_ms = MillisecondsSince(first);
  for (int i = 0; i < command.warmup; ++i) WEFT_RETURN_IF_ERROR(session.Run(inputs).status());
  WEFT_ASSIGN_OR_RETURN(const Timing timing, Measure(session, inputs, command));
  const std::vector<double>& ms = timing.latencies_ms;
  const double mean = std::accumulate(ms.begin(), ms.end(), 0.0) / static_cast<double>(ms.size());
  const double throughput = static_cast<double>(ms.size()) / timing.wall_s;
  const SessionStats stats = session.stats();
  const int threads = options.threads > 0 ? options.threads : AvailableThreads();
  if (command.common.json) {
    nlohmann::ordered_json json;
    json["model"] = command.model;
    json["device"] = options.device;
    json["threads"] = threads;
    json["precision"] = command.common.precision;
    json["load_ms"] = stats.load_ms;
    json["compile_ms"] = stats.compile_ms;
    json["first_run_ms"] = first_run_ms;
    json["iters"] = ms.size();
    json["latency_ms"] = {{"min", ms.front()},           {"mean", mean},
                          {"p50", Percentile(ms, 0.50)}, {"p90", Percentile(ms, 0.90)},
                          {"p95", Percentile(ms, 0.95)}, {"p99", Percentile(ms, 0.99)},
                          {"max", ms.back()}};
    json["throughput_per_s"] = throughput;
    json["memory"] = {{"weights_bytes", stats.weights_bytes},
                      {"arena_bytes", stats.arena_bytes},
                      {"arena_lower_bound_bytes", stats.arena_lower_bound_bytes},
                      {"peak_rss_bytes", PeakRssBytes()}};
    std::cout << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    return absl::OkStatus();
  }
  std::cout << absl::StrFormat("load %.1f ms, compile %.1f ms, first run %.1f ms\n", stats.load_ms, stats.compile_ms, first_run_ms)
            << absl::StrFormat("latency over %d runs, ms: min %.3f  mean %.3f  p50 %.3f  p90 %.3f  p95 %.3f  p99 %.3f  max %.3f\n",
                               ms.size(), ms.front(), mean, Percentile(ms, 0.50), Percentile(ms, 0.90), Percentile(ms, 0.95),
                               Percentile(ms, 0.99), ms.back())
            << absl::StrFormat("throughput %.2f runs/s with %d concurrent caller(s), %d thread(s)\n", throughput,
                               command.concurrency, threads)
            << absl::StrFormat("memory, bytes: weights %d, arena %d (lower bound %d), peak RSS %d\n", stats.weights_bytes,
                               stats.arena_bytes, stats.arena_lower_bound_bytes, PeakRssBytes());
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, int& exit_code) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* sub = app.add_subcommand("bench", "measure a model's latency and throughput");
  sub->add_option("MODEL", command->model, "an ONNX file")->required();
  AddInputOptions(*sub, command->common);
  sub->add_option("--warmup", command->warmup, "runs before the clock starts, besides the first")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI::Option* iters = sub->add_option("--iters", command->iters, "runs to measure (at least 3)")->check(CLI::Range(1, 1000000000));
  sub->add_option("--duration", command->duration_s, "seconds to measure, instead of --iters; at least 3 runs")
      ->check(CLI::Range(1e-6, 1e9))
      ->excludes(iters)
      ->capture_default_str();
  sub->add_option("--concurrency", command->concurrency, "callers at one time on one session")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  AddCommonOptions(*sub, command->common);
  sub->callback([command, &exit_code] {
    const absl::Status status = Bench(*command);
    exit_code = status.ok() ? kDone : Fail(status);
  });
}

}  // namespace weft::cli
