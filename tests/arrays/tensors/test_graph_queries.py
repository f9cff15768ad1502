"""Questions about graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tensorflow as tf

from np2tf.arrays.tensors.graph_queries import begin_of, reads_elsewhere

#: name -> a slice of an array of shape (4, 6), and where it begins
SLICES: dict[str, tuple[Callable[[Any], Any], list[int] | None]] = {
    "a part": (lambda x: x[1:, 2:5], [1, 2]),
    "the end": (lambda x: x[-2:, -3:], [2, 3]),
    "rows": (lambda x: x[1:3], [1, 0]),
    "all": (lambda x: x[:, :], [0, 0]),
    "every second row": (lambda x: x[::2], None),
    "the reverse": (lambda x: x[::-1], None),
    "a row": (lambda x: x[1], None),
    "a new axis": (lambda x: x[None, 1:], None),
    "an ellipsis": (lambda x: x[..., 1:], None),
    "a place at run time": (lambda x: x[tf.cast(x[0, 0], tf.int32) :], None),
    "no slice": (lambda x: x + 1, None),
}


@pytest.mark.parametrize("name", SLICES)
def test_begin_of(name: str) -> None:
    make, expected = SLICES[name]
    with tf.Graph().as_default():
        assert begin_of(make(tf.compat.v1.placeholder(tf.float64, (4, 6))).op) == expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x: 2 * x[:3, :6], False),
        (lambda x: 2 * x[1:, :6], True),
        (lambda x: x[::-1][:3, :6] + x[:3, :6], True),
        (lambda x: tf.reduce_sum(x) * x[:3, :6], False),
    ],
)
def test_reads_elsewhere(make: Callable[[Any], Any], expected: bool) -> None:
    """The part that is written to begins at (0, 0)."""
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float64, (4, 6))
        assert reads_elsewhere(make(x), x, [0, 0]) is expected
