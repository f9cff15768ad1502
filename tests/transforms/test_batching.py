"""`vmap`, `pmap` and collectives: equal to a loop over NumPy's results, and to JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.core.errors import AxisNameError, TransformArgumentError
from tests.helpers.transform_judge import differences

A = np.arange(12.0).reshape(4, 3)
B = np.sin(np.arange(4.0))


def norm(np: Any) -> Callable[..., Any]:
    """The length of a vector, with a library's functions."""
    return lambda a: np.sqrt(np.sum(a**2)) + a[0]


def several(np: Any) -> Callable[..., Any]:
    """A function of a matrix and a number, with several results."""
    return lambda a, b: {"scaled": a * b, "pair": (np.sum(a), b)}


#: Function, in_axes, out_axes, arguments.
CASES: dict[str, tuple[Callable[[Any], Any], Any, Any, tuple[Any, ...]]] = {
    "one axis": (norm, 0, 0, (A,)),
    "the last axis": (norm, -1, 0, (A,)),
    "results along another axis": (lambda np: lambda a: np.cumsum(a), 0, 1, (A,)),
    "two arguments": (several, (0, 0), 0, (A, B)),
    "a whole argument": (several, (None, 0), 0, (A, B)),
    "axes that differ": (several, (1, None), 0, (A, 2.0)),
    "axes of results": (several, (0, 0), {"scaled": 1, "pair": 0}, (A, np.ones(4))),
    "nested axes": (
        lambda np: lambda p: p["m"] @ p["v"],
        ({"m": None, "v": 1},),
        0,
        ({"m": A, "v": A.T @ A},),
    ),
    "a constant result": (lambda np: lambda a: np.ones(2), 0, 0, (B,)),
    "integers": (lambda np: lambda a: a * 2, 0, 0, (np.arange(5),)),
    "sorting": (lambda np: lambda a: np.sort(-a)[:2], 0, 0, (A,)),
    "linear algebra": (lambda np: lambda a: np.linalg.inv(np.outer(a, a) + 9 * np.eye(3)), 0, 0, (A,)),
}


@pytest.mark.parametrize("case", CASES)
def test_vmap_is_jaxs(case: str) -> None:
    """Values, structure, shapes and dtypes, on the host and for arrays on TensorFlow."""
    make, in_axes, out_axes, args = CASES[case]
    wanted = jax.vmap(make(jnp), in_axes, out_axes)(*args)
    assert differences(np2tf.vmap(make(np), in_axes, out_axes)(*args), wanted) == []
    on_tensorflow = jax.tree_util.tree_map(np2tf.device_put, args)
    found = np2tf.device_get(np2tf.vmap(make(np), in_axes, out_axes)(*on_tensorflow))
    assert differences(found, wanted) == []


def composed(library: Any, np: Any) -> list[Any]:
    """Compositions of transforms with vmap."""

    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.tanh(x @ w) ** 2)

    w = A[:, 0] * 0.1
    x = np.sin(np.arange(12.0)).reshape(3, 4)
    nested = library.vmap(library.vmap(lambda a, b: a * b, (None, 0)), (0, None))
    return [
        library.vmap(library.grad(loss), (None, 0))(w, x),
        library.grad(lambda w: np.sum(library.vmap(loss, (None, 0))(w, x)))(w),
        library.vmap(library.value_and_grad(loss), (None, 0))(w, x),
        nested(w, x[0]),
        library.jacfwd(library.vmap(lambda a: np.sin(a) * a))(w),
        library.vmap(library.hessian(loss), (None, 0))(w, x),
        library.vmap(lambda t: library.jvp(lambda w: loss(w, x), (w,), (t,))[1])(np.eye(4)),
        library.hessian(lambda w: np.sum(library.vmap(loss, (None, 0))(w, x)))(w),
    ]


def test_compositions() -> None:
    """Per-example gradients, gradients of batches, batches of batches, Hessians."""
    on_np2tf, on_jax = composed(np2tf, np), composed(jax, jnp)
    for place, (found_result, wanted_result) in enumerate(zip(on_np2tf, on_jax, strict=True)):
        assert differences(found_result, wanted_result) == [], place


def named(library: Any, np: Any) -> list[Any]:
    """Collectives over named axes."""
    lax = library if library is np2tf else jax.lax
    x = np.arange(4.0) + 1
    grid = np.arange(6.0).reshape(2, 3)

    def normalised(a: Any) -> Any:
        return a / lax.psum(a, "i")

    def inner(a: Any) -> Any:
        return library.vmap(lambda b: b - lax.pmean(b, ("i", "j")) + lax.pmax(b, "j"), axis_name="j")(a)

    return [
        library.vmap(normalised, axis_name="i")(x),
        library.vmap(lambda a: lax.pmax(lax.pmean(a, "i") - a, "i"), axis_name="i")(x),
        library.vmap(lambda a: lax.all_gather(a, "i"), axis_name="i")(grid),
        library.vmap(lambda a: lax.all_gather(a, "i", axis=1), axis_name="i")(grid),
        library.vmap(lambda a: lax.all_gather(a, "i", tiled=True), axis_name="i")(grid),
        library.vmap(inner, axis_name="i")(grid),
        library.grad(lambda x: np.sum(library.vmap(normalised, axis_name="i")(x) ** 2))(x),
        library.vmap(lambda d: lax.psum({"s": d}, "i"), axis_name="i", out_axes=None)(x),
        library.vmap(lambda a: a * lax.axis_index("i"), axis_name="i")(x),
    ]


def test_collectives() -> None:
    """Sums, means, maxima and gatherings over one axis and over two, and their gradients."""
    on_np2tf, on_jax = named(np2tf, np), named(jax, jnp)
    for place, (found_result, wanted_result) in enumerate(zip(on_np2tf, on_jax, strict=True)):
        assert differences(found_result, wanted_result) == [], place


def test_pmap() -> None:
    """The same as vmap, on all devices that TensorFlow lists."""
    wanted = np2tf.vmap(lambda a: a / np2tf.psum(a, "i"), axis_name="i")(B)
    np.testing.assert_array_equal(np2tf.pmap(lambda a: a / np2tf.psum(a, "i"), "i")(B), wanted)
    assert len(tf.config.list_logical_devices()) >= 1


def test_lanes_write_to_copies() -> None:
    """A lane that writes to its slice does not reach the argument."""

    def f(a):
        a[0] = 100.0
        return a.sum()

    before = A.copy()
    assert np2tf.vmap(f)(A).shape == (4,)
    np.testing.assert_array_equal(A, before)


def test_jitted_batches() -> None:
    """A jitted vmap, with and without a gradient inside."""
    f = np2tf.jit(np2tf.vmap(norm(np)), tier="compile")
    np.testing.assert_allclose(f(A), np2tf.vmap(norm(np))(A))
    g = np2tf.jit(np2tf.vmap(np2tf.grad(norm(np))), tier="compile")
    np.testing.assert_allclose(g(A), np2tf.vmap(np2tf.grad(norm(np)))(A))


ERRORS = [
    (lambda: np2tf.vmap(norm(np), 2)(A), TransformArgumentError, "along axis 2"),
    (lambda: np2tf.vmap(several(np))(A, B[:3]), TransformArgumentError, "inconsistent sizes"),
    (lambda: np2tf.vmap(several(np), (0,))(A, B), TransformArgumentError, "1 entries and 2 arguments"),
    (lambda: np2tf.vmap(norm(np), None)(A), TransformArgumentError, "at least one non-None"),
    (lambda: np2tf.vmap(norm(np), out_axes=None)(A), TransformArgumentError, "out_axes is None"),
    (lambda: np2tf.vmap(norm(np))("abc"), TransformArgumentError, "cannot slice a str"),
    (lambda: np2tf.vmap(norm(np))(A[:0]), TransformArgumentError, "length 0"),
    (
        lambda: np2tf.vmap(lambda a: np.zeros(int(a)))(np.arange(4.0)),
        TransformArgumentError,
        "different shapes",
    ),
    (lambda: np2tf.psum(1.0, "k"), AxisNameError, "unbound axis name: 'k'"),
    (
        lambda: np2tf.vmap(lambda a: np2tf.psum(a, "i") if a > 0 else a, axis_name="i")(B),
        TransformArgumentError,
        "in some lanes only",
    ),
    (
        lambda: np2tf.vmap(np2tf.grad(lambda a: np2tf.psum(a, "i") ** 2), axis_name="i")(B),
        TransformArgumentError,
        "differentiate outside",
    ),
]


@pytest.mark.parametrize(("call", "kind", "told"), ERRORS)
def test_errors(call: Callable[[], Any], kind: type[Exception], told: str) -> None:
    """An error says which axis is wrong, and what to write."""
    with pytest.raises(kind, match=told):
        call()
