// The steps of the opset adapter, by family. Each turns a node of one version of its op into the next one that differs; the number behind
// a name is that version.
#ifndef WEFT_GRAPH_ONNX_LIFT_STEPS_H_
#define WEFT_GRAPH_ONNX_LIFT_STEPS_H_

#include "absl/status/status.h"
#include "graph/onnx/adapter.h"

namespace weft::lift_steps {

// ---- lift_elementwise.cc ----
// Opset 1 nodes may carry a hint about memory reuse.
absl::Status DropConsumedInputs(Draft& node, Lift& lift);
// broadcast = 1 and axis = k: B's axes stand below A's from k on. B gets ones behind its own.
absl::Status AlignOperands7(Draft& node, Lift& lift);
// A slope per channel stood on axis 1, whatever came behind.
absl::Status PReluSlope7(Draft& node, Lift& lift);
// Missing bounds meant none.
absl::Status ClipBounds6(Draft& node, Lift& lift);
// Bounds become inputs; missing ones mean float's lowest and largest numbers, in every element type.
absl::Status ClipInputs11(Draft& node, Lift& lift);
// `to` was the type's name.
absl::Status CastTarget6(Draft& node, Lift& lift);
// The default alpha and gamma had fewer digits.
absl::Status SeluConstants6(Draft& node, Lift& lift);
// is_test goes: all of our runs are tests.
absl::Status DropoutTest7(Draft& node, Lift& lift);
// The mask had the element type of the data.
absl::Status DropoutMask10(Draft& node, Lift& lift);
absl::Status DropoutRatio12(Draft& node, Lift& lift);

// ---- lift_shape.cc: attributes that became inputs, and defaults that went ----
absl::Status AxesToInput(Draft& node, Lift& lift);
absl::Status ConcatAxis4(Draft& node, Lift& lift);
absl::Status OneHotNegative11(Draft& node, Lift& lift);  // negative indices were outside, now they count from the end
absl::Status PadNames2(Draft& node, Lift& lift);
absl::Status PadInputs11(Draft& node, Lift& lift);
absl::Status ReduceLogIntegers28(Draft& node, Lift& lift);  // integers are no longer allowed
absl::Status ReshapeInput5(Draft& node, Lift& lift);
absl::Status ScatterElements11(Draft& node, Lift& lift);
absl::Status SliceInputs10(Draft& node, Lift& lift);
absl::Status SplitSizes2(Draft& node, Lift& lift);   // the sizes could be an input of the data's type
absl::Status SplitInput13(Draft& node, Lift& lift);
absl::Status SplitCount18(Draft& node, Lift& lift);  // the number of parts must be said
absl::Status TileRepeats6(Draft& node, Lift& lift);  // tiles and axis, scalars
absl::Status TopKInput10(Draft& node, Lift& lift);

// ---- lift_nn.cc ----
absl::Status BatchNormTest7(Draft& node, Lift& lift);     // is_test goes: one output says it
absl::Status BatchNormSpatial9(Draft& node, Lift& lift);  // spatial = 0: statistics for each activation
absl::Status BatchNormOutputs14(Draft& node, Lift& lift);
absl::Status ConvTransposePads11(Draft& node, Lift& lift);  // output_shape: the other side gets the odd pad
absl::Status DftAxis20(Draft& node, Lift& lift);
absl::Status FlattenToLastAxis13(Draft& node, Lift& lift);  // Softmax and its like over all axes from `axis` on
absl::Status GemmBroadcast7(Draft& node, Lift& lift);       // broadcast goes: C's shape says it
absl::Status GridSampleModes20(Draft& node, Lift& lift);
absl::Status GroupNormChannels21(Draft& node, Lift& lift);  // scale and bias of groups become those of channels
absl::Status IntegralP2(Draft& node, Lift& lift);           // p was a float
absl::Status ResizeCoordinates11(Draft& node, Lift& lift);
absl::Status ResizeInputs13(Draft& node, Lift& lift);
absl::Status ResizeTidy(Draft& node, Lift& lift);
absl::Status RoiAlignShift16(Draft& node, Lift& lift);
absl::Status GruDirection3(Draft& node, Lift& lift);
absl::Status RecurrentOutputs7(Draft& node, Lift& lift);
absl::Status UpsampleScales7(Draft& node, Lift& lift);
absl::Status UpsampleInput9(Draft& node, Lift& lift);
absl::Status UpsampleToResize10(Draft& node, Lift& lift);

// ---- lift_scan.cc ----
absl::Status ScanBatch9(Draft& node, Lift& lift);  // axis 0 was the batch

// ---- lift_attention.cc ----
absl::Status FlexBodiesTidy(Draft& node, Lift& lift);

// ---- lift_ml.cc ----
absl::Status RefuseGradient(Draft& node, Lift& lift);
absl::Status LabelEncoderTables2(Draft& node, Lift& lift);

// ---- lift_legacy.cc: experimental ops that ONNX dropped with opset 10 ----
absl::Status Affine10(Draft& node, Lift& lift);
absl::Status ConstantFill10(Draft& node, Lift& lift);
absl::Status Crop10(Draft& node, Lift& lift);
absl::Status DynamicSlice10(Draft& node, Lift& lift);
absl::Status GivenTensorFill10(Draft& node, Lift& lift);
absl::Status ImageScaler10(Draft& node, Lift& lift);
absl::Status MeanVarianceAxes9(Draft& node, Lift& lift);
absl::Status ParametricSoftplus10(Draft& node, Lift& lift);
absl::Status Scale10(Draft& node, Lift& lift);
absl::Status ScaledTanh10(Draft& node, Lift& lift);

}  // namespace weft::lift_steps

#endif  // WEFT_GRAPH_ONNX_LIFT_STEPS_H_
