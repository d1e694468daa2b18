// Files: headers, versions, what is no model, and external data, which may lie beneath the model's folder only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "import_text.h"

namespace weft {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

onnx::ModelProto Relu() { return ProtoOf("g (float[2] x) => (float[2] y) { y = Relu(x) }"); }

std::string Message(std::string_view bytes) { return std::string(ImportModelFromMemory(bytes, "").status().message()); }

TEST(ImportFile, WhatIsNoModel) {
  EXPECT_EQ(Message(""), "model: is empty, expected an ONNX model");
  EXPECT_THAT(Message("not a model"), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(Message(std::string(1000, '\0')), HasSubstr("is not an ONNX model"));
  EXPECT_THAT(Message(onnx::ModelProto().SerializeAsString()), HasSubstr("is empty"));
  onnx::ModelProto proto = Relu();
  proto.clear_graph();
  EXPECT_THAT(Message(proto.SerializeAsString()), HasSubstr("no graph"));
}

// However much of a file is missing: an error, or (cut between two fields) a model without what is missing.
TEST(ImportFile, CutShort) {
  const std::string bytes = ProtoOf(R"(g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> {
    y = If (c) <then_branch = t () => (float[2] z) { z = Add(x, w) }, else_branch = e () => (float[2] z2) { z2 = Sub(x, w) }> })")
                                .SerializeAsString();
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) refused += !ImportModelFromMemory(bytes.substr(0, size), "").ok();
  EXPECT_GT(refused, static_cast<int>(bytes.size()) * 9 / 10);
}

TEST(ImportFile, NestedTooDeeply) {
  onnx::ModelProto proto = Relu();
  onnx::NodeProto* node = proto.mutable_graph()->mutable_node(0);
  for (int depth = 0; depth < 200; ++depth) {
    onnx::AttributeProto& body = *node->add_attribute();
    body.set_name("then_branch");
    body.set_type(onnx::AttributeProto::GRAPH);
    node = body.mutable_g()->add_node();
    node->set_op_type("If");
  }
  EXPECT_THAT(Imported(proto), HasSubstr("nested too deeply"));
}

TEST(ImportFile, Versions) {
  onnx::ModelProto proto = Relu();
  proto.set_ir_version(onnx::IR_VERSION + 1);
  EXPECT_THAT(Imported(proto), HasSubstr(absl::StrCat("has IR version ", onnx::IR_VERSION + 1, ", expected at most ", onnx::IR_VERSION)));
  proto.set_ir_version(3);
  EXPECT_THAT(Imported(proto), HasSubstr("y = Relu (x)"));
  auto opset = [&](int64_t version) {
    proto.mutable_opset_import(0)->set_version(version);
    return Imported(proto);
  };
  EXPECT_THAT(opset(29), HasSubstr("imports opset 29 of domain '', expected at most 28"));
  EXPECT_THAT(opset(int64_t{1} << 40), HasSubstr("expected at most 28"));
  EXPECT_THAT(opset(0), HasSubstr("imports opset 0 of domain '', expected 1 or later"));
  EXPECT_THAT(opset(-1), HasSubstr("imports opset -1"));
  EXPECT_THAT(opset(28), HasSubstr("y = Relu (x)"));
  proto.mutable_opset_import(0)->set_domain("ai.onnx");  // another name of the same domain
  EXPECT_THAT(Imported(proto), HasSubstr("y = Relu (x)"));
  proto.add_opset_import()->set_version(27);
  EXPECT_THAT(Imported(proto), HasSubstr("imports domain '' with opsets 28 and 27, expected one"));
  proto.clear_opset_import();
  EXPECT_THAT(Imported(proto), HasSubstr("imports no opset"));
  proto.set_ir_version(2);  // files of that time know none
  EXPECT_THAT(Imported(proto), HasSubstr("y = Relu (x)"));
}

TEST(ImportFile, HeaderIsKept) {
  onnx::ModelProto proto = Relu();
  proto.set_producer_name("p");
  proto.set_model_version(7);
  onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
  entry.set_key("k");
  entry.set_value("v");
  const absl::StatusOr<Model> model = Import(proto);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->producer_name, "p");
  EXPECT_EQ(model->model_version, 7);
  EXPECT_EQ(model->metadata, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
}

// ---- Files and external data ----

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directories(folder() / "sub");
    const float values[] = {1, 2, 3, 4};
    std::string bytes(sizeof values, '\0');
    std::memcpy(bytes.data(), values, sizeof values);
    Write(folder() / "w.bin", bytes);
    Write(folder() / "sub" / "w.bin", bytes);
    Write(root_ / "outside.bin", bytes);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path folder() const { return root_ / "model"; }
  static void Write(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  // A model with an initialiser float[2] that these entries describe; the graph as text, or the error's message.
  std::string With(std::vector<std::pair<std::string, std::string>> entries) {
    onnx::ModelProto proto = ProtoOf("g (float[2] x) => (float[2] y) <float[2] w = {0, 0}> { y = Add(x, w) }");
    onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      onnx::StringStringEntryProto& entry = *w.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    Write(folder() / "model.onnx", proto.SerializeAsString());
    const absl::StatusOr<Model> model = ImportModel((folder() / "model.onnx").string());
    return model.ok() ? Print(model->graph) : std::string(model.status().message());
  }

  fs::path root_;
};

TEST_F(ExternalData, IsReadBeneathTheFolder) {
  EXPECT_THAT(With({{"location", "w.bin"}, {"length", "8"}, {"offset", "8"}}), HasSubstr("w = {3, 4}"));
  EXPECT_THAT(With({{"location", "sub/w.bin"}}), HasSubstr("w = {1, 2}"));
  EXPECT_THAT(With({{"location", "./sub//./w.bin"}}), HasSubstr("w = {1, 2}"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"checksum", "abc"}}), HasSubstr("w = {1, 2}"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "4"}}), HasSubstr("w = {2, 3}"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "1"}}), HasSubstr("w = {"));  // at no multiple of the element's size: copied
}

TEST_F(ExternalData, StaysBeneathTheFolder) {
  EXPECT_THAT(With({{"location", (root_ / "outside.bin").string()}}), HasSubstr("is absolute"));
  EXPECT_THAT(With({{"location", "../outside.bin"}}), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(With({{"location", "sub/../w.bin"}}), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(With({{"location", "sub/../../outside.bin"}}), HasSubstr("leaves the model's folder"));
  EXPECT_THAT(With({{"location", ""}}), HasSubstr("empty location"));
  EXPECT_THAT(With({{"location", "."}}), HasSubstr("names no file"));
  EXPECT_THAT(With({{"location", std::string("w.bin\0x", 7)}}), HasSubstr("NUL"));
  fs::create_symlink("../outside.bin", folder() / "link.bin");
  fs::create_symlink("w.bin", folder() / "inner.bin");
  fs::create_directory_symlink("..", folder() / "up");
  fs::create_directory_symlink("sub", folder() / "down");
  EXPECT_THAT(With({{"location", "link.bin"}}), HasSubstr("symbolic link"));
  EXPECT_THAT(With({{"location", "inner.bin"}}), HasSubstr("symbolic link"));
  EXPECT_THAT(With({{"location", "up/outside.bin"}}), HasSubstr("goes through a link"));
  EXPECT_THAT(With({{"location", "down/w.bin"}}), HasSubstr("goes through a link"));
}

TEST_F(ExternalData, IsAFile) {
  EXPECT_THAT(With({{"location", "nowhere.bin"}}), HasSubstr("does not exist"));
  EXPECT_THAT(With({{"location", "sub"}}), HasSubstr("is a directory"));
  EXPECT_THAT(With({{"location", "w.bin/x"}}), HasSubstr("expected folders only"));
  ASSERT_EQ(mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(With({{"location", "pipe"}}), HasSubstr("no regular file"));
}

TEST_F(ExternalData, LiesInsideTheFile) {
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "9"}}), HasSubstr("'w.bin' has 16 bytes, expected 8 at offset 9"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "17"}}), HasSubstr("has 16 bytes, expected 8 at offset 17"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "9223372036854775807"}}), HasSubstr("at offset 9223372036854775807"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "9223372036854775808"}}), HasSubstr("expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "18446744073709551608"}}), HasSubstr("expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "-8"}}), HasSubstr("offset '-8', expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", " 8"}}), HasSubstr("expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "8x"}}), HasSubstr("expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", ""}}), HasSubstr("expected a number of bytes"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"length", "-1"}}), HasSubstr("length '-1'"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"length", "16"}}), HasSubstr("length 16, expected 8 bytes for float[2]"));
  Write(folder() / "empty.bin", "");
  EXPECT_THAT(With({{"location", "empty.bin"}}), HasSubstr("'empty.bin' has 0 bytes"));
}

TEST_F(ExternalData, EntriesAreGivenOnce) {
  EXPECT_THAT(With({{"offset", "0"}}), HasSubstr("has no location"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"location", "sub/w.bin"}}), HasSubstr("two entries 'location'"));
  EXPECT_THAT(With({{"location", "w.bin"}, {"offset", "0"}, {"offset", "8"}}), HasSubstr("two entries 'offset'"));
}

TEST_F(ExternalData, WithoutAFolder) {
  onnx::ModelProto proto = ProtoOf("g (float[2] x) => (float[2] y) <float[2] w = {0, 0}> { y = Add(x, w) }");
  onnx::TensorProto& w = *proto.mutable_graph()->mutable_initializer(0);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *w.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  EXPECT_THAT(Imported(proto), HasSubstr("has external data and data of its own"));
  w.clear_float_data();
  EXPECT_THAT(Imported(proto), HasSubstr("the model came without a folder"));
  w.set_data_type(onnx::TensorProto::STRING);
  EXPECT_THAT(Imported(proto), HasSubstr("strings are external data"));
}

TEST_F(ExternalData, OfConstantsAndBodies) {
  onnx::ModelProto proto = ProtoOf(R"(g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <then_branch = t () => (float[2] z) { w = Constant<value = float[2] {0, 0}>() z = Add(x, w) }, else_branch = e () => (float[2] z2) { z2 = Neg(x) }>
  })");
  for (onnx::AttributeProto& attribute : *proto.mutable_graph()->mutable_node(0)->mutable_attribute()) {
    if (attribute.name() != "then_branch") continue;
    onnx::TensorProto& w = *attribute.mutable_g()->mutable_node(0)->mutable_attribute(0)->mutable_t();
    w.clear_float_data();
    w.set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto& entry = *w.add_external_data();
    entry.set_key("location");
    entry.set_value("../outside.bin");
    EXPECT_THAT(Imported(proto), AllOf(HasSubstr("then_branch"), HasSubstr("leaves the model's folder")));
    entry.set_value("w.bin");
  }
  const absl::StatusOr<Model> model = ImportModelFromMemory(proto.SerializeAsString(), folder().string());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(Print(model->graph), HasSubstr("w = {1, 2}"));
}

TEST_F(ExternalData, ModelsThatAreNoFiles) {
  EXPECT_EQ(ImportModel((root_ / "nowhere.onnx").string()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(ImportModel(root_.string()).status().message(), HasSubstr("is a directory"));
  Write(root_ / "empty.onnx", "");
  EXPECT_THAT(ImportModel((root_ / "empty.onnx").string()).status().message(), HasSubstr("is empty, expected an ONNX model"));
}

}  // namespace
}  // namespace weft
