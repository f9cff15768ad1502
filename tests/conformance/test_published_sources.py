"""Convert the sources of published packages and of the standard library: nothing breaks or is executed.

Takes minutes for each package (`-m long`): wheels are downloaded into a temporary folder, and unpacked. The
standard library's own sources, of which a few are taken, are looked at in every run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "helpers" / "published_sources.py"
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "pandas",
    "networkx",
    "sympy",
    "matplotlib",
    "statsmodels",
)
#: So many files of the standard library are taken in every run.
FEW = 25


def converted(folder: Path, *arguments: str) -> dict[str, Any]:
    """Return the program's report on the sources below a folder."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAM), str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def is_fine(told: dict[str, Any]) -> None:
    """Nothing is wrong, and something was done."""
    assert told["problems"] == []
    assert told["seen"] == []
    assert told["counts"]["files"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("target", ["np2tf", "tf"])
@pytest.mark.parametrize("package", PACKAGES)
def test_packages(package: str, target: str, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*pip, "--dest", str(tmp_path / "wheels"), package], check=True)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.endswith(".py")]
        opened.extractall(tmp_path / "sources", names)
    told = converted(tmp_path / "sources", "--target", target)
    print(package, wheel.name, json.dumps(told["counts"]), f"{told['seconds']:.0f} s")
    is_fine(told)
    assert told["counts"]["changed"] > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_standard_library(tmp_path: Path) -> None:
    told = converted(_standard_library(tmp_path))
    print(json.dumps(told["counts"]), f"{told['seconds']:.0f} s")
    is_fine(told)


@pytest.mark.slow
def test_a_few_of_the_standard_library(tmp_path: Path) -> None:
    is_fine(converted(_standard_library(tmp_path), "--number", str(FEW)))


def _standard_library(place: Path) -> Path:
    """A copy of the sources, because the interpreter itself imports modules from the standard library."""

    def not_wanted(folder: str, names: list[str]) -> list[str]:
        return [
            name
            for name in names
            if name == "site-packages" or not (name.endswith(".py") or os.path.isdir(f"{folder}/{name}"))
        ]

    return shutil.copytree(sysconfig.get_path("stdlib"), place / "library", ignore=not_wanted)


def test_the_test_sees_what_it_should(tmp_path: Path) -> None:
    """The watcher is not blind: what is executed and written is seen."""
    (tmp_path / "a.py").write_text("import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from published_sources import Watch\n"
        "watch = Watch(sys.argv[2]); source = open(sys.argv[2] + '/a.py').read()\n"
        "exec(compile('x = 1', sys.argv[2] + '/a.py', 'exec')); open(sys.argv[2] + '/b.py', 'w').close()\n"
        "print(len(watch.seen))"
    )
    command = [sys.executable, "-c", program, str(PROGRAM.parent), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.split() == ["2"]
    is_fine(converted(tmp_path, "--number", "1"))
