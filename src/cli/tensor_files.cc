#include "cli/tensor_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zip.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "graph/onnx/values.h"

namespace weft::cli {

namespace {

// Does not wait for the other end of a pipe. Null, with errno set, where it cannot be opened.
std::FILE* OpenRegular(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return fd < 0 ? nullptr : fdopen(fd, "rb");
}
int CloseIfOpen(std::FILE* file) { return file == nullptr ? 0 : std::fclose(file); }

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(OpenRegular(path), &CloseIfOpen);
  struct stat status = {};
  if (file == nullptr || fstat(fileno(file.get()), &status) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) return Invalid(path, ": is a directory, expected a file");
  if (!S_ISREG(status.st_mode)) return Invalid(path, ": is no regular file, expected one");
  const int64_t memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (status.st_size > memory / 2) return Exhausted(path, ": has ", status.st_size, " bytes, more than fit this machine's memory");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) return Invalid(path, ": cannot be read to its end");
  return bytes;
}

absl::Status WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
  return absl::OkStatus();
}

namespace {

struct NpyDescr {
  DType dtype = DType::kUndefined;
  size_t item_bytes = 0;
  bool swap = false;       // big-endian
  bool utf32 = false;      // numpy's <U
  bool byte_text = false;  // numpy's |S
};

absl::StatusOr<NpyDescr> ParseDescr(std::string_view descr, DType want) {
  auto refuse = [&] { return Unsupported("numpy type '", descr, "', expected a bool, integer, float, complex or string type"); };
  if (descr.size() < 3) return refuse();
  NpyDescr result;
  result.swap = descr[0] == '>';
  const char kind = descr[1];
  int64_t size = 0;
  if (!absl::SimpleAtoi(ToAbsl(descr.substr(2)), &size) || size < 0 || size > (1 << 24)) return refuse();
  result.item_bytes = static_cast<size_t>(size);
  auto is = [&](char k, int64_t bytes) { return kind == k && size == bytes; };
  if (is('f', 4)) result.dtype = DType::kFloat32;
  else if (is('f', 8)) result.dtype = DType::kFloat64;
  else if (is('f', 2)) result.dtype = DType::kFloat16;
  else if (is('i', 1)) result.dtype = DType::kInt8;
  else if (is('i', 2)) result.dtype = DType::kInt16;
  else if (is('i', 4)) result.dtype = DType::kInt32;
  else if (is('i', 8)) result.dtype = DType::kInt64;
  else if (is('u', 1)) result.dtype = DType::kUint8;
  else if (is('u', 2)) result.dtype = DType::kUint16;
  else if (is('u', 4)) result.dtype = DType::kUint32;
  else if (is('u', 8)) result.dtype = DType::kUint64;
  else if (is('b', 1)) result.dtype = DType::kBool;
  else if (is('c', 8)) result.dtype = DType::kComplex64;
  else if (is('c', 16)) result.dtype = DType::kComplex128;
  else if (kind == 'U') { result.dtype = DType::kString; result.utf32 = true; result.item_bytes = size * 4; }
  else if (kind == 'S') { result.dtype = DType::kString; result.byte_text = true; }
  else if (kind == 'V' && want != DType::kUndefined && DTypeSize(want) == result.item_bytes) result.dtype = want;
  else return refuse();
  // A one-byte file may hold a type numpy has no name for.
  if (want != DType::kUndefined && result.dtype == DType::kUint8 && DTypeSize(want) == 1 && want != DType::kBool &&
      want != DType::kInt8) {
    result.dtype = want;
  }
  return result;
}

// The value of `'key': ` in a header that numpy wrote: a Python dict literal of known form.
absl::StatusOr<std::string> HeaderField(std::string_view header, std::string_view key) {
  const std::string quoted = absl::StrCat("'", ToAbsl(key), "'");
  size_t at = header.find(quoted);
  if (at == std::string_view::npos) return Invalid("the npy header has no '", key, "'");
  at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) return Invalid("the npy header breaks off behind '", key, "'");
  ++at;
  while (at < header.size() && header[at] == ' ') ++at;
  if (at >= header.size()) return Invalid("the npy header breaks off behind '", key, "'");
  size_t end;
  if (header[at] == '\'') {
    end = header.find('\'', ++at);
  } else if (header[at] == '(') {
    end = header.find(')', ++at);
  } else {
    end = header.find_first_of(",}", at);
  }
  if (end == std::string_view::npos) return Invalid("the npy header breaks off behind '", key, "'");
  return std::string(header.substr(at, end - at));
}

std::string TextItem(const char* item, const NpyDescr& descr) {
  std::string text;
  if (descr.byte_text) {
    text.assign(item, descr.item_bytes);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  for (size_t i = 0; i < descr.item_bytes; i += 4) {
    uint32_t c;
    std::memcpy(&c, item + i, 4);
    if (descr.swap) c = __builtin_bswap32(c);
    if (c == 0) break;
    AppendUtf8(c, text);
  }
  return text;
}

// The element of a column-major file that belongs at row-major position `i`.
int64_t ColumnMajorIndex(int64_t i, const Dims& dims) {
  int64_t index = 0, stride = NumElements(dims).value_or(0);
  std::vector<int64_t> at(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    at[axis] = i % dims[axis];
    i /= dims[axis];
  }
  for (size_t axis = dims.size(); axis-- > 0;) {
    stride /= dims[axis];
    index += at[axis] * stride;
  }
  return index;
}

}  // namespace

absl::StatusOr<Tensor> TensorFromNpy(std::string_view bytes, DType want) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") return Invalid("is not a .npy file: it does not begin with \\x93NUMPY");
  const int major = static_cast<unsigned char>(bytes[6]);
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t start = major == 1 ? 10 : 12;
  const size_t length = major == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (major < 1 || major > 3) return Unsupported("is a .npy file of version ", major, ", expected 1, 2 or 3");
  if (length > bytes.size() - start) return Invalid("is a .npy file cut off inside its header");
  const std::string_view header = bytes.substr(start, length);
  WEFT_ASSIGN_OR_RETURN(const std::string descr_text, HeaderField(header, "descr"));
  WEFT_ASSIGN_OR_RETURN(const std::string order, HeaderField(header, "fortran_order"));
  WEFT_ASSIGN_OR_RETURN(const std::string shape, HeaderField(header, "shape"));
  WEFT_ASSIGN_OR_RETURN(const NpyDescr descr, ParseDescr(descr_text, want));
  Dims dims;
  for (size_t at = 0; at < shape.size();) {
    const size_t comma = std::min(shape.find(',', at), shape.size());
    const std::string part = shape.substr(at, comma - at);
    at = comma + 1;
    if (part.find_first_not_of(' ') == std::string::npos) continue;
    int64_t d = 0;
    if (!absl::SimpleAtoi(part, &d) || d < 0) return Invalid("has the npy shape (", shape, "), expected sizes >= 0");
    dims.push_back(d);
  }
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  const std::string_view payload = bytes.substr(start + length);
  if (descr.item_bytes != 0 && static_cast<uint64_t>(count) > payload.size() / descr.item_bytes) {
    return Invalid("is cut off: it holds ", payload.size(), " bytes of elements, expected ", count, " of ", descr.item_bytes,
                   " bytes");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(descr.dtype, dims));
  const bool column_major = order.rfind("True", 0) == 0 && dims.size() > 1;
  const size_t part = IsComplex(descr.dtype) ? descr.item_bytes / 2 : descr.item_bytes;  // what a byte swap reverses
  for (int64_t i = 0; i < count; ++i) {
    const char* item = payload.data() + (column_major ? ColumnMajorIndex(i, dims) : i) * descr.item_bytes;
    if (descr.dtype == DType::kString) {
      tensor.data<std::string>()[i] = TextItem(item, descr);
      continue;
    }
    char* to = tensor.data<char>() + i * descr.item_bytes;
    std::memcpy(to, item, descr.item_bytes);
    if (!descr.swap) continue;
    for (size_t p = 0; p < descr.item_bytes; p += part) std::reverse(to + p, to + p + part);
  }
  return tensor;
}

absl::StatusOr<std::string> NpyFromTensor(const Tensor& tensor) {
  const char* descr = nullptr;
  switch (tensor.dtype()) {
    case DType::kFloat32: descr = "<f4"; break;
    case DType::kFloat64: descr = "<f8"; break;
    case DType::kFloat16: descr = "<f2"; break;
    case DType::kInt8: descr = "|i1"; break;
    case DType::kInt16: descr = "<i2"; break;
    case DType::kInt32: descr = "<i4"; break;
    case DType::kInt64: descr = "<i8"; break;
    case DType::kUint8: descr = "|u1"; break;
    case DType::kUint16: descr = "<u2"; break;
    case DType::kUint32: descr = "<u4"; break;
    case DType::kUint64: descr = "<u8"; break;
    case DType::kBool: descr = "|b1"; break;
    case DType::kComplex64: descr = "<c8"; break;
    case DType::kComplex128: descr = "<c16"; break;
    default: return Unsupported("numpy has no type for ", DTypeName(tensor.dtype()));
  }
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(tensor.dims(), ", "), tensor.rank() == 1 ? ",)" : ")", ", }");
  const size_t unpadded = 10 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header.push_back('\n');
  std::string out("\x93NUMPY\x01\x00", 8);
  out.push_back(static_cast<char>(header.size() & 0xff));
  out.push_back(static_cast<char>(header.size() >> 8));
  out += header;
  out.append(tensor.data<char>(), tensor.bytes());
  return out;
}

namespace {

absl::StatusOr<Tensor> TensorFromNpz(const std::string& path, const ValueInfo& info) {
  int code = 0;
  std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_open(path.c_str(), ZIP_RDONLY, &code), &zip_discard);
  if (archive == nullptr) return Invalid("is not a readable .npz (zip) file");
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  std::vector<std::string> names;
  zip_int64_t chosen = -1;
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* raw = zip_get_name(archive.get(), i, 0);
    std::string name = raw == nullptr ? "" : raw;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (name == info.name) chosen = i;
    names.push_back(std::move(name));
  }
  if (chosen < 0 && entries == 1) chosen = 0;
  if (chosen < 0) return Invalid("holds no array '", info.name, "', it has: ", absl::StrJoin(names, ", "));
  zip_stat_t stat;
  if (zip_stat_index(archive.get(), chosen, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0) {
    return Invalid("array '", names[chosen], "' has no size");
  }
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(archive.get(), chosen, 0), &zip_fclose);
  if (file == nullptr) return Invalid("array '", names[chosen], "' cannot be read");
  // Grown as it is read: the stated size of a hostile archive is not believed.
  std::string bytes;
  char block[1 << 16];
  zip_int64_t got = 0;
  while ((got = zip_fread(file.get(), block, sizeof block)) > 0) bytes.append(block, got);
  if (got < 0) return Invalid("array '", names[chosen], "' cannot be unpacked");
  return TensorFromNpy(bytes, info.dtype);
}

absl::StatusOr<Tensor> TensorFromRaw(std::string_view bytes, const ValueInfo& info, const Dims& dims) {
  if (info.kind != ValueKind::kTensor || info.dtype == DType::kString || info.dtype == DType::kUndefined) {
    return Unsupported("a raw .bin cannot hold ", info.type);
  }
  WEFT_ASSIGN_OR_RETURN(const int64_t count, NumElements(dims));
  const size_t size = DTypeSize(info.dtype);
  if (bytes.size() % size != 0 || static_cast<int64_t>(bytes.size() / size) != count) {
    return Invalid("has ", bytes.size(), " bytes, expected ", count, " elements of ", size, " bytes for the shape ",
                   DimsToString(dims), " (set it with --shape or --dim)");
  }
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(info.dtype, dims));
  std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

absl::StatusOr<Value> ReadValueFile(const std::string& path, const ValueInfo& info, const Dims& dims) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Invalid(path, ": is a directory, expected a file");
  if (extension != ".npy" && extension != ".npz" && extension != ".pb" && extension != ".bin") {
    return Invalid(path, ": has the ending '", extension, "', expected .npy, .npz, .pb or .bin");
  }
  WEFT_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (extension == ".pb") {
    absl::StatusOr<NamedValue> named = ValueFromProtoBytes(bytes, info.kind);
    if (!named.ok()) return Annotate(named.status(), path);
    return std::move(named->value);
  }
  absl::StatusOr<Tensor> tensor = extension == ".npy"   ? TensorFromNpy(bytes, info.dtype)
                                  : extension == ".npz" ? TensorFromNpz(path, info)
                                                        : TensorFromRaw(bytes, info, dims);
  if (!tensor.ok()) return Annotate(tensor.status(), path);
  return Value(*std::move(tensor));
}

absl::StatusOr<std::string> WriteValueFile(const std::string& dir, const std::string& name, const Value& value,
                                           std::vector<std::string>& taken) {
  std::string stem = name;
  std::replace_if(stem.begin(), stem.end(), [](char c) { return c == '/' || c == ':' || c == ' ' || c == '\0'; }, '_');
  if (stem.empty() || stem[0] == '.') stem.insert(0, "_");
  if (stem.size() > 200) stem.resize(200);
  std::string bytes, ending = ".npy";
  absl::StatusOr<std::string> npy = value.is_tensor() ? NpyFromTensor(value.tensor()) : absl::StatusOr<std::string>(absl::UnimplementedError(""));
  if (npy.ok()) {
    bytes = *std::move(npy);
  } else {
    ending = ".pb";
    WEFT_ASSIGN_OR_RETURN(bytes, ProtoBytesFromValue(value, name));
  }
  std::string file = stem + ending;
  for (int n = 1; std::find(taken.begin(), taken.end(), file) != taken.end(); ++n) file = absl::StrCat(stem, "_", n, ending);
  taken.push_back(file);
  WEFT_RETURN_IF_ERROR(WriteFile((std::filesystem::path(dir) / file).string(), bytes));
  return file;
}

}  // namespace weft::cli
