"""Importing np2tf changes nothing for code that does not use it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests" / "helpers" / "tensorflow_calls.py"
#: The part of np2tf that a process uses first -> the code that uses it.
IMPORTS = {
    "library": "from np2tf import tnp",
    "compiled": "import np2tf; np2tf.jit(lambda x: x + 1, tier='compile')(np2tf.device_put([1.0]))",
}


def run(*first: str) -> subprocess.Popen[str]:
    """Begin to run the calls in a process of their own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [warm_python(), str(PROGRAM), *first]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def outcomes(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the outcome of each call."""
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return dict(map(json.loads, printed.splitlines()))


@pytest.fixture(scope="module")
def untouched() -> dict[str, Any]:
    """Return the outcomes of the calls without np2tf."""
    return outcomes(run())


def test_the_calls_are_many_and_most_of_them_work(untouched: dict[str, Any]):
    failing = [call for call, outcome in untouched.items() if str(outcome[0]).endswith("Error")]
    assert len(untouched) - len(failing) >= 200, failing


@pytest.mark.parametrize("first", IMPORTS.values(), ids=IMPORTS)
def test_tensorflow_is_as_it_was(first: str, untouched: dict[str, Any]):
    assert outcomes(run(first)) == untouched


WATCH = """
import numpy as np
import tensorflow as tf
from np2tf import tnp

x = tnp.ones(3)
for kind in (TypeError, ValueError):
    try:
        tf.GradientTape().watch([x])
    except kind as error:
        assert "np2tf.device_put(x), or set np2tf.config.eager" in str(error)
"""


def test_a_tape_says_what_to_do_with_an_array_on_the_host():
    """TensorFlow raises a ValueError, and np2tf's error is a ValueError, too. Nothing on TensorFlow has been
    made before.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", WATCH], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


#: TensorFlow imports JAX if it is there; a module in its place draws what JAX draws.
STREAMS = """
import random, sys
import numpy as np

class OfNumPy:
    def find_spec(self, name, path=None, target=None):
        if name == "tensorflow.lite":
            np.random.random(3)

sys.meta_path.insert(0, OfNumPy())
random.seed(1), np.random.seed(1)
given = random.random(), np.random.random()
import np2tf
random.seed(1), np.random.seed(1)
f = np2tf.jit(lambda x: x + 1, tier="compile")
assert "tensorflow" not in sys.modules
f(np.ones(3))
assert "tensorflow" in sys.modules
assert (random.random(), np.random.random()) == given
"""


def test_np2tfs_import_of_tensorflow_draws_no_random_numbers():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", STREAMS], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
