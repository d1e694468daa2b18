"""models/fetch.py, its list and its parts, without the network: the wheels are made here and put where a download would be kept."""
import hashlib
import json
import zipfile

import fetch
import fills
import generate
import numpy as np
import onnx
import pytest
import random_weights
from onnx import numpy_helper

LISTED = json.loads((fetch.HERE / "models.json").read_text())
DOUBLE = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 22]> g (float[N] x) => (float[N] y) { y = Add(x, x) }')


# The list


def test_names_are_unique():
    names = [e["name"] for e in LISTED]
    assert len(names) == len(set(names))


def test_the_small_set_is_small():
    small = [e for e in LISTED if "small" in e["sets"]]
    assert len(small) == 14
    assert fetch.download_bytes(small) < 200e6


@pytest.mark.parametrize("entry", LISTED, ids=lambda e: e["name"])
def test_entry(entry):
    assert entry["origin"] in fetch.sources.ORIGINS
    assert entry["family"] and entry["licence"] and entry["data_sets"]
    assert set(entry["sets"]) <= {"small", "bench"}
    assert entry["tolerance"].keys() == {"rtol", "atol", "atol_of_max"}
    for data_set in entry["data_sets"]:
        for spec in data_set:
            if np.prod(spec["shape"]) < 1e4:
                array = fills.make(spec)
                assert array.shape == tuple(spec["shape"])
                assert array.dtype == spec["dtype"]


def test_the_readme_names_every_model():
    readme = (fetch.HERE / "README.md").read_text()
    assert [e["name"] for e in LISTED if f'`{e["name"]}`' not in readme] == []


@pytest.mark.parametrize("name", ["small", "bench", "all"])
def test_the_readme_states_the_sets(name):
    chosen = [e for e in LISTED if name == "all" or name in e["sets"]]
    megabytes = round(fetch.download_bytes(chosen) / 1e6)
    assert f"| `{name}` | {len(chosen)} | {megabytes} MB |" in (fetch.HERE / "README.md").read_text()


# Inputs


def test_fills_are_seeded():
    spec = {"dtype": "float32", "shape": [2, 3], "fill": {"kind": "normal", "mean": 1, "std": 2, "seed": 7}}
    np.testing.assert_array_equal(fills.make(spec), np.random.default_rng(7).normal(1, 2, (2, 3)).astype(np.float32))


def test_blocks_look_like_lines_of_text():
    page = fills.blocks((1, 3, 72, 120), 0.0, 1.0)
    assert page.shape == (1, 3, 72, 120)
    assert set(np.unique(page)) == {0.0, 1.0}
    ink = page[0, 0] == 0
    assert not ink[24:48].any(), "every other line is empty"
    assert not ink[:3].any() and not ink[21:24].any() and not ink[:, :8].any() and not ink[:, -8:].any(), "margins are empty"
    assert 0.2 < ink[3:21, 8:-8].mean() < 0.5


# Models


def test_random_weights_replace_constant_ones():
    text = """<ir_version: 3, opset_import: ["": 9]>
    g (float[1,2,4,4] x, int64[4] w_shape = {3,2,3,3}, int64[1] v_shape = {3}) => (float[1,3,2,2] y) {
        w = ConstantOfShape(w_shape)
        v = ConstantOfShape(v_shape)
        c = Conv(x, w)
        y = BatchNormalization(c, v, v, v, v)
    }"""
    model = onnx.parser.parse_model(text)
    random_weights.randomise(model)
    onnx.checker.check_model(model)
    weights = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    assert [n.op_type for n in model.graph.node] == ["Conv", "BatchNormalization"]
    assert weights["w"].shape == (3, 2, 3, 3) and np.unique(weights["w"]).size == 54
    assert (0.8 <= weights["v"]).all() and (weights["v"] <= 1.2).all(), "its first use is as a scale"
    assert {"w", "v"} <= {i.name for i in model.graph.input}, "IR version 3"


def test_the_forest_decides_as_scikit_learn_does():
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier

    images, labels = load_digits(return_X_y=True)
    forest = RandomForestClassifier(n_estimators=100, random_state=0).fit(images[:1000], labels[:1000])
    session = fetch.case.reference_session(generate.skl_rf_digits().SerializeToString())
    label, probabilities = session.run(None, {"X": images[1000:].astype(np.float32)})
    np.testing.assert_allclose(probabilities, forest.predict_proba(images[1000:]), atol=1e-6)
    np.testing.assert_array_equal(label, probabilities.argmax(1))
    assert (label == labels[1000:]).mean() > 0.9


# Fetching


@pytest.fixture
def shelf(tmp_path):
    """A folder with a list of one model, `double`, whose wheel has been downloaded already."""
    return Shelf(tmp_path)


class Shelf:
    def __init__(self, root):
        self.dest, self.list = root / "cases", root / "models.json"
        self.entries = []
        self.add("double")

    def add(self, name, **changes):
        data = DOUBLE.SerializeToString()
        folder = self.dest / ".wheels" / f"{name}-1.0"
        folder.mkdir(parents=True)
        with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("pkg/double.onnx", data)
        entry = {"name": name, "family": "test", "licence": "Apache-2.0", "origin": "package", "package": name, "version": "1.0",
                 "download_bytes": len(data), "path": "pkg/double.onnx", "sha256": hashlib.sha256(data).hexdigest(), "sets": ["small"],
                 "data_sets": [[{"name": "x", "dtype": "float32", "shape": [n], "fill": {"kind": "arange", "start": 5}}] for n in (2, 3)],
                 "tolerance": {"rtol": 1e-3, "atol": 0, "atol_of_max": 0}}
        self.entries.append(entry | changes)

    def fetch(self, *args):
        self.list.write_text(json.dumps(self.entries))
        return fetch.main(["--dest", str(self.dest), "--models", str(self.list), *args])

    def cases(self):
        return sorted(p.name for p in self.dest.iterdir() if p.name not in (".wheels", ".lock"))


def test_a_case_is_written_in_the_backend_layout(shelf):
    assert shelf.fetch() == 0
    case = shelf.dest / "double"
    assert onnx.load(case / "model.onnx") == DOUBLE
    assert json.loads((case / "tolerance.json").read_text()) == {"rtol": 1e-3, "atol": 0, "atol_of_max": 0}
    for k, (x, y) in enumerate([([5, 6], [10, 12]), ([5, 6, 7], [10, 12, 14])]):
        for file, name, expected in (("input_0.pb", "x", x), ("output_0.pb", "y", y)):
            tensor = onnx.load_tensor(case / f"test_data_set_{k}" / file)
            assert tensor.name == name
            np.testing.assert_array_equal(numpy_helper.to_array(tensor), np.array(expected, np.float32))


def test_what_is_complete_is_kept(shelf, capsys):
    shelf.fetch()
    written = (shelf.dest / "double/model.onnx").stat().st_mtime_ns
    assert shelf.fetch() == 0
    assert (shelf.dest / "double/model.onnx").stat().st_mtime_ns == written
    assert "double: up to date" in capsys.readouterr().err


def test_what_is_incomplete_is_made_again(shelf):
    (shelf.dest / "double").mkdir()
    (shelf.dest / ".part").mkdir()
    assert shelf.fetch() == 0
    assert shelf.cases() == ["double"]
    assert (shelf.dest / "double/test_data_set_1/output_0.pb").exists()


def test_a_changed_entry_is_made_again(shelf):
    shelf.fetch()
    del shelf.entries[0]["data_sets"][1]
    assert shelf.fetch() == 0
    assert not (shelf.dest / "double/test_data_set_1").exists()


def test_one_bad_model_does_not_hide_the_others(shelf, capsys):
    shelf.add("changed", sha256="0" * 64)
    shelf.add("moved", path="pkg/gone.onnx")
    shelf.add("other_input", data_sets=[[{"name": "z", "dtype": "float32", "shape": [2], "fill": {"kind": "const", "value": 1}}]])
    shelf.add("last")
    assert shelf.fetch() == 1
    assert shelf.cases() == ["double", "last"]
    err = capsys.readouterr().err
    assert "changed: FAILED" in err and "models.json expects 0000" in err
    assert "moved: FAILED" in err and "has no pkg/gone.onnx" in err
    assert "other_input: FAILED: the model's inputs are ['x'], the data set's ['z']" in err
    assert "2 made, 0 up to date, 3 failed" in err


def test_choosing(shelf, capsys):
    shelf.add("timed", sets=["bench"])
    shelf.add("rare", sets=[])

    def chosen(*args):
        assert shelf.fetch("--list", *args) == 0
        return [line.split()[0] for line in capsys.readouterr().out.splitlines()[:-1]]

    assert chosen() == ["double"]
    assert chosen("--set", "bench") == ["timed"]
    assert chosen("--set", "all") == ["double", "timed", "rare"]
    assert chosen("--only", "rare", "double") == ["rare", "double"]
    assert shelf.cases() == [], "--list fetches nothing"


def test_an_unknown_name_is_refused(shelf, capsys):
    with pytest.raises(SystemExit) as stop:
        shelf.fetch("--only", "doubel")
    assert stop.value.code == 2
    assert "no model is named doubel, but there is double" in capsys.readouterr().err
