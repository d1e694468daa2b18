#!/usr/bin/env python3
"""Writes the ONNX backend test cases of the installed onnx package as folders that `infer-cli test` reads.

    python3 onnx_backend.py --dest DIR

DIR/node, DIR/simple: generated from the package's own case definitions; DIR/pytorch-*: copied from it. Each case gets a tolerance.json
with the atol its definition states, or that of ATOL, and the rtol where it states another than usual;
the cases of random operators say by which property they are checked.
"""
import argparse
import json
import random
import shutil
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.model import collect_testcases as model_testcases
from onnx.backend.test.case.node import collect_testcases as node_testcases

COPIED = ("simple", "pytorch-converted", "pytorch-operator")

# A sequence of draws is not part of the operator's definition, so only what the specification promises is compared.
PROPERTY = {"test_bernoulli": "bernoulli", "test_bernoulli_double": "bernoulli", "test_bernoulli_seed": "bernoulli",
            "test_bernoulli_expanded": "bernoulli", "test_bernoulli_double_expanded": "bernoulli",
            "test_bernoulli_seed_expanded": "bernoulli"}

# NumPy transforms float32 signals in float32, so where the exact result is 0 these cases expect what its rounding left.
ATOL = {"test_dft_inverse": 1e-6, "test_dft_inverse_opset19": 1e-6}

# What cases have whose definition states no other.
RTOL = 1e-3


def serialize(value, info):
    """Bytes of the proto that the graph input or output `info` calls for."""
    kind = info.type.WhichOneof("value")
    if isinstance(value, TensorProto):
        proto = value
    elif kind == "sequence_type":
        proto = numpy_helper.from_list(value, info.name)
    elif kind == "map_type":
        proto = numpy_helper.from_dict(value, info.name)
    elif kind == "optional_type":
        proto = numpy_helper.from_optional(value, info.name)
    else:
        proto = numpy_helper.from_array(np.asarray(value), info.name)
    return proto.SerializeToString()


def write_tolerance(folder, rtol, atol):
    tolerance = {"atol": atol}
    if rtol != RTOL:  # infer-cli's own is RTOL too, but two units of the last place for bfloat16, as ONNX's runner has it
        tolerance["rtol"] = rtol
    if folder.name in PROPERTY:
        tolerance["property"] = PROPERTY[folder.name]
    (folder / "tolerance.json").write_text(json.dumps(tolerance))


def write_case(case, dest):
    folder = dest / case.kind / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for k, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for side, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, value in enumerate(values):
                (data / f"{side}_{j}.pb").write_bytes(serialize(value, infos[j]))
    write_tolerance(folder, case.rtol, ATOL.get(case.name, case.atol))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dest", type=Path, required=True)
    args = parser.parse_args()
    done = args.dest / f".complete-{onnx.__version__}-3"  # 3: of this script's output
    if done.exists():
        print(f"{args.dest}: complete")
        return
    count = 0
    data = Path(onnx.__file__).parent / "backend/test/data"
    for kind in COPIED:
        for source in sorted((data / kind).iterdir()):
            folder = args.dest / kind / source.name
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(source, folder)
            write_tolerance(folder, 1e-3, 1e-7)
            count += 1
    random.seed(0)
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in list(node_testcases(None)) + list(model_testcases()):
            if case.kind != "real":
                if not (args.dest / case.kind / case.name).exists():
                    count += 1
                write_case(case, args.dest)
    done.touch()
    print(f"{args.dest}: {count} cases")


if __name__ == "__main__":
    main()
