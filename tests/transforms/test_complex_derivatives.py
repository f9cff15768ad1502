"""Derivatives of functions of complex numbers, on the axes too, eagerly, in graphs and under XLA.

NumPy's differences are the judge. The gradient of the real part is the conjugate of the derivative, as in
TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from np2tf import tnp

ANYWHERE = np.array([0.4 + 0.3j, -0.6 + 0.7j, 2 + 1j, -2 - 1j])
INSIDE = np.array([0.5, -0.5, 0.5j, -0.5j])
ZERO, RIGHT, LEFT = np.array([0j]), np.array([2 + 0j, 0.3 + 0j]), np.array([-1.5 + 0j])
#: Factors of the products are zero at some of them.
WITH_ZEROS = np.concatenate([ANYWHERE, ZERO, np.array([-1 + 0j])])


def factors(xp: Any, z: Any) -> Any:
    return xp.stack([z, z + 1, 3 * z, xp.exp(z)])


#: Functions, and points at which all of them are holomorphic.
NAMES: list[tuple[str, tuple[np.ndarray, ...]]] = [
    ("exp exp2 expm1 sin cos sinh cosh tanh square", (ANYWHERE, INSIDE, ZERO, RIGHT, LEFT)),
    ("tan", (ANYWHERE, INSIDE, ZERO, RIGHT)),
    ("arcsin arccos arctanh", (ANYWHERE, INSIDE, ZERO)),
    ("arctan arcsinh log1p", (ANYWHERE, INSIDE, ZERO, RIGHT)),
    ("sqrt log log2 log10 reciprocal", (ANYWHERE, 1j * INSIDE[:2], RIGHT)),
    ("arccosh", (ANYWHERE, 1j * INSIDE[:2], RIGHT[:1])),
]
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], np.ndarray]] = {
    **{
        name: (lambda xp, z, name=name: getattr(xp, name)(z), np.concatenate(points))
        for names, points in NAMES
        for name in names.split()
    },
    **{
        f"z ** {exponent}": (lambda xp, z, exponent=exponent: z**exponent, np.concatenate([ANYWHERE, RIGHT]))
        for exponent in (2, 3, -1, 0.5, 2.5, 2 + 1j)
    },
    **{
        f"{base} ** z": (
            lambda xp, z, base=base: xp.power(base, z),
            np.concatenate([ANYWHERE, INSIDE, RIGHT]),
        )
        for base in (2, 2.5, 2 + 1j)
    },
    "z ** z": (lambda xp, z: z**z, np.concatenate([ANYWHERE, RIGHT])),
    "prod": (lambda xp, z: xp.prod(factors(xp, z), axis=0), WITH_ZEROS),
    "cumprod": (lambda xp, z: xp.sum(xp.cumprod(factors(xp, z), axis=0), axis=0), WITH_ZEROS),
    "an exponent for all": (lambda xp, z: (z[:, None] ** xp.exp(z)).sum(1), ANYWHERE[:1]),
}


def differences(function: Callable[[Any], Any], z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and second derivative by differences of fourth order."""

    def at(h: float) -> list[np.ndarray]:
        return [function(z + k * h) for k in (-2, -1, 0, 1, 2)]

    a, b, _, d, e = at(1e-4)
    first = (a - 8 * b + 8 * d - e) / 1.2e-3
    a, b, c, d, e = at(2e-3)
    return first, (-a + 16 * b - 30 * c + 16 * d - e) / (12 * 4e-6)


#: Functions whose derivatives have a formula like that of another function; XLA compiles them with `-m long`.
SIMILAR = {"exp2", "expm1", "cos", "cosh", "square", "reciprocal", "log2", "log10", "z ** 3", "z ** -1"}
SIMILAR |= {
    "sin",
    "sinh",
    "arcsin",
    "arctanh",
    "log1p",
    "2.5 ** z",
    "2 ** z",
    "z ** 2",
    "z ** 0.5",
    "z ** (2+1j)",
    "(2+1j) ** z",
    "an exponent for all",
}
ROWS = [
    pytest.param(
        *(name, mode),
        marks=pytest.mark.long if mode == "graph" or (mode == "xla" and name in SIMILAR) else (),
    )
    for name in FUNCTIONS
    for mode in ("eager", "graph", "xla")
]


@pytest.mark.parametrize(("name", "mode"), ROWS)
def test_derivatives(name: str, mode: str) -> None:
    """The first by both parts of the result, the second by the real part."""
    function, points = FUNCTIONS[name]
    first, second = differences(lambda z: function(np, z), points)

    def gradients(z: tf.Tensor) -> tuple[tf.Tensor, ...]:
        with tf.GradientTape() as outer:
            outer.watch(z)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(z)
                value = tf.convert_to_tensor(function(tnp, tnp.asarray(z)))
                real, imag = tf.math.real(value), tf.math.imag(value)
            of_real = tape.gradient(real, z)
            real_of_derivative = tf.math.real(of_real)
        return of_real, tape.gradient(imag, z), outer.gradient(real_of_derivative, z)

    if mode != "eager":
        gradients = tf.function(gradients, jit_compile=mode == "xla", autograph=False)
    of_real, of_imag, of_derivative = gradients(tf.constant(points))
    np.testing.assert_allclose(of_real, np.conj(first), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(of_imag, 1j * np.conj(first), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(of_derivative, np.conj(second), rtol=1e-5, atol=1e-6)
