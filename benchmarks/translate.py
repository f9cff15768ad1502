"""How fast the translator is: beside libcst, with two workers, from the cache; and `np2tf --help`.

    python benchmarks/translate.py [FOLDER] [--files N] [--json]

FOLDER is the installed package networkx by default. Ratios are of processor seconds in one process; ratios of
workers and commands are of the clock.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import libcst as cst

from np2tf.translator.batch.one_file import translate_bytes
from np2tf.translator.sources.options import Options

#: So often is measured what takes a moment.
TIMES = 5
_START = "from np2tf.cli.main import main; main()"


def timed(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds that something takes."""
    gc.collect()
    begun = clock()
    work()
    return clock() - begun


def beside_libcst(files: Sequence[Path]) -> dict[str, float]:
    """The translator on one core, and libcst's parse-and-print of the same files."""
    sources = [(path, path.read_bytes()) for path in files]

    def parse_and_print() -> None:
        for _, data in sources:
            text = data.decode()
            assert cst.parse_module(text).code == text

    def translate() -> None:
        for path, data in sources:
            translate_bytes(data, path, path.parent, Options(), True)

    for path, data in sources[:3]:  # what is loaded at the first use
        translate_bytes(data, path, path.parent, Options(), True)
    libcst, ours = timed(parse_and_print), timed(translate)
    return {"libcst_seconds": libcst, "translator_seconds": ours, "ratio": ours / libcst}


def command(words: Sequence[str], **variables: str) -> float:
    """Seconds of a command of np2tf's."""
    environment = os.environ | variables
    line = [sys.executable, "-c", _START, *words]
    return timed(
        lambda: subprocess.run(line, env=environment, capture_output=True, check=False), time.perf_counter
    )


def workers(folder: Path) -> dict[str, float]:
    """`convert` with one process and with two processes."""
    words = ["convert", "--check", "--quiet", "--no-cache", str(folder)]
    one, two = (command([*words, "--jobs", jobs]) for jobs in "12")
    return {"one_seconds": one, "two_seconds": two, "speedup": one / two}


def cached(files: Sequence[Path]) -> dict[str, float]:
    """`convert` of files that stay as they are: the first time, and from the cache."""
    with tempfile.TemporaryDirectory() as place:
        words = ["convert", "--check", "--quiet", "--jobs", "1", *map(str, files)]
        first = command(words, NP2TF_CACHE_DIR=place, NP2TF_CACHE="on")
        again = min(command(words, NP2TF_CACHE_DIR=place, NP2TF_CACHE="on") for _ in range(TIMES))
    return {"first_seconds": first, "cached_seconds": again, "speedup": first / again}


def help_beside_tensorflow() -> dict[str, float]:
    """`np2tf --help`, and importing TensorFlow."""
    line = [sys.executable, "-c", "import tensorflow"]
    imported = min(
        timed(lambda: subprocess.run(line, capture_output=True, check=True), time.perf_counter)
        for _ in range(2)
    )
    told = min(command(["--help"]) for _ in range(TIMES))
    return {"help_seconds": told, "tensorflow_seconds": imported, "ratio": told / imported}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--files", type=int, help="so many, spread over all of them")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    folder = chosen.folder
    if folder is None:
        found = importlib.util.find_spec("networkx")
        assert found is not None, "name a folder: networkx is not installed"
        assert found.origin is not None
        folder = Path(found.origin).parent
    files = sorted(folder.rglob("*.py"))
    files = files[:: max(1, len(files) // chosen.files)] if chosen.files else files
    staying = [
        path
        for path in files
        if not translate_bytes(path.read_bytes(), path, folder, Options(), False).changed
    ]
    told: dict[str, Any] = {
        "folder": str(folder),
        "files": len(files),
        "lines": sum(path.read_bytes().count(b"\n") for path in files),
        "beside libcst's parse-and-print": beside_libcst(files),
        "workers": workers(folder),
        "cache": {"files": len(staying), **cached(staying)},
        "--help": help_beside_tensorflow(),
    }
    if chosen.json:
        print(json.dumps(told, indent=2))
        return
    for name, value in told.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key.replace('_', ' ')} {one:.2f}" for key, one in value.items())
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
