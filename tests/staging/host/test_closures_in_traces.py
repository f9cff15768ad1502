"""Functions that are made by calls in differentiated, compiled code: layers, kernels, combinators."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import np2tf

X = np.array([0.3, 0.4])
SCALE = 1.0


def dense(w, b=0.5):
    def layer(x):
        return SCALE * w * x + b

    return layer


def counted(w):
    count = 0

    def layer(x):
        nonlocal count
        count += 1
        return w * x * count

    return layer


def serial(*layers):
    def apply(x):
        for layer in layers:
            x = layer(x)
        return x

    return apply


def pair():
    return (lambda w, x: w * x), (lambda w, x: w + x)


def of_arrays(ws, x):
    a, b = ws
    return np.sum(serial(dense(a), np.tanh, dense(b, 2.0))(x))


def of_constants(ws, x):
    return np.sum(serial(dense(2.0), np.sin, dense(3))(ws * x))


def of_lambdas(ws, x):
    times, plus = pair()
    return np.sum(plus(ws, np.tanh(times(ws, x))))


def of_generators(ws, x):
    a, b = (np.sin(w) for w in ws)
    return np.sum(a * x) + b


FUNCTIONS = [of_arrays, of_constants, of_generators]
if sys.version_info >= (3, 11):  # code tells its columns, so that lambdas may share a line
    FUNCTIONS.append(of_lambdas)


def by_differences(function, ws):
    h = 1e-6
    return np.array([(function(ws + d, X) - function(ws - d, X)) / (2 * h) for d in h * np.eye(2)])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_compiled(function) -> None:
    """By a few traces, also with other values afterwards."""
    gradient = np2tf.jit(np2tf.grad(function), tier="compile")
    with np2tf.config.using(jit="strict"):
        for ws in (np.array([0.2, 0.7]), np.array([1.2, -0.7])):
            np.testing.assert_allclose(gradient(ws, X), by_differences(function, ws), atol=1e-8)
    assert gradient.trace_count <= 4


def test_globals_of_such_functions_may_change(monkeypatch) -> None:
    """The inner function reads SCALE; the code that makes it does not."""
    gradient = np2tf.jit(np2tf.grad(of_arrays), tier="compile")
    ws = np.array([0.2, 0.7])
    for scale in (1.0, 2.0, 3.5, np.float64(0.5)):
        monkeypatch.setitem(globals(), "SCALE", scale)
        np.testing.assert_allclose(gradient(ws, X), by_differences(of_arrays, ws), atol=1e-8)


OUTSIDE = [dense(2.0)]


def of_functions_from_outside(ws, x):
    return np.sum(dense(ws[0])(OUTSIDE[0](x))) + ws[1]


def test_functions_of_the_same_code_from_outside() -> None:
    """A function of the same code that was made before the trace is followed as before."""
    gradient = np2tf.jit(np2tf.grad(of_functions_from_outside), tier="compile")
    ws = np.array([0.2, 0.7])
    for layer in (dense(2.0), dense(3.0), dense(np.array([1.0, 5.0])), np.tanh):
        OUTSIDE[0] = layer
        np.testing.assert_allclose(gradient(ws, X), [np.sum(layer(X)), 1.0], rtol=1e-12)


def of_counted(ws, x):
    layer = counted(ws[0])
    return np.sum(layer(x)) + np.sum(layer(x)) + ws[1]


def test_a_function_that_counts() -> None:
    """It changes a closure variable, and gives the same as without a compiler."""
    gradient = np2tf.jit(np2tf.grad(of_counted), tier="compile")
    ws = np.array([0.2, 0.7])
    for _ in range(3):
        np.testing.assert_allclose(gradient(ws, X), by_differences(of_counted, ws), atol=1e-8)


def test_windows_of_a_callee() -> None:
    """A function of numpy.lib that has a form over tensors may be called by a callee."""

    def windows(x):
        return np.lib.stride_tricks.sliding_window_view(x, 3).sum(axis=-1)

    def loss(x):
        return np.sum(windows(x) ** 2)

    x = np.arange(5.0)
    gradient = np2tf.jit(np2tf.grad(loss), tier="compile")
    with np2tf.config.using(jit="strict"):
        np.testing.assert_allclose(gradient(x), np2tf.grad(loss)(x))


def test_functions_of_a_session_without_a_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    """The main module of IPython has none."""
    session = types.ModuleType("session_of_ipython")
    del session.__spec__
    monkeypatch.setitem(sys.modules, session.__name__, session)
    monkeypatch.setattr(of_constants, "__module__", session.__name__)
    gradient = np2tf.jit(np2tf.grad(lambda ws, x: of_constants(ws, x)), tier="compile")
    np.testing.assert_allclose(
        gradient(np.array([0.5, 0.7]), X), np2tf.grad(of_constants)(np.array([0.5, 0.7]), X)
    )
    assert gradient.trace_count
