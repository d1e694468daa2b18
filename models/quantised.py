"""The digit classifier in 8 bits, by onnxruntime.quantization."""
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

DIGITS = Path(__file__).resolve().parent / "digits"


class Images(CalibrationDataReader):
    """The held-out images, in batches."""

    def __init__(self):
        images = onnx.numpy_helper.to_array(onnx.load_tensor(DIGITS / "test_data_set_0" / "input_0.pb"))
        self.batches = iter(np.split(images, 10))

    def get_next(self):
        batch = next(self.batches, None)
        return None if batch is None else {"image": batch}


def through_a_file(quantise):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model.onnx"
        quantise(str(DIGITS / "model.onnx"), str(out))
        return onnx.load(out)


def digits_qdq():
    """QuantizeLinear and DequantizeLinear around every product; weights int8 by channel, activations uint8."""
    return through_a_file(lambda model, out: quantize_static(
        model, out, Images(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, per_channel=True))


def digits_qlinear():
    """QLinearConv and the other integer ops; weights and activations uint8."""
    return through_a_file(lambda model, out: quantize_static(
        model, out, Images(), quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8, weight_type=QuantType.QUInt8))


def digits_dynamic():
    """DynamicQuantizeLinear with MatMulInteger and ConvInteger."""
    return through_a_file(lambda model, out: quantize_dynamic(model, out, weight_type=QuantType.QUInt8))
