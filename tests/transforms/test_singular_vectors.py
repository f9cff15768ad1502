"""First and second derivatives of singular vectors and pseudoinverses of complex matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import LeftTensorFlowError

RNG = np.random.default_rng(2)
WEIGHTS = RNG.standard_normal((5, 5))


def vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    k = len(s)
    return np.sum(np.abs(u) * WEIGHTS[: len(u), :k]) + np.sum(np.abs(vh) * WEIGHTS[:k, : vh.shape[1]]) + s[0]


def low_rank(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(np.abs((u[:, :2] * s[:2]) @ vh[:2]))


def pseudoinverse(a):
    return np.sum(np.abs(np.linalg.pinv(a)))


@pytest.mark.parametrize("function", [vectors, low_rank, pseudoinverse])
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
def test_derivatives(function: Callable[[Any], Any], shape: tuple[int, int]) -> None:
    a = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    value, _ = np2tf.value_and_grad(function)(a)
    np.testing.assert_allclose(value, function(a), rtol=1e-12)
    np2tf.check_grads(function, (a,), order=2)


def test_compiled_derivatives() -> None:
    a = RNG.standard_normal((3, 4)) + 1j * RNG.standard_normal((3, 4))
    gradient = np2tf.grad(low_rank)
    np.testing.assert_allclose(np2tf.jit(gradient, tier="compile")(a), gradient(a), rtol=1e-9)


def test_singular_matrices_are_refused() -> None:
    """The vectors of a singular value 0 have no derivative."""
    with pytest.raises(LeftTensorFlowError):
        np2tf.grad(vectors)(np.ones((3, 3)) * (1 + 1j))
