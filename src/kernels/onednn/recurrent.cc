// LSTM and GRU on oneDNN, fp32: one layer in one or both directions.
#include "graph/ops/recurrent.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/threads.h"
#include "kernels/onednn/primitive.h"

namespace weft::onednn {
namespace {

// A cell's gates: gate k of oneDNN's order is gate kFrom[k] of ONNX's.
struct LstmCell {
  using Attrs = LstmAttrs;
  static constexpr std::array<int, 4> kFrom = {0, 2, 3, 1};          // i f c o <- i o f c
  static constexpr std::array<int, 3> kPeepholesFrom = {0, 2, 1};    // i f o <- i o f
  static constexpr absl::Span<const std::string_view> kActivations = kLstmActivations;
};
struct GruCell {
  using Attrs = GruAttrs;
  static constexpr std::array<int, 3> kFrom = {0, 1, 2};  // u r o <- z r h
  static constexpr absl::Span<const std::string_view> kActivations = kGruActivations;
};

enum Operand { kX, kW, kR, kB, kLens, kInitialH, kInitialC, kPeepholes };

template <class Cell>
absl::Status Supports(const NodeView& node) {
  const auto& attrs = node.attrs_as<typename Cell::Attrs>();
  WEFT_RETURN_IF_ERROR(RequireFloat32(node, 4));  // inference has found the others to be as X
  for (int i : {kW, kR, kB, kPeepholes}) {
    if (node.HasInput(i) && node.inputs[i].tensor == nullptr) return Unsupported("input ", i, " is no constant");
  }
  if (node.HasInput(kLens) && node.inputs[kLens].tensor == nullptr) return Unsupported("sequence_lens is no constant");
  if (attrs.layout) return Unsupported("layout is 1, expected 0");
  if (attrs.clip) return Unsupported("the gates are clipped");
  WEFT_ASSIGN_OR_RETURN(const std::vector<Activation> functions, ResolveActivations(attrs, Cell::kActivations));
  for (size_t i = 0; i < functions.size(); ++i) {
    const bool gate = i % Cell::kActivations.size() == 0;
    if (functions[i].kind != (gate ? ActivationKind::kSigmoid : ActivationKind::kTanh)) return Unsupported("activations are not the default ones");
  }
  if constexpr (std::is_same_v<Cell, LstmCell>) {
    if (attrs.input_forget) return Unsupported("input_forget is 1, expected 0");
  }
  return absl::OkStatus();
}

struct State : KernelState {
  std::unique_ptr<PackedWeights> weights, recurrent_weights;
  Tensor bias;       // [D,gates,H], one more gate where linear_before_reset; zeros where the node has none
  Tensor peepholes;  // [D,3,H] or empty
};

// [D,gates*H,K] as [1,D,K,gates,H], the gates in oneDNN's order.
template <class Cell>
absl::StatusOr<std::unique_ptr<PackedWeights>> Gates(const Tensor& w) {
  const int64_t gates = Cell::kFrom.size(), directions = w.dim(0), hidden = w.dim(1) / gates, depth = w.dim(2);
  WEFT_ASSIGN_OR_RETURN(Tensor out, Tensor::AllocateUninitialized(DType::kFloat32, {1, directions, depth, gates, hidden}));
  ParallelFor(directions * depth, gates * hidden, [&](int64_t begin, int64_t end) {
    for (int64_t dk = begin; dk < end; ++dk) {
      const int64_t d = dk / depth, k = dk % depth;
      for (int64_t g = 0; g < gates; ++g) {
        const float* from = w.data<float>() + (d * gates + Cell::kFrom[g]) * hidden * depth + k;
        float* to = out.data<float>() + (dk * gates + g) * hidden;
        for (int64_t j = 0; j < hidden; ++j) to[j] = from[j * depth];
      }
    }
  });
  const dnnl::memory::desc plain = RowMajor(out.dims());
  return std::make_unique<PackedWeights>(std::move(out), plain);
}

// `from`: [D,count,H] with rows in ONNX's order, `to`: the same in oneDNN's, at every stride_to rows; added to what is there.
void AddRows(const float* from, int64_t stride_from, float* to, int64_t stride_to, int64_t directions, absl::Span<const int> order, int64_t hidden) {
  for (int64_t d = 0; d < directions; ++d) {
    for (size_t g = 0; g < order.size(); ++g) {
      for (int64_t j = 0; j < hidden; ++j) to[(d * stride_to + g) * hidden + j] += from[(d * stride_from + order[g]) * hidden + j];
    }
  }
}

template <class Cell>
absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeView& node) {
  auto state = std::make_unique<State>();
  const Tensor& r = *node.inputs[kR].tensor;
  const int64_t directions = r.dim(0), hidden = r.dim(2), gates = Cell::kFrom.size();
  WEFT_ASSIGN_OR_RETURN(state->weights, Gates<Cell>(*node.inputs[kW].tensor));
  WEFT_ASSIGN_OR_RETURN(state->recurrent_weights, Gates<Cell>(r));
  int64_t biases = gates;
  if constexpr (std::is_same_v<Cell, GruCell>) biases += node.attrs_as<GruAttrs>().linear_before_reset ? 1 : 0;
  WEFT_ASSIGN_OR_RETURN(state->bias, Tensor::Allocate(DType::kFloat32, {directions, biases, hidden}));
  if (node.HasInput(kB)) {
    const float* b = node.inputs[kB].tensor->data<float>();  // [D,2*gates*H]: of W, then of R
    float* to = state->bias.data<float>();
    AddRows(b, 2 * gates, to, biases, directions, Cell::kFrom, hidden);
    // linear_before_reset: the candidate's two biases stay apart, the recurrent one last.
    const absl::Span<const int> order = Cell::kFrom;
    AddRows(b + gates * hidden, 2 * gates, to, biases, directions, order.first(biases > gates ? gates - 1 : gates), hidden);
    if (biases > gates) AddRows(b + (2 * gates - 1) * hidden, 2 * gates, to + gates * hidden, biases, directions, {0}, hidden);
  }
  if constexpr (std::is_same_v<Cell, LstmCell>) {
    if (node.HasInput(kPeepholes)) {
      WEFT_ASSIGN_OR_RETURN(state->peepholes, Tensor::Allocate(DType::kFloat32, {directions, 3, hidden}));
      AddRows(node.inputs[kPeepholes].tensor->data<float>(), 3, state->peepholes.data<float>(), 3, directions, Cell::kPeepholesFrom, hidden);
    }
  }
  return state;
}

struct Plan : KernelPlan {
  // An argument of the primitive: where its memory is.
  struct Argument {
    enum class Home : uint8_t { kInput, kOutput, kWorkspace, kConstant };
    int name = 0;
    dnnl::memory::desc desc;
    Home home = Home::kConstant;
    int operand = 0;             // of an input or output
    size_t offset = 0;           // in the workspace
    const void* data = nullptr;  // a constant
  };
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  std::vector<std::pair<size_t, size_t>> zeroed;  // offset and bytes in the workspace
  // Y [T,2,N,H] from [T,N,2,H] at this offset in the workspace.
  bool turn = false;
  size_t turn_offset = 0;
};

absl::Status CheckLens(const NodeView& node, int64_t seq) {
  if (!node.HasInput(kLens)) return absl::OkStatus();
  const Tensor& lens = *node.inputs[kLens].tensor;
  for (int64_t n = 0; n < lens.size(); ++n) {
    if (lens.data<int32_t>()[n] != seq) return Unsupported("sequence_lens[", n, "] is not the length of X");
  }
  return absl::OkStatus();
}

template <class Cell>
absl::StatusOr<std::unique_ptr<KernelPlan>> MakePlan(const NodeView& node, KernelState* prepared) {
  auto& state = static_cast<State&>(*prepared);
  const auto& attrs = node.attrs_as<typename Cell::Attrs>();
  constexpr bool kIsLstm = std::is_same_v<Cell, LstmCell>;
  const Dims x = *node.inputs[kX].type->shape.Concrete(), r = *node.inputs[kR].type->shape.Concrete();
  const int64_t seq = x[0], batch = x[1], in = x[2], directions = r[0], hidden = r[2], gates = Cell::kFrom.size();
  if (seq == 0 || batch == 0 || in == 0) return Unsupported("X is empty");
  WEFT_RETURN_IF_ERROR(CheckLens(node, seq));
  auto plan = std::make_unique<Plan>();
  using Argument = Plan::Argument;
  using Home = Argument::Home;
  auto add = [&](Argument argument) { plan->arguments.push_back(std::move(argument)); };
  auto in_workspace = [&](int name, const dnnl::memory::desc& desc) {
    const size_t offset = Reserve(plan->workspace_bytes, desc.get_size());
    add({.name = name, .desc = desc, .home = Home::kWorkspace, .offset = offset});
    return offset;
  };
  WEFT_RETURN_IF_ERROR(Guarded([&]() -> absl::Status {
    using desc = dnnl::memory::desc;
    const auto f32 = dnnl::memory::data_type::f32;
    const auto any = dnnl::memory::format_tag::any;
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const desc src = RowMajor(x), dst = RowMajor({seq, batch, directions * hidden}), iter = RowMajor({1, directions, batch, hidden});
    const desc weights({1, directions, in, gates, hidden}, f32, any), recurrent({1, directions, hidden, gates, hidden}, f32, any);
    const desc bias = RowMajor({1, directions, state.bias.dim(1), hidden});
    const desc peepholes = state.peepholes.empty_handle() ? desc() : RowMajor({1, directions, 3, hidden});
    // Of h and c either both come with values or none does.
    const bool starts = node.HasInput(kInitialH) || (kIsLstm && node.HasInput(kInitialC));
    const bool ends = node.HasOutput(1) || (kIsLstm && node.HasOutput(2));
    const desc first = starts ? iter : desc(), last = ends ? iter : desc();
    const auto inference = dnnl::prop_kind::forward_inference;
    const auto direction = directions == 2                 ? dnnl::rnn_direction::bidirectional_concat
                           : attrs.direction == "reverse" ? dnnl::rnn_direction::unidirectional_right2left
                                                          : dnnl::rnn_direction::unidirectional_left2right;
    auto take = [&](auto made, const auto& pd) -> absl::Status {
      plan->primitive = std::move(made);
      WEFT_ASSIGN_OR_RETURN(const void* w, state.weights->In(pd.weights_layer_desc()));
      WEFT_ASSIGN_OR_RETURN(const void* rw, state.recurrent_weights->In(pd.weights_iter_desc()));
      add({.name = DNNL_ARG_WEIGHTS_LAYER, .desc = pd.weights_layer_desc(), .data = w});
      add({.name = DNNL_ARG_WEIGHTS_ITER, .desc = pd.weights_iter_desc(), .data = rw});
      in_workspace(DNNL_ARG_SCRATCHPAD, pd.scratchpad_desc());
      return absl::OkStatus();
    };
    if constexpr (kIsLstm) {
      const dnnl::lstm_forward::primitive_desc pd(CpuEngine(), inference, direction, src, first, first, weights, recurrent, peepholes, desc(), bias,
                                                  dst, last, last, attr);
      WEFT_RETURN_IF_ERROR(take(dnnl::lstm_forward(pd), pd));
    } else if (attrs.linear_before_reset) {
      const dnnl::lbr_gru_forward::primitive_desc pd(CpuEngine(), inference, direction, src, first, weights, recurrent, bias, dst, last, attr);
      WEFT_RETURN_IF_ERROR(take(dnnl::lbr_gru_forward(pd), pd));
    } else {
      const dnnl::gru_forward::primitive_desc pd(CpuEngine(), inference, direction, src, first, weights, recurrent, bias, dst, last, attr);
      WEFT_RETURN_IF_ERROR(take(dnnl::gru_forward(pd), pd));
    }
    add({.name = DNNL_ARG_SRC_LAYER, .desc = src, .home = Home::kInput, .operand = kX});
    add({.name = DNNL_ARG_BIAS, .desc = bias, .data = state.bias.data()});
    if (!state.peepholes.empty_handle()) add({.name = DNNL_ARG_WEIGHTS_PEEPHOLE, .desc = peepholes, .data = state.peepholes.data()});
    plan->turn = node.HasOutput(0) && directions == 2 && batch > 1;
    if (node.HasOutput(0) && !plan->turn) {
      add({.name = DNNL_ARG_DST_LAYER, .desc = dst, .home = Home::kOutput, .operand = 0});
    } else {
      plan->turn_offset = in_workspace(DNNL_ARG_DST_LAYER, dst);
    }
    auto add_state = [&](int src_name, int input, int dst_name, int output) {
      if (starts && node.HasInput(input)) {
        add({.name = src_name, .desc = iter, .home = Home::kInput, .operand = input});
      } else if (starts) {
        plan->zeroed.emplace_back(in_workspace(src_name, iter), iter.get_size());
      }
      if (ends && node.HasOutput(output)) {
        add({.name = dst_name, .desc = iter, .home = Home::kOutput, .operand = output});
      } else if (ends) {
        in_workspace(dst_name, iter);
      }
    };
    add_state(DNNL_ARG_SRC_ITER, kInitialH, DNNL_ARG_DST_ITER, 1);
    if (kIsLstm) add_state(DNNL_ARG_SRC_ITER_C, kInitialC, DNNL_ARG_DST_ITER_C, 2);
    return absl::OkStatus();
  }));
  return plan;
}

// [T,N,2,H] -> [T,2,N,H]
void TurnDirections(const float* from, Tensor& y) {
  const int64_t seq = y.dim(0), batch = y.dim(2), hidden = y.dim(3);
  ParallelFor(seq, 2 * batch * hidden, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      for (int64_t d = 0; d < 2; ++d) {
        for (int64_t n = 0; n < batch; ++n) {
          std::copy_n(from + ((t * batch + n) * 2 + d) * hidden, hidden, y.data<float>() + ((t * 2 + d) * batch + n) * hidden);
        }
      }
    }
  });
}

absl::Status Run(RunContext& ctx) {
  const auto* plan = ctx.plan<Plan>();
  auto* workspace = static_cast<char*>(ctx.workspace());
  for (const auto& [offset, bytes] : plan->zeroed) std::memset(workspace + offset, 0, bytes);
  WEFT_RETURN_IF_ERROR(Guarded([&] {
    std::unordered_map<int, dnnl::memory> arguments;
    for (const Plan::Argument& a : plan->arguments) {
      void* data = nullptr;
      switch (a.home) {
        case Plan::Argument::Home::kInput: data = ctx.input(a.operand).data(); break;
        case Plan::Argument::Home::kOutput: data = ctx.output(a.operand).data(); break;
        case Plan::Argument::Home::kWorkspace: data = workspace + a.offset; break;
        case Plan::Argument::Home::kConstant: data = const_cast<void*>(a.data); break;
      }
      arguments.emplace(a.name, dnnl::memory(a.desc, CpuEngine(), data));
    }
    plan->primitive.execute(Stream(), arguments);
    Stream().wait();
    return absl::OkStatus();
  }));
  if (plan->turn) TurnDirections(reinterpret_cast<const float*>(workspace + plan->turn_offset), ctx.output(0));
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::GRU, .name = "onednn.gru", .supports = &Supports<GruCell>, .prepare = &Prepare<GruCell>, .plan = &MakePlan<GruCell>, .run = &Run},
    {.op = &ops::LSTM, .name = "onednn.lstm", .supports = &Supports<LstmCell>, .prepare = &Prepare<LstmCell>, .plan = &MakePlan<LstmCell>, .run = &Run},
};

}  // namespace

absl::Span<const Kernel> RecurrentKernels() { return kKernels; }

}  // namespace weft::onednn
