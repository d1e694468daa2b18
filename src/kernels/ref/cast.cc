// Conversions between element types.
#include "graph/ops/cast.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

struct Rules {
  bool saturate = true;
  char round_mode = 'u';
};

// Two's complement of `bits` bits, sign-extended where the type is signed.
int64_t Wrap(int64_t value, int bits, bool is_signed) {
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  if (is_signed && (low >> (bits - 1) & 1) != 0) return static_cast<int64_t>(low) - (int64_t{1} << bits);
  return static_cast<int64_t>(low);
}

// Toward zero; what no 64-bit integer holds is the smallest one, as the processor's own conversion has it.
int64_t TruncateToInt64(double x) {
  if (!(x >= -0x1p63 && x < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// One conversion by way of a wide type: int64 or uint64 for integers, double (exact for every float) for floats.
template <class Store>
void FromWide(const Tensor& in, Store store) {
  const DType dtype = in.dtype();
  auto integers = [&]<class T>() {
    const T* x = in.data<T>();
    ParallelFor(in.size(), 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) store(i, x[i]);
    });
  };
  auto floats = [&](auto read) {
    ParallelFor(in.size(), 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) store(i, static_cast<double>(read(i)));
    });
  };
  switch (dtype) {
    case DType::kFloat32: return floats([x = in.data<float>()](int64_t i) { return x[i]; });
    case DType::kFloat64: return floats([x = in.data<double>()](int64_t i) { return x[i]; });
    case DType::kFloat16: return floats([x = in.data<Float16>()](int64_t i) { return static_cast<float>(x[i]); });
    case DType::kBFloat16: return floats([x = in.data<BFloat16>()](int64_t i) { return static_cast<float>(x[i]); });
    case DType::kInt8: case DType::kInt4: case DType::kInt2: return integers.template operator()<int8_t>();
    case DType::kUint8: case DType::kUint4: case DType::kUint2: return integers.template operator()<uint8_t>();
    case DType::kBool: return integers.template operator()<bool>();
    case DType::kInt16: return integers.template operator()<int16_t>();
    case DType::kUint16: return integers.template operator()<uint16_t>();
    case DType::kInt32: return integers.template operator()<int32_t>();
    case DType::kUint32: return integers.template operator()<uint32_t>();
    case DType::kInt64: return integers.template operator()<int64_t>();
    case DType::kUint64: return integers.template operator()<uint64_t>();
    default: return floats([x = in.data<uint8_t>(), dtype](int64_t i) { return SmallFloatToFloat(dtype, x[i]); });
  }
}

// V: double or an integer type.
template <class To, class V>
To ToInteger(V value) {
  if constexpr (std::is_floating_point_v<V>) {
    // Above int64's range only uint64 has room.
    if constexpr (std::is_same_v<To, uint64_t>) {
      if (value >= 0x1p63 && value < 0x1p64) return static_cast<uint64_t>(value);
    }
    return static_cast<To>(TruncateToInt64(value));
  } else {
    return static_cast<To>(value);
  }
}

// Double rounding is avoided: from double straight to float, and to the narrow types from the float nearest to odd would be needed only
// beyond float's precision, where the specification asks for the cast by way of float.
void Convert(const Tensor& in, Tensor& out, const Rules& rules) {
  const DType to = out.dtype();
  auto integers = [&]<class T>() {
    T* y = out.data<T>();
    FromWide(in, [y](int64_t i, auto v) { y[i] = ToInteger<T>(v); });
  };
  switch (to) {
    case DType::kFloat32: return FromWide(in, [y = out.data<float>()](int64_t i, auto v) { y[i] = static_cast<float>(v); });
    case DType::kFloat64: return FromWide(in, [y = out.data<double>()](int64_t i, auto v) { y[i] = static_cast<double>(v); });
    case DType::kFloat16: return FromWide(in, [y = out.data<Float16>()](int64_t i, auto v) { y[i] = Float16(static_cast<float>(v)); });
    case DType::kBFloat16: return FromWide(in, [y = out.data<BFloat16>()](int64_t i, auto v) { y[i] = BFloat16(static_cast<float>(v)); });
    case DType::kBool: return FromWide(in, [y = out.data<uint8_t>()](int64_t i, auto v) { y[i] = v != 0; });
    case DType::kInt8: return integers.template operator()<int8_t>();
    case DType::kUint8: return integers.template operator()<uint8_t>();
    case DType::kInt16: return integers.template operator()<int16_t>();
    case DType::kUint16: return integers.template operator()<uint16_t>();
    case DType::kInt32: return integers.template operator()<int32_t>();
    case DType::kUint32: return integers.template operator()<uint32_t>();
    case DType::kInt64: return integers.template operator()<int64_t>();
    case DType::kUint64: return integers.template operator()<uint64_t>();
    case DType::kInt4: case DType::kUint4: case DType::kInt2: case DType::kUint2:
      return FromWide(in, [y = out.data<uint8_t>(), bits = DTypeFileBits(to), is_signed = IsSigned(to)](int64_t i, auto v) {
        y[i] = static_cast<uint8_t>(Wrap(ToInteger<int64_t>(v), bits, is_signed));
      });
    default:
      return FromWide(in, [y = out.data<uint8_t>(), to, rules](int64_t i, auto v) {
        y[i] = FloatToSmallFloat(to, static_cast<float>(v), rules.saturate, rules.round_mode);
      });
  }
}

// ---- Strings ----

// The shortest decimal that reads back as the same number, as numpy prints it; integers in decimal; "1" and "0" for bools.
template <class V>
std::string ToText(V value) {
  if constexpr (std::is_integral_v<V>) {
    return std::to_string(value);
  } else {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return std::string(buffer, end);
  }
}

absl::StatusOr<double> ParseFloat(const std::string& text) {
  double value = 0;
  // SimpleAtod takes "inf", "infinity" and "nan" in any case.
  if (!absl::SimpleAtod(text, &value)) return Invalid("string '", text.substr(0, 40), "' is no number");
  return value;
}

absl::Status FromStrings(const Tensor& in, Tensor& out, const Rules& rules) {
  if (out.dtype() == DType::kString) {
    std::copy_n(in.data<std::string>(), in.size(), out.data<std::string>());
    return absl::OkStatus();
  }
  // Integers keep all their digits; everything else goes by way of double.
  if (IsInteger(out.dtype()) && DTypeSize(out.dtype()) == 8) {
    for (int64_t i = 0; i < in.size(); ++i) {
      const std::string& text = in.data<std::string>()[i];
      if (out.dtype() == DType::kInt64 && absl::SimpleAtoi(text, &out.data<int64_t>()[i])) continue;
      if (out.dtype() == DType::kUint64 && absl::SimpleAtoi(text, &out.data<uint64_t>()[i])) continue;
      WEFT_ASSIGN_OR_RETURN(const double value, ParseFloat(text));
      out.data<int64_t>()[i] = TruncateToInt64(value);
    }
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(Tensor numbers, Tensor::Allocate(DType::kFloat64, in.dims()));
  for (int64_t i = 0; i < in.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(numbers.data<double>()[i], ParseFloat(in.data<std::string>()[i]));
  }
  Convert(numbers, out, rules);
  return absl::OkStatus();
}

void ToStrings(const Tensor& in, Tensor& out) {
  std::string* y = out.data<std::string>();
  switch (in.dtype()) {
    case DType::kFloat64:
      for (int64_t i = 0; i < in.size(); ++i) y[i] = ToText(in.data<double>()[i]);
      return;
    case DType::kBool:
      for (int64_t i = 0; i < in.size(); ++i) y[i] = in.data<uint8_t>()[i] != 0 ? "True" : "False";
      return;
    default:
      FromWide(in, [y](int64_t i, auto v) {
        if constexpr (std::is_floating_point_v<decltype(v)>) y[i] = ToText(static_cast<float>(v));
        else y[i] = ToText(v);
      });
  }
}

absl::Status CastElements(const Tensor& in, Tensor& out, const Rules& rules) {
  if (in.dtype() == DType::kString) return FromStrings(in, out, rules);
  if (out.dtype() == DType::kString) {
    ToStrings(in, out);
    return absl::OkStatus();
  }
  if (in.dtype() == out.dtype()) {
    std::memcpy(out.data(), in.data(), in.bytes());
    return absl::OkStatus();
  }
  if (IsComplex(in.dtype())) {
    const int64_t count = 2 * in.size();
    if (in.dtype() == DType::kComplex64) std::copy_n(in.data<float>(), count, out.data<double>());
    else std::transform(in.data<double>(), in.data<double>() + count, out.data<float>(), [](double x) { return static_cast<float>(x); });
    return absl::OkStatus();
  }
  Convert(in, out, rules);
  return absl::OkStatus();
}

absl::Status RunCast(RunContext& ctx) {
  const auto& attrs = ctx.attrs<CastAttrs>();
  return CastElements(ctx.input(0), ctx.output(0), {attrs.saturate != 0, attrs.round_mode[0]});
}

absl::Status RunCastLike(RunContext& ctx) {
  const auto& attrs = ctx.attrs<CastLikeAttrs>();
  return CastElements(ctx.input(0), ctx.output(0), {attrs.saturate != 0, attrs.round_mode[0]});
}

absl::Status RunBitCast(RunContext& ctx) {
  const Tensor& in = ctx.input(0);
  Tensor& out = ctx.output(0);
  std::memcpy(out.data(), in.data(), in.bytes());
  // Sub-byte elements are held sign-extended or not, as their type is.
  if (DTypeFileBits(out.dtype()) < 8) {
    for (int64_t i = 0; i < out.size(); ++i) {
      out.data<uint8_t>()[i] = static_cast<uint8_t>(Wrap(out.data<uint8_t>()[i], DTypeFileBits(out.dtype()), IsSigned(out.dtype()) && !IsFloat(out.dtype())));
    }
  }
  return absl::OkStatus();
}

constexpr Kernel kKernels[] = {
    {.op = &ops::Cast, .name = "ref", .run = &RunCast},
    {.op = &ops::CastLike, .name = "ref", .run = &RunCastLike},
    {.op = &ops::BitCast, .name = "ref", .run = &RunBitCast},
};

}  // namespace

absl::Span<const Kernel> RefCast() { return kKernels; }

}  // namespace weft
