// Ops on sequences. Items share their memory: a sequence is a list of handles. Only what joins or cuts tensors moves elements.
#include "graph/ops/sequence.h"

#include <algorithm>
#include <vector>

#include "kernels/kernel.h"
#include "kernels/ref/indices.h"
#include "kernels/ref/strided.h"

namespace weft {
namespace {

absl::StatusOr<const Sequence*> SequenceInput(const RunContext& ctx) {
  if (!ctx.HasInput(0) || !ctx.input_value(0).is_sequence()) return Invalid("input 0 is no sequence");
  return &ctx.input_value(0).sequence();
}

// Input i as an index of a list of `count`: from the back where it is negative, below `end`; `absent` where it is omitted.
absl::StatusOr<int64_t> Position(const RunContext& ctx, int i, int64_t count, int64_t end, int64_t absent) {
  int64_t position = absent;
  if (ctx.HasInput(i)) {
    const std::vector<int64_t> given = ReadInts(ctx.input(i));
    if (given.size() != 1) return Invalid("input ", i, " (position) has ", given.size(), " elements, expected one");
    position = given[0];
  }
  const int64_t resolved = position < 0 ? position + count : position;
  if (resolved < 0 || resolved >= end) {
    return Invalid("position ", position, " is out of range for a sequence of ", count, ", expected a value in [", -count, ", ", end - 1, "]");
  }
  return resolved;
}

absl::Status RunSequenceConstruct(RunContext& ctx) {
  Sequence sequence;
  sequence.elem_dtype = ctx.input(0).dtype();
  for (int i = 0; i < ctx.num_inputs(); ++i) sequence.items.push_back(ctx.input_value(i));
  ctx.SetOutput(0, Value(std::move(sequence)));
  return absl::OkStatus();
}

absl::Status RunSequenceEmpty(RunContext& ctx) {
  Sequence sequence;
  sequence.elem_dtype = static_cast<DType>(ctx.attrs<SequenceEmptyAttrs>().dtype);
  ctx.SetOutput(0, Value(std::move(sequence)));
  return absl::OkStatus();
}

absl::Status RunSequenceInsert(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* from, SequenceInput(ctx));
  const auto count = static_cast<int64_t>(from->items.size());
  WEFT_ASSIGN_OR_RETURN(const int64_t position, Position(ctx, 2, count, count + 1, count));
  Sequence sequence;
  sequence.elem_dtype = ctx.input(1).dtype();
  sequence.items.reserve(from->items.size() + 1);
  sequence.items.assign(from->items.begin(), from->items.begin() + position);
  sequence.items.push_back(ctx.input_value(1));
  sequence.items.insert(sequence.items.end(), from->items.begin() + position, from->items.end());
  ctx.SetOutput(0, Value(std::move(sequence)));
  return absl::OkStatus();
}

absl::Status RunSequenceErase(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* from, SequenceInput(ctx));
  const auto count = static_cast<int64_t>(from->items.size());
  WEFT_ASSIGN_OR_RETURN(const int64_t position, Position(ctx, 1, count, count, -1));
  Sequence sequence = *from;
  sequence.items.erase(sequence.items.begin() + position);
  ctx.SetOutput(0, Value(std::move(sequence)));
  return absl::OkStatus();
}

absl::Status RunSequenceAt(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* from, SequenceInput(ctx));
  const auto count = static_cast<int64_t>(from->items.size());
  WEFT_ASSIGN_OR_RETURN(const int64_t position, Position(ctx, 1, count, count, 0));
  ctx.SetOutput(0, from->items[position]);
  return absl::OkStatus();
}

absl::Status RunSequenceLength(RunContext& ctx) {
  WEFT_ASSIGN_OR_RETURN(const Sequence* from, SequenceInput(ctx));
  *ctx.output(0).data<int64_t>() = static_cast<int64_t>(from->items.size());
  return absl::OkStatus();
}

// Axes before `axis`, and behind it, as one each: a tensor is [outer, axis, inner].
struct Around {
  int64_t outer = 1, inner = 1;
  Around(absl::Span<const int64_t> dims, int axis) : outer(Product(dims.subspan(0, axis))), inner(Product(dims.subspan(axis + 1))) {}
};

// More empty parts than this are no model's intention: an axis beside one of size 0 can be of any size.
constexpr int64_t kMaxEmptyParts = 1 << 20;

// The sizes of the parts of an axis of size `whole`.
absl::StatusOr<std::vector<int64_t>> PartSizes(const RunContext& ctx, int64_t whole) {
  if (ctx.HasInput(1) && ctx.input(1).rank() > 0) {
    std::vector<int64_t> sizes = ReadInts(ctx.input(1));
    int64_t left = whole;
    for (int64_t size : sizes) {
      if (size < 0 || size > left) return Invalid("split holds ", size, " where ", left, " of ", whole, " are left, expected sizes that add up");
      left -= size;
    }
    if (left != 0) return Invalid("the sizes in split add up to ", whole - left, ", expected the size of the axis, ", whole);
    return sizes;
  }
  const int64_t part = ctx.HasInput(1) ? ReadInts(ctx.input(1))[0] : 1;
  if (part < 1) return Invalid("split is ", part, ", expected at least 1");
  const int64_t count = whole / part + (whole % part != 0 ? 1 : 0);
  if (count > std::max(ctx.input(0).size(), kMaxEmptyParts)) return Exhausted("an axis of size ", whole, " of an empty tensor cut into ", count, " parts");
  std::vector<int64_t> sizes(count, part);
  if (whole % part != 0) sizes.back() = whole % part;
  return sizes;
}

absl::Status RunSplitToSequence(RunContext& ctx) {
  const auto& attrs = ctx.attrs<SplitToSequenceAttrs>();
  const Tensor& in = ctx.input(0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, in.rank()));
  WEFT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, PartSizes(ctx, in.dim(axis)));
  const Around around(in.dims(), axis);
  const int64_t row = in.dim(axis) * around.inner;
  Sequence sequence;
  sequence.elem_dtype = in.dtype();
  sequence.items.reserve(sizes.size());
  int64_t begin = 0;
  for (int64_t size : sizes) {
    Dims dims = in.dims();
    dims[axis] = size;
    if (!ctx.HasInput(1) && !attrs.keepdims) dims.erase(dims.begin() + axis);
    WEFT_ASSIGN_OR_RETURN(Tensor part, Tensor::AllocateUninitialized(in.dtype(), dims));
    const int64_t block = size * around.inner;
    CopyStrided(in, part, {.dims = {around.outer, block}, .from_strides = {row, 1}, .to_strides = {block, 1}, .from_offset = begin * around.inner});
    sequence.items.push_back(Value(std::move(part)));
    begin += size;
  }
  ctx.SetOutput(0, Value(std::move(sequence)));
  return absl::OkStatus();
}

// The shape of the items joined along `axis`, each of them seen with a new axis of 1 there where `new_axis` is set.
absl::StatusOr<Dims> JoinedDims(const Sequence& sequence, int axis, bool new_axis) {
  const Tensor& first = sequence.items[0].tensor();
  Dims joined = first.dims();
  if (new_axis) joined.insert(joined.begin() + axis, 0);
  else joined[axis] = 0;
  for (const Value& item : sequence.items) {
    Dims dims = item.tensor().dims();
    if (new_axis && dims.size() + 1 == joined.size()) dims.insert(dims.begin() + axis, 1);
    if (dims.size() == joined.size()) {
      if (__builtin_add_overflow(joined[axis], dims[axis], &joined[axis])) return Invalid("the size of the joined axis exceeds 64 bits");
      dims[axis] = joined[axis];
    }
    if (dims != joined || item.tensor().dtype() != first.dtype()) {
      return Invalid("the sequence holds ", Type::OfTensor(first).ToString(), " and ", Type::OfTensor(item.tensor()).ToString(), ", expected items that ",
                     new_axis ? "are of one shape" : "differ on the joined axis alone");
    }
  }
  return joined;
}

absl::Status RunConcatFromSequence(RunContext& ctx) {
  const auto& attrs = ctx.attrs<ConcatFromSequenceAttrs>();
  WEFT_ASSIGN_OR_RETURN(const Sequence* from, SequenceInput(ctx));
  if (from->items.empty()) return Invalid("the sequence is empty, expected at least one tensor");
  const int rank = from->items[0].tensor().rank() + (attrs.new_axis ? 1 : 0);
  WEFT_ASSIGN_OR_RETURN(const int axis, InferContext::NormalizeAxis(attrs.axis, rank));
  WEFT_ASSIGN_OR_RETURN(const Dims dims, JoinedDims(*from, axis, attrs.new_axis));
  WEFT_ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, from->items[0].tensor().dtype(), dims));
  const Around around(dims, axis);
  const int64_t row = dims[axis] * around.inner;
  int64_t begin = 0;
  for (const Value& item : from->items) {
    const Tensor& part = item.tensor();
    const int64_t size = attrs.new_axis ? 1 : part.dim(axis), block = size * around.inner;
    CopyStrided(part, *out, {.dims = {around.outer, block}, .from_strides = {block, 1}, .to_strides = {row, 1}, .to_offset = begin * around.inner});
    begin += size;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const Kernel> RefSequence() {
  static constexpr Kernel kernels[] = {
      {.op = &ops::SequenceConstruct, .name = "ref", .run = &RunSequenceConstruct},
      {.op = &ops::SequenceEmpty, .name = "ref", .run = &RunSequenceEmpty},
      {.op = &ops::SequenceInsert, .name = "ref", .run = &RunSequenceInsert},
      {.op = &ops::SequenceErase, .name = "ref", .run = &RunSequenceErase},
      {.op = &ops::SequenceAt, .name = "ref", .run = &RunSequenceAt},
      {.op = &ops::SequenceLength, .name = "ref", .run = &RunSequenceLength},
      {.op = &ops::SplitToSequence, .name = "ref", .run = &RunSplitToSequence},
      {.op = &ops::ConcatFromSequence, .name = "ref", .run = &RunConcatFromSequence},
  };
  return kernels;
}

}  // namespace weft
