#include "graph/onnx/export.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/onnx/adapter.h"
#include "graph/onnx/tensor_proto.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

// A protobuf message holds 2 GiB at most; beyond this its weights go into a file of their own.
constexpr int64_t kMaxInside = int64_t{1} << 30;
// Smaller ones stay inside: readers look at them to infer shapes.
constexpr int64_t kMinExternal = 1024;
constexpr int64_t kAlignment = 4096;  // of each tensor in the file, so that it can be mapped

// The oldest IR version that may state the opset (ONNX, Versioning.md).
int64_t IrVersionFor(int64_t opset) {
  constexpr std::pair<int64_t, int64_t> kSince[] = {{28, 14}, {25, 13}, {24, 12}, {23, 11}, {21, 10}, {19, 9}, {15, 8}, {12, 7}, {11, 6}, {10, 5}, {9, 4}};
  for (const auto& [since, ir] : kSince) {
    if (opset >= since) return ir;
  }
  return 3;
}

// The oldest opset of the op's domain that has it in the newest form.
int64_t OldestOpset(const Op& op) {
  const OpHistory* history = FindHistory(op.domain, op.name);
  if (history == nullptr) return 1;
  int64_t oldest = history->Versions()[0].since;
  for (const OpVersion& version : history->Versions()) {
    if (version.step != nullptr) oldest = version.since;
  }
  return oldest;
}

// Attributes younger than the oldest opset of their op; without them it means the same (Changelog.md).
struct LaterAttribute {
  std::string_view op, name;
  int64_t since;
};
constexpr LaterAttribute kLaterAttributes[] = {
    {"ArgMax", "select_last_index", 12}, {"ArgMin", "select_last_index", 12}, {"Attention", "left_window_size", 25},
    {"Attention", "right_window_size", 25}, {"AveragePool", "ceil_mode", 10}, {"AveragePool", "count_include_pad", 7},
    {"AveragePool", "dilations", 19}, {"Cast", "round_mode", 24}, {"Cast", "saturate", 19},
    {"CastLike", "round_mode", 24}, {"CastLike", "saturate", 19}, {"DepthToSpace", "mode", 11},
    {"DequantizeLinear", "axis", 13}, {"DequantizeLinear", "block_size", 21}, {"DequantizeLinear", "output_dtype", 23},
    {"GRU", "layout", 14}, {"GatherND", "batch_dims", 12}, {"LSTM", "layout", 14},
    {"LpPool", "ceil_mode", 18}, {"LpPool", "dilations", 18}, {"MaxPool", "ceil_mode", 10},
    {"MaxPool", "dilations", 10}, {"MaxPool", "storage_order", 8}, {"QuantizeLinear", "axis", 13},
    {"QuantizeLinear", "block_size", 21}, {"QuantizeLinear", "output_dtype", 21}, {"QuantizeLinear", "precision", 23},
    {"QuantizeLinear", "saturate", 19}, {"RNN", "layout", 14}, {"Range", "stash_type", 27},
    {"Reshape", "allowzero", 14}, {"Resize", "antialias", 18}, {"Resize", "axes", 18},
    {"Resize", "keep_aspect_ratio_policy", 18}, {"ScatterElements", "reduction", 16}, {"ScatterND", "reduction", 16},
    {"Shape", "end", 15}, {"Shape", "start", 15}, {"SpaceToDepth", "mode", 28},
    {"TopK", "largest", 11}, {"TopK", "sorted", 11}, {"LabelEncoder", "default_tensor", 4},
    {"LabelEncoder", "keys_tensor", 4}, {"LabelEncoder", "values_tensor", 4},
};

// Of one node: what its attributes need as well.
int64_t OldestOpset(const GraphNode& node) {
  int64_t oldest = OldestOpset(*node.op);
  for (const AttrField& field : node.attrs.schema().fields) {
    if (node.attrs.IsDefault(field)) continue;
    for (const LaterAttribute& later : kLaterAttributes) {
      if (later.op == node.op->name && later.name == field.name) oldest = std::max(oldest, later.since);
    }
  }
  return oldest;
}

// A file that appears under its name when it is complete.
class NewFile {
 public:
  explicit NewFile(fs::path path) : path_(std::move(path)), temporary_(path_) {
    temporary_ += ".part";
    // What is there may be replaced if it is a file: a device, pipe or folder of that name would be lost.
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    replaceable_ = !fs::exists(status) || fs::is_regular_file(status);
    if (replaceable_) stream_.open(temporary_, std::ios::binary | std::ios::trunc);
  }
  ~NewFile() {
    std::error_code ignored;
    if (replaceable_ && !done_) fs::remove(temporary_, ignored);
  }
  std::ofstream& stream() { return stream_; }
  absl::Status Finish() {
    if (!replaceable_) return Invalid(path_.string(), ": is not a regular file, expected a file to write or a new name");
    stream_.close();
    if (!stream_) return absl::PermissionDeniedError(absl::StrCat(path_.string(), ": cannot be written"));
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) return absl::PermissionDeniedError(absl::StrCat(path_.string(), ": cannot be written: ", error.message()));
    done_ = true;
    return absl::OkStatus();
  }

 private:
  const fs::path path_;
  fs::path temporary_;
  std::ofstream stream_;
  bool replaceable_ = false;
  bool done_ = false;
};

class Exporter {
 public:
  Exporter(const Model& model, const ExportOptions& options) : model_(model), options_(options) {
    for (ValueId id : model.graph.inputs()) {
      if (!model.graph.value(id).type.is_tensor() || !model.graph.value(id).type.shape.has_rank()) continue;
      for (int axis = 0; axis < model.graph.value(id).type.shape.rank(); ++axis) {
        const auto symbol = model.graph.value(id).type.shape[axis].symbol();
        // The importer's own name for one without a name.
        if (symbol && *symbol != absl::StrCat(model.graph.value(id).name, ".", axis)) symbols_.insert(*symbol);
      }
    }
  }

  absl::Status Run(const std::string& path) {
    WEFT_RETURN_IF_ERROR(ChooseOpsets());
    onnx::ModelProto proto;
    onnx::GraphProto& graph = *proto.mutable_graph();
    top_ = &graph;
    Scope scope;
    WEFT_RETURN_IF_ERROR(ExportGraph(model_.graph, graph, scope, nullptr));
    for (const auto& [name, tensor] : options_.defaults) AddInitializer(name, tensor);
    graph.set_name(model_.graph.name().empty() ? "graph" : model_.graph.name());
    Describe(proto);
    return Write(proto, path);
  }

 private:
  // Names of a graph and of those around it; `names` are what its values are called in the file.
  struct Scope {
    absl::flat_hash_set<std::string> taken;
    std::vector<std::string> names;
  };

  absl::Status ChooseOpsets() {
    for (const OpsetImport& opset : model_.opsets) opsets_[opset.domain] = opset.version;
    int64_t& onnx_opset = opsets_[""];
    const int64_t own = onnx_opset;
    if (options_.opset > 0) onnx_opset = options_.opset;
    std::set<std::string> used = {""};
    WEFT_RETURN_IF_ERROR(RaiseOpsets(model_.graph, used));
    for (auto it = opsets_.begin(); it != opsets_.end();) it = used.contains(it->first) ? std::next(it) : opsets_.erase(it);
    if (options_.opset > 0 && own > options_.opset) {
      return Unsupported("opset ", options_.opset, " is below the model's own, ", own, ": its ops may not have been there yet");
    }
    return absl::OkStatus();
  }

  absl::Status RaiseOpsets(const Graph& graph, std::set<std::string>& used) {
    for (NodeId id : graph.Order()) {
      const GraphNode& node = graph.node(id);
      const std::string domain(node.op->domain);
      if (domain == "weft" && !options_.allow_weft_ops) {
        return Unsupported("node '", graph.Label(id), "' is of the op ", node.op->QualifiedName(), ", which only Weft knows");
      }
      used.insert(domain);
      const int64_t oldest = OldestOpset(node);
      int64_t& opset = opsets_[domain];
      if (options_.opset > 0 && domain.empty() && oldest > opset) {
        return Unsupported("node '", graph.Label(id), "' (", node.op->QualifiedName(), ") takes opset ", oldest, ", found --opset ", opset);
      }
      opset = std::max(opset, oldest);
      for (const Region& region : node.regions) WEFT_RETURN_IF_ERROR(RaiseOpsets(*region.graph, used));
    }
    return absl::OkStatus();
  }

  std::string FreshName(Scope& scope, const std::string& wanted) {
    std::string name = wanted;
    for (int k = 1; constant_names_.contains(name) || !scope.taken.insert(name).second; ++k) name = absl::StrCat(wanted, "_", k);
    return name;
  }

  // `captures`: what the captures of a body are called; null for the graph of the model.
  absl::Status ExportGraph(const Graph& graph, onnx::GraphProto& proto, Scope& scope, const std::vector<std::string>* captures) {
    scope.names.assign(graph.num_values(), "");
    if (captures != nullptr) {
      for (size_t i = 0; i < captures->size(); ++i) Name(scope, graph.captures()[i]) = (*captures)[i];
    }
    for (ValueId id : graph.inputs()) Name(scope, id) = FreshName(scope, graph.value(id).name);
    for (ValueId id : graph.outputs()) {
      if (graph.value(id).producer != NodeId::kNone && Name(scope, id).empty()) Name(scope, id) = FreshName(scope, graph.value(id).name);
      if (graph.value(id).is_constant()) scope.taken.insert(graph.value(id).name);  // for the node that ExportOutputs puts behind it
    }
    for (int v = 0; v < graph.num_values(); ++v) {
      const ValueId id{v};
      const GraphValue& value = graph.value(id);
      if (!Name(scope, id).empty() || (value.uses.empty() && value.producer == NodeId::kNone)) continue;
      Name(scope, id) = value.is_constant() ? ConstantName(scope, value) : FreshName(scope, value.name);
    }
    for (ValueId id : graph.inputs()) *proto.add_input() = InfoOf(graph, id, Name(scope, id));
    for (NodeId id : graph.Order()) WEFT_RETURN_IF_ERROR(ExportNode(graph, id, *proto.add_node(), scope));
    return ExportOutputs(graph, proto, scope, captures != nullptr);
  }

  // An output is made by a node of its own graph, and each under another name.
  absl::Status ExportOutputs(const Graph& graph, onnx::GraphProto& proto, Scope& scope, bool body) {
    absl::flat_hash_set<std::string> seen;
    for (ValueId id : graph.outputs()) {
      std::string name = Name(scope, id);
      const bool made_here = graph.value(id).producer != NodeId::kNone;
      const bool constant = graph.value(id).is_constant();
      if (seen.contains(constant ? graph.value(id).name : name) || (!made_here && (body || constant))) {
        onnx::NodeProto& node = *proto.add_node();
        node.set_op_type("Identity");
        node.add_input(name);
        name = constant && !seen.contains(graph.value(id).name) ? graph.value(id).name : FreshName(scope, absl::StrCat(name, "_out"));
        node.add_output(name);
      }
      seen.insert(name);
      onnx::ValueInfoProto& info = *proto.add_output();
      info = InfoOf(graph, id, name);
      if (!body) AddDeclared(proto.output_size() - 1, info);
    }
    return absl::OkStatus();
  }

  // What the file says of output `i` where inference found less: its rank, and names of dims.
  void AddDeclared(int i, onnx::ValueInfoProto& info) const {
    if (i >= static_cast<int>(model_.declared_outputs.size()) || !info.type().has_tensor_type()) return;
    const Type& declared = model_.declared_outputs[i];
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    if (!declared.is_tensor() || static_cast<int>(declared.dtype) != tensor.elem_type() || !declared.shape.has_rank()) return;
    if (!tensor.has_shape()) {
      tensor.mutable_shape();
      for (int axis = 0; axis < declared.shape.rank(); ++axis) tensor.mutable_shape()->add_dim();
    }
    if (tensor.shape().dim_size() != declared.shape.rank()) return;
    for (int axis = 0; axis < declared.shape.rank(); ++axis) {
      auto& dim = *tensor.mutable_shape()->mutable_dim(axis);
      const auto symbol = declared.shape[axis].symbol();
      if (dim.value_case() == onnx::TensorShapeProto::Dimension::VALUE_NOT_SET && symbol && *symbol != absl::StrCat(info.name(), ".", axis)) {
        dim.set_dim_param(*symbol);
      }
    }
  }

  static std::string& Name(Scope& scope, ValueId id) { return scope.names[static_cast<size_t>(id)]; }

  // The name of the initialiser that holds the constant: one for all constants over the same memory.
  std::string ConstantName(Scope& scope, const GraphValue& value) {
    const Tensor& tensor = value.constant;
    const bool shared = tensor.bytes() > 0 && tensor.dtype() != DType::kString;
    const auto key = std::make_pair(static_cast<const void*>(tensor.data()), Type::OfTensor(tensor).ToString());
    if (shared) {
      if (auto it = constants_.find(key); it != constants_.end()) return it->second;
    }
    // Unique in the whole file: every graph in it may read it.
    std::string name = value.name;
    for (int k = 1; !constant_names_.insert(name).second || scope.taken.contains(name) || all_names_.contains(name); ++k) {
      name = absl::StrCat(value.name, "_", k);
    }
    scope.taken.insert(name);
    if (shared) constants_.emplace(key, name);
    AddInitializer(name, tensor);
    return name;
  }

  void AddInitializer(const std::string& name, const Tensor& tensor) {
    initializers_.emplace_back(name, tensor);
    if (tensor.dtype() != DType::kString) constant_bytes_ += static_cast<int64_t>(tensor.bytes());
  }

  absl::Status ExportNode(const Graph& graph, NodeId id, onnx::NodeProto& proto, Scope& scope) {
    const GraphNode& node = graph.node(id);
    proto.set_op_type(std::string(node.op->name));
    proto.set_domain(std::string(node.op->domain));
    proto.set_name(node.name);
    auto name = [&](ValueId value) { return value == ValueId::kNone ? std::string() : Name(scope, value); };
    for (ValueId value : node.inputs) proto.add_input(name(value));
    for (ValueId value : node.outputs) proto.add_output(name(value));
    for (const AttrField& field : node.attrs.schema().fields) {
      if (!field.required && node.attrs.IsDefault(field)) continue;
      const std::optional<AttrValue> value = node.attrs.Get(field.name);
      if (value) ExportAttribute(field, *value, *proto.add_attribute());
    }
    for (size_t k = 0; k < node.regions.size(); ++k) {
      const Region& region = node.regions[k];
      onnx::AttributeProto& attribute = *proto.add_attribute();
      attribute.set_name(std::string(node.op->regions[k]));
      attribute.set_type(onnx::AttributeProto::GRAPH);
      std::vector<std::string> captures;
      for (ValueId capture : region.captures) captures.push_back(Name(scope, capture));
      Scope inner{scope.taken, {}};
      attribute.mutable_g()->set_name(region.graph->name().empty() ? std::string(node.op->regions[k]) : region.graph->name());
      WEFT_RETURN_IF_ERROR(ExportGraph(*region.graph, *attribute.mutable_g(), inner, &captures));
      all_names_.insert(inner.taken.begin(), inner.taken.end());
    }
    return absl::OkStatus();
  }

  static void ExportAttribute(const AttrField& field, const AttrValue& value, onnx::AttributeProto& proto) {
    proto.set_name(std::string(field.name));
    struct Writer {
      onnx::AttributeProto& proto;
      void operator()(int64_t v) { proto.set_i(v), proto.set_type(onnx::AttributeProto::INT); }
      void operator()(float v) { proto.set_f(v), proto.set_type(onnx::AttributeProto::FLOAT); }
      void operator()(const std::string& v) { proto.set_s(v), proto.set_type(onnx::AttributeProto::STRING); }
      void operator()(const std::vector<int64_t>& v) {
        proto.mutable_ints()->Add(v.begin(), v.end());
        proto.set_type(onnx::AttributeProto::INTS);
      }
      void operator()(const std::vector<float>& v) {
        proto.mutable_floats()->Add(v.begin(), v.end());
        proto.set_type(onnx::AttributeProto::FLOATS);
      }
      void operator()(const std::vector<std::string>& v) {
        for (const std::string& s : v) proto.add_strings(s);
        proto.set_type(onnx::AttributeProto::STRINGS);
      }
      void operator()(const Tensor& v) { *proto.mutable_t() = ProtoFromTensor(v, ""), proto.set_type(onnx::AttributeProto::TENSOR); }
      void operator()(const std::vector<Tensor>& v) {
        for (const Tensor& t : v) *proto.add_tensors() = ProtoFromTensor(t, "");
        proto.set_type(onnx::AttributeProto::TENSORS);
      }
      void operator()(const Type& v) { TypeToProto(v, {}, *proto.mutable_tp()), proto.set_type(onnx::AttributeProto::TYPE_PROTO); }
    };
    std::visit(Writer{proto}, value);
  }

  onnx::ValueInfoProto InfoOf(const Graph& graph, ValueId id, const std::string& name) const {
    onnx::ValueInfoProto info;
    info.set_name(name);
    if (graph.value(id).type.kind != Type::Kind::kUnknown) TypeToProto(graph.value(id).type, symbols_, *info.mutable_type());
    return info;
  }

  // A dim of symbols that inputs do not have says nothing to a reader, and is left open.
  static void TypeToProto(const Type& type, const std::set<std::string>& symbols, onnx::TypeProto& proto) {
    switch (type.kind) {
      case Type::Kind::kTensor: {
        auto& tensor = *proto.mutable_tensor_type();
        tensor.set_elem_type(static_cast<int>(type.dtype));
        if (!type.shape.has_rank()) return;
        auto& shape = *tensor.mutable_shape();
        for (const Dim& dim : type.shape.dims()) {
          auto& d = *shape.add_dim();
          if (dim.is_constant()) d.set_dim_value(dim.constant());
          else if (const auto symbol = dim.symbol(); symbol && symbols.contains(*symbol)) d.set_dim_param(*symbol);
        }
        return;
      }
      case Type::Kind::kSequence: return TypeToProto(*type.elem, symbols, *proto.mutable_sequence_type()->mutable_elem_type());
      case Type::Kind::kOptional: return TypeToProto(*type.elem, symbols, *proto.mutable_optional_type()->mutable_elem_type());
      case Type::Kind::kMap:
        proto.mutable_map_type()->set_key_type(static_cast<int>(type.dtype));
        return TypeToProto(*type.elem, symbols, *proto.mutable_map_type()->mutable_value_type());
      case Type::Kind::kUnknown: return;
    }
  }

  void Describe(onnx::ModelProto& proto) const {
    proto.set_ir_version(std::max(model_.ir_version, IrVersionFor(opsets_.at(""))));
    for (const auto& [domain, version] : opsets_) {
      auto& opset = *proto.add_opset_import();
      opset.set_domain(domain);
      opset.set_version(version);
    }
    proto.set_producer_name(model_.producer_name);
    proto.set_producer_version(model_.producer_version);
    proto.set_domain(model_.domain);
    proto.set_doc_string(model_.doc_string);
    proto.set_model_version(model_.model_version);
    for (const auto& [key, value] : model_.metadata) {
      auto& entry = *proto.add_metadata_props();
      entry.set_key(key);
      entry.set_value(value);
    }
  }

  static bool MayBeOutside(const Tensor& tensor) {
    return tensor.dtype() != DType::kString && static_cast<int64_t>(tensor.bytes()) >= kMinExternal;
  }

  absl::Status Write(onnx::ModelProto& proto, const std::string& path) {
    std::error_code error, ignored;
    // Through a symbolic link the file it points to is written.
    const fs::path file = fs::is_symlink(path, ignored) ? fs::canonical(path, error) : fs::path(path);
    if (error) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written: ", error.message()));
    if (options_.external_data == file.filename()) return Invalid("the weights and the model are both to be written to ", path);
    std::string beside = options_.external_data;
    if (beside.empty() && constant_bytes_ > kMaxInside) beside = file.filename().string() + ".data";
    std::optional<NewFile> data;
    const bool outside_any = std::any_of(initializers_.begin(), initializers_.end(), [](const auto& entry) { return MayBeOutside(entry.second); });
    if (!beside.empty() && outside_any) data.emplace(file.parent_path() / beside);
    int64_t offset = 0;
    for (const auto& [name, tensor] : initializers_) {
      if (!data || !MayBeOutside(tensor)) {
        *top_->add_initializer() = ProtoFromTensor(tensor, name);
        continue;
      }
      const onnx::TensorProto whole = ProtoFromTensor(tensor, name);
      onnx::TensorProto& entry = *top_->add_initializer();
      entry.set_name(name);
      entry.set_data_type(whole.data_type());
      *entry.mutable_dims() = whole.dims();
      entry.set_data_location(onnx::TensorProto::EXTERNAL);
      const int64_t begin = (offset + kAlignment - 1) / kAlignment * kAlignment;
      data->stream() << std::string(static_cast<size_t>(begin - offset), '\0') << whole.raw_data();
      offset = begin + static_cast<int64_t>(whole.raw_data().size());
      for (const auto& [key, value] : {std::pair<std::string, std::string>("location", beside), {"offset", std::to_string(begin)},
                                       {"length", std::to_string(whole.raw_data().size())}}) {
        auto& pair = *entry.add_external_data();
        pair.set_key(key);
        pair.set_value(value);
      }
    }
    if (data) WEFT_RETURN_IF_ERROR(data->Finish());
    NewFile out(file);
    if (!proto.SerializeToOstream(&out.stream()) && out.stream()) return Exhausted(path, ": the model does not fit a file of 2 GiB");
    return out.Finish();
  }

  const Model& model_;
  const ExportOptions& options_;
  std::map<std::string, int64_t> opsets_;  // by domain
  std::set<std::string> symbols_;          // that inputs have
  onnx::GraphProto* top_ = nullptr;
  std::vector<std::pair<std::string, Tensor>> initializers_;
  int64_t constant_bytes_ = 0;
  std::map<std::pair<const void*, std::string>, std::string> constants_;
  absl::flat_hash_set<std::string> constant_names_, all_names_;
};

}  // namespace

absl::Status ExportModel(const Model& model, const std::string& path, const ExportOptions& options) {
  return Exporter(model, options).Run(path);
}

}  // namespace weft
