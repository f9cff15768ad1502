"""Large results of XLA programs are handed over without a copy, and are the caller's alone."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.staging.xla import calls
from np2tf.staging.xla.calls import ZeroCopyResults


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(calls, "LEAST_BYTES", 1000)
    with np2tf.config.using(tier="compile"):
        yield


def is_handed_over(array: np.ndarray) -> bool:
    return not array.flags.owndata


@np2tf.jit
def several(a):  # type: ignore[no-untyped-def]
    return a + 1.0, a, tnp.zeros((20, 10)), tnp.full((20, 10), 2.5), a * 2.0, a[0]


def test_results_are_the_callers_own() -> None:
    a = np.arange(200.0).reshape(20, 10)
    kept = []
    for k in range(6):
        expected = (a + 1.0, a.copy(), np.zeros((20, 10)), np.full((20, 10), 2.5), a * 2.0, a[0].copy())
        found = several(a)
        assert found[1] is a
        for found_array, expected_array in zip(found, expected, strict=True):
            assert type(found_array) is np.ndarray
            assert found_array.flags.writeable
            assert found_array.flags.c_contiguous
            np.testing.assert_array_equal(found_array, expected_array)
        assert is_handed_over(found[0]) == is_handed_over(found[4]) == (k > 1)
        assert np.shares_memory(found[5], a)
        for found_array in (found[0], found[2], found[3], found[4]):
            assert not np.shares_memory(found_array, a)
            found_array[...] = -7.0
            kept.append(found_array)
    assert all((array == -7.0).all() for array in kept)
    assert not any(np.shares_memory(array, kept[0]) for array in kept[1:])


def test_the_memory_lives_as_long_as_a_view_of_it() -> None:
    a = np.ones((300, 10))
    for _ in range(3):
        held = several(a)[0][5:, 2]
    assert is_handed_over(held.base)
    gc.collect()
    more = [several(a)[0] for _ in range(20)]
    assert (held == 2.0).all()
    held += 1.0
    assert all((array == 2.0).all() for array in more)


def test_what_numpy_does_with_it() -> None:
    for _ in range(3):
        made = several(np.ones((20, 10)))[0]
    assert is_handed_over(made)
    made.setflags(write=False)
    made.setflags(write=True)
    assert made.copy().flags.owndata
    assert made[3:].base is made
    with pytest.raises(ValueError, match="does not own its data"):
        made.resize(5)


def test_arguments_that_are_results_are_written_to() -> None:
    @np2tf.jit
    def doubled(x):  # type: ignore[no-untyped-def]
        x = tnp.at(x)[...].multiply(2.0)
        return x, x + 0.0

    x = np.arange(400.0)
    for _ in range(4):
        expected = x * 2.0
        same_array, new_array = doubled(x)
        assert same_array is x
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(new_array, expected)
        assert not np.shares_memory(x, new_array)
        new_array[:] = 0.0
        assert doubled(new_array)[0] is new_array


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex128"])
def test_types(dtype: str) -> None:
    @np2tf.jit
    def reversed_(x):  # type: ignore[no-untyped-def]
        return x[::-1]

    x = (np.arange(4000) % 3).astype(dtype)
    for _ in range(3):
        made = reversed_(x) if dtype == "bool" else reversed_(x) + x
        np.testing.assert_array_equal(made, x[::-1] if dtype == "bool" else x[::-1] + x)
        assert made.dtype == dtype


def test_what_shares_memory_is_copied() -> None:
    """Results are copied that are a constant of the program, an input, or the tensor of another result."""
    constant, other_tensor = tf.zeros(500), tf.ones(500)
    of_constant = ZeroCopyResults()
    assert not any(is_handed_over(of_constant.array(0, [constant], [])) for _ in range(5))
    of_input = ZeroCopyResults()
    assert not any(
        is_handed_over(of_input.array(0, [tensor], [tensor]))
        for tensor in map(tf.identity, [other_tensor * 1.0] * 4)
    )
    twins = ZeroCopyResults()
    for _ in range(4):
        tensor = other_tensor + 1.0
        assert not is_handed_over(twins.array(0, [tensor, tensor], []))
    fresh = ZeroCopyResults()
    assert [is_handed_over(fresh.array(0, [other_tensor + k], [other_tensor])) for k in range(4)] == [
        False,
        False,
        True,
        True,
    ]
