"""infer-cli run, bench and inspect: what they print and write."""
import json

import os

import numpy as np
import onnx
import pytest
from conftest import cli, done, done_json, model_of, refused
from onnx import numpy_helper

X = np.array([[1, -2, 3]], np.float32)
K = np.array([4, -5], np.int64)


def outputs_of(folder):
    """The arrays that --output-dir wrote, by the outputs' names."""
    manifest = json.loads((folder / "manifest.json").read_text())
    assert sorted(manifest.values()) + ["manifest.json"] == sorted(p.name for p in folder.iterdir() if p.name != "manifest.json") + ["manifest.json"]
    return {name: np.load(folder / file) if file.endswith(".npy") else onnx.load_tensor(folder / file) for name, file in manifest.items()}


# run


def test_outputs_are_printed_and_written(model, npy, tmp_path):
    lines = done("run", model, *npy("x", X), *npy("k", K), "--output-dir", tmp_path / "new/deep").splitlines()
    assert [line.split()[:2] for line in lines] == [["y", "float[1,3]"], ["j", "int64[2]"]]
    found = outputs_of(tmp_path / "new/deep")
    np.testing.assert_array_equal(found["y"], np.array([[1, 0, 3]], np.float32), strict=True)
    np.testing.assert_array_equal(found["j"], -K, strict=True)


def test_run_may_be_left_out(model):
    assert cli(model, "--dim", "N=1").stdout == cli("run", model, "--dim", "N=1").stdout != ""


def test_run_json(model, npy):
    result = done_json("run", model, *npy("x", X), *npy("k", K))
    assert result["model"] == str(model)
    y, j = result["outputs"]
    assert (y["name"], y["type"], y["dtype"], y["shape"]) == ("y", "float[1,3]", "float", [1, 3])
    assert (y["min"], y["max"], y["argmax"], y["nan"], y["inf"]) == (0, 3, 2, 0, 0)
    assert y["mean"] == pytest.approx(4 / 3)
    assert (j["name"], j["shape"], j["min"], j["max"]) == ("j", [2], -4, 5)


def test_json_of_numbers_that_json_lacks(tmp_path, npy):
    onnx.save(model_of("g (float[N] x) => (float[N] y) { y = Sqrt (x) }"), tmp_path / "m.onnx")
    (y,) = done_json("run", tmp_path / "m.onnx", *npy("x", np.array([-1, 4, np.inf], np.float32)))["outputs"]
    assert (y["nan"], y["inf"], y["min"], y["max"]) == (1, 1, 2, 2)
    (y,) = done_json("run", tmp_path / "m.onnx", *npy("x", np.zeros(0, np.float32)))["outputs"]
    assert y["shape"] == [0]


def test_random_inputs_are_seeded(model, tmp_path):
    def draw(seed, folder):
        done("run", model, "--shape", "x=5x3", "--seed", seed, "--output-dir", tmp_path / folder)
        return outputs_of(tmp_path / folder)["y"]

    first = draw(1, "a")
    assert first.shape == (5, 3)
    np.testing.assert_array_equal(draw(1, "b"), first)
    assert (draw(2, "c") != first).any()


def test_input_range(tmp_path):
    onnx.save(model_of("g (int64[1000] k, float[1000] x) => (int64[1000] j, float[1000] y) { j = Identity (k) y = Identity (x) }"), tmp_path / "m.onnx")
    done("run", tmp_path / "m.onnx", "--input-range", "k=3:6", "--input-range", "x=-1:0", "--output-dir", tmp_path / "o")
    found = outputs_of(tmp_path / "o")
    assert set(found["j"]) == {3, 4, 5}
    assert -1 <= found["y"].min() < -0.9 and -0.1 < found["y"].max() < 0


def test_an_unbound_dim_is_one_with_a_warning(model):
    result = cli("run", model)
    assert "float[1,3]" in result.stdout
    assert "warning" in result.stderr and "'N'" in result.stderr and "'x'" in result.stderr
    assert cli("run", model, "--quiet").stderr == ""
    assert cli("run", model, "--dim", "N=4").stderr == ""
    assert "float[4,3]" in cli("run", model, "--dim", "N=4").stdout


def test_every_kind_of_input_file(model, tmp_path, npy):
    onnx.save_tensor(numpy_helper.from_array(X, "another name"), tmp_path / "x.pb")
    np.savez(tmp_path / "both.npz", x=X, k=K)
    np.savez_compressed(tmp_path / "one.npz", anything=X)
    (tmp_path / "x.bin").write_bytes(X.tobytes())
    np.save(tmp_path / "fortran.npy", np.asfortranarray(np.concatenate([X, 2 * X])))
    np.save(tmp_path / "big.npy", X.astype(">f4"))
    expected = done("run", model, *npy("x", X), *npy("k", K))
    for file in ("x.pb", "both.npz", "one.npz", "x.bin", "big.npy"):
        assert done("run", model, "--input", f"x={tmp_path / file}", *npy("k", K)) == expected, file
    (y, _) = done_json("run", model, "--input", f"x={tmp_path / 'fortran.npy'}")["outputs"]
    assert y["elements"] == "{1, 0, 3, 2, 0, 6}"


def test_outputs_numpy_has_no_type_for(tmp_path):
    model = model_of("g (float[2] x) => (bfloat16[2] b, string[1] s) { b = Cast <to = 16> (x) s = Constant <value = string[1] {\"text\"}> () }")
    onnx.save(model, tmp_path / "m.onnx")
    done("run", tmp_path / "m.onnx", "--output-dir", tmp_path / "o")
    found = outputs_of(tmp_path / "o")
    assert (found["b"].data_type, list(found["b"].dims)) == (onnx.TensorProto.BFLOAT16, [2])
    assert list(found["s"].string_data) == [b"text"]


def test_output_names_that_are_no_file_names(tmp_path):
    model = model_of("g (float[1] x) => (float[1] y, float[1] z, float[1] w) { y = Neg (x) z = Abs (x) w = Relu (x) }")
    for node, info, name in zip(model.graph.node, model.graph.output, ["a/b", "a:b", "../manifest"]):
        node.output[0] = info.name = name
    onnx.save(model, tmp_path / "m.onnx")
    done("run", tmp_path / "m.onnx", "--output-dir", tmp_path / "o")
    found = outputs_of(tmp_path / "o")
    assert list(found) == ["a/b", "a:b", "../manifest"]
    assert found["a/b"] == -found["a:b"] or found["a/b"] == found["a:b"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx", "o"]


def test_a_folder_that_cannot_be_made(model, tmp_path):
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file/o") in refused(3, "run", model, "--dim", "N=1", "--output-dir", tmp_path / "file/o")
    assert str(tmp_path / "file") in refused(3, "run", model, "--dim", "N=1", "--output-dir", tmp_path / "file")


def test_levels_and_kernels_agree(tmp_path):
    model = model_of("""g (float[2,3,8,8] x) => (float[] y) {
        w = Constant <value = float[4,3,1,1] {1, -1, 2, 0, 1, 1, 3, 2, 1, -1, 0, 1}> ()
        c = Conv (x, w)
        r = Relu (c)
        y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
    }""")
    onnx.save(model, tmp_path / "m.onnx")
    results = {}
    for name, options in {"all": [], "none": ["--opt-level", "0"], "reference": ["--reference"], "strict": ["--math", "strict"],
                          "less": ["--disable-pass", "fuse-activation", "--disable-pass", "fuse-bias"], "one": ["--threads", "1"], "checked": ["--check"]}.items():
        done("run", tmp_path / "m.onnx", *options, "--output-dir", tmp_path / name)
        results[name] = outputs_of(tmp_path / name)["y"]
    for name, y in results.items():
        np.testing.assert_allclose(y, results["reference"], rtol=1e-5, atol=1e-5, err_msg=name)


def test_print_changed(tmp_path):
    onnx.save(model_of("g (float[2] x) => (float[2] y) { a = Identity (x) y = Relu (a) }"), tmp_path / "m.onnx")
    result = cli("run", tmp_path / "m.onnx", "--print-changed")
    assert "# after remove-identities\n" in result.stderr
    assert "y  float[2]" in result.stdout


# bench


def test_bench_json(model):
    result = done_json("bench", model, "--dim", "N=2", "--iters", "5", "--warmup", "1", "--threads", "1")
    assert list(result) == ["model", "device", "threads", "precision", "load_ms", "compile_ms", "first_run_ms", "iters", "latency_ms",
                            "throughput_per_s", "memory"]
    assert (result["model"], result["device"], result["threads"], result["precision"], result["iters"]) == (str(model), "cpu", 1, "fp32", 5)
    latency = result["latency_ms"]
    assert list(latency) == ["min", "mean", "p50", "p90", "p95", "p99", "max"]
    assert 0 < latency["min"] <= latency["p50"] <= latency["p90"] <= latency["p95"] <= latency["p99"] <= latency["max"]
    assert latency["min"] <= latency["mean"] <= latency["max"]
    assert result["throughput_per_s"] > 0 and result["load_ms"] > 0 and result["compile_ms"] > 0 and result["first_run_ms"] > 0
    memory = result["memory"]
    assert list(memory) == ["weights_bytes", "arena_bytes", "arena_lower_bound_bytes", "peak_rss_bytes"]
    assert 0 <= memory["arena_lower_bound_bytes"] <= memory["arena_bytes"] and memory["peak_rss_bytes"] > 1e6


def test_bench_runs_at_least_three_times(model):
    assert done_json("bench", model, "--dim", "N=1", "--iters", "1", "--warmup", "0")["iters"] == 3
    assert done_json("bench", model, "--dim", "N=1", "--duration", "1e-6", "--warmup", "0")["iters"] >= 3
    assert done_json("bench", model, "--dim", "N=1", "--iters", "20", "--concurrency", "4")["iters"] == 20


def test_bench_in_words(model):
    text = done("bench", model, "--dim", "N=1", "--iters", "3")
    for word in ("load", "compile", "first run", "p50", "p99", "throughput", "arena", "RSS"):
        assert word in text


# inspect


def test_inspect_json(tmp_path):
    model = model_of("""g (float[N,3] x, float[3] b = {1, 2, 3}) => (float[N,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> {
        a = Add (x, b)
        r = Relu (a)
        y = MatMul (r, w)
    }""")
    model.producer_name = "tests"
    onnx.save(model, tmp_path / "m.onnx")
    result = done_json("inspect", tmp_path / "m.onnx", "--dim", "N=5")
    assert result["inputs"] == [{"name": "x", "type": "float[5,3]"}]
    assert result["inputs_with_default"] == ["b"]
    assert result["outputs"] == [{"name": "y", "type": "float[5,2]"}]
    assert result["opsets"] == {"ai.onnx": 21} and result["ir_version"] == 10 and result["producer"] == "tests"
    assert result["nodes"] == 3 and result["ops"] == {"Add": 1, "MatMul": 1, "Relu": 1}
    assert result["parameters"] == 9 and result["parameter_bytes"] == 36
    assert result["flops"] == 15 + 15 + 2 * 5 * 3 * 2 and result["nodes_of_unknown_flops"] == 0
    assert result["unsupported"] == ""
    text = done("inspect", tmp_path / "m.onnx")
    for part in ("x  float[N,3]", "y  float[N,2]", "ai.onnx 21", "MatMul", "every node has a kernel"):
        assert part in text


def test_inspect_text_is_onnx(model):
    again = onnx.parser.parse_model(done("inspect", model, "--text"))
    assert [node.op_type for node in again.graph.node] == ["Relu", "Neg"]


def test_inspect_of_an_input_it_lacks(model):
    assert "'z'" in refused(3, "inspect", model, "--shape", "z=1")


@pytest.mark.parametrize("name", ["pipe.npy", "pipe.pb", "zero.bin", "memory.npy"])
def test_inputs_that_are_no_files(tmp_path, model, name):
    path = tmp_path / name
    if name.startswith("pipe"):
        os.mkfifo(path)
    else:
        path.symlink_to({"zero": "/dev/zero", "memory": "/proc/self/mem"}[path.stem])
    refused(3, "run", model, "--input", f"x={path}", "--quiet")
