// Act(Conv(X, W, B)) -> weft.FusedConv<Act>(X, W, B); Act(MatMul(A, B)) and Act(weft.FusedMatMul(A, B, bias)) -> weft.FusedMatMul<Act>:
// Relu, LeakyRelu, Clip with constant bounds, Sigmoid, Tanh, HardSigmoid, HardSwish; fp32, the product read by nothing else. Approximates: Relu,
// Clip and HardSigmoid of NaN may become one of their bounds (kernels/onednn/primitive.h).
#include <limits>
#include <optional>

#include "base/status_macros.h"
#include "graph/ops/fused.h"
#include "graph/ops/unary.h"
#include "passes/match.h"
#include "passes/passes.h"

namespace weft {
namespace {

struct Activation {
  std::string name;
  float alpha = 0, beta = 0;
};

std::optional<Activation> ActivationOf(const Graph& graph, const GraphNode& node) {
  const Op* op = node.op;
  if (op == &ops::Relu || op == &ops::Sigmoid || op == &ops::Tanh || op == &ops::HardSwish) return Activation{std::string(op->name)};
  if (op == &ops::LeakyRelu) return Activation{"LeakyRelu", node.attrs.As<LeakyReluAttrs>().alpha};
  if (op == &ops::HardSigmoid) {
    const auto& attrs = node.attrs.As<HardSigmoidAttrs>();
    return Activation{"HardSigmoid", attrs.alpha, attrs.beta};
  }
  if (op != &ops::Clip) return std::nullopt;
  Activation clip{"Clip", std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
  for (int i = 1; i < static_cast<int>(node.inputs.size()); ++i) {
    if (node.inputs[i] == ValueId::kNone) continue;
    const std::optional<float> bound = ScalarFloat(graph, node.inputs[i]);
    if (!bound) return std::nullopt;
    (i == 1 ? clip.alpha : clip.beta) = *bound;
  }
  if (!(clip.alpha <= clip.beta)) return std::nullopt;  // crossed or NaN bounds: Clip's own rules
  return clip;
}

absl::Status FuseInto(Graph& graph, PassContext& ctx, NodeId act_id) {
  const GraphNode& act = graph.node(act_id);
  const std::optional<Activation> activation = ActivationOf(graph, act);
  if (!activation) return absl::OkStatus();
  const ValueId middle = act.inputs[0];
  const NodeId id = graph.value(middle).producer;
  if (id == NodeId::kNone || SoleReader(graph, middle) != act_id) return absl::OkStatus();
  if (graph.value(middle).type.dtype != DType::kFloat32) return absl::OkStatus();
  const GraphNode& node = graph.node(id);
  const Op* fused = nullptr;
  Attrs attrs;
  if (node.op == &ops::Conv) {
    // Without a constant weight there is no kernel that gains from it.
    if (graph.Constant(node.inputs[1]) == nullptr) return absl::OkStatus();
    const auto& a = node.attrs.As<ConvAttrs>();
    fused = &ops::WeftFusedConv;
    attrs = FusedConvAttrs{a.auto_pad, a.dilations, a.group, a.kernel_shape, a.pads, a.strides, activation->name, activation->alpha, activation->beta};
  } else if (node.op == &ops::MatMul || node.op == &ops::WeftFusedMatMul) {
    FusedMatMulAttrs a;
    if (node.op == &ops::WeftFusedMatMul) a = node.attrs.As<FusedMatMulAttrs>();
    if (!a.activation.empty()) return absl::OkStatus();
    for (int i = 0; i < 2; ++i) {
      const Shape& shape = graph.value(node.inputs[i]).type.shape;
      if (!shape.has_rank() || shape.rank() < 2) return absl::OkStatus();
    }
    a.activation = activation->name;
    a.alpha = activation->alpha;
    a.beta = activation->beta;
    fused = &ops::WeftFusedMatMul;
    attrs = std::move(a);
  } else {
    return absl::OkStatus();
  }
  if (!ctx.Allow()) return absl::OkStatus();
  const ValueId y = graph.AddOpNode(fused, node.inputs, std::move(attrs), act_id);
  if (!graph.ReplaceUses(act.outputs[0], y)) return Internal("the result of a product cannot be an output");
  graph.RemoveNode(act_id);
  graph.RemoveNode(id);
  return absl::OkStatus();
}

}  // namespace

absl::Status FuseActivation(Graph& graph, PassContext& ctx) {
  if (ctx.standard_only) return absl::OkStatus();
  for (NodeId id : graph.Order()) {
    if (graph.IsLive(id)) WEFT_RETURN_IF_ERROR(FuseInto(graph, ctx, id));
  }
  return absl::OkStatus();
}

}  // namespace weft
