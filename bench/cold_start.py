#!/usr/bin/env python3
"""From a file to the first result, and the memory that takes: infer-cli and ONNX Runtime, each time in a fresh process, in turns.

    python3 bench/cold_start.py CASE_DIR... [--threads N] [--rounds N] [--infer-cli PATH] [--json FILE]

CASE_DIR: a folder with model.onnx and test_data_set_0, or a folder of such folders. Cold start is loading, compiling and the first run of a
process that has its libraries loaded; the smallest of the rounds counts. Peak memory is the resident set at its largest; of ONNX
Runtime's process, which is Python, what it was before the model is taken off, so that both figures are the model's own. ratio = ONNX
Runtime's / infer-cli's: above 1, infer-cli needs less.
"""
import argparse
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

from compare import find_cases, load_peer

PEER = """
import resource, sys, time
import onnx
import onnxruntime as ort
from onnx import numpy_helper
case, threads = sys.argv[1], int(sys.argv[2])
options = ort.SessionOptions()
options.intra_op_num_threads = threads
options.inter_op_num_threads = 1
options.log_severity_level = 3
feeds = {}
for assignment in sys.argv[3:]:
    name, path = assignment.split("=", 1)
    feeds[name] = numpy_helper.to_array(onnx.load_tensor(path))
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
start = time.perf_counter()
session = ort.InferenceSession(case, options, providers=["CPUExecutionProvider"])
session.run(None, feeds)
print((time.perf_counter() - start) * 1e3, peak() - before)
"""


def weft(cli, case, inputs, threads):
    command = [cli, "bench", str(case / "model.onnx"), "--json", "--threads", str(threads), "--warmup", "0", "--iters", "3", "--quiet"]
    for assignment in inputs:
        command += ["--input", assignment]
    figures = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return figures["load_ms"] + figures["compile_ms"] + figures["first_run_ms"], figures["memory"]["peak_rss_bytes"]


def peer(case, inputs, threads):
    command = [sys.executable, "-c", PEER, str(case / "model.onnx"), str(threads), *inputs]
    milliseconds, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(milliseconds), int(float(peak))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--infer-cli", default="build/release/bin/infer-cli")
    parser.add_argument("--json", type=Path, help="also writes the figures here")
    args = parser.parse_args()
    rows = []
    print("| model | Weft ms | ONNX Runtime ms | ratio | Weft MB | ONNX Runtime MB | ratio |\n|---|---:|---:|---:|---:|---:|---:|")
    for case in find_cases(args.cases):
        _, _, inputs = load_peer(case, args.threads)
        try:
            rounds = [(weft(args.infer_cli, case, inputs, args.threads), peer(case, inputs, args.threads)) for _ in range(args.rounds)]
        except subprocess.CalledProcessError as error:
            print(f"| {case.name} | {error.stderr.strip().splitlines()[-1][:100]} | | | | | |", flush=True)
            continue
        (ms, peak), (peer_ms, peer_peak) = (tuple(map(min, zip(*side))) for side in zip(*rounds))
        rows.append({"model": case.name, "weft_ms": ms, "onnxruntime_ms": peer_ms, "weft_bytes": peak, "onnxruntime_bytes": peer_peak})
        print(f"| {case.name} | {ms:.1f} | {peer_ms:.1f} | {peer_ms / ms:.2f} | {peak / 1e6:.0f} | {peer_peak / 1e6:.0f} | {peer_peak / peak:.2f} |", flush=True)
    if rows:
        mean = lambda a, b: math.exp(statistics.fmean(math.log(max(row[a], 1) / row[b]) for row in rows))
        print(f"| geometric mean of {len(rows)} | | | {mean('onnxruntime_ms', 'weft_ms'):.2f} | | | {mean('onnxruntime_bytes', 'weft_bytes'):.2f} |")
    if args.json:
        args.json.write_text(json.dumps({"threads": args.threads, "rows": rows}, indent=2))
    sys.exit(0 if rows else 1)


if __name__ == "__main__":
    main()
