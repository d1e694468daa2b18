// Session: a model compiled for this machine, ready to run.
#ifndef WEFT_SESSION_H_
#define WEFT_SESSION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weft/export.h"
#include "weft/value.h"

namespace weft WEFT_API {

struct SessionOptions {
  std::string device = "cpu";
  int threads = 0;        // threads that all runs of this session share; 0: as many as this process may use
  int opt_level = 3;      // 0: no passes; 3: all
  std::vector<std::string> disabled_passes = {};  // by name, see docs/architecture.md
  bool strict_math = false;                  // only passes that never change a bit of the result
  bool reference_kernels = false;            // only the plain kernels that are the oracle of all others
  bool check_plans = false;                  // validate every memory plan, pair by pair
  bool verify_passes = false;                // check every invariant of the graph behind each pass
  int64_t memory_limit_bytes = 0;            // of the planned arena; 0: none
  // Called behind each pass that changed the graph, with the graph as text.
  std::function<void(std::string_view pass, const std::string& graph)> print_changed = {};
};

// A named input or output of a model.
struct ValueInfo {
  std::string name;
  std::string type;  // ONNX text, e.g. "float[N,3,224,224]", "seq(map(int64, float))"
  ValueKind kind = ValueKind::kUnknown;
  DType dtype = DType::kUndefined;  // of a tensor; kUndefined else
  bool has_rank = false;            // of a tensor
  std::vector<std::string> dims;  // "3", "N", "2*N + 1"; one an axis where has_rank
  bool has_default = false;       // an initialiser that a run may override
};

struct RunOptions {
  const std::atomic<bool>* cancelled = nullptr;                     // set it to stop the run between steps: Cancelled
  std::optional<std::chrono::steady_clock::time_point> deadline = {};  // past it the run stops: DeadlineExceeded
  uint64_t seed = 0;                                                // of random operators without a seed attribute
};

using ValueMap = std::map<std::string, Value, std::less<>>;
using TensorMap = std::map<std::string, Tensor, std::less<>>;

struct SessionStats {
  double load_ms = 0;     // reading and importing the file
  double compile_ms = 0;  // inference, passes, lowering
  int64_t weights_bytes = 0;
  int64_t arena_bytes = 0;              // of the last run's plan
  int64_t arena_lower_bound_bytes = 0;  // no plan of it can be lower
};

class Binding;

class Session {
 public:
  // Loads and compiles an ONNX file; external data is looked for beneath its folder.
  // Errors: InvalidArgument, NotFound (the file or what it says is wrong), Unimplemented (operators or types Weft lacks: all of them in one
  // message), ResourceExhausted.
  static absl::StatusOr<Session> Load(std::string_view path, SessionOptions options = {});
  // The same from bytes in memory; external data is looked for beneath `base_dir` (empty: refused).
  static absl::StatusOr<Session> LoadFromMemory(std::string_view bytes, SessionOptions options = {}, std::string_view base_dir = "");

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // In the model's order; `inputs` also lists initialisers that may be overridden (has_default).
  const std::vector<ValueInfo>& inputs() const;
  const std::vector<ValueInfo>& outputs() const;

  // Runs the model: every input without a default by its name in, every output by its name out. Safe to call from many threads at once.
  // Outputs own their memory. Errors: InvalidArgument for a missing or unknown name, a wrong type or shape, or values the model refuses.
  absl::StatusOr<ValueMap> Run(const ValueMap& inputs, const RunOptions& options = {}) const;

  // A run, again and again, on the same memory of the caller's: inputs are read where they lie, as Run does, and the outputs named in
  // `outputs` are written to the tensors given for them. An output that the model computes is computed in that memory; one that is an
  // input, a weight or a view of another output, whose size the model decides in the run, or that holds strings, may be copied to it.
  // The session must outlive the binding.
  // Errors: as Run's, and InvalidArgument for an output that the model does not have, of another type or size, misaligned, or whose memory
  // overlaps an input's or another output's.
  absl::StatusOr<Binding> Bind(ValueMap inputs, TensorMap outputs) const;

  SessionStats stats() const;

 private:
  friend class Binding;
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What Session::Bind gives. Not for two threads at once, as two runs would write the same outputs; several bindings of one session are.
class Binding {
 public:
  Binding(Binding&&) noexcept;
  Binding& operator=(Binding&&) noexcept;
  ~Binding();

  // Every output by its name: those bound are handles on the caller's memory, the others own theirs. After an error, what the bound
  // memory holds is undefined. Errors: as Session::Run's, and InvalidArgument where the dims that an output has in this run are not those
  // of the memory bound to it.
  absl::StatusOr<ValueMap> Run(const RunOptions& options = {}) const;

 private:
  friend class Session;
  struct Call;
  explicit Binding(std::unique_ptr<Call> call);
  std::unique_ptr<Call> call_;
};

}  // namespace weft

#endif  // WEFT_SESSION_H_
