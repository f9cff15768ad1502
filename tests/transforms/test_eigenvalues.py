"""Derivatives of eigenvalues and eigenvectors of matrices that need not be Hermitian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf

RNG = np.random.default_rng(11)
MATRICES = {
    "one number": np.array([[-1.5]]),
    "real eigenvalues": np.array([[2.0, 1.0, 0.5], [0.3, -1.0, 0.2], [0.1, 0.4, 0.7]]),
    "pairs of complex eigenvalues": np.array([[0.0, 2.0, 0.1], [-1.0, 0.3, 0.0], [0.2, 0.0, 3.0]]),
    "a stack": RNG.standard_normal((2, 3, 3)),
    "complex numbers": RNG.standard_normal((3, 3)) + 1j * RNG.standard_normal((3, 3)),
    "float32": np.array([[1.0, 2.0], [0.5, -1.0]], np.float32),
}


def eigenvalues(a):
    return np.linalg.eigvals(a)


def eigensystem(a):
    values, vectors = np.linalg.eig(a)
    return values, vectors


@pytest.mark.parametrize("function", [eigenvalues, eigensystem])
@pytest.mark.parametrize("name", MATRICES)
def test_derivatives(name: str, function: Callable[..., Any]) -> None:
    """Values, order, signs and dtypes are NumPy's; finite differences give the same derivatives."""
    a = MATRICES[name]
    results, _ = np2tf.vjp(function, a)
    wanted = function(a)
    for result, numpys in (
        zip(results, wanted, strict=True) if isinstance(wanted, tuple) else [(results, wanted)]
    ):
        assert result.dtype == numpys.dtype
        np.testing.assert_allclose(result, numpys, rtol=1e-6 if a.dtype == np.float32 else 1e-12)
    if a.dtype == np.float32:
        np2tf.check_grads(function, (a,), order=1, rtol=0.02, atol=0.02, eps=1e-2)
    else:
        np2tf.check_grads(function, (a,), order=2)


def test_a_gradient_of_the_spectral_radius() -> None:
    """The gradient of a simple eigenvalue is the outer product of its left and its right eigenvector."""

    def radius(a):
        return np.max(np.abs(np.linalg.eigvals(a)))

    a = MATRICES["real eigenvalues"]
    values, right = np.linalg.eig(a)
    largest = np.argmax(np.abs(values))
    left = np.linalg.inv(right)[largest]
    wanted = np.sign(values[largest]) * np.outer(left, right[:, largest])
    np.testing.assert_allclose(np2tf.grad(radius)(a), wanted, rtol=1e-12)
