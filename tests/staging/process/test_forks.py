"""Processes made by `fork` from a process that has compiled functions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import multiprocessing

import numpy as np

import np2tf
from np2tf import tnp

np2tf.config.tier = "compile"


@np2tf.jit
def f(x):
    for i in range(x.shape[0]):
        x = tnp.at(x)[i].add(tnp.sin(x[i]))
    return x


def in_child(n):
    return np2tf.config.jit, f(np.arange(n, dtype=float)).sum()


here = [f(np.arange(n, dtype=float)).sum() for n in (3, 5)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map(in_child, (3, 5))
assert np2tf.config.jit == "on"
assert f.trace_count == 2
assert [jit for jit, _ in there] == ["off", "off"]
np.testing.assert_allclose([total for _, total in there], here)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows makes no process by fork")
def test_functions_run_as_python_in_a_forked_process():
    """The parent has compiled the function; the child has none of the threads that would run it."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
