"""`nditer`: what is written through it reaches arrays on the host and arrays of tensors alike."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array


def elements(m: ModuleType) -> Any:
    a = m.arange(6.0).reshape(2, 3)
    for x in m.nditer(a, op_flags=["readwrite"]):
        x[...] = 2 * x
    return a


def one_list_of_flags(m: ModuleType) -> Any:
    a = m.zeros((2, 3))
    iterator = m.nditer(a, ["multi_index"], [["writeonly", "allocate"]])
    for x in iterator:
        x[...] = iterator.multi_index[0] - iterator.multi_index[1]
    return a


def into_another(m: ModuleType) -> Any:
    a, b = m.arange(6.0).reshape(2, 3), m.zeros((3, 2))
    with m.nditer([a, b.T], op_flags=[["readonly"], ["readwrite"]]) as iterator:
        for x, y in iterator:
            y[...] = x + y
    return a, b


def buffered(m: ModuleType) -> Any:
    a = m.arange(6)
    with m.nditer(a, ["buffered"], ["readwrite"], op_dtypes=["f8"], casting="unsafe") as iterator:
        for x in iterator:
            x[...] = x / 2
    return a


def whole(m: ModuleType) -> Any:
    a = m.arange(6.0)
    for x in m.nditer(a, ["external_loop"], ["readwrite"]):
        x[...] = x[::-1].copy()
    return a


def by_hand(m: ModuleType) -> Any:
    a = m.arange(4.0)
    iterator = m.nditer(a, [], ["readwrite"])
    seen = []
    while not iterator.finished:
        iterator[0] = iterator[0] * 3
        seen.append(float(a[iterator.iterindex]))
        iterator.iternext()
    return a, seen


def seen_at_once(m: ModuleType) -> Any:
    a = m.array([1.0, np.nan, 3.0, 4.0])
    for k, x in enumerate(m.nditer(a, op_flags=["readwrite"])):
        a[(k + 1) % 4] = 10 * k
        x[...] = x + 1
    return a


def left_early(m: ModuleType) -> Any:
    a = m.zeros(3)
    with m.nditer(a, op_flags=["readwrite"]) as iterator:
        for x in iterator:
            x[...] = 5
            break
    return a


def only_read(m: ModuleType) -> Any:
    a = m.arange(3.0)
    with pytest.raises(ValueError, match="read-only"):
        next(m.nditer(a))[...] = 1
    return [float(x) for x in m.nditer(a)]


def allocated(m: ModuleType) -> Any:
    iterator = m.nditer([m.arange(3.0), None])
    for x, y in iterator:
        y[...] = x**2
    return iterator.operands[1]


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
@pytest.mark.parametrize(
    "program",
    [
        *(elements, one_list_of_flags, into_another, buffered, whole, by_hand, seen_at_once, left_early),
        *(only_read, allocated),
    ],
)
def test_as_in_numpy(program: Any, eager: str) -> None:
    wanted = program(np)
    with np2tf.config.using(eager=eager):
        found = program(tnp)
    np.testing.assert_equal(_plain(found), _plain(wanted))


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, tuple) else np.asarray(value)


def test_it_is_an_nditer() -> None:
    with np2tf.config.using(eager="tensorflow"):
        assert isinstance(tnp.nditer(tnp.zeros(2), op_flags=["readwrite"]), np.nditer)


@pytest.mark.parametrize("key", [[-1, -2, -3], [0, 5, 1], [7], np.array([1, 0, -9, 1])], ids=str)
@pytest.mark.parametrize("value", [-2, [5, 6, 7, 8]], ids=str)
def test_flat_is_written_up_to_the_first_index_out_of_bounds(key: Any, value: Any) -> None:
    """As NumPy does before it raises."""
    original = np.array([1, 2])
    array = tensor_array(tf.constant(original))
    for target in (original, array):
        with pytest.raises(IndexError):
            target.flat[key] = value
    assert array.tolist() == original.tolist()
