"""Facts about staged integers: intervals that hold for every value, and distances that are exact."""

from __future__ import annotations

import operator

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from np2tf.arrays.tensors.symbolic_integers import SymInt, combine, distance, lower_bound, upper_bound

OPERATIONS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "minimum": min,
    "maximum": max,
}
small = st.integers(-9, 9)


def interval(bounds: tuple[int, int]) -> SymInt:
    return SymInt.fresh(tf.constant(0, tf.int64), *sorted(bounds))


@given(st.sampled_from(sorted(OPERATIONS)), st.tuples(small, small), st.tuples(small, small))
def test_intervals_hold(name: str, left: tuple[int, int], right: tuple[int, int]):
    """Every value that the operation can give lies within the bounds; and no bound is claimed of less."""
    a, b = interval(left), interval(right)
    known = combine(name, a, b, tf.constant(0, tf.int64))
    values = [
        OPERATIONS[name](m, n)
        for m in range(a.low, a.high + 1)
        for n in range(b.low, b.high + 1)
        if n or name not in ("floor_divide", "remainder")
    ]
    for value in values:
        assert known.low is None or known.low <= value
        assert known.high is None or known.high >= value


@given(st.sampled_from(sorted(OPERATIONS)), st.tuples(small, small), small)
def test_intervals_hold_with_a_known_number(name: str, left: tuple[int, int], right: int):
    a = interval(left)
    if not right and name in ("floor_divide", "remainder"):
        return
    for m, n, known in (
        (a, right, combine(name, a, right, tf.constant(0, tf.int64))),
        (right, a, combine(name, right, a, tf.constant(0, tf.int64))),
    ):
        for value_of_m in range(lower_bound(m), upper_bound(m) + 1):
            for value_of_n in range(lower_bound(n), upper_bound(n) + 1):
                if value_of_n or name not in ("floor_divide", "remainder"):
                    value = OPERATIONS[name](value_of_m, value_of_n)
                    assert known.low is None or known.low <= value
                    assert known.high is None or known.high >= value


@given(small, small, small)
def test_distances(first: int, second: int, value: int):
    i = SymInt.fresh(tf.constant(value, tf.int64))
    start = combine("add", i, first, i.tensor + first)
    stop = combine("subtract", start, second, start.tensor - second)
    assert distance(start, stop) == -second
    assert distance(i, stop) == first - second
    assert distance(stop, 5) is None


def test_distance_of_strangers_is_unknown():
    first, second = (SymInt.fresh(tf.constant(3, tf.int64)) for _ in range(2))
    assert distance(first, second) is None
    assert distance(combine("multiply", first, 2, first.tensor * 2), first) is None


def test_distance_from_the_left():
    """2 - i is not i shifted."""
    i = SymInt.fresh(tf.constant(3, tf.int64), 0, 9)
    mirrored = combine("subtract", 2, i, 2 - i.tensor)
    assert distance(i, mirrored) is None
    assert (mirrored.low, mirrored.high) == (-7, 2)


def test_in_range():
    i = SymInt.fresh(tf.constant(0, tf.int64), 1, 9)
    assert i.in_range(10)
    assert not i.in_range(9)
    assert not i.plus(-2).in_range(10)
    assert not SymInt.fresh(i.tensor).in_range(10)


def test_products_of_what_a_loop_carries_may_overflow():
    carried = SymInt.fresh(tf.constant(1, tf.int64))
    assert combine("multiply", carried, 7, carried.tensor).may_overflow
    assert combine("multiply", carried, carried, carried.tensor).may_overflow
    bounded = SymInt.fresh(tf.constant(1, tf.int64), 0, 1000)
    assert not combine("multiply", bounded, 1000, bounded.tensor).may_overflow


@pytest.mark.parametrize("shift", [-3, 0, 5])
def test_shifted_tensor(shift: int):
    i = SymInt.fresh(tf.constant(4, tf.int64), 0, 8)
    moved = i.plus(shift)
    assert moved.tensor.numpy() == 4 + shift
    assert np.array_equal((moved.low, moved.high), (shift, 8 + shift))
