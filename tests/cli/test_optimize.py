"""infer-cli optimize: what it writes is ONNX, computes the same, and keeps what belongs to the user."""
import os

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import done, done_json, model_of, refused
from onnx import numpy_helper

DIGITS = "models/digits"


def run(path, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options).run(None, feeds)


def optimized(tmp_path, model, *args):
    """The written model, checked; `model` is a ModelProto or a path."""
    path = model
    if isinstance(model, onnx.ModelProto):
        path = tmp_path / "in.onnx"
        onnx.save(model, path)
    out = tmp_path / "out.onnx"
    done("optimize", path, "-o", out, "--check", *args)
    onnx.checker.check_model(str(out), full_check=True)
    return onnx.load(out)


def ops(graph):
    return [node.op_type for node in graph.node]


def dims(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def test_digits_gets_smaller_and_stays_the_same(tmp_path):
    before = onnx.load(f"{DIGITS}/model.onnx")
    after = optimized(tmp_path, f"{DIGITS}/model.onnx")
    assert "BatchNormalization" in ops(before.graph) and "BatchNormalization" not in ops(after.graph)
    assert [i.name for i in after.graph.input] == [i.name for i in before.graph.input]
    assert dims(after.graph.input[0]) == dims(before.graph.input[0])
    assert [o.name for o in after.graph.output] == [o.name for o in before.graph.output]
    x = {"image": numpy_helper.to_array(onnx.load_tensor(f"{DIGITS}/test_data_set_1/input_0.pb"))}
    np.testing.assert_allclose(run(tmp_path / "out.onnx", x)[0], run(f"{DIGITS}/model.onnx", x)[0], rtol=1e-4, atol=1e-6)


def test_json_counts_nodes_and_rewrites(tmp_path):
    said = done_json("optimize", f"{DIGITS}/model.onnx", "-o", tmp_path / "out.onnx")
    assert said["nodes_after"] == len(onnx.load(tmp_path / "out.onnx").graph.node) < said["nodes_before"]
    assert {p["name"]: p["rewrites"] for p in said["passes"]}["fold-batch-norm"] == 2


def test_metadata_and_opset_stay(tmp_path):
    model = model_of("g (float[batch,3] x) => (float[batch,3] y) { a = Identity (x) y = Relu (a) }")
    model.metadata_props.add(key="author", value="me")
    model.producer_name, model.doc_string, model.model_version = "maker", "about", 7
    after = optimized(tmp_path, model)
    assert ops(after.graph) == ["Relu"]
    assert [(p.key, p.value) for p in after.metadata_props] == [("author", "me")]
    assert (after.producer_name, after.doc_string, after.model_version) == ("maker", "about", 7)
    assert [(o.domain, o.version) for o in after.opset_import] == [("", 21)]
    assert dims(after.graph.output[0]) == ["batch", 3]


def test_an_old_model_is_written_in_the_lowest_opset_that_has_its_ops(tmp_path):
    model = onnx.parser.parse_model(
        '<ir_version: 4, opset_import: ["": 9]> g (float[2,3] x) => (float[2,1,3] y) { y = Unsqueeze <axes = [1]> (x) }')
    after = optimized(tmp_path, model)
    assert after.opset_import[0].version == 13
    x = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    np.testing.assert_array_equal(run(tmp_path / "out.onnx", x)[0], x["x"].reshape(2, 1, 3))


def test_bodies_with_outer_values_and_shared_weights(tmp_path):
    weight = ", ".join(str(k) for k in range(400))
    model = model_of(f"""g (bool c, float[400] x) => (float[400] y) <float[400] w = {{{weight}}}> {{
        h = Neg (x)
        y = If (c) <
          then_branch = t () => (float[400] a) {{ s = Add (h, w) a = Mul (s, x) }},
          else_branch = e () => (float[400] b) {{ b = Sub (w, h) }}
        >
    }}""")
    after = optimized(tmp_path, model)
    assert len(after.graph.initializer) == 1  # one for both branches
    x = np.linspace(-1, 1, 400, dtype=np.float32)
    for c in (True, False):
        feeds = {"c": np.array(c), "x": x}
        np.testing.assert_array_equal(run(tmp_path / "out.onnx", feeds)[0], run(tmp_path / "in.onnx", feeds)[0])


def test_outputs_keep_their_names(tmp_path):
    """An output that is an input, one that is constant, and one value under two names."""
    model = model_of("""g (float[2] x) => (float[2] same, float[2] k, float[2] a, float[2] b) <float[2] one = {1, 2}> {
        same = Identity (x)
        k = Add (one, one)
        a = Neg (x)
        b = Identity (a)
    }""")
    after = optimized(tmp_path, model)
    assert [o.name for o in after.graph.output] == ["same", "k", "a", "b"]
    same, k, a, b = run(tmp_path / "out.onnx", {"x": np.array([3, 4], np.float32)})
    for found, expected in ((same, [3, 4]), (k, [2, 4]), (a, [-3, -4]), (b, [-3, -4])):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ir_version, inputs", [(3, ["x"]), (8, ["x", "w"])])
def test_initializers_that_are_inputs(tmp_path, ir_version, inputs):
    """Constants until IR version 3, defaults from 4 on."""
    model = onnx.parser.parse_model(
        f'<ir_version: {ir_version}, opset_import: ["": 9]> g (float[2] x, float[2] w) => (float[2] y) {{ z = Neg (w) y = Add (x, z) }}')
    model.graph.initializer.append(numpy_helper.from_array(np.array([1, 2], np.float32), "w"))
    after = optimized(tmp_path, model)
    assert [i.name for i in after.graph.input] == inputs
    assert ops(after.graph) == (["Add"] if ir_version == 3 else ["Neg", "Add"])
    assert run(tmp_path / "out.onnx", {"x": np.zeros(2, np.float32)})[0].tolist() == [-1, -2]


def test_external_data(tmp_path):
    weights = numpy_helper.from_array(np.arange(4096, dtype=np.float32).reshape(64, 64), "w")
    model = model_of("g (float[1,64] x) => (float[1,64] y) { y = MatMul (x, w) }")
    model.graph.initializer.append(weights)
    after = optimized(tmp_path, model, "--external-data", "weights.bin")
    assert (tmp_path / "weights.bin").stat().st_size == 4096 * 4
    assert (tmp_path / "out.onnx").stat().st_size < 1000
    np.testing.assert_array_equal(numpy_helper.to_array(after.graph.initializer[0]), numpy_helper.to_array(weights))
    x = {"x": np.ones((1, 64), np.float32)}
    np.testing.assert_array_equal(run(tmp_path / "out.onnx", x)[0], run(tmp_path / "in.onnx", x)[0])


def test_ops_of_weft_only_where_allowed(tmp_path):
    model = model_of("g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}> { z = MatMul (x, w) y = Relu (z) }")
    assert ops(optimized(tmp_path, model).graph) == ["MatMul", "Relu"]
    done("optimize", tmp_path / "in.onnx", "-o", tmp_path / "weft.onnx", "--allow-weft-ops")
    fused = onnx.load(tmp_path / "weft.onnx")
    assert [(n.domain, n.op_type) for n in fused.graph.node] == [("weft", "FusedMatMul")]
    done("run", tmp_path / "weft.onnx")


def test_refusals(tmp_path):
    onnx.save(model_of("g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }"), tmp_path / "m.onnx")
    assert "expected" in refused(2, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "o.onnx", "--external-data", "../w.bin")
    assert "21" in refused(4, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "o.onnx", "--opset", "9")
    assert "cannot be written" in refused(3, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "nowhere" / "o.onnx")
    assert not list(tmp_path.glob("*.part"))


def test_only_files_are_replaced(tmp_path):
    onnx.save(model_of("g (float[2] x) => (float[2] y) { y = Relu (x) }"), tmp_path / "m.onnx")
    os.mkfifo(tmp_path / "pipe")
    assert "regular file" in refused(3, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    done("optimize", tmp_path / "m.onnx", "-o", tmp_path / "m.onnx")  # over itself
    done("run", tmp_path / "m.onnx")


def test_weights_never_replace_a_model(tmp_path):
    model = model_of("g (float[1,64] x) => (float[1,64] y) { y = MatMul (x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(np.ones((64, 64), np.float32), "w"))
    onnx.save(model, tmp_path / "m.onnx")
    assert "both" in refused(3, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "o.onnx", "--external-data", "o.onnx")
    assert "itself" in refused(3, "optimize", tmp_path / "m.onnx", "-o", tmp_path / "o.onnx", "--external-data", "m.onnx")
    done("run", tmp_path / "m.onnx")
