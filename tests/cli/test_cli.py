"""What every subcommand has in common: help, usage errors, refusals of models and inputs, exit codes."""
import os
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import cli, done, model_of, refused

SUBCOMMANDS = ["run", "bench", "test", "inspect"]
LOADING = ["run", "bench", "inspect"]
USAGE, INVALID, UNSUPPORTED, EXHAUSTED, CANCELLED = 2, 3, 4, 5, 6


# Help and usage


@pytest.mark.parametrize("command", [[], *([s] for s in SUBCOMMANDS)], ids=lambda c: "".join(c) or "infer-cli")
def test_help(command):
    result = cli(*command, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert "Usage:" in result.stdout
    for name in command or SUBCOMMANDS:
        assert name in result.stdout
    assert cli(*command, "-h").stdout == result.stdout


def test_version():
    header = Path(__file__).resolve().parents[2] / "include/weft/version.h"
    (version,) = re.findall(r'define WEFT_VERSION "(.*)"', header.read_text())
    assert done("--version") == f"infer-cli {version}\n"


@pytest.mark.parametrize("args, parts", [
    ([], ["subcommand"]),
    (["frobnicate"], ["'frobnicate'", *SUBCOMMANDS]),
    (["run"], ["MODEL"]),
    (["bench"], ["MODEL"]),
    (["inspect"], ["MODEL"]),
    (["test"], ["DIR"]),
    (["run", "m.onnx", "--no-such-option"], ["--no-such-option"]),
    (["run", "m.onnx", "--opt-level", "4"], ["--opt-level", "4"]),
    (["run", "m.onnx", "--disable-pass", "fold"], ["'fold'", "fold-constants"]),
    (["run", "m.onnx", "--math", "loose"], ["--math", "loose"]),
    (["run", "m.onnx", "--threads", "-1"], ["--threads"]),
    (["run", "m.onnx", "--threads", "many"], ["--threads", "many"]),
    (["run", "m.onnx", "--input", "x"], ["--input", "'x'", "NAME=FILE"]),
    (["run", "m.onnx", "--input", "x=a.npy", "--input", "x=b.npy"], ["--input", "once"]),
    (["run", "m.onnx", "--shape", "x=1x-3"], ["--shape", "'x=1x-3'"]),
    (["run", "m.onnx", "--shape", "x=1xx3"], ["--shape", "'x=1xx3'"]),
    (["run", "m.onnx", "--dim", "N=two"], ["--dim", "'N=two'"]),
    (["run", "m.onnx", "--input-range", "x=3:1"], ["--input-range", "'x=3:1'"]),
    (["run", "m.onnx", "--memory-limit", "-5"], ["--memory-limit"]),
    (["bench", "m.onnx", "--iters", "0"], ["--iters"]),
    (["bench", "m.onnx", "--iters", "5", "--duration", "1"], ["--iters", "--duration"]),
    (["bench", "m.onnx", "--concurrency", "0"], ["--concurrency"]),
    (["test", "d", "--concurrency", "zero"], ["--concurrency"]),
], ids=lambda a: " ".join(a) if isinstance(a, list) else None)
def test_usage_errors(args, parts):
    line = refused(USAGE, *args)
    for part in parts:
        assert part in line


# Models


@pytest.mark.parametrize("command", LOADING)
def test_a_model_that_is_none(command, tmp_path, model):
    whole = model.read_bytes()
    bad = tmp_path / "bad.onnx"
    for content in [b"", b"\x89PNG\r\n\x1a\n" + bytes(100), b"not a model\n", b"PK\x03\x04" + bytes(64), whole[: len(whole) // 2], whole[:-1], bytes(1000)]:
        bad.write_bytes(content)
        assert str(bad) in refused(INVALID, command, bad), content


@pytest.mark.parametrize("command", LOADING)
def test_a_model_cut_off_anywhere_is_refused_or_runs(command, tmp_path, model):
    whole = model.read_bytes()
    cut = tmp_path / "cut.onnx"
    for length in range(0, len(whole), 7):
        cut.write_bytes(whole[:length])
        result = cli(command, cut, *(["--iters", "3", "--warmup", "0"] if command == "bench" else []))
        assert result.returncode in (0, INVALID, UNSUPPORTED), (length, result)


@pytest.mark.parametrize("command", LOADING)
def test_a_model_that_cannot_be_read(command, tmp_path):
    assert str(tmp_path / "gone.onnx") in refused(INVALID, command, tmp_path / "gone.onnx")
    assert "director" in refused(INVALID, command, tmp_path)


@pytest.mark.parametrize("command", LOADING)
def test_all_unknown_operators_come_in_one_line(command, tmp_path):
    model = model_of("g (float[2] x) => (float[2] y) { [first] a = Sqroot (x) b = Relu (a) [second] y = other.Cubert (b) }")
    model.opset_import.add(domain="other", version=1)
    onnx.save(model, tmp_path / "m.onnx")
    line = refused(UNSUPPORTED, command, tmp_path / "m.onnx")
    for part in ("Sqroot", "first", "Cubert", "second"):
        assert part in line
    assert "Relu" not in line


def test_a_wrong_node_is_named(tmp_path):
    onnx.save(model_of("g (float[2,3] a, float[2,3] b) => (float[] y) { [product] y = MatMul (a, b) }"), tmp_path / "m.onnx")
    line = refused(INVALID, "run", tmp_path / "m.onnx")
    for part in ("'product'", "MatMul", "3", "2"):
        assert part in line


def test_a_newline_in_a_name_breaks_no_line(tmp_path):
    model = model_of("g (float[2] x) => (float[2] y) { y = Sqroot (x) }")
    model.graph.node[0].name = "one\ntwo"
    onnx.save(model, tmp_path / "m.onnx")
    assert "one two" in refused(UNSUPPORTED, "run", tmp_path / "m.onnx")


def test_what_is_not_built_in(model):
    assert "'cuda'" in refused(UNSUPPORTED, "run", model, "--device", "cuda")
    assert "int8" in refused(UNSUPPORTED, "run", model, "--precision", "int8")


# Inputs


def test_an_input_the_model_lacks(model, npy):
    line = refused(INVALID, "run", model, *npy("z", np.zeros(3, np.float32)))
    for part in ("'z'", "x", "k"):
        assert part in line
    for option in (["--shape", "z=3"], ["--input-range", "z=0:1"]):
        assert "'z'" in refused(INVALID, "run", model, *option)


@pytest.mark.parametrize("array, found", [
    (np.zeros((1, 3), np.float64), "double[1,3]"),
    (np.zeros((1, 3), np.int32), "int32[1,3]"),
    (np.zeros((1, 3), bool), "bool[1,3]"),
    (np.zeros(3, np.float32), "float[3]"),
    (np.zeros((1, 1, 3), np.float32), "float[1,1,3]"),
    (np.zeros((1, 4), np.float32), "float[1,4]"),
    (np.array([["a", "b", "c"]]), "string[1,3]"),
], ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("command", ["run", "bench"])
def test_an_input_of_another_type_or_shape(command, model, npy, array, found):
    line = refused(INVALID, command, model, *npy("x", array))
    for part in ("'x'", found, "float[N,3]"):
        assert part in line


def test_files_that_are_no_input(model, tmp_path):
    def with_file(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        line = refused(INVALID, "run", model, "--input", f"x={path}")
        assert str(path) in line
        return line

    np.save(tmp_path / "good.npy", np.ones((1, 3), np.float32))
    good = (tmp_path / "good.npy").read_bytes()
    assert "npy" in with_file("empty.npy", b"")
    assert "npy" in with_file("text.npy", b"1 2 3\n" * 20)
    assert "cut off" in with_file("short.npy", good[:-1])
    assert "cut off" in with_file("header.npy", good[:40])
    with_file("shape.npy", good.replace(b"(1, 3)", b"(9, 9)"))
    with_file("huge.npy", good.replace(b"(1, 3), }  ", b"(1, 99999999999), }")[: len(good)])
    with_file("bad.npz", b"PK no zip")
    with_file("bad.pb", b"\xff\xff\xff\xff")
    assert ".npy" in with_file("x.csv", b"1,2,3\n")
    assert "10 bytes" in with_file("raw.bin", bytes(10))
    assert str(tmp_path / "gone.npy") in refused(INVALID, "run", model, "--input", f"x={tmp_path / 'gone.npy'}")
    assert "director" in refused(INVALID, "run", model, "--input", f"x={tmp_path}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_files_that_may_not_be_read(model, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 3), np.float32))
    (tmp_path / "x.npy").chmod(0)
    assert "x.npy" in refused(INVALID, "run", model, "--input", f"x={tmp_path / 'x.npy'}")


# Limits


def test_limits(tmp_path):
    onnx.save(model_of("g (float[N] x) => (float y) { a = Exp (x) b = Concat <axis = 0> (a, x) y = ReduceSum <keepdims = 0> (b) }"), tmp_path / "m.onnx")
    line = refused(EXHAUSTED, "run", tmp_path / "m.onnx", "--dim", "N=1000", "--memory-limit", "1000")
    assert "1000" in line and "arena" in line
    done("run", tmp_path / "m.onnx", "--dim", "N=1000", "--memory-limit", "1000000")
    assert "deadline" in refused(CANCELLED, "run", tmp_path / "m.onnx", "--time-limit", "1e-9")
    done("run", tmp_path / "m.onnx", "--time-limit", "100")


def test_a_loop_without_end_stops_at_the_time_limit(tmp_path):
    onnx.save(model_of("""g (float x) => (float y) {
        yes = Constant <value = bool {1}> ()
        y = Loop ("", yes, x) <body = b (int64 i, bool go, float s) => (bool again, float t) { again = Identity (go) t = Identity (s) }>
    }"""), tmp_path / "m.onnx")
    assert "deadline" in refused(CANCELLED, "run", tmp_path / "m.onnx", "--time-limit", "0.1")


def test_more_memory_than_there_is(tmp_path):
    onnx.save(model_of("g (float[N] x, float[M] y) => (float[N] z) { z = Relu (x) }"), tmp_path / "m.onnx")
    refused(EXHAUSTED, "run", tmp_path / "m.onnx", "--shape", "x=4000000000000")
