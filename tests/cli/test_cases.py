"""infer-cli test: which cases pass, fail or are skipped, and what it says of them."""
import json

import ml_dtypes
import numpy as np
import onnx
import pytest
from conftest import cli, done, done_json, model_of, refused, write_case
from onnx import numpy_helper

RELU = model_of("g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }")
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
Y = np.array([[1, 0, 3], [4, 5, 0]], np.float32)
UNKNOWN = model_of("g (float[2] x) => (float[2] y) { y = Sqroot (x) }")


def verdicts(*args):
    """(exit code, {case's name: verdict}, last line)."""
    result = cli("test", *args)
    *cases, last = result.stdout.splitlines()
    return result.returncode, {line.split()[1].rstrip(":").split("/")[-1]: line.split()[0] for line in cases}, last


def failure(*args):
    """The reason of the only case, which must have failed."""
    result = cli("test", *args)
    assert result.returncode == 1, result
    line, last = result.stdout.splitlines()
    assert last == "0 passed, 1 failed, 0 skipped" and line.startswith("FAILED ")
    return line.split(": ", 1)[1]


def test_a_case_that_passes(tmp_path):
    case = write_case(tmp_path / "case", RELU, ([X], [Y]), ([X[:1]], [Y[:1]]))
    assert done("test", case) == f"ok      {case}\n1 passed, 0 failed, 0 skipped\n"
    done("test", case, "--concurrency", "4")
    done("test", case, "--reference", "--opt-level", "0")


def test_one_flipped_value_fails(tmp_path):
    wrong = Y.copy()
    wrong[1, 0] = 4.5
    case = write_case(tmp_path / "case", RELU, ([X], [Y]))
    assert cli("test", case).returncode == 0
    onnx.save_tensor(numpy_helper.from_array(wrong, "y"), case / "test_data_set_0/output_0.pb")
    reason = failure(case)
    for part in ("test_data_set_0", "'y'", "1 of 6", "[1,0]", "found 4", "expected 4.5"):
        assert part in reason
    assert "[1,0]" in failure(case, "--concurrency", "3")


@pytest.mark.parametrize("wrong, parts", [
    (Y.astype(np.float64), ["float[2,3]", "double[2,3]"]),
    (Y[:1], ["float[2,3]", "float[1,3]"]),
    (Y[None], ["float[2,3]", "float[1,2,3]"]),
    (np.where(Y == 3, np.nan, Y), ["nan"]),
    (np.where(Y == 3, -np.inf, Y), ["-inf"]),
], ids=["dtype", "dim", "rank", "nan", "inf"])
def test_another_type_shape_or_kind_of_number_fails(tmp_path, wrong, parts):
    reason = failure(write_case(tmp_path / "case", RELU, ([X], [wrong])))
    for part in parts:
        assert part in reason


def test_nan_and_infinity_equal_themselves(tmp_path):
    x = np.array([[np.nan, np.inf, -np.inf]], np.float32)
    identity = model_of("g (float[N,3] x) => (float[N,3] y) { y = Identity (x) }")
    done("test", write_case(tmp_path / "case", identity, ([x], [x])))


@pytest.mark.parametrize("dtype, near, far", [
    (np.float32, 1 + 9e-4, 1 + 2e-3), (np.float64, 1 + 9e-4, 1 + 2e-3), (np.float16, 1 + 2**-10, 1 + 2**-8), (ml_dtypes.bfloat16, 1 + 2**-7, 1 + 2**-5),
    (np.int64, 1, 2), (np.uint8, 1, 0), (bool, 1, 0),
], ids=lambda v: v.__name__ if isinstance(v, type) else "")
def test_default_tolerances(tmp_path, dtype, near, far):
    number = numpy_helper.from_array(np.zeros(1, dtype)).data_type
    model = onnx.helper.make_model(onnx.helper.make_graph([onnx.helper.make_node("Identity", ["x"], ["y"])], "g",
                                                          [onnx.helper.make_tensor_value_info("x", number, [1])],
                                                          [onnx.helper.make_tensor_value_info("y", number, [1])]), ir_version=10,
                                   opset_imports=[onnx.helper.make_opsetid("", 21)])
    one = np.ones(1, dtype)
    done("test", write_case(tmp_path / "near", model, ([one], [np.array([near], dtype)])))
    failure(write_case(tmp_path / "far", model, ([one], [np.array([far], dtype)])))


def test_strings_must_be_equal(tmp_path):
    model = model_of("g (string[1] x) => (string[1] y) { y = Identity (x) }")
    done("test", write_case(tmp_path / "same", model, ([np.array(["a"], object)], [np.array(["a"], object)])))
    assert '"a"' in failure(write_case(tmp_path / "other", model, ([np.array(["a"], object)], [np.array(["b"], object)])))


def test_tolerance_json(tmp_path):
    off = Y + np.float32(0.1)
    for i, (tolerance, passes) in enumerate([({}, False), ({"atol": 0.2}, True), ({"atol": 0.05}, False), ({"atol": 0, "rtol": 0.2}, False),
                                             ({"atol_of_max": 0.03}, True), ({"atol_of_max": 0.01}, False), ({"shape_only": True}, True)]):
        case = write_case(tmp_path / str(i), RELU, ([X], [off]), tolerance=json.dumps(tolerance))
        assert cli("test", case).returncode == (0 if passes else 1), tolerance
    assert "tolerance.json" in failure(write_case(tmp_path / "bad", RELU, ([X], [Y]), tolerance="{rtol: 1}"))


def test_a_bernoulli_case(tmp_path):
    draws = model_of("g (float[100] p) => (float[100] y) { y = Bernoulli (p) }")
    ones = np.ones(100, np.float32)
    tolerance = json.dumps({"property": "bernoulli"})
    done("test", write_case(tmp_path / "fair", draws, ([ones / 2], [ones]), tolerance=tolerance))
    assert "expected both" in failure(write_case(tmp_path / "one", draws, ([ones], [ones]), tolerance=tolerance))


def test_files_feed_inputs_by_name_then_by_position(tmp_path):
    model = model_of("g (float[1] a, float[1] b, float[1] d = {100}) => (float[1] y) { s = Sub (a, b) y = Add (s, d) }")
    case = write_case(tmp_path / "case", model, ([], []))
    folder = case / "test_data_set_0"

    def feed(expected, **names):
        for file in folder.iterdir():
            file.unlink()
        for file, (name, value) in names.items():
            onnx.save_tensor(numpy_helper.from_array(np.array([value], np.float32), name), folder / f"{file}.pb")
        onnx.save_tensor(numpy_helper.from_array(np.array([expected], np.float32), "y"), folder / "output_0.pb")
        done("test", case)

    feed(105, input_0=("a", 7), input_1=("b", 2))
    feed(105, input_0=("b", 2), input_1=("a", 7))
    feed(105, input_0=("", 7), input_1=("", 2))
    feed(6, input_0=("a", 7), input_1=("b", 2), input_2=("d", 1))


def test_what_a_case_may_lack(tmp_path):
    assert "x" in failure(write_case(tmp_path / "input", RELU, ([], [Y])))
    assert "test_data_set" in failure(write_case(tmp_path / "sets", RELU))
    case = write_case(tmp_path / "output", RELU, ([X], [Y]))
    (case / "test_data_set_0/output_0.pb").write_bytes(b"\xff\xff\xff")
    assert "output_0.pb" in failure(case)


def test_cases_at_any_depth(tmp_path):
    write_case(tmp_path / "a/b/good", RELU, ([X], [Y]))
    write_case(tmp_path / "a/bad", RELU, ([X], [X]))
    write_case(tmp_path / "c", UNKNOWN, ([X[0, :2]], [X[0, :2]]))
    assert verdicts(tmp_path) == (1, {"good": "ok", "bad": "FAILED", "c": "FAILED"}, "1 passed, 2 failed, 0 skipped")
    assert verdicts(tmp_path / "a/b", tmp_path / "a/b/good")[2] == "2 passed, 0 failed, 0 skipped"
    refused(3, "test", tmp_path / "a/b", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "empty" in refused(3, "test", tmp_path / "empty")


def test_json(tmp_path):
    write_case(tmp_path / "bad", RELU, ([X], [X]))
    write_case(tmp_path / "good", RELU, ([X], [Y]))
    write_case(tmp_path / "late", RELU, ([X], [Y]))
    (tmp_path / "skip.txt").write_text("late for another day\n")
    result = cli("test", tmp_path, "--skip-list", tmp_path / "skip.txt", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)
    assert (found["passed"], found["failed"], found["skipped"]) == (1, 1, 1)
    assert [(c["case"].split("/")[-1], c["verdict"]) for c in found["cases"]] == [("bad", "FAILED"), ("good", "ok"), ("late", "SKIPPED")]
    bad, good, late = found["cases"]
    assert "element" in bad["reason"] and good["reason"] == "" and late["reason"] == "for another day"
    assert all(c["seconds"] >= 0 for c in found["cases"])
    assert done_json("test", tmp_path / "good")["passed"] == 1


# The skip list


def test_skip_list(tmp_path):
    write_case(tmp_path / "cases/one", UNKNOWN, ([X[0, :2]], [X[0, :2]]))
    write_case(tmp_path / "cases/two", RELU, ([X], [Y]))
    skips = tmp_path / "skip.txt"
    skips.write_text("# what is missing\n\none needs Sqroot\n")
    assert verdicts(tmp_path / "cases", "--skip-list", skips) == (0, {"one": "SKIPPED", "two": "ok"}, "1 passed, 0 failed, 1 skipped")
    assert "needs Sqroot" in cli("test", tmp_path / "cases", "--skip-list", skips).stdout
    skips.write_text("one needs Sqroot\ngone was once\n")
    assert "'gone'" in cli("test", tmp_path / "cases", "--skip-list", skips).stderr
    skips.write_text("one needs Sqroot\ntwo as well\n")
    assert verdicts(tmp_path / "cases", "--skip-list", skips)[::2] == (1, "0 passed, 0 failed, 2 skipped"), "nothing passed"
    for text in ("one\n", "two because\none   \n"):
        skips.write_text(text)
        line = refused(3, "test", tmp_path / "cases", "--skip-list", skips)
        assert f"{skips}:{text.count(chr(10))}" in line and "reason" in line
    assert "gone.txt" in refused(3, "test", tmp_path / "cases", "--skip-list", tmp_path / "gone.txt")


# Cases with expect.txt: to be refused, or to do no harm

HANGS = model_of("""g (float[2] x) => (float[2] y) {
    yes = Constant <value = bool {1}> ()
    y = Loop ("", yes, x) <body = b (int64 i, bool go, float[2] s) => (bool again, float[2] t) { again = Identity (go) t = Neg (s) }>
}""")
LARGE = model_of("g (float[1] x, int64[1] n) => (float[] y) { y = Expand (x, n) }")


@pytest.mark.parametrize("expect", [None, "error", "no-crash", "error-or-outputs"])
def test_a_refusal_passes_every_expectation(tmp_path, expect):
    files = {} if expect is None else {"case": json.dumps({"expect": expect})}
    done("test", write_case(tmp_path / "unsupported", UNKNOWN, expect="error", **files))
    case = write_case(tmp_path / "invalid", RELU, expect="error", **files)
    (case / "model.onnx").write_bytes(b"no model")
    done("test", case)


def test_a_case_that_runs_against_its_expectation(tmp_path):
    assert "ran, expected a refusal" in failure(write_case(tmp_path / "plain", RELU, ([X], [Y]), expect="error"))
    error = json.dumps({"expect": "error"})
    assert "ran, expected a refusal" in failure(write_case(tmp_path / "error", RELU, ([X], [Y]), expect="error", case=error))


@pytest.mark.parametrize("expect", ["no-crash", "error-or-outputs"])
def test_a_case_that_may_run(tmp_path, expect):
    case = json.dumps({"expect": expect})
    done("test", write_case(tmp_path / "right", RELU, ([X], [Y]), expect="x", case=case))
    assert "expected -6" in failure(write_case(tmp_path / "wrong", RELU, ([X], [X]), expect="x", case=case))


def test_a_case_that_takes_too_long(tmp_path):
    x = np.ones(2, np.float32)
    assert "10 s" in failure(write_case(tmp_path / "case", HANGS, ([x], [x]), expect="x", case=json.dumps({"expect": "no-crash"})))


def test_a_case_that_takes_too_much_memory(tmp_path):
    data = ([np.ones(1, np.float32), np.array([300_000_000])], [])
    reason = failure(write_case(tmp_path / "case", LARGE, data, expect="x", case=json.dumps({"expect": "no-crash"})))
    assert "bytes of memory, expected at most 1073741824" in reason


def test_a_time_limit_is_no_refusal(tmp_path):
    x = np.ones(2, np.float32)
    assert "deadline" in failure(write_case(tmp_path / "case", HANGS, ([x], [x])), "--time-limit", "0.1")


def test_options_hold_for_isolated_cases_too(tmp_path):
    case = write_case(tmp_path / "case", LARGE, ([np.ones(1, np.float32), np.array([1000])], []), expect="x", case=json.dumps({"expect": "no-crash"}))
    done("test", case, "--check")
    done("test", case, "--memory-limit", "1000000", "--time-limit", "100")
    assert "deadline" in failure(case, "--time-limit", "1e-9")
