#include <algorithm>

#include "graph/onnx/lift_steps.h"

namespace weft::lift_steps {

// A body that is left out returns what it is given.
absl::Status FlexBodiesTidy(Draft& node, Lift&) {
  for (std::string_view name : {"score_mod", "prob_mod"}) {
    const bool given = std::any_of(node.bodies.begin(), node.bodies.end(), [&](const DraftBody& body) { return body.attribute == name; });
    if (given) continue;
    DraftBody body;
    body.attribute = std::string(name);
    body.graph.AddOutput(body.graph.AddInput("x", Type::Unknown()));
    node.bodies.push_back(std::move(body));
  }
  return absl::OkStatus();
}

}  // namespace weft::lift_steps
