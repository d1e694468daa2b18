"""infer-cli compare: against a data set, against outputs in a folder, against a model."""
import json

import numpy as np
import onnx
from conftest import cli, done, done_json, model_of, refused

DIGITS = "models/digits"


def save(path, graph):
    onnx.save(model_of(graph), path)
    return path


def test_a_data_set_brings_inputs_and_references():
    said = done_json("compare", f"{DIGITS}/model.onnx", "--against", f"{DIGITS}/test_data_set_1")
    (row,) = said["outputs"]
    assert said["differing"] == 0 and row["equal"] and row["max_abs"] < 1e-4 and row["cosine"] > 0.999999


def test_passes_against_none(tmp_path):
    said = done_json("compare", f"{DIGITS}/model.onnx", "--against", f"{DIGITS}/model.onnx", "--reference-opt-level", "0", "--dim", "N=2")
    assert said["differing"] == 0


def test_outputs_in_a_folder(tmp_path):
    model = save(tmp_path / "m.onnx", "g (float[3] x) => (float[3] y) { y = Exp (x) }")
    np.save(tmp_path / "x.npy", np.array([0, 1, 2], np.float32))
    done("run", model, "--input", f"x={tmp_path}/x.npy", "--output-dir", tmp_path / "out")
    assert "within the tolerance" in done("compare", model, "--input", f"x={tmp_path}/x.npy", "--against", tmp_path / "out")
    np.save(tmp_path / "out" / "y.npy", np.array([1, 2.718281828, 8], np.float32))
    result = cli("compare", model, "--input", f"x={tmp_path}/x.npy", "--against", tmp_path / "out")
    assert result.returncode == 1 and "DIFFERS" in result.stdout


def test_what_is_told_of_a_difference(tmp_path):
    one = save(tmp_path / "one.onnx", "g (float[2] x) => (float[2] y) <float[2] c = {1, 0}> { y = Div (x, c) }")
    two = save(tmp_path / "two.onnx", "g (float[2] x) => (float[2] y) <float[2] c = {2, 1}> { y = Div (x, c) }")
    np.save(tmp_path / "x.npy", np.array([4, 3], np.float32))
    result = cli("compare", one, "--against", two, "--input", f"x={tmp_path}/x.npy", "--json")
    assert result.returncode == 1
    (row,) = json.loads(result.stdout)["outputs"]
    assert (row["equal"], row["max_abs"], row["max_rel"], row["new_inf"], row["new_nan"]) == (False, 2, 1, 1, 0)


def test_refusals(tmp_path):
    one = save(tmp_path / "one.onnx", "g (float[2] x) => (float[2] y) { y = Neg (x) }")
    two = save(tmp_path / "two.onnx", "g (float[2] x) => (float[2] z) { z = Neg (x) }")
    assert "'y'" in refused(3, "compare", one, "--against", two)
    assert "manifest.json" in refused(3, "compare", one, "--against", tmp_path)
