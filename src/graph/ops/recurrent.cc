// Recurrent layers: RNN, GRU, LSTM (ONNX Operators.md, opset 22).
#include "graph/ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "graph/op.h"
#include "graph/ops/dtype_sets.h"
#include "graph/ops/expect_shape.h"

namespace weft {
namespace {

struct ActivationRow {
  std::string_view name;
  ActivationKind kind;
  std::optional<float> alpha, beta;  // defaults of the parameters it has
};
constexpr ActivationRow kActivations[] = {
    {"Affine", ActivationKind::kAffine, 1.0f, 0.0f},
    {"Elu", ActivationKind::kElu, 1.0f, std::nullopt},
    {"HardSigmoid", ActivationKind::kHardSigmoid, 0.2f, 0.5f},
    {"LeakyRelu", ActivationKind::kLeakyRelu, 0.01f, std::nullopt},
    {"Relu", ActivationKind::kRelu, std::nullopt, std::nullopt},
    {"ScaledTanh", ActivationKind::kScaledTanh, 1.0f, 1.0f},
    {"Sigmoid", ActivationKind::kSigmoid, std::nullopt, std::nullopt},
    {"Softplus", ActivationKind::kSoftplus, std::nullopt, std::nullopt},
    {"Softsign", ActivationKind::kSoftsign, std::nullopt, std::nullopt},
    {"Tanh", ActivationKind::kTanh, std::nullopt, std::nullopt},
    {"ThresholdedRelu", ActivationKind::kThresholdedRelu, 1.0f, std::nullopt},
};

constexpr DType kLengthTypes[] = {DType::kInt32};
constexpr int64_t kMaxHidden = int64_t{1} << 31;

// Inputs 0..5 are alike in all three ops; `gates` is how many blocks of hidden_size rows W and R hold.
absl::Status InferRecurrent(InferContext& ctx, const RecurrentAttrs& attrs, int gates, absl::Span<const std::string_view> activations) {
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "X", kFloatTypes));
  for (int i : {1, 2, 3, 5, 6, 7}) WEFT_RETURN_IF_ERROR(ctx.CheckSameDType(0, i));
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(4, "sequence_lens", kLengthTypes));
  WEFT_ASSIGN_OR_RETURN(const int directions, NumDirections(attrs));
  WEFT_RETURN_IF_ERROR(ResolveActivations(attrs, activations).status());
  if (attrs.clip && !(*attrs.clip >= 0)) return Invalid("clip is ", *attrs.clip, ", expected 0 or more");
  if (attrs.hidden_size && (*attrs.hidden_size < 1 || *attrs.hidden_size >= kMaxHidden)) {
    return Invalid("hidden_size is ", *attrs.hidden_size, ", expected a value in [1, ", kMaxHidden, ")");
  }
  WEFT_ASSIGN_OR_RETURN(const Shape x, ShapeOfRank(ctx, 0, "X", 3));
  WEFT_ASSIGN_OR_RETURN(const Shape r, ShapeOfRank(ctx, 2, "R", 3));
  const Dim hidden = attrs.hidden_size ? Dim(*attrs.hidden_size) : r[2];
  if (hidden.is_constant() && (hidden.constant() < 1 || hidden.constant() >= kMaxHidden)) {
    return Invalid("input 2 (R) has shape ", r.ToString(), ", expected at least one hidden unit");
  }
  const Dim seq = x[attrs.layout ? 1 : 0], batch = x[attrs.layout ? 0 : 1], d = directions;
  const std::vector<Dim> state = attrs.layout ? std::vector<Dim>{batch, d, hidden} : std::vector<Dim>{d, batch, hidden};
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 1, "W", {d, Dim(gates) * hidden, x[2]}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 2, "R", {d, Dim(gates) * hidden, hidden}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 3, "B", {d, Dim(2 * gates) * hidden}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 4, "sequence_lens", {batch}));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 5, "initial_h", state));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 6, "initial_c", state));
  WEFT_RETURN_IF_ERROR(ExpectShape(ctx, 7, "P", {d, Dim(3) * hidden}));
  ctx.SetOutput(0, ctx.dtype(0), attrs.layout ? Shape{batch, seq, d, hidden} : Shape{seq, d, batch, hidden});
  ctx.SetOutput(1, ctx.dtype(0), Shape(state));
  ctx.SetOutput(2, ctx.dtype(0), Shape(state));
  return absl::OkStatus();
}

absl::Status InferRnn(InferContext& ctx) { return InferRecurrent(ctx, ctx.attrs<RnnAttrs>(), 1, kRnnActivations); }
absl::Status InferGru(InferContext& ctx) { return InferRecurrent(ctx, ctx.attrs<GruAttrs>(), 3, kGruActivations); }
absl::Status InferLstm(InferContext& ctx) { return InferRecurrent(ctx, ctx.attrs<LstmAttrs>(), 4, kLstmActivations); }

// Every element of W and R meets every row of X once.
Cost RecurrentCost(const NodeView& node) {
  const auto x = node.inputs[0].type->shape.Concrete(), w = node.inputs[1].type->shape.Concrete(), r = node.inputs[2].type->shape.Concrete();
  if (!x || !w || !r) return {};
  double flops = 2.0 * (*x)[0] * (*x)[1] * ((*w)[0] * (*w)[1]) * ((*w)[2] + (*r)[2]);
  return {flops < 0x1p62 ? static_cast<int64_t>(flops) : 0};
}

}  // namespace

absl::StatusOr<int> NumDirections(const RecurrentAttrs& attrs) {
  if (attrs.direction == "forward" || attrs.direction == "reverse") return 1;
  if (attrs.direction == "bidirectional") return 2;
  return Invalid("direction is '", attrs.direction, "', expected forward, reverse or bidirectional");
}

absl::StatusOr<std::vector<Activation>> ResolveActivations(const RecurrentAttrs& attrs, absl::Span<const std::string_view> defaults) {
  WEFT_ASSIGN_OR_RETURN(const int directions, NumDirections(attrs));
  const size_t needed = defaults.size() * directions;
  if (!attrs.activations.empty() && attrs.activations.size() < needed) {
    return Invalid("activations names ", attrs.activations.size(), " functions, expected ", needed);
  }
  std::vector<Activation> out;
  size_t alphas = 0, betas = 0;
  auto next = [](const std::optional<float>& fallback, const std::vector<float>& given, size_t& used) {
    if (!fallback) return 0.0f;
    return used < given.size() ? given[used++] : *fallback;
  };
  for (size_t i = 0; i < needed; ++i) {
    const std::string_view name = attrs.activations.empty() ? defaults[i % defaults.size()] : attrs.activations[i];
    const auto row = std::find_if(std::begin(kActivations), std::end(kActivations), [&](const ActivationRow& candidate) {
      return absl::EqualsIgnoreCase(ToAbsl(candidate.name), ToAbsl(name));
    });
    if (row == std::end(kActivations)) {
      return Invalid("activations names '", name, "', expected one of Affine, Elu, HardSigmoid, LeakyRelu, Relu, ScaledTanh, Sigmoid, "
                     "Softplus, Softsign, Tanh, ThresholdedRelu");
    }
    Activation activation{row->kind};
    activation.alpha = next(row->alpha, attrs.activation_alpha, alphas);
    activation.beta = next(row->beta, attrs.activation_beta, betas);
    out.push_back(activation);
  }
  return out;
}

constinit const Op ops::RNN = {.name = "RNN", .since_version = 22, .inputs = {3, 6}, .outputs = {0, 2}, .attrs = &kAttrSchema<RnnAttrs>,
                               .infer = &InferRnn, .cost = &RecurrentCost};
constinit const Op ops::GRU = {.name = "GRU", .since_version = 22, .inputs = {3, 6}, .outputs = {0, 2}, .attrs = &kAttrSchema<GruAttrs>,
                               .infer = &InferGru, .cost = &RecurrentCost};
constinit const Op ops::LSTM = {.name = "LSTM", .since_version = 22, .inputs = {3, 8}, .outputs = {0, 3}, .attrs = &kAttrSchema<LstmAttrs>,
                                .infer = &InferLstm, .cost = &RecurrentCost};

}  // namespace weft
