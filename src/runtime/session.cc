#include "weft/session.h"

#include <omp.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "graph/onnx/import.h"
#include "runtime/caller_values.h"
#include "runtime/compile.h"
#include "runtime/executor.h"

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The threads of a session, shared by its runs: a run takes what is free, at least one, and waits while there is none. Without it each
// calling thread would get an OpenMP team of full size.
class ThreadBudget {
 public:
  explicit ThreadBudget(int threads) : free_(threads) {}

  class Grant {
   public:
    explicit Grant(ThreadBudget& budget) : budget_(budget), threads_(budget.Take()), before_(omp_get_max_threads()) {
      omp_set_num_threads(threads_);
    }
    ~Grant() {
      omp_set_num_threads(before_);
      budget_.Return(threads_);
    }
    Grant(const Grant&) = delete;
    Grant& operator=(const Grant&) = delete;

   private:
    ThreadBudget& budget_;
    int threads_;
    int before_;
  };

 private:
  // Half of what is free while others wait, so that a second caller does not find it all gone.
  int Take() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return free_ > 0; });
    --waiting_;
    const int taken = waiting_ > 0 ? std::max(1, free_ / (waiting_ + 1)) : free_;
    free_ -= taken;
    return taken;
  }
  void Return(int threads) {
    {
      std::lock_guard lock(mutex_);
      free_ += threads;
    }
    changed_.notify_all();
  }

  int free_;
  int waiting_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

ValueInfo InfoOf(const std::string& name, const Type& type) {
  ValueInfo info;
  info.name = name;
  info.type = type.ToString();
  info.kind = type.kind;
  if (!type.is_tensor()) return info;
  info.dtype = type.dtype;
  info.has_rank = type.shape.has_rank();
  if (info.has_rank) {
    for (const Dim& d : type.shape.dims()) info.dims.push_back(d.ToString());
  }
  return info;
}

// One compiled form of the model: for a set of overridden initialisers, and for input symbols that hold one value each or not.
struct Variant {
  std::unique_ptr<Program> program;
  std::vector<std::string> input_names, output_names;
  std::vector<Type> input_types, output_types;
  std::vector<ValueInfo> outputs;

  // Executions that no run uses now.
  std::mutex mutex;
  std::vector<std::unique_ptr<Execution>> idle;

  std::unique_ptr<Execution> Borrow() {
    std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Execution>(*program);
    std::unique_ptr<Execution> execution = std::move(idle.back());
    idle.pop_back();
    return execution;
  }
  void GiveBack(std::unique_ptr<Execution> execution) {
    std::lock_guard lock(mutex);
    idle.push_back(std::move(execution));
  }
};

// True where one symbol of the declared shapes stands for two sizes.
bool SymbolsDisagree(const std::vector<Type>& declared, absl::Span<const Value* const> values) {
  std::map<std::string, int64_t> sizes;
  for (size_t i = 0; i < declared.size(); ++i) {
    if (!declared[i].is_tensor() || !declared[i].shape.has_rank()) continue;
    for (int axis = 0; axis < declared[i].shape.rank(); ++axis) {
      const std::optional<std::string> symbol = declared[i].shape[axis].symbol();
      if (!symbol) continue;
      const int64_t size = values[i]->tensor().dim(axis);
      if (sizes.emplace(*symbol, size).first->second != size) return true;
    }
  }
  return false;
}

// Gives every axis of every input a symbol of its own: for files that use one name for sizes that differ.
void SeparateSymbols(Graph& graph) {
  for (ValueId id : graph.inputs()) {
    Type type = graph.value(id).type;
    if (!type.is_tensor() || !type.shape.has_rank()) continue;
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      if (!type.shape[axis].is_constant()) type.shape[axis] = Dim::Symbol(absl::StrCat(graph.value(id).name, ".", axis));
    }
    graph.SetType(id, std::move(type));
  }
}

// An output owns its memory: what shares that of an input, a weight or another output is copied.
absl::StatusOr<Tensor> OwnedTensor(const Tensor& tensor) {
  if (tensor.owner() != nullptr && tensor.owner().use_count() == 1) return tensor;
  return tensor.Clone();
}

absl::StatusOr<Value> Owned(const Value& value) {
  if (value.is_tensor()) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, OwnedTensor(value.tensor()));
    return Value(std::move(tensor));
  }
  if (value.is_sequence()) {
    Sequence sequence;
    sequence.elem_dtype = value.sequence().elem_dtype;
    for (const Value& item : value.sequence().items) {
      WEFT_ASSIGN_OR_RETURN(Value owned, Owned(item));
      sequence.items.push_back(std::move(owned));
    }
    return Value(std::move(sequence));
  }
  if (value.is_optional()) {
    Optional optional;
    optional.elem_dtype = value.optional().elem_dtype;
    for (const Value& item : value.optional().item) {
      WEFT_ASSIGN_OR_RETURN(Value owned, Owned(item));
      optional.item.push_back(std::move(owned));
    }
    return Value(std::move(optional));
  }
  if (value.is_map()) {
    Map map;
    WEFT_ASSIGN_OR_RETURN(map.keys, OwnedTensor(value.map().keys));
    WEFT_ASSIGN_OR_RETURN(map.values, OwnedTensor(value.map().values));
    return Value(std::move(map));
  }
  return value;
}

}  // namespace

struct Session::State {
  SessionOptions options;
  std::function<absl::StatusOr<Model>(const ImportOptions&)> import;
  std::unique_ptr<ThreadBudget> threads;
  std::vector<ValueInfo> inputs, outputs;
  std::set<std::string, std::less<>> defaults;  // initialisers that a run may override

  std::mutex mutex;  // guards what follows
  std::map<std::pair<std::set<std::string>, bool>, std::unique_ptr<Variant>> variants;
  SessionStats stats;

  absl::StatusOr<std::unique_ptr<Variant>> Build(const std::set<std::string>& overridden, bool separate, bool first) {
    const Clock::time_point start = Clock::now();
    ImportOptions import_options;
    import_options.overridden.assign(overridden.begin(), overridden.end());
    WEFT_ASSIGN_OR_RETURN(Model model, import(import_options));
    if (first) {
      stats.load_ms = MillisecondsSince(start);
      for (ValueId id : model.graph.inputs()) inputs.push_back(InfoOf(model.graph.value(id).name, model.graph.value(id).type));
      for (const std::string& name : model.overridable) {
        defaults.insert(name);
        const ValueId id = model.graph.FindValue(name);
        ValueInfo info = InfoOf(name, id == ValueId::kNone ? Type::Unknown() : model.graph.value(id).type);
        info.has_default = true;
        inputs.push_back(std::move(info));
      }
    }
    const Clock::time_point compile_start = Clock::now();
    if (separate) SeparateSymbols(model.graph);
    auto variant = std::make_unique<Variant>();
    WEFT_ASSIGN_OR_RETURN(variant->program, Compile(model.graph, options));
    for (ValueId id : model.graph.inputs()) {
      variant->input_names.push_back(model.graph.value(id).name);
      variant->input_types.push_back(model.graph.value(id).type);
    }
    for (ValueId id : model.graph.outputs()) {
      variant->output_names.push_back(model.graph.value(id).name);
      variant->output_types.push_back(model.graph.value(id).type);
      variant->outputs.push_back(InfoOf(model.graph.value(id).name, model.graph.value(id).type));
    }
    if (first) {
      stats.compile_ms = MillisecondsSince(compile_start);
      stats.weights_bytes = variant->program->WeightsBytes();
      outputs = variant->outputs;
    }
    return variant;
  }

  absl::StatusOr<Variant*> Get(std::set<std::string> overridden, bool separate) {
    std::lock_guard lock(mutex);
    std::unique_ptr<Variant>& variant = variants[{overridden, separate}];
    if (variant == nullptr) {
      absl::StatusOr<std::unique_ptr<Variant>> built = Build(overridden, separate, false);
      if (!built.ok()) return built.status();
      variant = *std::move(built);
    }
    return variant.get();
  }

  absl::Status CheckNames(const ValueMap& feeds) const {
    for (const auto& [name, value] : feeds) {
      if (std::any_of(inputs.begin(), inputs.end(), [&name = name](const ValueInfo& info) { return info.name == name; })) continue;
      return Invalid("the model has no input '", name, "', expected ",
                     inputs.empty() ? std::string("none")
                                    : "one of " + absl::StrJoin(inputs, ", ", [](std::string* out, const ValueInfo& info) {
                                        absl::StrAppend(out, "'", info.name, "'");
                                      }));
    }
    return absl::OkStatus();
  }

  // A run whose operands are checked: what it needs besides its options.
  struct Call {
    Variant* variant = nullptr;
    std::vector<const Value*> inputs;   // in the variant's order; they point into the feeds
    std::vector<OutputPlace> outputs;  // in the variant's order, or none at all
  };

  absl::StatusOr<Call> Prepare(const ValueMap& feeds) {
    WEFT_RETURN_IF_ERROR(CheckNames(feeds));
    std::set<std::string> overridden;
    for (const auto& [name, value] : feeds) {
      if (defaults.contains(name)) overridden.insert(name);
    }
    Call call;
    WEFT_ASSIGN_OR_RETURN(call.variant, Get(overridden, false));
    for (size_t i = 0; i < call.variant->input_names.size(); ++i) {
      auto it = feeds.find(call.variant->input_names[i]);
      if (it == feeds.end() || it->second.empty()) {
        return Invalid("input '", call.variant->input_names[i], "' is missing, expected ", call.variant->input_types[i].ToString());
      }
      WEFT_RETURN_IF_ERROR(CheckInput(it->first, call.variant->input_types[i], it->second));
      call.inputs.push_back(&it->second);
    }
    if (SymbolsDisagree(call.variant->input_types, call.inputs)) {
      WEFT_ASSIGN_OR_RETURN(call.variant, Get(std::move(overridden), true));
    }
    return call;
  }

  absl::Status Place(TensorMap memory, Call& call) const {
    const Variant& variant = *call.variant;
    for (size_t i = 0; i < variant.output_names.size(); ++i) {
      call.outputs.push_back({variant.output_names[i], Tensor()});
      auto it = memory.find(variant.output_names[i]);
      if (it == memory.end()) continue;
      WEFT_RETURN_IF_ERROR(CheckOutputMemory(it->first, variant.output_types[i], it->second));
      call.outputs.back().memory = std::move(it->second);
      memory.erase(it);
    }
    if (!memory.empty()) {
      return Invalid("the model has no output '", memory.begin()->first, "', expected one of '", absl::StrJoin(variant.output_names, "', '"), "'");
    }
    return CheckDisjoint(call.outputs, variant.input_names, call.inputs);
  }

  absl::StatusOr<ValueMap> Run(const Call& call, const RunOptions& run_options) {
    RunControl control;
    control.cancelled = run_options.cancelled;
    control.deadline = run_options.deadline;
    control.seed = run_options.seed;
    std::unique_ptr<Execution> execution = call.variant->Borrow();
    absl::StatusOr<std::vector<Value>> results;
    {
      ThreadBudget::Grant grant(*threads);
      results = execution->Run(call.inputs, control, call.outputs);
    }
    const ArenaPlan arena = execution->arena();
    call.variant->GiveBack(std::move(execution));
    WEFT_RETURN_IF_ERROR(results.status());
    {
      std::lock_guard lock(mutex);
      stats.arena_bytes = arena.bytes;
      stats.arena_lower_bound_bytes = arena.lower_bound;
    }
    ValueMap named;
    for (size_t i = 0; i < results->size(); ++i) {
      Value& named_value = named[call.variant->output_names[i]];
      const bool placed = !call.outputs.empty() && !call.outputs[i].memory.empty_handle();
      if (placed) {
        named_value = std::move((*results)[i]);
      } else {
        WEFT_ASSIGN_OR_RETURN(named_value, Owned((*results)[i]));
      }
    }
    return named;
  }

  static absl::StatusOr<Session> Make(std::unique_ptr<State> state) {
    WEFT_RETURN_IF_ERROR(ParsePlacement(state->options.device).status());
    const int threads = state->options.threads > 0 ? state->options.threads : AvailableThreads();
    state->threads = std::make_unique<ThreadBudget>(threads);
    WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Variant> variant, state->Build({}, false, true));
    state->variants[{}] = std::move(variant);
    return Session(std::move(state));
  }
};

struct Binding::Call {
  Session::State* session = nullptr;
  ValueMap feeds;
  Session::State::Call prepared;  // points into `feeds`
};

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

absl::StatusOr<Session> Session::Load(std::string_view path, SessionOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->import = [file = std::string(path)](const ImportOptions& import_options) { return ImportModel(file, import_options); };
  return State::Make(std::move(state));
}

absl::StatusOr<Session> Session::LoadFromMemory(std::string_view bytes, SessionOptions options, std::string_view base_dir) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->import = [held = std::string(bytes), dir = std::string(base_dir)](const ImportOptions& import_options) {
    return ImportModelFromMemory(held, dir, import_options);
  };
  return State::Make(std::move(state));
}

const std::vector<ValueInfo>& Session::inputs() const { return state_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const { return state_->outputs; }

absl::StatusOr<ValueMap> Session::Run(const ValueMap& feeds, const RunOptions& options) const {
  WEFT_ASSIGN_OR_RETURN(const State::Call call, state_->Prepare(feeds));
  return state_->Run(call, options);
}

absl::StatusOr<Binding> Session::Bind(ValueMap inputs, TensorMap outputs) const {
  auto call = std::make_unique<Binding::Call>();
  call->session = state_.get();
  call->feeds = std::move(inputs);
  WEFT_ASSIGN_OR_RETURN(call->prepared, state_->Prepare(call->feeds));
  WEFT_RETURN_IF_ERROR(state_->Place(std::move(outputs), call->prepared));
  return Binding(std::move(call));
}

Binding::Binding(std::unique_ptr<Call> call) : call_(std::move(call)) {}
Binding::Binding(Binding&&) noexcept = default;
Binding& Binding::operator=(Binding&&) noexcept = default;
Binding::~Binding() = default;

absl::StatusOr<ValueMap> Binding::Run(const RunOptions& options) const { return call_->session->Run(call_->prepared, options); }

SessionStats Session::stats() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats;
}

}  // namespace weft
