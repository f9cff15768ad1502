"""Gradients and products with Jacobians: arguments, structures, dtypes, kinds of results, and errors."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.core.errors import (
    InputDtypeError,
    LeftTensorFlowError,
    NoDerivativeError,
    OutputKindError,
    TransformArgumentError,
    TransformError,
)

X = np.array([1.0, 2.0, 3.0])
FLOAT0 = np.dtype([("float0", "V")])


def cubes(x):
    return np.sum(x**3)


@np2tf.jit
def jitted(x):
    total = 0.0
    for k in range(len(x)):
        if x[k] > 1.5:
            total = total + x[k] ** 3
    return total


@np2tf.translate
def translated(x):
    out = np.zeros(3)
    out[:] = x
    return np.sum(out**3)


def in_tnp(x):
    return tnp.sum(tnp.asarray(x) ** 3)


class Net:
    """A callable object, and a method."""

    def __init__(self, power):
        self.power = power

    def __call__(self, x):
        return np.sum(x**self.power)

    def loss(self, x):
        return np.sum(x**self.power)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (cubes, 3 * X**2),
        (jitted, np.array([0.0, 12.0, 27.0])),
        (translated, 3 * X**2),
        (in_tnp, 3 * X**2),
        (lambda x: np.sum(x**3), 3 * X**2),
        (functools.partial(lambda p, x: np.sum(x**p), 3), 3 * X**2),
        (Net(3), 3 * X**2),
        (Net(3).loss, 3 * X**2),
    ],
)
def test_every_kind_of_function(function: Callable[..., Any], wanted: np.ndarray) -> None:
    """Plain, jitted and translated functions, functions of tnp, lambdas, partials, objects and methods."""
    found = np2tf.grad(function)(X)
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, wanted)


class Pair(NamedTuple):
    """A named tuple."""

    w: Any
    b: Any


@dataclasses.dataclass
class Layer:
    """A dataclass."""

    w: Any
    b: Any


def affine(p):
    w, b = (p.w, p.b) if hasattr(p, "w") else (p["w"], p["b"])
    return np.sum(w * X) * 2 + b**2


@pytest.mark.parametrize(
    "make", [lambda w, b: {"w": w, "b": b}, Pair, Layer], ids=["dict", "named tuple", "dataclass"]
)
def test_structures(make: Callable[..., Any]) -> None:
    """A gradient has the structure of its argument."""
    found = np2tf.grad(affine)(make(np.ones(3), 3.0))
    assert type(found) is type(make(0, 0))
    w, b = (found["w"], found["b"]) if isinstance(found, dict) else (found.w, found.b)
    np.testing.assert_allclose(w, 2 * X)
    assert b == 6.0
    assert type(b) is np.float64


def test_lists_of_lists_and_none() -> None:
    """None has no leaves; lists stay lists and tuples tuples."""
    found = np2tf.grad(lambda p: np.sum(p[0][1] * 2) + p[0][0] ** 2)([(2.0, X), None])
    assert found[0][0] == 4.0
    assert found[1] is None
    assert type(found) is list
    assert type(found[0]) is tuple


def test_argnums_and_names() -> None:
    """`argnums` is one position, several positions, or negative positions; arguments by name are not
    differentiated.
    """

    def f(a, b, *, scale=1.0):
        return np.sum(a * b**2) * scale

    b = X + 1
    np.testing.assert_allclose(np2tf.grad(f, 1)(X, b, scale=2.0), 4 * X * b)
    first, last = np2tf.grad(f, (0, -1))(X, b)
    np.testing.assert_allclose(first, b**2)
    np.testing.assert_allclose(last, 2 * X * b)


def test_auxiliary_results() -> None:
    """The second result is returned as it is, in arrays of NumPy's."""

    def f(x):
        return np.sum(x**2), {"twice": x * 2, "name": "f"}

    (value, aux), gradient = np2tf.value_and_grad(f, has_aux=True)(X)
    assert value == 14.0
    assert aux["name"] == "f"
    np.testing.assert_allclose(aux["twice"], 2 * X)
    assert type(aux["twice"]) is np.ndarray
    assert np2tf.grad(f, has_aux=True)(X)[1]["name"] == "f"
    np.testing.assert_allclose(gradient, 2 * X)
    _, _, aux = np2tf.vjp(f, X, has_aux=True)
    np.testing.assert_allclose(aux["twice"], 2 * X)
    jacobian, aux = np2tf.jacfwd(f, has_aux=True)(X)
    np.testing.assert_allclose(jacobian, 2 * X)
    np.testing.assert_allclose(np2tf.hessian(f, has_aux=True)(X)[0], 2 * np.eye(3))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtypes_stay(dtype: Any) -> None:
    """A gradient has the dtype of its argument."""
    value, gradient = np2tf.value_and_grad(cubes)(X.astype(dtype))
    assert gradient.dtype == dtype
    assert value.dtype == dtype


def test_python_floats_are_weak() -> None:
    """A Python float does not widen float32, as in NumPy."""
    seen = []

    def f(x):
        y = np.ones(2, np.float32) * x
        seen.append(y.dtype)
        return np.sum(y)

    assert np2tf.grad(f)(2.0) == 2.0
    assert seen == [np.float32]


def test_results_have_the_kind_of_the_arguments() -> None:
    """Tensors give tensors, arrays on TensorFlow give these, and NumPy's give NumPy's."""
    assert isinstance(np2tf.grad(cubes)(tf.constant(X)), tf.Tensor)
    assert type(np2tf.grad(cubes)(np2tf.device_put(X))) is type(np2tf.device_put(X))
    assert type(np2tf.grad(cubes)(X)) is np.ndarray
    assert type(np2tf.grad(np.sin)(0.5)) is np.float64


def test_arguments_are_not_written_to() -> None:
    """A function that writes to its argument writes to a copy."""

    def f(x):
        x *= 2
        x[0] = 5.0
        return np.sum(x**2)

    x = X.copy()
    np.testing.assert_allclose(np2tf.grad(f)(x), [0.0, 16.0, 24.0])
    np.testing.assert_array_equal(x, X)


def test_no_confusion_of_levels() -> None:
    """An inner derivative is with respect to the inner argument alone."""
    assert np2tf.grad(lambda x: x * np2tf.grad(lambda y: x * y)(x))(3.0) == 6.0
    assert np2tf.grad(lambda x: np2tf.grad(lambda y: x * y**2)(2.0))(3.0) == 4.0
    assert np2tf.jvp(lambda x: np2tf.jvp(lambda y: x * y, (x,), (1.0,))[1], (3.0,), (1.0,))[1] == 1.0


@pytest.mark.parametrize("order", range(1, 6))
def test_high_orders(order: int) -> None:
    """Derivatives of derivatives, in every mixture."""
    wanted = [np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x)][order % 4](0.7)
    function: Callable[..., Any] = np.sin
    for k in range(order):
        function = (np2tf.grad, np2tf.jacfwd, np2tf.jacrev)[k % 3](function)
    np.testing.assert_allclose(function(0.7), wanted)


def test_products_are_used_again() -> None:
    """The functions that vjp and linearize return may be called often, also in other transforms."""
    value, pull = np2tf.vjp(lambda x: x**2, X)
    np.testing.assert_allclose(pull(np.ones(3))[0], 2 * X)
    np.testing.assert_allclose(pull(X)[0], 2 * X**2)
    np.testing.assert_allclose(np2tf.grad(lambda c: np.sum(pull(c)[0] ** 2))(X), 8 * X**3)
    value, push = np2tf.linearize(lambda x: x**2, X)
    np.testing.assert_allclose(push(X), 2 * X**2)
    np.testing.assert_allclose(np2tf.jacrev(push)(X), np.diag(2 * X))
    np.testing.assert_allclose(value, X**2)


def test_integers_have_float0() -> None:
    """With allow_int, and in vjp, the derivative by integers has no values."""
    found = np2tf.grad(lambda x, k: np.sum(x**k), (0, 1), allow_int=True)(X, 2)
    assert found[1].dtype == FLOAT0
    _, pull = np2tf.vjp(lambda x, k: x[k], X, np.array([2, 0]))
    gradient, no_gradient = pull(np.ones(2))
    np.testing.assert_allclose(gradient, [1.0, 0.0, 1.0])
    assert no_gradient.dtype == FLOAT0
    assert no_gradient.shape == (2,)


def test_stopped_gradients() -> None:
    """A stopped value counts as a constant, also in structures, and keeps its value."""
    np.testing.assert_allclose(np2tf.grad(lambda x: np.sum(x * np2tf.stop_gradient(x)))(X), X)
    kept = np2tf.stop_gradient({"a": X, "n": 3})
    assert kept["a"] is X
    assert kept["n"] == 3


def test_under_a_tape_of_tensorflow() -> None:
    """A tape of the program's own differentiates a transform."""
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        inner = np2tf.grad(cubes)(x)
    np.testing.assert_allclose(tape.gradient(tf.convert_to_tensor(inner), x), 6 * X)


# -- compiled ------------------------------------------------------------------------------------------------


def long_loop(x):
    y = x
    for _ in range(30):
        y = y + 0.1 * np.sin(y)
    return np.sum(y)


def until_large(x):
    n = 0
    while np.sum(x**2) < 100:
        x = x * 1.5
        n = n + 1
    return np.sum(x) * n


def with_branch(x):
    if x[0] > 0:
        y = np.sort(x * x[1])
    else:
        y = np.cumsum(x)
    return y[0] * y[2]


def with_writes(x):
    y = np.zeros(5)
    for i in range(3):
        y[i] += x[i] ** 2
    y[1:4] *= x
    return np.sum(y**2)


@pytest.mark.parametrize("function", [long_loop, until_large, with_branch, with_writes])
def test_compiled_gradients(function: Callable[..., Any]) -> None:
    """A jitted gradient is compiled, and equal to the gradient that runs operation by operation."""
    compiled = np2tf.jit(np2tf.grad(function), tier="compile")
    for start in (X, -X):
        np.testing.assert_allclose(compiled(start), np2tf.grad(function)(start), rtol=1e-10)
    assert "compiled" in str(compiled.explain(X))


def test_gradients_in_jitted_functions() -> None:
    """A step of gradient descent, as one compiled function; Newton's method by second derivatives."""

    @np2tf.jit(tier="compile")
    def step(x):
        return x - 0.1 * np2tf.grad(long_loop)(x)

    np.testing.assert_allclose(step(X), X - 0.1 * np2tf.grad(long_loop)(X))

    @np2tf.jit(tier="compile")
    def newton(x):
        return x - np.linalg.solve(np2tf.hessian(cubes)(x), np2tf.grad(cubes)(x))

    np.testing.assert_allclose(newton(X), X / 2)


# -- errors --------------------------------------------------------------------------------------------------


def leaves(x):
    return np.roots(x).real.sum()  # the line of the error


def gets_lost(x):
    return math.fsum([*x]) * x[0]  # the line of the error


HOST = np.zeros(3)


def writes_to_the_host(x):
    HOST[0] = x[1]  # the line of the error
    return np.sum(HOST)


def without_derivative(x):
    return tnp.asarray(tf.linalg.logm(tf.cast(x[:, None] * x, tf.complex128))).real.sum()  # this line


CASES = [
    (lambda: np2tf.grad(cubes)(np.arange(3)), InputDtypeError, "sub-dtype of np.inexact.*int64.*astype"),
    (lambda: np2tf.grad(cubes)("x"), InputDtypeError, "got a str"),
    (lambda: np2tf.grad(lambda x: np.argmax(x))(X), OutputKindError, "real-valued outputs.*int64.*argmax"),
    (lambda: np2tf.grad(lambda x: x)(X), OutputKindError, r"Output had shape: \(3,\)"),
    (lambda: np2tf.grad(lambda x: (x[0], x[1]))(X), OutputKindError, "scalar-output functions. Output was"),
    (lambda: np2tf.grad(lambda x: 1j * x[0])(X), OutputKindError, "holomorphic=True"),
    (lambda: np2tf.grad(cubes, holomorphic=True)(X), InputDtypeError, "complex dtype"),
    (lambda: np2tf.jacfwd(cubes)(X + 0j), InputDtypeError, "real-valued inputs.*complex128"),
    (lambda: np2tf.grad(cubes, 1)(X), TransformArgumentError, "at least 2 positional"),
    (lambda: np2tf.grad(cubes, "x")(X), TransformArgumentError, "argnums must be"),
    (lambda: np2tf.grad(3), TransformArgumentError, "takes a function"),
    (lambda: np2tf.grad(cubes, has_aux=True)(X), OutputKindError, "return a pair"),
    (lambda: np2tf.jvp(cubes, (X,), (X[:2],)), TransformArgumentError, r"shape \(2,\).*shape \(3,\)"),
    (lambda: np2tf.jvp(cubes, (X,), (X.astype("f4"),)), TransformArgumentError, "float32.*float64"),
    (lambda: np2tf.jvp(cubes, X, X), TransformArgumentError, "must be tuples or lists"),
    (lambda: np2tf.jvp(cubes, (X,), (X, X)), TransformArgumentError, "must have the structure"),
    (lambda: np2tf.vjp(lambda x: {"a": x}, X)[1](X), TransformArgumentError, "must have the structure"),
    (lambda: np2tf.grad(without_derivative)(X), NoDerivativeError, "MatrixLogarithm has no derivative"),
]


@pytest.mark.parametrize(("call", "kind", "told"), CASES)
def test_errors(call: Callable[[], Any], kind: type[TransformError], told: str) -> None:
    """An error has a code, and says what to do."""
    with pytest.raises(kind, match=told) as caught:
        call()
    assert f"[{kind.code}]" in str(caught.value)


@pytest.mark.parametrize("function", [leaves, gets_lost, writes_to_the_host, without_derivative])
def test_errors_name_the_line(function: Callable[..., Any]) -> None:
    """Where a derivative would be lost, the error names the file and the line."""
    with pytest.raises((LeftTensorFlowError, NoDerivativeError)) as caught:
        np2tf.grad(function)(X)
    line = function.__code__.co_firstlineno + 1
    assert f"{__file__}:{line}: " in str(caught.value)


def test_jacobians_of_lengths_that_vary():
    """After three lengths an axis is open; Jacobians need its length, and are compiled for each length."""

    def residual(x, w):
        return x + np.tanh(w @ x)

    def norm(x, w):
        return np.sum(residual(x, w) ** 2)

    rng = np.random.default_rng(0)
    for function in (np2tf.jacrev(residual), np2tf.jacfwd(residual), np2tf.hessian(norm)):
        jitted = np2tf.jit(function, tier="compile")
        for n in (3, 5, 16, 64, 7, 20):
            args = rng.normal(size=n), rng.normal(size=(n, n))
            with np2tf.config.using(jit="strict"):
                np.testing.assert_allclose(jitted(*args), function(*args), rtol=1e-10, atol=1e-12)
