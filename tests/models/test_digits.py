"""The digit classifier is as good as models/README.md says."""
import re
from pathlib import Path

import case
import numpy as np
import onnx

MODELS = Path(__file__).resolve().parents[2] / "models"
DIGITS = MODELS / "digits"


def stated():
    """(right, images) by the README."""
    right, images = re.search(r"\*\*(\d+) of (\d+)\*\* held-out images", (MODELS / "README.md").read_text()).groups()
    return int(right), int(images)


def load(file):
    return onnx.numpy_helper.to_array(onnx.load_tensor(DIGITS / file))


def test_held_out_accuracy():
    labels = np.load(DIGITS / "labels.npy")
    session = case.reference_session(DIGITS / "model.onnx")
    (probabilities,) = session.run(None, {"image": load("test_data_set_0/input_0.pb")})
    assert ((probabilities.argmax(1) == labels).sum(), len(labels)) == stated()


def test_the_references_have_that_accuracy_too():
    right = load("test_data_set_0/output_0.pb").argmax(1) == np.load(DIGITS / "labels.npy")
    assert (right.sum(), len(right)) == stated()


def test_the_sample_is_the_first_held_out_image():
    np.testing.assert_array_equal(np.load(DIGITS / "sample.npy"), load("test_data_set_0/input_0.pb")[:1])
    np.testing.assert_array_equal(load("test_data_set_1/input_0.pb"), load("test_data_set_0/input_0.pb")[:3])


def test_model_is_valid_onnx():
    onnx.checker.check_model(str(DIGITS / "model.onnx"), full_check=True)
