"""infer-cli as a process, and small models and cases for it."""
import json
import os
import subprocess

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

CLI = os.environ.get("WEFT_INFER_CLI", "build/release/bin/infer-cli")


def cli(*args, timeout=120):
    return subprocess.run([CLI, *map(str, args)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)


def done(*args):
    """Standard output of a command that must end well."""
    result = cli(*args)
    assert result.returncode == 0, result.stderr
    return result.stdout


def done_json(*args):
    return json.loads(done(*args, "--json"))


def refused(code, *args):
    """The one line of a command that must end with `code`, behind infer-cli's name."""
    result = cli(*args)
    assert (result.returncode, result.stdout) == (code, ""), result
    lines = [line for line in result.stderr.splitlines() if not line.startswith("infer-cli: warning: ")]
    assert len(lines) == 1 and lines[0].startswith("infer-cli: error: "), result.stderr
    return lines[0].removeprefix("infer-cli: error: ")


def model_of(graph):
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {graph}')


def write_case(folder, model, *sets, **files):
    """A case in the backend's layout: each of `sets` is (inputs, outputs), lists of arrays in the graph's order; `files` are texts by stem."""
    folder.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for k, data in enumerate(sets):
        (folder / f"test_data_set_{k}").mkdir()
        for kind, arrays, infos in zip(("input", "output"), data, (model.graph.input, model.graph.output)):
            for i, (array, info) in enumerate(zip(arrays, infos)):
                onnx.save_tensor(numpy_helper.from_array(np.asarray(array), info.name), folder / f"test_data_set_{k}" / f"{kind}_{i}.pb")
    for stem, text in files.items():
        (folder / f"{stem}.{'txt' if stem == 'expect' else 'json'}").write_text(text)
    return folder


@pytest.fixture
def model(tmp_path):
    """y = Relu(x), j = -k."""
    path = tmp_path / "model.onnx"
    onnx.save(model_of("g (float[N,3] x, int64[2] k) => (float[N,3] y, int64[2] j) { y = Relu (x) j = Neg (k) }"), path)
    return path


@pytest.fixture
def npy(tmp_path):
    """Writes an array as NAME.npy and gives the option that feeds it."""

    def write(name, array):
        np.save(tmp_path / f"{name}.npy", array)
        return ["--input", f"{name}={tmp_path / f'{name}.npy'}"]

    return write
