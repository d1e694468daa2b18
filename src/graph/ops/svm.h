// Linear models and support vector machines: LinearClassifier, LinearRegressor, SVMClassifier, SVMRegressor (ONNX Operators-ml.md).
#ifndef WEFT_GRAPH_OPS_SVM_H_
#define WEFT_GRAPH_OPS_SVM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "graph/attributes.h"

namespace weft {

struct LinearClassifierAttrs {
  std::vector<int64_t> classlabels_ints;
  std::vector<std::string> classlabels_strings;
  std::vector<float> coefficients;  // [classes,F], or [1,F] for two classes
  std::vector<float> intercepts;    // one for each row of them, or none
  int64_t multi_class = 0;          // how the model was trained: no result depends on it
  std::string post_transform = "NONE";
};
WEFT_ATTRS(LinearClassifierAttrs, Field<&LinearClassifierAttrs::classlabels_ints>("classlabels_ints"),
           Field<&LinearClassifierAttrs::classlabels_strings>("classlabels_strings"),
           RequiredField<&LinearClassifierAttrs::coefficients>("coefficients"),
           Field<&LinearClassifierAttrs::intercepts>("intercepts"), Field<&LinearClassifierAttrs::multi_class>("multi_class"),
           Field<&LinearClassifierAttrs::post_transform>("post_transform"));

struct LinearRegressorAttrs {
  std::vector<float> coefficients;  // [targets,F]
  std::vector<float> intercepts;    // one for each target, or none
  std::string post_transform = "NONE";
  int64_t targets = 1;
};
WEFT_ATTRS(LinearRegressorAttrs, Field<&LinearRegressorAttrs::coefficients>("coefficients"),
           Field<&LinearRegressorAttrs::intercepts>("intercepts"), Field<&LinearRegressorAttrs::post_transform>("post_transform"),
           Field<&LinearRegressorAttrs::targets>("targets"));

// With V support vectors, grouped by class, and C classes: a machine for each pair of classes (0,1), (0,2), ..., (1,2), ...
// Without any: one linear score for each class.
struct SVMClassifierAttrs {
  std::vector<int64_t> classlabels_ints;
  std::vector<std::string> classlabels_strings;
  std::vector<float> coefficients;   // [C-1,V]; [C,F] without support vectors
  std::vector<float> kernel_params;  // gamma, coef0, degree
  std::string kernel_type = "LINEAR";
  std::string post_transform = "NONE";
  std::vector<float> prob_a, prob_b;  // one for each pair: the scores become probabilities
  std::vector<float> rho;             // one for each pair; a single one without support vectors
  std::vector<float> support_vectors;  // [V,F]
  std::vector<int64_t> vectors_per_class;

  int64_t classes() const { return static_cast<int64_t>(classlabels_ints.empty() ? classlabels_strings.size() : classlabels_ints.size()); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
};
WEFT_ATTRS(SVMClassifierAttrs, Field<&SVMClassifierAttrs::classlabels_ints>("classlabels_ints"),
           Field<&SVMClassifierAttrs::classlabels_strings>("classlabels_strings"),
           Field<&SVMClassifierAttrs::coefficients>("coefficients"), Field<&SVMClassifierAttrs::kernel_params>("kernel_params"),
           Field<&SVMClassifierAttrs::kernel_type>("kernel_type"), Field<&SVMClassifierAttrs::post_transform>("post_transform"),
           Field<&SVMClassifierAttrs::prob_a>("prob_a"), Field<&SVMClassifierAttrs::prob_b>("prob_b"), Field<&SVMClassifierAttrs::rho>("rho"),
           Field<&SVMClassifierAttrs::support_vectors>("support_vectors"),
           Field<&SVMClassifierAttrs::vectors_per_class>("vectors_per_class"));

struct SVMRegressorAttrs {
  std::vector<float> coefficients;  // [V]; [F] without support vectors
  std::vector<float> kernel_params;
  std::string kernel_type = "LINEAR";
  int64_t n_supports = 0;
  bool one_class = false;  // the result is 1 for a positive score and -1 for others
  std::string post_transform = "NONE";
  std::vector<float> rho;
  std::vector<float> support_vectors;  // [V,F]
};
WEFT_ATTRS(SVMRegressorAttrs, Field<&SVMRegressorAttrs::coefficients>("coefficients"),
           Field<&SVMRegressorAttrs::kernel_params>("kernel_params"), Field<&SVMRegressorAttrs::kernel_type>("kernel_type"),
           Field<&SVMRegressorAttrs::n_supports>("n_supports"), Field<&SVMRegressorAttrs::one_class>("one_class"),
           Field<&SVMRegressorAttrs::post_transform>("post_transform"), Field<&SVMRegressorAttrs::rho>("rho"),
           Field<&SVMRegressorAttrs::support_vectors>("support_vectors"));

}  // namespace weft

#endif  // WEFT_GRAPH_OPS_SVM_H_
