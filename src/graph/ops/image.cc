// ImageDecoder (ONNX Operators.md, opset 20).
#include "graph/ops/image.h"

#include "graph/infer.h"
#include "graph/op.h"

namespace weft {
namespace {

absl::Status InferImageDecoder(InferContext& ctx) {
  constexpr DType kUint8Only[] = {DType::kUint8};
  WEFT_RETURN_IF_ERROR(ctx.CheckDType(0, "encoded_stream", kUint8Only));
  WEFT_RETURN_IF_ERROR(ctx.CheckRank(0, "encoded_stream", 1));
  const std::string& format = ctx.attrs<ImageDecoderAttrs>().pixel_format;
  if (format != "RGB" && format != "BGR" && format != "Grayscale") {
    return Invalid("pixel_format is '", format, "', expected 'RGB', 'BGR' or 'Grayscale'");
  }
  ctx.SetOutput(0, DType::kUint8, Shape{ctx.FreshDim(), ctx.FreshDim(), format == "Grayscale" ? 1 : 3});
  return absl::OkStatus();
}

}  // namespace

constinit const Op ops::ImageDecoder = {.name = "ImageDecoder", .since_version = 20, .inputs = 1, .outputs = 1,
                                        .attrs = &kAttrSchema<ImageDecoderAttrs>, .traits = kDataDependent, .infer = &InferImageDecoder};

}  // namespace weft
