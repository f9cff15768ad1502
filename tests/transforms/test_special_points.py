"""First and second derivatives at points where formulas have cases: equal operands, zero factors, zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf

WEIGHTS = np.array([1.0, 2.0, 3.0])

#: Smooth functions of a number, which computes with 0 as a special case at 0.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "logaddexp": lambda x: np.logaddexp(x, 0.0),
    "logaddexp2": lambda x: np.logaddexp2(0.5, x + 0.5),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(np.stack([x, 0 * x, -x])),
    "softplus": lambda x: np2tf.nn.softplus(x),
    "sigmoid": lambda x: np2tf.nn.sigmoid(x),
    "sinc": np.sinc,
    "i0": np.i0,
    "hypot": lambda x: np.hypot(x + 1, 1.0),
    "hypot beside an axis": lambda x: np.hypot(x, 1.0),
    "sinh": np.sinh,
    "cosh": np.cosh,
    "remainder": lambda x: (x + 1.5) % (x * x + 0.4),
    "remainder of divmod": lambda x: np.divmod(2.0, x + 0.7)[1] * np.divmod(x - 2.2, 1.5)[1],
    "an exponent of 0": lambda x: x**0 * 3 + x,
    "exponents": lambda x: np.sum((x * np.ones((2, 1))) ** np.arange(4.0)),
    "exponents from an argument": lambda x: np.sum(np.power(x * np.ones(3), np.zeros(3)) * WEIGHTS),
    "float_power": lambda x: np.sum(np.float_power(x, np.array([0.0, 1.0, 2.0]))),
    "prod": lambda x: np.prod(np.stack([x, x + 2, 3.0 * x, x - 1])),
    "prod of a column": lambda x: np.sum(np.prod(np.stack([[x, x + 2], [x, x - 1]]), axis=0)),
    "nanprod": lambda x: np.nanprod(np.stack([x, x + 2])),
    "cumprod": lambda x: np.sum(np.cumprod(np.stack([x + 2, x, x - 3])) * WEIGHTS),
    "cumprod of a column": lambda x: np.sum(np.cumprod(np.stack([[x, x + 2], [x, x - 1]]), axis=0)),
    "nancumprod": lambda x: np.sum(np.nancumprod(np.stack([x + 2, x, x - 3])) * WEIGHTS),
    "multiply.accumulate": lambda x: np.sum(np.multiply.accumulate(np.stack([x, x, x - 3])) * WEIGHTS),
    "det of a singular matrix": lambda x: np.linalg.det(
        np.stack([np.stack([x, x + 1]), np.stack([x, x + 2])])
    ),
    "det of zero": lambda x: np.linalg.det(np.stack([np.stack([x, -x]), np.stack([3 * x, x])])),
    "an unused sqrt": lambda x: np.sum(
        np.where(np.stack([x, x + 4]) > 1, np.sqrt(np.stack([x, x + 4])), 3.0)
    ),
    "vander": lambda x: np.sum(np.vander(np.stack([x, x + 1]), 4)),
}


def differences(function: Callable[[Any], Any], h: float = 2e-3) -> tuple[float, float]:
    """The first and second derivative at 0 by differences of fourth order."""
    a, b, c, d, e = (float(function(np.float64(k * h))) for k in (-2, -1, 0, 1, 2))
    return (a - 8 * b + 8 * d - e) / (12 * h), (-a + 16 * b - 30 * c + 16 * d - e) / (12 * h * h)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    """Eagerly and compiled, by transforms in two orders."""
    function = FUNCTIONS[name]
    first, second = differences(function)
    gradient, hessian = np2tf.grad(function), np2tf.hessian(function)
    for one in (gradient, np2tf.jit(gradient, tier="compile")):
        np.testing.assert_allclose(one(0.0), first, rtol=1e-6, atol=1e-8)
    for one in (hessian, np2tf.grad(gradient), np2tf.jit(hessian, tier="compile")):
        np.testing.assert_allclose(one(0.0), second, rtol=1e-5, atol=1e-7)


#: Functions with a kink or a jump at 0, and the derivative there.
KINKS: dict[str, tuple[Callable[[Any], Any], float]] = {
    # Of two equal numbers the first is the result, as in TensorFlow.
    "maximum": (lambda x: np.maximum(x, 0.0), 1.0),
    "maximum, of the second": (lambda x: np.maximum(0.0, x), 0.0),
    "minimum": (lambda x: np.minimum(x, 0.0), 1.0),
    "fmax": (lambda x: np.fmax(2 * x, x), 2.0),
    "fmin": (lambda x: np.fmin(2 * x, x), 2.0),
    "clip below": (lambda x: np.clip(x, 0.0, 1.0), 1.0),
    "clip above": (lambda x: np.clip(x + 1, 0.0, 1.0), 1.0),
    # The derivative from the right.
    "remainder": (lambda x: (x + 6.0) % 2.0, 1.0),
    "remainder by a number": (lambda x: 6.0 % (x + 2.0), -3.0),
    "interp": (lambda x: np.interp(x, np.array([-1.0, 0.0, 2.0]), np.array([3.0, 1.0, 5.0])), 2.0),
    "interp at the end": (
        lambda x: np.interp(x, np.array([-2.0, -1.0, 0.0]), np.array([3.0, 1.0, 5.0])),
        4.0,
    ),
    "abs": (np.abs, 0.0),
    "hypot": (lambda x: np.hypot(x, 2 * x), 0.0),
    "sign": (np.sign, 0.0),
    "cbrt": (np.cbrt, np.inf),
    "sqrt": (np.sqrt, np.inf),
}


@pytest.mark.parametrize("name", KINKS)
def test_kinks(name: str) -> None:
    """Compiled code has the derivative that eager code has."""
    function, wanted = KINKS[name]
    gradient = np2tf.grad(function)
    for one in (gradient, np2tf.jit(gradient, tier="compile")):
        assert float(one(0.0)) == wanted


def test_determinants_of_large_singular_matrices() -> None:
    """The derivative is the matrix of cofactors; a second derivative is NaN."""
    matrix = np.diag([0.0, *[1.0] * 9])
    matrix[0, 5] = 3.0
    gradient = np2tf.grad(np.linalg.det)
    wanted = np.zeros((10, 10))
    wanted[0, 0], wanted[5, 0] = 1.0, -3.0
    for one in (gradient, np2tf.jit(gradient, tier="compile")):
        np.testing.assert_allclose(one(matrix), wanted, atol=1e-12)
    second = np2tf.grad(lambda x: gradient(x).sum())
    assert np.isnan(second(matrix)).all()
    assert np.isfinite(second(matrix + np.eye(10))).all()


def test_products_of_unknown_lengths() -> None:
    """The derivative of a running product and of a product, in a graph that serves all lengths."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64)])
    def gradients(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            total = tf.convert_to_tensor(np2tf.tnp.sum(np2tf.tnp.cumprod(x)))
            product = tf.convert_to_tensor(np2tf.tnp.prod(x))
        return tape.gradient(total, x), tape.gradient(product, x)

    def derivatives(function: Callable[[Any], Any], x: np.ndarray) -> list[float]:
        units = np.eye(len(x))
        return [differences(lambda t, unit=unit: function(x + t * unit))[0] for unit in units]

    for x in (np.array([2.0, 0.0, 3.0, 0.5, 0.0]), np.array([0.0, 4.0]), np.array([5.0])):
        running, total = gradients(x)
        np.testing.assert_allclose(running, derivatives(lambda x: np.sum(np.cumprod(x)), x), atol=1e-8)
        np.testing.assert_allclose(total, derivatives(np.prod, x), atol=1e-8)


def test_empty_products() -> None:
    """A product of no factors has no derivatives, and says so by an empty gradient."""
    empty = np.zeros(0)
    assert np2tf.grad(lambda x: np.prod(x))(empty).shape == (0,)
    assert np2tf.grad(lambda x: np.sum(np.cumprod(x)))(empty).shape == (0,)
