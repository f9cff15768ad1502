"""Indices out of bounds in compiled code: IndexError as in NumPy, unless the checks are switched off."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from np2tf import tnp


def gather(x, indices, n):
    def step(i, total):
        return total + x[indices[i]]

    return np2tf.for_loop(np2tf.range(n), step, 0.0) + x[indices].sum()


def scatter(x, indices, n):
    def step(i, x):
        return tnp.at(x)[indices[i]].set(i)

    return np2tf.for_loop(np2tf.range(n), step, x)


@pytest.fixture(autouse=True)
def compile_at_once():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


@pytest.mark.parametrize("function", [gather, scatter])
@pytest.mark.parametrize("bad", [20, -21])
def test_checked(function, bad):
    f = np2tf.jit(function)
    x, good = np.arange(20.0), np.arange(20)
    expected = function(x.copy(), good, 20)
    np.testing.assert_array_equal(np.asarray(f(x.copy(), good, 20)), np.asarray(expected))
    before = x.copy()
    with pytest.raises(IndexError, match="out of bounds"):
        f(x[:], np.where(good == 15, bad, good), 20)
    if function is gather:
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("function", [gather, scatter])
def test_unchecked_code_has_no_checks(function):
    f = np2tf.jit(function)
    x, good = np.arange(20.0), np.arange(20)
    checked = f.lower(x, good, 20)
    with np2tf.config.using(bounds="unchecked"):
        unchecked = f.lower(x, good, 20)
        np.testing.assert_array_equal(
            np.asarray(f(x.copy(), good, 20)), np.asarray(function(x.copy(), good, 20))
        )
        f(x.copy(), good + 5, 20)  # some other element, but no error and no crash
    assert unchecked.op_count < checked.op_count
    assert f.trace_count == 2
    with pytest.raises(IndexError):
        f(x.copy(), good + 5, 20)


def test_known_indices_are_always_checked():
    f = np2tf.jit(lambda x: x[5] * 2)
    with np2tf.config.using(bounds="unchecked"), pytest.raises(IndexError):
        f(np.zeros(3))
