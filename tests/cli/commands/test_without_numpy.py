"""The commands where only the translator is installed: help always works, and the remedy is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.main import COMMANDS

#: Runs each of the commands where there is neither NumPy nor TensorFlow; prints statuses and texts.
_PROGRAM = """
import contextlib, io, json, sys

from importlib.machinery import PathFinder

find = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    is_missing = name.partition(".")[0] in ("numpy", "tensorflow")
    return None if is_missing else find(name, path, target)

PathFinder.find_spec = find_spec
from np2tf.cli.main import main
done = []
for command in json.loads(sys.argv[1]):
    text = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        try:
            main(command)
            status = 0
        except SystemExit as end:
            status = end.code
    text.seek(0)
    done.append((status, text.read()))
print(json.dumps(done))
"""


def _run(commands: list[list[str]], folder: Path) -> list[tuple[int, str]]:
    words = [sys.executable, "-c", _PROGRAM, json.dumps(commands)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    return [(status, text) for status, text in json.loads(done.stdout.splitlines()[-1])]


def test_help_always_works(tmp_path: Path) -> None:
    """The help of every command has its options."""
    for status, text in _run([[name, "--help"] for name in COMMANDS], tmp_path):
        assert status == 0, text
        assert "--help" in text


@pytest.mark.parametrize(
    "command",
    [
        ["run", "x.py"],
        ["run", "-m", "x"],
        ["verify", "x.py"],
        ["report", "."],
        ["export", "x.py:f", "--out", "y", "--input", "z: f64"],
    ],
    ids=" ".join,
)
def test_what_needs_numpy_says_so(command: list[str], tmp_path: Path) -> None:
    """The message has a code and a remedy, and the status is that of wrong usage."""
    (tmp_path / "x.py").write_text("import numpy as np\n\ndef f(z):\n    return np.sin(z)\n")
    ((status, text),) = _run([command], tmp_path)
    assert status == 2
    assert "NP2TF925" in text
    assert "pip install tensorflow numpy" in text


def test_the_translator_works(tmp_path: Path) -> None:
    """Converting and checking need nothing else."""
    (tmp_path / "x.py").write_text("import numpy as np\n\nprint(np.sin(1.0))\n")
    (status, text), (checked, _) = _run([["convert", "--diff", "x.py"], ["check", "x.py"]], tmp_path)
    assert (status, checked) == (1, 0)
    assert "+print(tnp.sin(1.0))" in text
