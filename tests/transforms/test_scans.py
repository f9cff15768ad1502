"""`scan`, `associative_scan` and `checkpoint`: equal to JAX, with their derivatives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import np2tf
from np2tf.core.errors import CarryTypeError, TransformArgumentError
from tests.helpers.transform_judge import differences

X = np.sin(np.arange(6.0))
M = np.cos(np.arange(20.0)).reshape(5, 2, 2)


def lax(library: Any) -> Any:
    """The module that has the loops."""
    return np2tf if library is np2tf else jax.lax


def scans(library: Any, np: Any) -> list[Any]:
    """Scans of numbers, arrays, structures; backwards; without slices; and their derivatives."""
    scan = lax(library).scan

    def running(c: Any, x: Any) -> Any:
        return c + x, c * x

    def recurrent(w: Any, xs: Any) -> Any:
        return np.sum(scan(lambda h, x: (np.tanh(w @ h + x), h[0]), np.zeros(2), xs)[1])

    w, xs = np.asarray(M[0]), np.asarray(M[:, 0])
    return [
        scan(running, 0.0, X),
        scan(running, 0, X),
        scan(running, 1.0, X, reverse=True),
        scan(lambda c, x: ({"n": c["n"] + 1, "s": c["s"] @ x}, None), {"n": 0, "s": np.eye(2)}, M),
        scan(lambda c, _: (c * 2, c), 1.0, None, length=4),
        scan(lambda c, x: (c, (x[0] * c, x[1])), 2.0, (X, np.arange(6))),
        library.grad(recurrent, (0, 1))(w, xs),
        library.jvp(recurrent, (w, xs), (w, xs)),
        library.vmap(lambda x: scan(running, 0.0, x)[0])(M.reshape(4, 5)),
        library.hessian(lambda x: scan(running, 1.0, x)[1].sum())(np.asarray(X)),
    ]


def test_scan_is_jaxs() -> None:
    """Values, structures and dtypes."""
    for place, (found_result, wanted_result) in enumerate(
        zip(scans(np2tf, np), scans(jax, jnp), strict=True)
    ):
        assert differences(found_result, wanted_result) == [], place


def associative(library: Any, np: Any) -> list[Any]:
    """Prefixes under sums, products, matrix products and maxima, and their derivatives."""
    scan = lax(library).associative_scan

    def linear(a: Any, b: Any) -> Any:
        return a[0] * b[0], b[0] * a[1] + b[1]

    return [
        scan(np.add, X),
        scan(np.multiply, X, reverse=True),
        scan(np.maximum, X[:1]),
        scan(np.matmul, M),
        scan(np.add, M, axis=-1),
        scan(linear, (np.asarray(X), np.asarray(X[::-1].copy()))),
        library.jacrev(lambda x: scan(np.multiply, x))(X[1:]),
    ]


def test_associative_scan_is_jaxs() -> None:
    """Values, structures and dtypes, for lengths that are even, odd and 1."""
    for place, (found_result, wanted_result) in enumerate(
        zip(associative(np2tf, np), associative(jax, jnp), strict=True)
    ):
        assert differences(found_result, wanted_result) == [], place


def test_staged_scans() -> None:
    """A long scan in a jitted function is one loop, and its gradient as well."""
    xs = np.sin(np.arange(50.0))

    def last(w):
        carry, ys = np2tf.scan(lambda c, x: (np.tanh(c * w + x), c * x), 0.0, xs)
        return carry + ys.sum()

    for transform in (lambda f: f, np2tf.grad, lambda f: np2tf.grad(np2tf.grad(f))):
        function = transform(last)
        compiled = np2tf.jit(function, tier="compile")
        np.testing.assert_allclose(compiled(np.array(0.7)), function(np.array(0.7)), rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: np2tf.scan(lambda c, x: (c[0], x), np.zeros(2), X), CarryTypeError, r"\[2\] before .*\[\]"),
        (lambda: np2tf.scan(lambda c, x: ((c, c), x), X[0], X), CarryTypeError, "structure"),
        (lambda: np2tf.scan(lambda c, x: c, X[0], X), TransformArgumentError, "pair"),
        (lambda: np2tf.scan(lambda c, x: (c, x), 0.0), TransformArgumentError, "needs xs"),
        (lambda: np2tf.scan(lambda c, x: (c, x), 0.0, (X, M)), TransformArgumentError, "different leading"),
        (lambda: np2tf.associative_scan(np.add, (X, M)), TransformArgumentError, "same length"),
    ],
)
def test_errors(call: Any, kind: type[Exception], told: str) -> None:
    """An error says what the carry was, or what is missing."""
    with pytest.raises(kind, match=told):
        call()


# -- checkpoint ----------------------------------------------------------------------------------------------


def test_checkpoint_computes_again() -> None:
    """The function runs again for a derivative, which is the same; closures are differentiated, too."""
    calls = []

    def inner(x):
        calls.append(None)
        return np.sin(x) * np.sum(x)

    def outer(remat: Any) -> Any:
        return lambda x: np.sum(remat(inner)(x * 2) * remat(lambda y: x * y)(x))

    plain = np2tf.value_and_grad(outer(lambda f: f))(X)
    before = len(calls)
    found = np2tf.value_and_grad(outer(np2tf.checkpoint))(X)
    assert (before, len(calls)) == (1, 3)
    np.testing.assert_allclose(found[0], plain[0])
    np.testing.assert_allclose(found[1], plain[1])
    for transform in (np2tf.hessian, lambda f: np2tf.jacfwd(np2tf.grad(f)), np2tf.jacrev):
        found_gradient, wanted = transform(outer(np2tf.checkpoint))(X), transform(outer(lambda f: f))(X)
        np.testing.assert_allclose(found_gradient, wanted)


@pytest.mark.filterwarnings("error::np2tf.core.counts.UnjittedWarning")
def test_checkpoint_in_compiled_code() -> None:
    """A jitted gradient of a function with checkpoints is the same."""

    def f(x):
        y = np2tf.checkpoint(lambda z: {"a": np.tanh(z), "n": 3})(x)
        return np.sum(y["a"] ** y["n"])

    compiled = np2tf.jit(np2tf.grad(f), tier="compile")
    np.testing.assert_allclose(compiled(X), np2tf.grad(lambda x: np.sum(np.tanh(x) ** 3))(X))
    assert np2tf.checkpoint(f)(X) == f(X)
