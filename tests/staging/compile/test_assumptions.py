"""Compiled code may assume something about its data: if that is wrong, the call is repeated without it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import UnjittedWarning


@np2tf.jit(tier="compile")
def _counts(numbers):
    counts = tnp.bincount(numbers, minlength=4)
    return counts / counts.sum()


@np2tf.jit(tier="compile")
def _counts_of_rows(rows):
    def step(k, total):
        return total + tnp.bincount(rows[k], minlength=4)

    return np2tf.for_loop(range(5), step, tnp.zeros(4, tnp.int64))


def _shares(numbers: list[int]) -> np.ndarray:
    counts = np.bincount(numbers, minlength=4)
    return counts / counts.sum()


def test_more_bins_than_assumed() -> None:
    """The first code is one XLA program with four bins; the second code has as many bins as its data need."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        for numbers in ([0, 3, 1, 3], [1, 1, 1, 2], [0, 7, 1, 3], [2, 2, 0, 0]):
            np.testing.assert_array_equal(_counts(np.array(numbers)), _shares(numbers))
    assert _counts.compiled_count == 2
    assert _counts.graph_count == 2


def test_in_a_loop() -> None:
    rows = np.arange(20).reshape(5, 4) % 4
    np.testing.assert_array_equal(_counts_of_rows(rows), [5, 5, 5, 5])
    assert _counts_of_rows.compiled_count == 1
    rows[3, 3] = 4
    with pytest.raises(ValueError, match="broadcast"):
        _counts_of_rows(rows)
    rows[3, 3] = -1
    with pytest.raises(ValueError, match="negative"):
        _counts_of_rows(rows)
