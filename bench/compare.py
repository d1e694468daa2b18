#!/usr/bin/env python3
"""Times infer-cli and ONNX Runtime on the same model cases, interleaved, and prints their ratio.

    python3 bench/compare.py CASE_DIR... [--threads N] [--rounds N] [--seconds S] [--infer-cli PATH] [--json FILE]

CASE_DIR: a folder with model.onnx and test_data_set_0, or a folder of such folders. Before anything is timed, `infer-cli test` must pass the
case. Then, in each round, infer-cli and ONNX Runtime run one after the other for S seconds each; the smallest block median of each
counts. ratio = ONNX Runtime's time / infer-cli's: above 1, infer-cli is faster.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path

import onnx
import onnxruntime as ort
from onnx import numpy_helper


def find_cases(paths):
    for path in paths:
        folders = [path] if (path / "model.onnx").exists() else sorted(p.parent for p in path.glob("*/model.onnx"))
        if not folders:
            sys.exit(f"compare.py: {path} holds no case (a folder with model.onnx)")
        yield from folders


def read_tensor(path):
    return numpy_helper.to_array(onnx.load_tensor(str(path)))


def load_peer(case, threads):
    """ONNX Runtime's session and feeds for data set 0."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(case / "model.onnx"), options, providers=["CPUExecutionProvider"])
    files = sorted((case / "test_data_set_0").glob("input_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    feeds = {meta.name: read_tensor(path) for meta, path in zip(session.get_inputs(), files)}
    inputs = [f"{meta.name}={path}" for meta, path in zip(session.get_inputs(), files)]
    return session, feeds, inputs


def time_peer(session, feeds, seconds):
    """Median of one block, ms."""
    for _ in range(2):
        session.run(None, feeds)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        session.run(None, feeds)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def time_weft(cli, case, inputs, threads, seconds, extra):
    command = [cli, "bench", str(case / "model.onnx"), "--json", "--threads", str(threads), "--duration", str(seconds), "--warmup", "2", *extra]
    for assignment in inputs:
        command += ["--input", assignment]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["latency_ms"]["p50"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each block")
    parser.add_argument("--infer-cli", default="build/release/bin/infer-cli")
    parser.add_argument("--json", type=Path, help="also writes the figures here")
    parser.add_argument("--extra", nargs="*", default=[], help="more options for infer-cli bench")
    args = parser.parse_args()
    rows = []
    print(f"{'model':32} {'weft ms':>10} {'onnxruntime ms':>15} {'ratio':>7}   ({args.threads} thread(s), ONNX Runtime {ort.__version__})")
    for case in find_cases(args.cases):
        test = subprocess.run([args.infer_cli, "test", str(case), "--threads", str(args.threads)], capture_output=True, text=True)
        if test.returncode != 0:
            print(f"{case.name:32} not timed: {(test.stdout or test.stderr).strip().splitlines()[0][:200]}", flush=True)
            continue
        session, feeds, inputs = load_peer(case, args.threads)
        weft, peer = math.inf, math.inf
        for _ in range(args.rounds):
            weft = min(weft, time_weft(args.infer_cli, case, inputs, args.threads, args.seconds, args.extra))
            peer = min(peer, time_peer(session, feeds, args.seconds))
        rows.append({"model": case.name, "weft_ms": weft, "onnxruntime_ms": peer, "ratio": peer / weft})
        print(f"{case.name:32} {weft:10.3f} {peer:15.3f} {peer / weft:7.3f}", flush=True)
    if rows:
        mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
        print(f"{'geometric mean':32} {'':10} {'':15} {mean:7.3f}   over {len(rows)} models")
    if args.json:
        args.json.write_text(json.dumps({"threads": args.threads, "onnxruntime": ort.__version__, "rows": rows}, indent=2))
    sys.exit(0 if rows else 1)


if __name__ == "__main__":
    main()
