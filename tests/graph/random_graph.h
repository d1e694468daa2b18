// Seeded random graphs for tests of text: every element type and attribute kind, odd names, bodies in bodies. They mean
// nothing.
#ifndef WEFT_TESTS_GRAPH_RANDOM_GRAPH_H_
#define WEFT_TESTS_GRAPH_RANDOM_GRAPH_H_

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "test_op.h"

namespace weft {

class RandomGraphs {
 public:
  // `onnx_text`: only what onnx.parser reads: ops of ai.onnx, no undefined types, no NaN payloads, no bytes that are
  // not UTF-8.
  RandomGraphs(uint64_t seed, bool onnx_text) : random_(seed), onnx_text_(onnx_text) {}

  Graph Next() { return Body(0); }

 private:
  int Below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool OneIn(int n) { return Below(n) == 0; }
  uint64_t Bits() { return random_(); }

  std::string Name() {
    static constexpr std::string_view kOdd[] = {
        "a",          "b",         "x",          "x_1",      "v1",           "float",
        "seq",        "undefined", "unknown",    "nan",      "inf",          "a b",
        "say \"hi\"", "back\\",    "two\nlines", "\x01\x1f", "na\xc3\xafve", "^x",
        "#c",         "//",        "1x",         "a.b/c:0",  "=>",           "'",
        "`q`",        ","};
    if (OneIn(4)) return "n" + std::to_string(Below(1000));
    if (!onnx_text_ && OneIn(12)) return OneIn(2) ? std::string("\0\xff", 2) : std::string(Below(40) + 1, 'y');
    return std::string(kOdd[Below(std::size(kOdd))]);
  }

  Dim RandomDim() {
    switch (Below(5)) {
      case 0:
        return Dim::Symbol("N");
      case 1:
        return Dim::Symbol(Name());
      case 2:
        return Dim::Symbol("M") * 2 + Dim(Below(3));
      case 3:
        return Dim::FloorDiv(Dim::Symbol("N") + 1, Dim(Below(4) + 2));
      default:
        return Dim(OneIn(8) ? int64_t{1} << 62 : Below(5));
    }
  }

  DType RandomDType() { return static_cast<DType>(1 + Below(kNumDTypes - 1)); }

  Type RandomType(int depth = 0) {
    const int kind = depth > 3 ? 0 : Below(onnx_text_ ? 7 : 9);
    if (kind == 4) return Type::OfSequence(RandomType(depth + 1));
    if (kind == 5) return Type::OfOptional(RandomType(depth + 1));
    if (kind == 6) return Type::OfMap(RandomDType(), RandomType(depth + 1));
    if (kind == 7) return Type::Unknown();
    const DType dtype = kind == 8 ? DType::kUndefined : RandomDType();
    if (OneIn(6)) return Type::OfTensor(dtype);
    std::vector<Dim> dims;
    for (int rank = Below(4); rank > 0; --rank) dims.push_back(RandomDim());
    return Type::OfTensor(dtype, Shape(std::move(dims)));
  }

  template <class T>
  T RandomFloat() {
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = Bits();
    if (!onnx_text_ && OneIn(8)) bits |= sizeof(T) == 4 ? uint64_t{0x7f800000} : uint64_t{0x7ff} << 52;  // NaN, inf
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (OneIn(4)) return static_cast<T>(Below(7) - 3) * (OneIn(2) ? T{1} : T{-0.5});
    return onnx_text_ && value != value ? T{0} : value;
  }

  Tensor RandomTensor() {
    const DType dtype = RandomDType();
    std::vector<int64_t> dims;
    for (int rank = Below(4); rank > 0; --rank) dims.push_back(Below(4));
    Tensor t = *Tensor::Allocate(dtype, dims);
    const int64_t parts = t.size() * (IsComplex(dtype) ? 2 : 1);
    for (int64_t i = 0; i < parts; ++i) {
      switch (dtype) {
        case DType::kString:
          t.data<std::string>()[i] = Name();
          break;
        case DType::kFloat32:
        case DType::kComplex64:
          t.data<float>()[i] = RandomFloat<float>();
          break;
        case DType::kFloat64:
        case DType::kComplex128:
          t.data<double>()[i] = RandomFloat<double>();
          break;
        case DType::kBool:
          t.data<uint8_t>()[i] = static_cast<uint8_t>(Below(2));
          break;
        case DType::kInt4:
          t.data<int8_t>()[i] = static_cast<int8_t>(Below(16) - 8);
          break;
        case DType::kInt2:
          t.data<int8_t>()[i] = static_cast<int8_t>(Below(4) - 2);
          break;
        case DType::kUint4:
        case DType::kFloat4E2M1:
          t.data<uint8_t>()[i] = static_cast<uint8_t>(Below(16));
          break;
        case DType::kUint2:
          t.data<uint8_t>()[i] = static_cast<uint8_t>(Below(4));
          break;
        default: {
          const uint64_t bits = Bits();
          std::memcpy(t.data<char>() + i * DTypeSize(dtype), &bits, DTypeSize(dtype));
        }
      }
    }
    return t;
  }

  EveryAttrs RandomAttrs() {
    EveryAttrs a;
    a.need = OneIn(2) ? 0 : static_cast<int64_t>(Bits());
    if (OneIn(2)) a.i = static_cast<int64_t>(Bits());
    if (OneIn(2)) a.f = RandomFloat<float>();
    if (OneIn(2)) a.s = Name();
    for (int n = Below(3); n > 0; --n) a.ints.push_back(Below(9) - 4);
    for (int n = Below(3); n > 0; --n) a.floats.push_back(RandomFloat<float>());
    for (int n = Below(3); n > 0; --n) a.strings.push_back(Name());
    if (OneIn(2)) a.tensor = RandomTensor();
    for (int n = Below(3); n > 0; --n) a.tensors.push_back(RandomTensor());
    if (OneIn(2)) a.type = RandomType();
    if (OneIn(2)) a.maybe = RandomFloat<float>();
    if (OneIn(2)) a.empty.clear();
    return a;
  }

  // Any value defined so far; kNone, if allowed, once in a while.
  ValueId Pick(bool omit) {
    if (omit && OneIn(8)) return ValueId::kNone;
    return values_.back()[Below(static_cast<int>(values_.back().size()))];
  }

  void AddNode(Graph& g, int depth) {
    std::vector<ValueId> inputs, outputs;
    const Op* op = nullptr;
    Attrs attrs;
    switch (Below(onnx_text_ ? 2 : 4)) {
      case 0:
        op = &ops::Add;
        break;
      case 1:
        op = &ops::Div;
        break;
      case 2:
        op = &kEveryOp;
        attrs = RandomAttrs();
        break;
      default:
        op = &kIfOp;
    }
    const bool fixed = op->inputs.max == 2;
    for (int n = fixed ? 2 : Below(5); n > 0; --n) inputs.push_back(Pick(!fixed));
    for (int n = fixed ? 1 : Below(4); n > 0; --n) {
      outputs.push_back(!fixed && OneIn(6) ? ValueId::kNone : g.AddValue(OneIn(6) ? "" : Name(), RandomType()));
    }
    const NodeId id = g.AddNode(op, OneIn(3) ? Name() : "", std::move(inputs), outputs, std::move(attrs));
    for (size_t k = 0; k < op->regions.size(); ++k) {
      Graph body = Body(depth + 1);
      std::vector<ValueId> captures;
      for (size_t i = 0; i < body.captures().size(); ++i) captures.push_back(Pick(false));
      g.AddRegion(id, std::move(body), std::move(captures));
    }
    for (ValueId v : outputs) {
      if (v != ValueId::kNone) values_.back().push_back(v);
    }
  }

  Graph Body(int depth) {
    Graph g;
    g.set_name(OneIn(3) ? Name() : "");
    values_.emplace_back();
    values_.back().push_back(g.AddInput(Name(), RandomType()));
    for (int n = Below(3); n > 0; --n) values_.back().push_back(g.AddInput(Name(), RandomType()));
    if (depth > 0 || !onnx_text_) {
      for (int n = Below(depth > 0 ? 6 : 2); n > 0; --n) values_.back().push_back(g.AddCapture(Name(), RandomType()));
    }
    for (int n = Below(4); n > 0; --n) values_.back().push_back(g.AddConstant(Name(), RandomTensor()));
    for (int n = depth < 3 ? Below(6) : 0; n > 0; --n) AddNode(g, depth);
    for (int n = Below(3); n > 0; --n) g.AddOutput(Pick(false));
    // What passes leave behind: replaced readers, captures that are there twice or never read.
    if (OneIn(2)) {
      const ValueId from = values_.back()[0];
      if (!g.IsOutput(from)) g.ReplaceUses(from, g.AddConstant(Name(), RandomTensor()));
    }
    values_.pop_back();
    return g;
  }

  std::mt19937_64 random_;
  bool onnx_text_;
  std::vector<std::vector<ValueId>> values_;  // defined so far, in the graph being made and those around it
};

}  // namespace weft

#endif  // WEFT_TESTS_GRAPH_RANDOM_GRAPH_H_
