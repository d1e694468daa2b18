// Models for tests of the importer: ONNX's text through ONNX's own parser, and protos.
#ifndef WEFT_TESTS_ONNX_IMPORT_TEXT_H_
#define WEFT_TESTS_ONNX_IMPORT_TEXT_H_

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "graph/infer.h"
#include "graph/onnx/import.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx-ml.pb.h"

namespace weft {

// Text without a header is of opset 21.
inline onnx::ModelProto ProtoOf(const std::string& text) {
  onnx::ModelProto proto;
  const std::string model = !text.empty() && text[0] == '<' ? text : absl::StrCat("<ir_version: 10, opset_import: [\"\" : 21]>\n", text);
  const auto status = onnx::OnnxParser::Parse(proto, model.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\n" << model;
  return proto;
}

inline absl::StatusOr<Model> Import(const onnx::ModelProto& proto, const ImportOptions& options = {}) {
  return ImportModelFromMemory(proto.SerializeAsString(), "", options);
}

// The graph as text, types inferred and every invariant checked; or the error's message.
inline std::string Imported(const onnx::ModelProto& proto, const ImportOptions& options = {}) {
  absl::StatusOr<Model> model = Import(proto, options);
  if (!model.ok()) return std::string(model.status().message());
  if (absl::Status status = InferTypes(model->graph).status(); !status.ok()) return absl::StrCat("inference: ", status.message());
  if (absl::Status status = Verify(model->graph); !status.ok()) return std::string(status.message());
  PrintOptions print;
  print.intermediate_types = false;
  return Print(model->graph, print);
}

inline std::string Imported(const std::string& text, const ImportOptions& options = {}) { return Imported(ProtoOf(text), options); }

}  // namespace weft

#endif  // WEFT_TESTS_ONNX_IMPORT_TEXT_H_
