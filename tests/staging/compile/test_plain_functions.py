"""`np2tf.jit` of plain NumPy code that makes arrays: the function's translation is traced."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf

X = np.array([[2.0, 0.5], [0.5, 1.0]])
OFFSET = np.array([1.0, 2.0])


def with_identity(x):
    return x + np.eye(len(x))


def with_loop(x):
    total = np.zeros(len(x))
    for i in range(len(x)):
        total[i] = np.sum(x[i] * np.arange(2.0))
    return total


def with_callee(x):
    return np.linalg.solve(with_identity(x), np.ones(2))


def with_global(x):
    return x @ np.ones(2) + OFFSET


def into_the_argument(x):
    x[0] = np.zeros(2)
    return x * np.full(2, 3.0)


@pytest.mark.parametrize("function", [with_identity, with_loop, with_callee, with_global, into_the_argument])
def test_plain_functions_are_compiled(function) -> None:
    jitted = np2tf.jit(function, tier="compile")
    with np2tf.config.using(jit="strict"):
        for factor in (1.0, 2.0):
            ours, theirs = factor * X, factor * X
            np.testing.assert_allclose(jitted(ours), function(theirs), rtol=1e-12)
            np.testing.assert_array_equal(ours, theirs)
    assert jitted.trace_count <= 3


def test_globals_are_inputs(monkeypatch) -> None:
    jitted = np2tf.jit(with_global, tier="compile")
    for offset in (np.array([1.0, 2.0]), np.array([5.0, 6.0])):
        monkeypatch.setitem(globals(), "OFFSET", offset)
        np.testing.assert_allclose(jitted(X), with_global(X), rtol=1e-12)


def test_closures_and_decorators() -> None:
    """The decorator of the source, closure variables and defaults stay what they are."""
    scale = np.array([2.0, 3.0])

    @np2tf.jit(tier="compile")
    def inner(x, shift=1.5):
        return scale * x + np.ones(2) * shift

    with np2tf.config.using(jit="strict"):
        np.testing.assert_allclose(inner(X), scale * X + 1.5)
        scale = np.array([5.0, 7.0])
        np.testing.assert_allclose(inner(X, 0.5), scale * X + 0.5)


def test_functions_without_source() -> None:
    """There is nothing to translate, so that they run as Python."""
    space: dict = {"np": np}
    exec("def f(x):\n    return x + np.eye(2)\n", space)
    jitted = np2tf.jit(space["f"], tier="compile")
    with pytest.warns(UserWarning, match="NP2TF552"):
        np.testing.assert_array_equal(jitted(X), X + np.eye(2))
