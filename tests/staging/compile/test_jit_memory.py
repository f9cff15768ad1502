"""Memory that a compiled call borrows from its arguments: results are taken before it is written to."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import np2tf
from np2tf.staging.compile import concrete_function


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy that begins at a multiple of 64 bytes: TensorFlow then borrows its memory for a call."""
    kept = []
    while True:
        made = values.copy()
        if made.ctypes.data % 64 == 0:
            return made
        kept.append(made)  # so that its place is not given out again


@pytest.mark.parametrize("xla", [True, False])
def test_results_do_not_see_what_is_written_back(xla: bool) -> None:
    """A copy that a function returns is an input of its graph: it is taken before the input is written to."""

    @np2tf.jit
    def double(x: Any) -> Any:
        before = x.copy()
        lower = x[-2:]
        lower[...] //= 2
        return x, before

    values = np.array([[0.0, 3.0, 6.0, 2.0], [5.0, 1.0, 4.0, 0.0], [3.0, 6.0, 2.0, 5.0]])
    with (
        np2tf.config.using(jit="on", tier="compile"),
        patch.object(concrete_function, "xla_pays", lambda ops: xla),
    ):
        for _ in range(3):
            given = aligned(values)
            changed, before = double(given)
            np.testing.assert_array_equal(np.asarray(before), values)
            np.testing.assert_array_equal(np.asarray(changed), given)
            np.testing.assert_array_equal(given[-2:], values[-2:] // 2)


@pytest.mark.parametrize("xla", [True, False])
def test_arrays_are_exchanged(xla: bool) -> None:
    """New contents of an argument may be the memory of the other argument, which is written to as well."""

    @np2tf.jit
    def exchange(x: Any, y: Any) -> None:
        kept = x.copy()
        x[...] = y
        y[...] = kept

    with (
        np2tf.config.using(jit="on", tier="compile"),
        patch.object(concrete_function, "xla_pays", lambda ops: xla),
    ):
        for _ in range(3):
            x, y = aligned(np.arange(8.0)), aligned(np.ones(8))
            exchange(x, y)
            np.testing.assert_array_equal(x, np.ones(8))
            np.testing.assert_array_equal(y, np.arange(8.0))
