// Einsum: from the left, pair by pair, as batched matrix products. Labels of both operands that something still asks for are the batch, the
// others of both are summed over; what one operand alone has and nothing asks for is summed before. Small floats are summed in float;
// integers wrap around.
#include "graph/ops/einsum.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/dispatch.h"
#include "kernels/ref/elements.h"
#include "kernels/ref/gemm.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// The labels of `from` that fulfil the condition, in their order.
template <class Condition>
Labels Where(const Labels& from, Condition condition) {
  Labels labels;
  std::copy_if(from.begin(), from.end(), std::back_inserter(labels), condition);
  return labels;
}

Labels Join(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A tensor with one label an axis. Axes of size 1 have none: they broadcast by being left out.
struct Operand {
  Tensor tensor;
  Labels labels;
  Dims dims, strides;

  int64_t Size(const Labels& of) const {
    int64_t size = 1;
    for (int label : of) size *= dims[std::find(labels.begin(), labels.end(), label) - labels.begin()];
    return size;
  }
};

// A label that stands twice makes a diagonal: one axis that steps along both.
Operand Label(Tensor tensor, const Labels& labels) {
  Operand operand;
  const Dims strides = StridesOf(tensor.dims());
  for (size_t axis = 0; axis < labels.size(); ++axis) {
    if (tensor.dims()[axis] == 1) continue;
    const auto at = std::find(operand.labels.begin(), operand.labels.end(), labels[axis]) - operand.labels.begin();
    if (at == static_cast<int64_t>(operand.labels.size())) {
      operand.labels.push_back(labels[axis]);
      operand.dims.push_back(tensor.dims()[axis]);
      operand.strides.push_back(strides[axis]);
    } else {
      operand.strides[at] += strides[axis];
    }
  }
  operand.tensor = std::move(tensor);
  return operand;
}

// The operand dense, its axes in this order, which names each of them.
absl::StatusOr<Operand> Pack(const Operand& operand, const Labels& order) {
  Operand packed;
  Dims from_strides;
  for (int label : order) {
    const auto at = std::find(operand.labels.begin(), operand.labels.end(), label) - operand.labels.begin();
    packed.dims.push_back(operand.dims[at]);
    from_strides.push_back(operand.strides[at]);
  }
  packed.labels = order;
  packed.strides = StridesOf(packed.dims);
  if (from_strides == packed.strides) {
    packed.tensor = operand.tensor;
    return packed;
  }
  WEFT_ASSIGN_OR_RETURN(packed.tensor, Tensor::AllocateUninitialized(operand.tensor.dtype(), packed.dims));
  CopyStrided(operand.tensor, packed.tensor, {.dims = packed.dims, .from_strides = from_strides, .to_strides = packed.strides});
  return packed;
}

// Summed over all labels but those kept.
template <class T>
absl::StatusOr<Operand> SumOut(Operand operand, const Labels& kept) {
  const Labels summed = Where(operand.labels, [&](int label) { return !Has(kept, label); });
  if (summed.empty()) return operand;
  const Labels rest = Where(operand.labels, [&](int label) { return Has(kept, label); });
  WEFT_ASSIGN_OR_RETURN(const Operand packed, Pack(operand, Join(rest, summed)));
  const int64_t depth = operand.Size(summed);
  WEFT_ASSIGN_OR_RETURN(Tensor sums, Tensor::AllocateUninitialized(DTypeOf<T>::value, absl::MakeConstSpan(packed.dims).first(rest.size())));
  ParallelFor(sums.size(), depth, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < depth; ++j) sum += packed.tensor.data<const T>()[i * depth + j];
      sums.data<T>()[i] = sum;
    }
  });
  return Label(std::move(sums), rest);
}

// The sum of products over the labels of both that are not kept; each label of one operand alone is kept.
template <class T>
absl::StatusOr<Operand> Contract(const Operand& a, const Operand& b, const Labels& kept) {
  const Labels batch = Where(a.labels, [&](int label) { return Has(b.labels, label) && Has(kept, label); });
  const Labels inner = Where(a.labels, [&](int label) { return Has(b.labels, label) && !Has(kept, label); });
  const Labels rows = Where(a.labels, [&](int label) { return !Has(b.labels, label); });
  const Labels columns = Where(b.labels, [&](int label) { return !Has(a.labels, label); });
  WEFT_ASSIGN_OR_RETURN(const Operand left, Pack(a, Join(Join(batch, rows), inner)));      // [batch,m,k]
  WEFT_ASSIGN_OR_RETURN(const Operand right, Pack(b, Join(Join(batch, inner), columns)));  // [batch,k,n]
  const int64_t count = a.Size(batch), m = a.Size(rows), n = b.Size(columns), k = a.Size(inner);
  Dims dims(left.dims.begin(), left.dims.begin() + static_cast<int64_t>(batch.size() + rows.size()));
  dims.insert(dims.end(), right.dims.end() - static_cast<int64_t>(columns.size()), right.dims.end());
  WEFT_ASSIGN_OR_RETURN(Tensor product, Tensor::AllocateUninitialized(DTypeOf<T>::value, dims));
  const T *x = left.tensor.data<const T>(), *y = right.tensor.data<const T>();
  T* z = product.data<T>();
  if (m == 1 && n == 1) {
    ParallelFor(count, 2 * k, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        z[i] = 0;
        for (int64_t p = 0; p < k; ++p) z[i] += x[i * k + p] * y[i * k + p];
      }
    });
  } else if (n == 1) {  // turned round: the product works along rows
    BatchedGemm<T>(count, 1, m, k, [&](int64_t i) { return Matrix<T>{y + i * k, k, 1}; },
                   [&](int64_t i) { return Matrix<T>{x + i * m * k, 1, k}; }, [&](int64_t i) { return z + i * m; });
  } else {
    BatchedGemm<T>(count, m, n, k, [&](int64_t i) { return Matrix<T>{x + i * m * k, k, 1}; },
                   [&](int64_t i) { return Matrix<T>{y + i * k * n, n, 1}; }, [&](int64_t i) { return z + i * m * n; });
  }
  return Label(std::move(product), Join(Join(batch, rows), columns));
}

template <class T>
absl::Status RunEinsumAs(RunContext& ctx, const EinsumEquation& equation) {
  Tensor& out = ctx.output(0);
  const Labels output = LabelsOf(equation.output, out.rank() - static_cast<int>(equation.output.letters.size()));
  std::vector<Operand> operands;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, Widen<T>(ctx.input(i)));
    const EinsumTerm& term = equation.inputs[i];
    operands.push_back(Label(std::move(tensor), LabelsOf(term, ctx.input(i).rank() - static_cast<int>(term.letters.size()))));
  }
  Operand result = std::move(operands.front());
  for (size_t i = 1; i < operands.size(); ++i) {
    Labels wanted = output;
    for (size_t later = i + 1; later < operands.size(); ++later) wanted = Join(std::move(wanted), operands[later].labels);
    WEFT_ASSIGN_OR_RETURN(Operand left, SumOut<T>(std::move(result), Join(wanted, operands[i].labels)));
    WEFT_ASSIGN_OR_RETURN(Operand right, SumOut<T>(std::move(operands[i]), Join(wanted, left.labels)));
    WEFT_ASSIGN_OR_RETURN(result, Contract<T>(left, right, wanted));
  }
  WEFT_ASSIGN_OR_RETURN(result, SumOut<T>(std::move(result), output));
  WEFT_ASSIGN_OR_RETURN(result, Pack(result, Where(output, [&](int label) { return Has(result.labels, label); })));
  if constexpr (std::is_floating_point_v<T>) {
    Narrow<T>(result.tensor, out);
    return absl::OkStatus();
  } else {
    return DispatchInteger(out.dtype(), [&]<class O>() {
      MapElements<T, O>(result.tensor, out, 1, [](T value) { return value; });
      return absl::OkStatus();
    });
  }
}

absl::Status RunEinsum(RunContext& ctx) {
  if (ctx.output(0).size() == 0) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const EinsumEquation equation, ParseEinsum(ctx.attrs<EinsumAttrs>().equation));
  const DType dtype = ctx.output(0).dtype();
  if (dtype == DType::kFloat64) return RunEinsumAs<double>(ctx, equation);
  if (IsFloat(dtype)) return RunEinsumAs<float>(ctx, equation);
  return DTypeSize(dtype) == 8 ? RunEinsumAs<uint64_t>(ctx, equation) : RunEinsumAs<uint32_t>(ctx, equation);
}

}  // namespace

absl::Span<const Kernel> RefEinsum() {
  static constexpr Kernel kernels[] = {{.op = &ops::Einsum, .name = "ref", .run = &RunEinsum}};
  return kernels;
}

}  // namespace weft
