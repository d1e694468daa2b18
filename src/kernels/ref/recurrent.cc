// RNN, GRU, LSTM (ONNX Operators.md, opset 22). float16 and bfloat16 are computed in float.
#include "graph/ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"

namespace weft {
namespace {

template <class T>
T Sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// NaN passes through.
template <class T>
void Clip(const RecurrentAttrs& attrs, T* x, int64_t n) {
  if (!attrs.clip) return;
  const T limit = *attrs.clip;
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] > limit ? limit : x[i] < -limit ? -limit : x[i];
}

template <class T>
void Activate(const Activation& f, T* x, int64_t n) {
  const T alpha = f.alpha, beta = f.beta;
  auto each = [&](auto&& body) {
    for (int64_t i = 0; i < n; ++i) x[i] = body(x[i]);
  };
  switch (f.kind) {
    case ActivationKind::kAffine: return each([&](T v) { return alpha * v + beta; });
    case ActivationKind::kElu: return each([&](T v) { return v < 0 ? alpha * std::expm1(v) : v; });
    case ActivationKind::kHardSigmoid: return each([&](T v) { v = alpha * v + beta; return v > 1 ? T(1) : v < 0 ? T(0) : v; });
    case ActivationKind::kLeakyRelu: return each([&](T v) { return v < 0 ? alpha * v : v; });
    case ActivationKind::kRelu: return each([&](T v) { return v < 0 ? T(0) : v; });
    case ActivationKind::kScaledTanh: return each([&](T v) { return alpha * std::tanh(beta * v); });
    case ActivationKind::kSigmoid: return each([&](T v) { return Sigmoid(v); });
    case ActivationKind::kSoftplus: return each([&](T v) { return std::max(v, T(0)) + std::log1p(std::exp(-std::abs(v))); });
    case ActivationKind::kSoftsign: return each([&](T v) { return v / (1 + std::abs(v)); });
    case ActivationKind::kTanh: return each([&](T v) { return std::tanh(v); });
    case ActivationKind::kThresholdedRelu: return each([&](T v) { return v <= alpha ? T(0) : v; });
  }
}

// Sixteen partial sums, which the compiler keeps in vectors.
template <class T>
T Dot(const T* a, const T* b, int64_t n) {
  constexpr int64_t kLanes = 16;
  T lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  T sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (int64_t j = 0; j < kLanes; ++j) sum += lanes[j];
  return sum;
}

// Everything of one node that does not change from step to step. Null pointers for what is absent.
template <class T>
struct Layer {
  int64_t seq = 0, batch = 0, in = 0, hidden = 0, directions = 1, gates = 1;
  bool layout = false;
  Tensor lens;  // int64, one for each batch entry

  Tensor x, w, r, b, initial_h, initial_c, p;
  Tensor y, y_h, y_c;  // in T; empty handles where nobody asked

  int64_t XRow(int64_t t, int64_t n) const { return layout ? n * seq + t : t * batch + n; }
  int64_t YRow(int64_t t, int64_t d, int64_t n) const { return layout ? (n * seq + t) * directions + d : (t * directions + d) * batch + n; }
  int64_t StateRow(int64_t d, int64_t n) const { return layout ? n * directions + d : d * batch + n; }
};

// One direction while it runs. `pre` holds for each batch entry the gates' sums, [batch, gates * hidden].
template <class T>
struct Direction {
  int64_t d = 0;
  const T *r = nullptr, *rb = nullptr, *p = nullptr;  // [gates*hidden, hidden], [gates*hidden] (of R), [3*hidden]
  Tensor pre, h, c;                                   // h, c: [batch, hidden]
  std::vector<int64_t> active;                        // batch entries whose sequence has not ended
};

// pre[n][rows begin..end) += R[rows] * state[n] for the active entries.
template <class T>
void AddRecurrent(const Layer<T>& layer, Direction<T>& dir, const Tensor& state, int64_t begin, int64_t end) {
  const int64_t hidden = layer.hidden, width = layer.gates * hidden;
  ParallelFor(end - begin, 2 * hidden * static_cast<int64_t>(dir.active.size()), [&](int64_t from, int64_t to) {
    for (int64_t row = begin + from; row < begin + to; ++row) {
      for (int64_t n : dir.active) dir.pre.template data<T>()[n * width + row] += Dot(dir.r + row * hidden, state.data<T>() + n * hidden, hidden);
    }
  });
}

template <class T>
absl::StatusOr<Layer<T>> ReadLayer(RunContext& ctx, const RecurrentAttrs& attrs, int gates) {
  Layer<T> layer;
  const Tensor& x = ctx.input(0);
  layer.layout = attrs.layout;
  layer.seq = x.dim(attrs.layout ? 1 : 0);
  layer.batch = x.dim(attrs.layout ? 0 : 1);
  layer.in = x.dim(2);
  layer.hidden = ctx.input(2).dim(2);
  layer.directions = ctx.input(1).dim(0);
  layer.gates = gates;
  WEFT_ASSIGN_OR_RETURN(layer.lens, Tensor::AllocateUninitialized(DType::kInt64, {layer.batch}));
  for (int64_t n = 0; n < layer.batch; ++n) {
    const int64_t len = ctx.HasInput(4) ? ctx.input(4).data<const int32_t>()[n] : layer.seq;
    layer.lens.template data<int64_t>()[n] = len;
    if (len < 0 || len > layer.seq) {
      return Invalid("sequence_lens[", n, "] is ", len, ", expected a value in [0, ", layer.seq, "]");
    }
  }
  Tensor* const inputs[] = {&layer.x, &layer.w, &layer.r, &layer.b, nullptr, &layer.initial_h, &layer.initial_c, &layer.p};
  for (int i = 0; i < 8; ++i) {
    if (inputs[i] == nullptr || !ctx.HasInput(i)) continue;
    WEFT_ASSIGN_OR_RETURN(*inputs[i], Widen<T>(ctx.input(i)));
  }
  Tensor* const outputs[] = {&layer.y, &layer.y_h, &layer.y_c};
  for (int i = 0; i < 3; ++i) {
    if (!ctx.HasOutput(i)) continue;
    WEFT_ASSIGN_OR_RETURN(*outputs[i], WideOutput<T>(ctx.output(i)));
  }
  return layer;
}

// W * x + Wb + Rb for every step at once: [rows of x][gates * hidden]. With `separate` the recurrent bias of the last gate stays out.
template <class T>
absl::StatusOr<Tensor> InputProducts(const Layer<T>& layer, int64_t d, bool separate) {
  const int64_t rows = layer.seq * layer.batch, width = layer.gates * layer.hidden;
  WEFT_ASSIGN_OR_RETURN(Tensor products, Tensor::AllocateUninitialized(DTypeOf<T>::value, {rows, width}));
  BatchedGemm<T>(
      1, rows, width, layer.in, [&](int64_t) { return Matrix<T>{layer.x.template data<T>(), layer.in, 1}; },
      [&](int64_t) { return Matrix<T>{layer.w.template data<T>() + d * width * layer.in, 1, layer.in}; },
      [&](int64_t) { return products.data<T>(); });
  if (layer.b.empty_handle()) return products;
  const T* wb = layer.b.template data<T>() + d * 2 * width;
  std::vector<T> bias(wb, wb + width);
  for (int64_t j = 0; j < (separate ? width - layer.hidden : width); ++j) bias[j] += wb[width + j];
  ParallelFor(rows, width, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = products.data<T>() + i * width;
      for (int64_t j = 0; j < width; ++j) row[j] += bias[j];
    }
  });
  return products;
}

// Runs every direction of a layer; `cell(dir, direction's functions)` turns the sums of the active entries into new h and c.
template <class T, class Cell>
absl::Status RunLayer(RunContext& ctx, const RecurrentAttrs& attrs, Layer<T>& layer, bool separate_bias, Cell cell) {
  const int64_t hidden = layer.hidden, width = layer.gates * hidden;
  if (!layer.y.empty_handle()) std::fill_n(layer.y.template data<T>(), layer.y.size(), T(0));
  for (int64_t d = 0; d < layer.directions; ++d) {
    const bool reverse = d == 1 || attrs.direction == "reverse";
    WEFT_ASSIGN_OR_RETURN(const Tensor products, InputProducts(layer, d, separate_bias));
    Direction<T> dir;
    dir.d = d;
    dir.r = layer.r.template data<T>() + d * width * hidden;
    if (!layer.b.empty_handle()) dir.rb = layer.b.template data<T>() + d * 2 * width + width;
    if (!layer.p.empty_handle()) dir.p = layer.p.template data<T>() + d * 3 * hidden;
    WEFT_ASSIGN_OR_RETURN(dir.pre, Tensor::AllocateUninitialized(DTypeOf<T>::value, {layer.batch, width}));
    auto start = [&](const Tensor& initial) -> absl::StatusOr<Tensor> {
      WEFT_ASSIGN_OR_RETURN(Tensor state, Tensor::Allocate(DTypeOf<T>::value, {layer.batch, hidden}));
      for (int64_t n = 0; !initial.empty_handle() && n < layer.batch; ++n) {
        std::copy_n(initial.data<T>() + layer.StateRow(d, n) * hidden, hidden, state.data<T>() + n * hidden);
      }
      return state;
    };
    WEFT_ASSIGN_OR_RETURN(dir.h, start(layer.initial_h));
    WEFT_ASSIGN_OR_RETURN(dir.c, start(layer.initial_c));
    const int64_t* lens = layer.lens.template data<int64_t>();
    for (int64_t step = 0; step < layer.seq; ++step) {
      if (ctx.Cancelled()) return absl::CancelledError("cancelled");
      auto time = [&](int64_t n) { return reverse ? lens[n] - 1 - step : step; };
      dir.active.clear();
      for (int64_t n = 0; n < layer.batch; ++n) {
        if (step >= lens[n]) continue;
        dir.active.push_back(n);
        std::copy_n(products.data<T>() + layer.XRow(time(n), n) * width, width, dir.pre.template data<T>() + n * width);
      }
      if (dir.active.empty()) break;
      cell(dir);
      for (int64_t n : dir.active) {
        if (layer.y.empty_handle()) break;
        std::copy_n(dir.h.template data<T>() + n * hidden, hidden, layer.y.template data<T>() + layer.YRow(time(n), d, n) * hidden);
      }
    }
    auto finish = [&](Tensor& last, const Tensor& state) {
      for (int64_t n = 0; !last.empty_handle() && n < layer.batch; ++n) {
        std::copy_n(state.data<T>() + n * hidden, hidden, last.data<T>() + layer.StateRow(d, n) * hidden);
      }
    };
    finish(layer.y_h, dir.h);
    finish(layer.y_c, dir.c);
  }
  const Tensor* const outputs[] = {&layer.y, &layer.y_h, &layer.y_c};
  for (int i = 0; i < 3; ++i) {
    if (!outputs[i]->empty_handle()) Narrow<T>(*outputs[i], ctx.output(i));
  }
  return absl::OkStatus();
}

template <class T>
absl::Status RunRnnAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<RnnAttrs>();
  WEFT_ASSIGN_OR_RETURN(const std::vector<Activation> f, ResolveActivations(attrs, kRnnActivations));
  WEFT_ASSIGN_OR_RETURN(Layer<T> layer, ReadLayer<T>(ctx, attrs, 1));
  const int64_t hidden = layer.hidden;
  return RunLayer<T>(ctx, attrs, layer, false, [&](Direction<T>& dir) {
    AddRecurrent(layer, dir, dir.h, 0, hidden);
    for (int64_t n : dir.active) {
      T* pre = dir.pre.template data<T>() + n * hidden;
      Clip(attrs, pre, hidden);
      Activate(f[dir.d], pre, hidden);
      std::copy_n(pre, hidden, dir.h.template data<T>() + n * hidden);
    }
  });
}

template <class T>
absl::Status RunGruAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<GruAttrs>();
  const bool linear = attrs.linear_before_reset;
  WEFT_ASSIGN_OR_RETURN(const std::vector<Activation> functions, ResolveActivations(attrs, kGruActivations));
  WEFT_ASSIGN_OR_RETURN(Layer<T> layer, ReadLayer<T>(ctx, attrs, 3));
  const int64_t hidden = layer.hidden, width = 3 * hidden;
  WEFT_ASSIGN_OR_RETURN(Tensor reset, Tensor::Allocate(DTypeOf<T>::value, {layer.batch, hidden}));      // r .* h
  WEFT_ASSIGN_OR_RETURN(Tensor candidate, Tensor::Allocate(DTypeOf<T>::value, {layer.batch, hidden}));  // W * x of the hidden gate
  return RunLayer<T>(ctx, attrs, layer, linear, [&](Direction<T>& dir) {
    const Activation &f = functions[2 * dir.d], &g = functions[2 * dir.d + 1];
    AddRecurrent(layer, dir, dir.h, 0, 2 * hidden);
    for (int64_t n : dir.active) {
      T *z = dir.pre.template data<T>() + n * width, *r = z + hidden, *last = r + hidden, *h = dir.h.template data<T>() + n * hidden;
      Clip(attrs, z, 2 * hidden);
      Activate(f, z, 2 * hidden);
      if (linear) {
        for (int64_t j = 0; j < hidden; ++j) {
          candidate.data<T>()[n * hidden + j] = last[j];
          last[j] = dir.rb != nullptr ? dir.rb[2 * hidden + j] : 0;
        }
      } else {
        for (int64_t j = 0; j < hidden; ++j) reset.data<T>()[n * hidden + j] = r[j] * h[j];
      }
    }
    AddRecurrent(layer, dir, linear ? dir.h : reset, 2 * hidden, width);
    for (int64_t n : dir.active) {
      T *z = dir.pre.template data<T>() + n * width, *r = z + hidden, *last = r + hidden, *h = dir.h.template data<T>() + n * hidden;
      for (int64_t j = 0; linear && j < hidden; ++j) last[j] = candidate.data<T>()[n * hidden + j] + r[j] * last[j];
      Clip(attrs, last, hidden);
      Activate(g, last, hidden);
      for (int64_t j = 0; j < hidden; ++j) h[j] = (1 - z[j]) * last[j] + z[j] * h[j];
    }
  });
}

template <class T>
absl::Status RunLstmAs(RunContext& ctx) {
  const auto& attrs = ctx.attrs<LstmAttrs>();
  WEFT_ASSIGN_OR_RETURN(const std::vector<Activation> functions, ResolveActivations(attrs, kLstmActivations));
  WEFT_ASSIGN_OR_RETURN(Layer<T> layer, ReadLayer<T>(ctx, attrs, 4));
  const int64_t hidden = layer.hidden, width = 4 * hidden;
  return RunLayer<T>(ctx, attrs, layer, false, [&](Direction<T>& dir) {
    const Activation *f = &functions[3 * dir.d], *g = f + 1, *squash = f + 2;
    AddRecurrent(layer, dir, dir.h, 0, width);
    const T *pi = dir.p, *po = pi + (pi != nullptr ? hidden : 0), *pf = po + (pi != nullptr ? hidden : 0);
    for (int64_t n : dir.active) {
      T *i = dir.pre.template data<T>() + n * width, *o = i + hidden, *forget = o + hidden, *cell = forget + hidden;
      T *h = dir.h.template data<T>() + n * hidden, *c = dir.c.template data<T>() + n * hidden;
      for (int64_t j = 0; pi != nullptr && j < hidden; ++j) {
        i[j] += pi[j] * c[j];
        forget[j] += pf[j] * c[j];
      }
      for (T* gate : {i, forget, cell}) Clip(attrs, gate, hidden);
      Activate(*f, i, hidden);
      Activate(*g, cell, hidden);
      if (attrs.input_forget) {
        for (int64_t j = 0; j < hidden; ++j) forget[j] = 1 - i[j];
      } else {
        Activate(*f, forget, hidden);
      }
      for (int64_t j = 0; j < hidden; ++j) c[j] = forget[j] * c[j] + i[j] * cell[j];
      for (int64_t j = 0; pi != nullptr && j < hidden; ++j) o[j] += po[j] * c[j];
      Clip(attrs, o, hidden);
      Activate(*f, o, hidden);
      std::copy_n(c, hidden, h);
      Clip(attrs, h, hidden);
      Activate(*squash, h, hidden);
      for (int64_t j = 0; j < hidden; ++j) h[j] *= o[j];
    }
  });
}

absl::Status RunRnn(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunRnnAs<T>(ctx); });
}
absl::Status RunGru(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunGruAs<T>(ctx); });
}
absl::Status RunLstm(RunContext& ctx) {
  return DispatchWide(ctx.input(0).dtype(), [&]<class T>() { return RunLstmAs<T>(ctx); });
}

}  // namespace

absl::Span<const Kernel> RefRecurrent() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::RNN, .name = "ref", .run = &RunRnn},
      {.op = &ops::GRU, .name = "ref", .run = &RunGru},
      {.op = &ops::LSTM, .name = "ref", .run = &RunLstm},
  };
  return kernels;
}

}  // namespace weft
