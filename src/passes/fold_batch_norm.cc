// BatchNormalization(Conv(X, W, B), scale, bias, mean, var) -> Conv(X, W * k, (B - mean) * k + bias), k = scale / sqrt(var + epsilon) for
// each output channel; ConvTranspose of one group likewise. All constants fp32.
#include <cmath>

#include "base/status_macros.h"
#include "graph/ops/conv.h"
#include "graph/ops/normalization.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace weft {
namespace {

// A constant vector of `size` floats.
const Tensor* Vector(const Graph& graph, ValueId id, int64_t size) {
  const Tensor* t = graph.Constant(id);
  return t != nullptr && t->dtype() == DType::kFloat32 && t->rank() == 1 && t->dim(0) == size ? t : nullptr;
}

absl::Status Fold(Graph& graph, PassContext& ctx, NodeId bn_id) {
  const GraphNode& bn = graph.node(bn_id);
  const auto& attrs = bn.attrs.As<BatchNormalizationAttrs>();
  if (attrs.training_mode || bn.outputs.size() != 1 || bn.outputs[0] == ValueId::kNone) return absl::OkStatus();
  const ValueId middle = bn.inputs[0];
  NodeId conv_id = ProducerOf(graph, middle, ops::Conv);
  const bool transposed = conv_id == NodeId::kNone;
  if (transposed) conv_id = ProducerOf(graph, middle, ops::ConvTranspose);
  if (conv_id == NodeId::kNone || SoleReader(graph, middle) != bn_id) return absl::OkStatus();
  const GraphNode& conv = graph.node(conv_id);
  if (transposed && conv.attrs.As<ConvTransposeAttrs>().group != 1) return absl::OkStatus();
  const Tensor* w = graph.Constant(conv.inputs[1]);
  if (w == nullptr || w->dtype() != DType::kFloat32 || w->rank() < 3) return absl::OkStatus();
  const int64_t channels = w->dim(transposed ? 1 : 0);
  const Tensor *scale = Vector(graph, bn.inputs[1], channels), *shift = Vector(graph, bn.inputs[2], channels);
  const Tensor *mean = Vector(graph, bn.inputs[3], channels), *var = Vector(graph, bn.inputs[4], channels);
  const ValueId bias_id = graph.Input(conv_id, 2);
  const Tensor* bias = Vector(graph, bias_id, channels);
  if (scale == nullptr || shift == nullptr || mean == nullptr || var == nullptr) return absl::OkStatus();
  if (bias_id != ValueId::kNone && bias == nullptr) return absl::OkStatus();

  WEFT_ASSIGN_OR_RETURN(Tensor new_w, w->Clone());
  WEFT_ASSIGN_OR_RETURN(Tensor new_b, Tensor::Allocate(DType::kFloat32, {channels}));
  std::vector<double> k(channels);
  for (int64_t c = 0; c < channels; ++c) {
    k[c] = scale->data<float>()[c] / std::sqrt(static_cast<double>(var->data<float>()[c]) + attrs.epsilon);
    const double b = bias != nullptr ? bias->data<float>()[c] : 0.0f;
    new_b.data<float>()[c] = static_cast<float>((b - mean->data<float>()[c]) * k[c] + shift->data<float>()[c]);
    // A variance that makes no number keeps the node: the run shows what the model says.
    if (!std::isfinite(k[c]) || !std::isfinite(new_b.data<float>()[c])) return absl::OkStatus();
  }
  const int64_t inner = transposed ? w->size() / std::max<int64_t>(w->dim(0) * channels, 1) : w->size() / std::max<int64_t>(channels, 1);
  for (int64_t i = 0; i < w->size(); ++i) {
    float& element = new_w.data<float>()[i];
    element = static_cast<float>(element * k[i / inner % channels]);
  }
  if (!ctx.Allow()) return absl::OkStatus();
  const std::string w_name = graph.value(conv.inputs[1]).name;
  const ValueId folded_w = graph.AddConstant(w_name + "_bn", std::move(new_w));
  const ValueId folded_b = graph.AddConstant(w_name + "_bn_bias", std::move(new_b));
  const ValueId y = graph.AddOpNode(conv.op, {conv.inputs[0], folded_w, folded_b}, conv.attrs, bn_id);
  if (!graph.ReplaceUses(bn.outputs[0], y)) return Internal("the result of a convolution cannot be an output");
  graph.RemoveNode(bn_id);
  graph.RemoveNode(conv_id);
  return absl::OkStatus();
}

}  // namespace

absl::Status FoldBatchNorm(Graph& graph, PassContext& ctx) {
  for (NodeId id : graph.Order()) {
    if (graph.IsLive(id) && graph.node(id).op == &ops::BatchNormalization) WEFT_RETURN_IF_ERROR(Fold(graph, ctx, id));
  }
  return absl::OkStatus();
}

}  // namespace weft
