"""The `python` of tests whose commands need TensorFlow is like the interpreter's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.warm_python import warm_python

ASK = """
import sys, os, signal
print(__name__, sys.argv[1:], sys.path[0], {"numpy", "tensorflow"} & {*sys.modules})
print(input(), sys.stdin.read(), os.environ["WORD"])
import beside, numpy
print(beside.word, numpy.ones(2), "tensorflow" in sys.modules)
import tensorflow as tf
print(tf.constant(1.5) + 1, "numpy.random" in sys.modules, tf.__spec__.name)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["-c", ASK, "a", "-b"],
        ["program.py", "--c"],
        ["-m", "program", "x"],
        ["-c", "import sys; sys.exit(4)"],
        ["-c", "import sys; sys.exit('text')"],
        ["-c", "import atexit; atexit.register(print, 'last'); 1 / 0"],
        ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"],
        ["-W", "error", "-c", "import warnings; warnings.warn('w')"],
        ["absent.py"],
    ],
    ids=str,
)
def test_it_does_what_python_does(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("word = 'beside'\n")
    (tmp_path / "program.py").write_text(ASK)
    environment = {**os.environ, "WORD": "word", "TF_CPP_MIN_LOG_LEVEL": "3"}
    given = {"cwd": tmp_path, "env": environment, "input": "line\nrest", "capture_output": True, "text": True}
    plain, warm = (subprocess.run([python, *command], **given) for python in (sys.executable, warm_python()))
    assert warm.returncode == plain.returncode
    assert warm.stdout == plain.stdout
    # (Lines of TensorFlow's log have times.)
    last = [one.stderr.splitlines()[-1] for one in (plain, warm) if one.stderr and "cuda" not in one.stderr]
    assert len({*last}) <= 1, last


def test_random_numbers_differ_between_forks() -> None:
    command = [warm_python(), "-c", "import numpy, random; print(numpy.random.random(), random.random())"]
    first, second = (subprocess.run(command, capture_output=True, text=True).stdout.split() for _ in range(2))
    assert not {*first} & {*second}
