"""Writes of a number through a mask that stands behind other axes: `x[:, mask] = 0` is one XLA program."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4, 4))
LETTERS = RNG.random(3) > 0.5
SQUARE = RNG.random((4, 4)) > 0.5


def one_axis(x, letters, square):
    x = x * 2
    x[:, letters] = -1
    return x


def two_axes(x, letters, square):
    x = x * 2
    x[:, :, square] = -np.inf
    return x


def ellipsis_before(x, letters, square):
    x = x * 2
    x[..., square] = x[0, 0, 0, 0]
    return x


def of_a_view(x, letters, square):
    x = x * 2
    x[1][:, square] = 0
    return x


def into_the_argument(x, letters, square):
    x[:, :, square] = 0.1


def made_in_place(x, letters, square):
    x = x * 2
    x[:, :, np.triu(np.ones((4, 4), bool), 1)] = -np.inf
    return x


WRITES = [one_axis, two_axes, ellipsis_before, of_a_view, into_the_argument, made_in_place]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
@pytest.mark.parametrize("function", WRITES)
def test_writes(function, dtype) -> None:
    jitted = np2tf.jit(np2tf.translate(function), tier="compile")
    ours, theirs = X.astype(dtype), X.astype(dtype)
    result, expected = jitted(ours, LETTERS, SQUARE), function(theirs, LETTERS, SQUARE)
    np.testing.assert_array_equal(ours, theirs)
    if expected is not None:
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)
    assert "runs on: xla" in str(jitted.explain(ours, LETTERS, SQUARE))


@pytest.mark.parametrize("function", [one_axis, of_a_view])
def test_gradients(function) -> None:
    gradient = np2tf.jit(np2tf.grad(lambda x: np.sum(function(x, LETTERS, SQUARE) ** 2)), tier="compile")
    result = function(X, LETTERS, SQUARE)
    changes = function(np.full_like(X, 7.0), LETTERS, SQUARE) != 14
    np.testing.assert_allclose(gradient(X), np.where(changes, 0, 4 * result), rtol=1e-14)
    assert "runs on: xla" in str(gradient.explain(X))


def test_a_mask_of_the_wrong_length() -> None:
    """NumPy's error, which names the axis."""
    jitted = np2tf.jit(np2tf.translate(one_axis), tier="compile")
    with pytest.raises(IndexError, match="axis 1; size of axis is 3"):
        jitted(X, np.ones(4, bool), SQUARE)
