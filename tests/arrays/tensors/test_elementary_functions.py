"""Elementary functions as polynomials: close to the exact values, NumPy's special cases, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.tensors import elementary_functions
from tests.helpers.differential import load, translation

RNG = np.random.default_rng(11)
SIZE = 20_000
#: Where functions are hard to compute: near their zeros, over all magnitudes, at the joints of polynomials.
ANGLES = np.concatenate(
    [
        RNG.uniform(-4, 4, SIZE),
        RNG.uniform(-1.5e6, 1.5e6, SIZE),
        np.arange(SIZE) * (np.pi / 2),
        np.arange(SIZE) * (np.pi / 4),
        RNG.standard_normal(SIZE) * 1e-9,
    ]
)
POSITIVE = np.concatenate(
    [RNG.uniform(0, 3, SIZE), np.exp(RNG.uniform(-700, 700, SIZE)), 1 + RNG.standard_normal(SIZE) * 1e-5]
)
OVER_MINUS_ONE = np.concatenate([POSITIVE, -RNG.uniform(0, 1, SIZE), RNG.standard_normal(SIZE) * 1e-9])
SIGNED = np.concatenate([POSITIVE, -POSITIVE, RNG.uniform(-3, 3, SIZE)])
SINES = np.concatenate(
    [RNG.uniform(-1, 1, SIZE), RNG.uniform(-1e-3, 1e-3, SIZE), 1 - 10 ** RNG.uniform(-15, 0, SIZE)]
)
HARD = {
    **dict.fromkeys(("sin", "cos", "tan"), ANGLES),
    "log": POSITIVE,
    "log1p": OVER_MINUS_ONE,
    "arctan": SIGNED,
    **dict.fromkeys(("arcsin", "arccos"), SINES),
}
SPECIAL = np.array(
    [
        0.0,
        -0.0,
        np.inf,
        -np.inf,
        np.nan,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1e308,
        -1e308,
        1e22,
        1e-300,
        -1e-300,
        1.5e6,
        2e6,
        3.0,
    ]
)
EXACT = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant <= 52, reason="long double is double: nothing more exact to compare with"
)
EXPONENTS = (-12, -6, -2.5, -2, -1.5, -0.5, 1.5, 2.5, 4, 6, 7.5, 12)


def compiled(function: Callable[..., Any], *args: Any) -> np.ndarray:
    """Compile a function with XLA and call it; return its result."""
    jitted = np2tf.jit(function, tier="compile")
    result = np.asarray(jitted(*args))
    assert jitted.compiled_count == 1
    return result


def units(result: np.ndarray, exact: np.ndarray) -> float:
    """The largest error, in units in the last place."""
    return float(np.max(np.abs(result - exact) / np.spacing(np.abs(exact.astype(result.dtype)))))


@pytest.fixture(autouse=True)
def polynomials(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the arrays for which functions have been asked for as polynomials, and got."""
    asked: list[int] = []
    original = elementary_functions.is_vectorised

    def spy(x: tf.Tensor) -> bool:
        found = original(x)
        asked.extend([x.shape.num_elements()] if found else [])
        return found

    monkeypatch.setattr(elementary_functions, "is_vectorised", spy)
    return asked


@EXACT
@pytest.mark.parametrize("name", HARD)
def test_close_to_exact(name: str, polynomials: list[int]) -> None:
    x = HARD[name]
    result = compiled(getattr(tnp, name), x)
    assert polynomials == [x.size]
    assert units(result, getattr(np, name)(x.astype(np.longdouble))) < 3


@EXACT
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e8])
def test_arctan2_close_to_exact(scale: float, polynomials: list[int]) -> None:
    y, x = RNG.uniform(-scale, scale, SIZE), RNG.uniform(-1, 1, SIZE)
    result = compiled(tnp.arctan2, y, x)
    assert polynomials == [SIZE]
    assert units(result, np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))) < 3


@EXACT
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_power_close_to_exact(exponent: float, polynomials: list[int]) -> None:
    x = RNG.uniform(0, 3, SIZE)
    result = compiled(lambda x: x**exponent, x)
    assert polynomials == [SIZE]
    assert units(result, x.astype(np.longdouble) ** np.longdouble(exponent)) < abs(exponent) + 2


def check(result: np.ndarray, expected: np.ndarray, rtol: float = 1e-14) -> None:
    """Values, NaN and the signs of zeros."""
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=0)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", HARD)
def test_special_values(name: str, dtype: type) -> None:
    with np.errstate(all="ignore"):
        x = SPECIAL.astype(dtype)
        check(compiled(getattr(tnp, name), x), getattr(np, name)(x), 1e-14 if dtype is np.float64 else 1e-6)
        if name in ("sin", "cos", "tan"):
            x = x[(np.abs(x) < 1e6) & np.isfinite(x)].repeat(2)  # none that is left to TensorFlow
            check(
                compiled(getattr(tnp, name), x), getattr(np, name)(x), 1e-14 if dtype is np.float64 else 1e-6
            )


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_special_powers(exponent: float) -> None:
    with np.errstate(all="ignore"):
        check(compiled(lambda x: x**exponent, SPECIAL), SPECIAL**exponent)


def test_special_arctan2() -> None:
    y, x = (part.ravel() for part in np.meshgrid(SPECIAL, SPECIAL))
    normal = np.abs(np.arctan2(y, x)) > np.finfo(np.float64).tiny
    keep = normal | (y == 0) | np.isnan(y) | np.isnan(x)
    check(compiled(tnp.arctan2, y[keep], x[keep]), np.arctan2(y[keep], x[keep]))


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("shape", [(0,), (1,), (15,), (16,), (5, 7), (0, 3)])
def test_shapes(name: str, shape: tuple[int, ...]) -> None:
    x = RNG.uniform(0.1, 0.9, shape)
    check(compiled(getattr(tnp, name), x), getattr(np, name)(x))


LOOP = """
import numpy as np

def kernel(x, n):
    total = np.zeros(x.shape)
    for _ in range(n):
        total = total + np.sin(x) * np.log(np.abs(x)) + np.abs(x) ** 1.5 * np.arctan2(x, total)
        x = -3.0 * x
    return total
"""


def test_in_a_loop_with_angles_that_grow(polynomials: list[int]) -> None:
    """Angles too large for the polynomials come in the latest iterations only."""
    x = RNG.uniform(0, 1, 100)
    namespace: dict[str, Any] = {}
    exec(LOOP, namespace)
    jitted = load(translation(LOOP))["kernel"]
    with np2tf.config.using(tier="compile"):
        result = np.asarray(jitted(x, 20))
    assert jitted.compiled_count == 1
    np.testing.assert_allclose(result, namespace["kernel"](x, 20), rtol=1e-11)
    assert polynomials


@pytest.mark.parametrize("name", [*HARD, "power"])
def test_gradients(name: str) -> None:
    """A tape over a function that has been compiled before has NumPy's derivative."""
    x = RNG.uniform(0.1, 0.9, 40)

    def elementwise(x: Any) -> Any:
        return x**2.5 if name == "power" else getattr(tnp, name)(x)

    jitted = np2tf.jit(lambda x: tnp.sum(elementwise(x)), tier="compile")
    jitted(x)
    values = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(values)
        result = jitted(values)
    step = 1e-6
    expected = (np.asarray(elementwise(x + step)) - np.asarray(elementwise(x - step))) / (2 * step)
    np.testing.assert_allclose(tape.gradient(result, values), expected, rtol=1e-7)
