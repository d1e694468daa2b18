"""The digit classifier is as good as models/README.md says."""
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

DIGITS = Path(__file__).resolve().parents[2] / "models" / "digits"
ACCURACY = 337 / 360  # stated in models/README.md


def test_held_out_accuracy():
    images = onnx.numpy_helper.to_array(onnx.load_tensor(DIGITS / "test_data_set_0" / "input_0.pb"))
    labels = np.load(DIGITS / "labels.npy")
    session = onnxruntime.InferenceSession(DIGITS / "model.onnx", providers=["CPUExecutionProvider"])
    (probabilities,) = session.run(None, {"image": images})
    assert len(labels) == 360
    assert (probabilities.argmax(1) == labels).mean() == ACCURACY


def test_model_is_valid_onnx():
    onnx.checker.check_model(str(DIGITS / "model.onnx"), full_check=True)
