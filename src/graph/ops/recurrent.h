// Recurrent layers: attributes, and what inference and every kernel read from them alike.
#ifndef WEFT_GRAPH_OPS_RECURRENT_H_
#define WEFT_GRAPH_OPS_RECURRENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/attributes.h"

namespace weft {

struct RecurrentAttrs {
  std::vector<float> activation_alpha, activation_beta;
  std::vector<std::string> activations;  // empty: the op's default
  std::optional<float> clip;
  std::string direction = "forward";
  std::optional<int64_t> hidden_size;
  bool layout = false;  // true: batch before time
};

struct RnnAttrs : RecurrentAttrs {
  RnnAttrs() { activations = {"Tanh", "Tanh"}; }
};
struct GruAttrs : RecurrentAttrs {
  bool linear_before_reset = false;
};
struct LstmAttrs : RecurrentAttrs {
  bool input_forget = false;
};

#define WEFT_RECURRENT_FIELDS                                                                              \
  Field<&RecurrentAttrs::activation_alpha>("activation_alpha"),                                            \
      Field<&RecurrentAttrs::activation_beta>("activation_beta"), Field<&RecurrentAttrs::activations>("activations"), \
      Field<&RecurrentAttrs::clip>("clip"), Field<&RecurrentAttrs::direction>("direction"),                \
      Field<&RecurrentAttrs::hidden_size>("hidden_size"), Field<&RecurrentAttrs::layout>("layout")
WEFT_ATTRS(RnnAttrs, WEFT_RECURRENT_FIELDS);
WEFT_ATTRS(GruAttrs, WEFT_RECURRENT_FIELDS, Field<&GruAttrs::linear_before_reset>("linear_before_reset"));
WEFT_ATTRS(LstmAttrs, WEFT_RECURRENT_FIELDS, Field<&LstmAttrs::input_forget>("input_forget"));
#undef WEFT_RECURRENT_FIELDS

enum class ActivationKind { kAffine, kElu, kHardSigmoid, kLeakyRelu, kRelu, kScaledTanh, kSigmoid, kSoftplus, kSoftsign, kTanh, kThresholdedRelu };

// One activation function with its parameters.
struct Activation {
  ActivationKind kind = ActivationKind::kTanh;
  float alpha = 0, beta = 0;
};

// 1 for "forward" and "reverse", 2 for "bidirectional". Errors: another word.
absl::StatusOr<int> NumDirections(const RecurrentAttrs& attrs);

// The functions of every direction, those of one after those of the other. `defaults` are one direction's names, used where the node names
// none. activation_alpha and activation_beta are consumed in order by the functions that have such a parameter, each falling back on
// its operator's default where the list is at its end. Errors: an unknown function, or fewer than the directions need.
absl::StatusOr<std::vector<Activation>> ResolveActivations(const RecurrentAttrs& attrs, absl::Span<const std::string_view> defaults);

inline constexpr std::string_view kRnnActivations[] = {"Tanh"};
inline constexpr std::string_view kGruActivations[] = {"Sigmoid", "Tanh"};           // f, g
inline constexpr std::string_view kLstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};  // f, g, h

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_RECURRENT_H_
