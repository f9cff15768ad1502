"""Functions that are not jitted run as their source has them, for as long as no array can be a tensor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[3]
MODULE = """
import functools

import numpy as np
from numpy import sin


class Counter:
    total = np.zeros(1)

    def method(self, x):
        return sin(np.max(x))

    @staticmethod
    def static(x):
        return np.add(x, 1)

    @classmethod
    def of_class(cls, x):
        return np.add(cls.total, x)

    @property
    def attribute(self):
        return np.ones(3)

    @functools.lru_cache
    def cached(self, n):
        return np.arange(n)

    @functools.cached_property
    def kept(self):
        return np.ones(2)

    def generator(self, n):
        yield np.ones(n)

    def making(self, x):
        return lambda: np.sum(x)

    class Inner:
        def deep(self):
            return np.ones(1)


Counter.itself = Counter
"""
#: Prints which of the functions are originals: before, and after what is put in.
PROGRAM = """
import json
import sys

sys.path.insert(0, sys.argv[1])
import np2tf

BEFORE
module = np2tf.import_module("module", sys.argv[1] + "/module.py")
of = module.Counter
functions = {
    "method": of.method,
    "static": of.static,
    "of_class": of.of_class.__func__,
    "attribute": of.attribute.fget,
    "cached": of.cached.__wrapped__,
    "kept": of.kept.func,
    "generator": of.generator,
    "making": of.making,
    "deep": of.Inner.deep,
}


def originals():
    return sorted(name for name, f in functions.items() if "np2tf: np" in f.__code__.co_names)


shown = [originals()]
assert of().method([0.0, 0.0]) == 0.0 and of.of_class(2) == 2 and of().cached(2)[1] == 1
assert "tensorflow" not in sys.modules or BEFORE_IT
AFTER
shown.append(originals())
print(json.dumps(shown))
"""
ALL = ["attribute", "cached", "deep", "kept", "method", "of_class", "static"]


def run(folder: Path, before: str, after: str, module: str = MODULE, python: str = "") -> list[list[str]]:
    """The names of the functions that run their originals, before and after something happens."""
    (folder / "module.py").write_text(module)
    program = textwrap.dedent(PROGRAM)
    for word, text in (("BEFORE_IT", str(bool(before))), ("BEFORE", before), ("AFTER", after)):
        program = program.replace(word, text)
    done = subprocess.run(
        [python or warm_python(), "-c", program, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("after", "remaining"),
    [
        ("", ALL),
        ("import tensorflow", []),
        ("np2tf.config.eager = 'tensorflow'", []),
        ("np2tf.config.floats = 'float32'", []),
        ("np2tf.device_put([1.0])", []),
    ],
)
def test_originals_run_until_there_may_be_tensors(tmp_path: Path, after: str, remaining: list[str]):
    assert run(tmp_path, "", after) == [ALL, remaining]


COMPILES = """
import importlib
import os
import numpy


def traced(x):
    # Once, while it is traced; no variable of the program's changes.
    os.environ["WITHIN"] = os.environ.get("WITHIN", "") + json.dumps(originals())
    return x + 1


with np2tf.config.using(tier="compile"):
    np2tf.jit(traced)(numpy.ones(2))
assert "tensorflow" in sys.modules
assert os.environ["WITHIN"] == "[]", os.environ["WITHIN"]
shown.append(originals())
"""


@pytest.mark.parametrize(
    ("after", "remaining"),
    [
        ("", ALL),
        pytest.param("import numpy, np2tf.tnp.linalg", ALL, marks=pytest.mark.long),
        ("import tensorflow", []),
        pytest.param("from tensorflow import keras", [], marks=pytest.mark.long),
        pytest.param("importlib.import_module('tensorflow')", [], marks=pytest.mark.long),
        ("np2tf.device_put([1.0])", []),
    ],
)
def test_originals_run_again_after_np2tfs_own_import_of_tensorflow(
    tmp_path: Path, after: str, remaining: list[str]
):
    assert run(tmp_path, "", COMPILES + after, python=sys.executable) == [ALL, ALL, remaining]


@pytest.mark.parametrize("before", ["import tensorflow", "np2tf.config.eager = 'tensorflow'"])
def test_none_where_there_may_be_tensors_already(tmp_path: Path, before: str):
    assert run(tmp_path, before, "") == [[], []]


def test_none_of_a_source_that_speaks_of_tensors(tmp_path: Path):
    """One of its functions may bring TensorFlow in, and take a gradient in the same call."""
    assert run(tmp_path, "", "", f"{MODULE}\n# with tensorflow\n") == [[], []]
