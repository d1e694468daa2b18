// Conversions between element types.
#include "kernels/ref/cast.h"

#include "graph/ops/cast.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/numbers.h"
#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"

namespace weft {
namespace {

// Two's complement of `bits` bits, sign-extended where the type is signed.
int64_t Wrap(int64_t value, int bits, bool is_signed) {
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  if (is_signed && (low >> (bits - 1) & 1) != 0) return static_cast<int64_t>(low) - (int64_t{1} << bits);
  return static_cast<int64_t>(low);
}

// store(i, in[i]) for every i: integers and floats as they are, 16-bit and smaller floats as float, bools as 0 or 1.
template <class Store>
void ReadEach(const Tensor& in, Store store) {
  const DType dtype = in.dtype();
  auto each = [&](auto read) {
    ParallelFor(in.size(), 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) store(i, read(i));
    });
  };
  auto plain = [&]<class T>() { each([x = in.data<T>()](int64_t i) { return x[i]; }); };
  switch (dtype) {
    case DType::kFloat32: return plain.template operator()<float>();
    case DType::kFloat64: return plain.template operator()<double>();
    case DType::kFloat16: return each([x = in.data<Float16>()](int64_t i) { return static_cast<float>(x[i]); });
    case DType::kBFloat16: return each([x = in.data<BFloat16>()](int64_t i) { return static_cast<float>(x[i]); });
    case DType::kInt8: case DType::kInt4: case DType::kInt2: return plain.template operator()<int8_t>();
    case DType::kUint8: case DType::kUint4: case DType::kUint2: return plain.template operator()<uint8_t>();
    case DType::kBool: return each([x = in.data<uint8_t>()](int64_t i) { return static_cast<uint8_t>(x[i] != 0); });
    case DType::kInt16: return plain.template operator()<int16_t>();
    case DType::kUint16: return plain.template operator()<uint16_t>();
    case DType::kInt32: return plain.template operator()<int32_t>();
    case DType::kUint32: return plain.template operator()<uint32_t>();
    case DType::kInt64: return plain.template operator()<int64_t>();
    case DType::kUint64: return plain.template operator()<uint64_t>();
    default: return each([x = in.data<uint8_t>(), dtype](int64_t i) { return SmallFloatToFloat(dtype, x[i]); });
  }
}

// A float from which rounding to any narrower type gives what rounding `x` at once would: inexact results get an odd last bit.
float RoundToOdd(double x) {
  const float nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || !std::isfinite(nearest)) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;  // toward zero
  return std::bit_cast<float>(bits | 1);
}

// For types narrower than float.
template <class V>
float Narrowed(V value) {
  if constexpr (std::is_same_v<V, float>) return value;
  else if constexpr (sizeof(V) < 8 || std::is_same_v<V, double>) return RoundToOdd(static_cast<double>(value));
  else {
    // 64-bit integers by their upper 52 bits and whether any below is set.
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    const uint64_t kept = magnitude >> 12 | static_cast<uint64_t>((magnitude & 0xfff) != 0);
    const double wide = magnitude < uint64_t{1} << 52 ? static_cast<double>(magnitude) : std::ldexp(static_cast<double>(kept), 12);
    return RoundToOdd(negative ? -wide : wide);
  }
}

void ConvertNumbers(const Tensor& in, Tensor& out, const CastRules& rules) {
  const DType to = out.dtype();
  auto integers = [&]<class T>() {
    ReadEach(in, [y = out.data<T>()](int64_t i, auto v) { y[i] = ToInteger<T>(v); });
  };
  switch (to) {
    case DType::kFloat32: return ReadEach(in, [y = out.data<float>()](int64_t i, auto v) { y[i] = static_cast<float>(v); });
    case DType::kFloat64: return ReadEach(in, [y = out.data<double>()](int64_t i, auto v) { y[i] = static_cast<double>(v); });
    case DType::kFloat16: return ReadEach(in, [y = out.data<Float16>()](int64_t i, auto v) { y[i] = Float16(Narrowed(v)); });
    case DType::kBFloat16: return ReadEach(in, [y = out.data<BFloat16>()](int64_t i, auto v) { y[i] = BFloat16(Narrowed(v)); });
    case DType::kBool: return ReadEach(in, [y = out.data<uint8_t>()](int64_t i, auto v) { y[i] = v != 0; });
    case DType::kInt8: return integers.template operator()<int8_t>();
    case DType::kUint8: return integers.template operator()<uint8_t>();
    case DType::kInt16: return integers.template operator()<int16_t>();
    case DType::kUint16: return integers.template operator()<uint16_t>();
    case DType::kInt32: return integers.template operator()<int32_t>();
    case DType::kUint32: return integers.template operator()<uint32_t>();
    case DType::kInt64: return integers.template operator()<int64_t>();
    case DType::kUint64: return integers.template operator()<uint64_t>();
    case DType::kInt4: case DType::kUint4: case DType::kInt2: case DType::kUint2:
      return ReadEach(in, [y = out.data<uint8_t>(), bits = DTypeFileBits(to), is_signed = IsSigned(to)](int64_t i, auto v) {
        y[i] = static_cast<uint8_t>(Wrap(ToInteger<int64_t>(v), bits, is_signed));
      });
    default:
      return ReadEach(in, [y = out.data<uint8_t>(), to, rules](int64_t i, auto v) {
        y[i] = FloatToSmallFloat(to, Narrowed(v), rules.saturate, rules.round_mode);
      });
  }
}

// ---- Strings ----

// The shortest decimal that reads back as the same number, laid out as numpy's str(): with a point always, with an exponent from 1e16 on
// and below 1e-4. What is no finite number gets the literal that the specification reserves for it.
template <class V>
std::string FloatText(V value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  const V magnitude = std::abs(value);
  const bool fixed = value == 0 || (magnitude >= V(1e-4) && magnitude < V(1e16));
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, fixed ? std::chars_format::fixed : std::chars_format::scientific).ptr;
  std::string text(buffer, end);
  if (fixed && text.find('.') == std::string::npos) text += ".0";
  return text;
}

absl::StatusOr<double> ParseFloat(const std::string& text) {
  double value = 0;
  // SimpleAtod takes "inf", "infinity" and "nan" in any case.
  if (!absl::SimpleAtod(text, &value)) return Invalid("string '", text.substr(0, 40), "' is no number");
  return value;
}

absl::Status FromStrings(const Tensor& in, Tensor& out, const CastRules& rules) {
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
      const bool is_signed = out.dtype() == DType::kInt64;
      if (is_signed ? !(value >= -0x1p63 && value < 0x1p63) : !(value > -1 && value < 0x1p64)) {
        return Invalid("'", text, "' is no number of type ", DTypeName(out.dtype()));
      }
      if (is_signed) out.data<int64_t>()[i] = ToInteger<int64_t>(value);
      else out.data<uint64_t>()[i] = ToInteger<uint64_t>(value);
    }
    return absl::OkStatus();
  }
  WEFT_ASSIGN_OR_RETURN(Tensor numbers, Tensor::Allocate(DType::kFloat64, in.dims()));
  for (int64_t i = 0; i < in.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(numbers.data<double>()[i], ParseFloat(in.data<std::string>()[i]));
  }
  ConvertNumbers(numbers, out, rules);
  return absl::OkStatus();
}

void ToStrings(const Tensor& in, Tensor& out) {
  std::string* y = out.data<std::string>();
  ReadEach(in, [y, is_bool = in.dtype() == DType::kBool](int64_t i, auto v) {
    if constexpr (std::is_floating_point_v<decltype(v)>) y[i] = FloatText(v);
    else if (is_bool) y[i] = v != 0 ? "True" : "False";
    else y[i] = std::to_string(v);
  });
}

}  // namespace

absl::Status CastElements(const Tensor& in, Tensor& out, const CastRules& rules) {
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
  ConvertNumbers(in, out, rules);
  return absl::OkStatus();
}

namespace {

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
  auto* bytes = out.data<uint8_t>();
  const int bits = DTypeFileBits(out.dtype());
  if (out.dtype() == DType::kBool) {
    for (int64_t i = 0; i < out.size(); ++i) bytes[i] = bytes[i] != 0;
  } else if (bits < 8) {  // held sign-extended or not, as the type is
    const bool is_signed = out.dtype() == DType::kInt4 || out.dtype() == DType::kInt2;
    for (int64_t i = 0; i < out.size(); ++i) bytes[i] = static_cast<uint8_t>(Wrap(bytes[i], bits, is_signed));
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
