"""Writes test cases in the ONNX backend layout.

    CASE/model.onnx
    CASE/tolerance.json                      {"rtol", "atol", "atol_of_max"}
    CASE/test_data_set_K/input_I.pb          a TensorProto, named as the graph's input
    CASE/test_data_set_K/output_I.pb

A float output passes where |got - ref| <= atol + atol_of_max * max|ref| + rtol * |ref|. The references are what ONNX Runtime computes with
its graph optimisations off, in one thread.
"""
import json

import onnxruntime
from onnx import numpy_helper


def reference_session(model):
    """ONNX Runtime as the reference runs it; `model` is a path, or the bytes of a model."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def write_data_set(folder, session, feeds):
    """Writes the inputs `feeds` {name: array} and the session's outputs for them; returns the outputs."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [i.name for i in session.get_inputs()]
    if sorted(names) != sorted(feeds):
        raise ValueError(f"the model's inputs are {names}, the data set's {list(feeds)}")
    outputs = session.run(None, feeds)
    _write(folder, "input", names, [feeds[name] for name in names])
    _write(folder, "output", [o.name for o in session.get_outputs()], outputs)
    return outputs


def _write(folder, side, names, arrays):
    for i, (name, array) in enumerate(zip(names, arrays)):
        (folder / f"{side}_{i}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())


def write_tolerance(folder, tolerance):
    (folder / "tolerance.json").write_text(json.dumps(tolerance) + "\n")
