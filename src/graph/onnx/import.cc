#include "graph/onnx/import.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/onnx/adapter.h"
#include "graph/onnx/external_data.h"
#include "graph/onnx/importer.h"

namespace weft {
namespace {

constexpr int64_t kNewestIrVersion = onnx::IR_VERSION;

// The folder that a path names a file in.
std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

template <class Imports>
absl::Status ReadOpsets(const Imports& imports, absl::flat_hash_map<std::string, int64_t>& opsets) {
  for (const onnx::OperatorSetIdProto& import : imports) {
    const std::string domain = MainDomain(import.domain());
    const int64_t version = import.version();
    if (version < 1) return Invalid("imports opset ", version, " of domain '", domain, "', expected 1 or later");
    if (const std::optional<int64_t> newest = NewestOpset(domain); newest && version > *newest) {
      return Unsupported("imports opset ", version, " of domain '", domain, "', expected at most ", *newest);
    }
    const auto [it, inserted] = opsets.emplace(domain, version);
    if (!inserted && it->second != version) {
      return Invalid("imports domain '", domain, "' with opsets ", it->second, " and ", version, ", expected one");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Model> Import(std::string_view bytes, const std::string& base_dir, const ImportOptions& options) {
  if (bytes.empty()) return Invalid("is empty, expected an ONNX model");
  if (bytes.size() > INT_MAX) {
    return Exhausted("has ", bytes.size(), " bytes, expected less than 2 GiB, which is all that one ONNX file holds: weights beyond that are external data");
  }
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Invalid("is not an ONNX model: it is cut short, damaged, nested too deeply or of another format");
  }
  if (!proto.has_graph()) return Invalid("is not an ONNX model (no graph)");
  return Importer(proto, base_dir, options).Run();
}

}  // namespace

absl::StatusOr<Model> Importer::Run() {
  Model model;
  WEFT_RETURN_IF_ERROR(ReadHeader(model));
  WEFT_RETURN_IF_ERROR(ReadFunctions());
  InferredTypes types(model.graph);
  Scope scope;
  scope.graph = &model.graph;
  scope.types = &types;
  scope.opsets = &opsets_;
  WEFT_RETURN_IF_ERROR(ReadGraph(*proto_.mutable_graph(), scope, &model));
  WEFT_RETURN_IF_ERROR(UnsupportedNodes());
  return model;
}

absl::Status Importer::ReadHeader(Model& model) {
  if (proto_.ir_version() > kNewestIrVersion) {
    return weft::Unsupported("has IR version ", proto_.ir_version(), ", expected at most ", kNewestIrVersion);
  }
  model.ir_version = proto_.ir_version();
  model.producer_name = proto_.producer_name();
  model.producer_version = proto_.producer_version();
  model.domain = proto_.domain();
  model.model_version = proto_.model_version();
  model.doc_string = proto_.doc_string();
  for (const auto& entry : proto_.metadata_props()) model.metadata.emplace_back(entry.key(), entry.value());
  WEFT_RETURN_IF_ERROR(ReadOpsets(proto_.opset_import(), opsets_));
  if (opsets_.empty()) {
    // Files of IR versions 1 and 2 know no opsets: their operators are those of opset 1.
    if (proto_.ir_version() < 1 || proto_.ir_version() > 2) return Invalid("imports no opset, expected an opset_import");
    opsets_[""] = 1;
  }
  for (const auto& [domain, version] : opsets_) model.opsets.push_back({domain, version});
  std::sort(model.opsets.begin(), model.opsets.end(), [](const auto& a, const auto& b) { return a.domain < b.domain; });
  return absl::OkStatus();
}

absl::Status Importer::ReadFunctions() {
  for (onnx::FunctionProto& proto : *proto_.mutable_functions()) {
    const auto [it, inserted] = functions_.emplace(std::tuple(MainDomain(proto.domain()), proto.name(), proto.overload()), Function());
    const std::string where = absl::StrCat("function ", proto.domain(), ".", proto.name());
    if (!inserted) return Invalid(where, " is defined twice");
    it->second.proto = &proto;
    WEFT_RETURN_IF_ERROR(Annotate(ReadOpsets(proto.opset_import(), it->second.opsets), where));
    // What the function does not import it has from the model.
    it->second.opsets.insert(opsets_.begin(), opsets_.end());
  }
  return absl::OkStatus();
}

absl::Status Importer::UnsupportedNodes() const {
  if (unsupported_.empty()) return absl::OkStatus();
  std::vector<std::string> kinds;
  for (const auto& [what, nodes] : unsupported_) {
    kinds.push_back(absl::StrCat(nodes.nodes.size() + nodes.more == 1 ? "node '" : "nodes '", absl::StrJoin(nodes.nodes, "', '"), "'",
                                 nodes.more == 0 ? "" : absl::StrCat(" and ", nodes.more, " more"), " (", what, ")"));
  }
  return weft::Unsupported("not supported: ", absl::StrJoin(kinds, "; "));
}

absl::StatusOr<Model> ImportModel(const std::string& path, const ImportOptions& options) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  const absl::StatusOr<MappedFile> file = MapFile(fd);
  close(fd);
  if (!file.ok()) return Annotate(file.status(), path);
  absl::StatusOr<Model> model = Import({reinterpret_cast<const char*>(file->data), file->size}, FolderOf(path), options);
  if (!model.ok()) return Annotate(model.status(), path);
  return model;
}

absl::StatusOr<Model> ImportModelFromMemory(std::string_view bytes, const std::string& base_dir, const ImportOptions& options) {
  absl::StatusOr<Model> model = Import(bytes, base_dir, options);
  if (!model.ok()) return Annotate(model.status(), "model");
  return model;
}

}  // namespace weft
