"""`eval_shape` computes nothing, and `check_grads` finds wrong derivatives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import np2tf
from np2tf import ShapeDtypeStruct
from np2tf.core import diagnostics, errors
from np2tf.core.errors import CheckGradsError, TransformArgumentError, TransformError

X = np.array([0.3, -0.7, 1.2])


def network(np: Any) -> Any:
    """A function with structures on both sides."""
    return lambda p, x: {"out": np.tanh(x @ p["w"]) + p["b"], "size": (x.shape[0], np.sum(x, axis=1))}


def test_shapes_are_jaxs() -> None:
    """Shapes and dtypes of results, for arrays and for shapes in their place."""
    arguments = (
        {"w": np.zeros((4, 2), np.float32), "b": np.zeros(2, np.float32)},
        np.zeros((3, 4), np.float32),
    )
    wanted = jax.eval_shape(network(jnp), *arguments)
    given = jax.tree_util.tree_map(lambda leaf: ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    for found in (np2tf.eval_shape(network(np), *arguments), np2tf.eval_shape(network(np), *given)):
        found_shapes = jax.tree_util.tree_map(lambda leaf: (leaf.shape, str(leaf.dtype)), found)
        wanted_shapes = jax.tree_util.tree_map(lambda leaf: (leaf.shape, str(leaf.dtype)), wanted)
        assert found_shapes["out"] == wanted_shapes["out"]
        assert found_shapes["size"][1] == wanted_shapes["size"][1]
        assert found_shapes["size"][0] == ((), "int64")


def test_large_shapes_take_no_memory() -> None:
    """A result that would not fit any memory."""
    huge = ShapeDtypeStruct((10**6, 10**6), "float64")
    found = np2tf.eval_shape(lambda a, b: a @ b, huge, huge)
    assert (found.shape, found.dtype, found.ndim, found.size) == ((10**6, 10**6), np.float64, 2, 10**12)


def test_shapes_through_loops_and_gradients() -> None:
    """Loops with branches, transforms, and random code that computes."""

    def f(x):
        total = np.zeros(2)
        for k in range(len(x)):
            if x[k] > 0:
                total[0] += x[k]
        return total

    assert np2tf.eval_shape(f, X).shape == (2,)
    assert np2tf.eval_shape(np2tf.grad(lambda x: np.sum(f(x))), X).shape == (3,)
    with pytest.raises((TransformArgumentError, np2tf.StagingError)):
        np2tf.eval_shape(lambda x: x[x > 0], X)


@pytest.mark.parametrize("modes", [("fwd",), ("rev",), ("fwd", "rev"), "rev"])
def test_right_derivatives_pass(modes: Any) -> None:
    """First and second order, several arguments, structures, complex numbers, single precision."""
    np2tf.check_grads(lambda x, y: np.sin(x) * y["b"], (X, {"b": X + 1}), 2, modes)
    np2tf.check_grads(lambda z: np.exp(z) * np.conj(z), (X + 1j,), 1, modes)
    np2tf.check_grads(lambda x: np.sum(x**3), (X.astype(np.float32),), 1, modes)


def wrong(factor: float) -> Any:
    """A function whose derivative is wrong by a factor."""
    f = np2tf.custom_jvp(np.sin)
    f.defjvp(lambda p, t: (np.sin(*p), factor * t[0] * np.cos(*p)))
    return f


@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_wrong_derivatives_are_found(mode: str) -> None:
    """Both modes find a wrong rule, and a wrong second derivative only with order 2."""
    np2tf.check_grads(wrong(1.0), (X,), 2, mode)
    with pytest.raises(CheckGradsError, match="finite differences"):
        np2tf.check_grads(wrong(1.01), (X,), 1, mode)

    slope = wrong(1.01)
    f = np2tf.custom_jvp(lambda x: np.cos(x))
    f.defjvp(lambda p, t: (np.cos(*p), -t[0] * slope(p[0])))
    np2tf.check_grads(f, (X,), 1, mode)
    with pytest.raises(CheckGradsError, match=f"of {'jvp' if mode == 'fwd' else 'vjp'} of f"):
        np2tf.check_grads(f, (X,), 2, mode)


def test_arguments_of_check_grads() -> None:
    """Integers and unknown modes must be refused."""
    with pytest.raises(TransformArgumentError, match="floating-point"):
        np2tf.check_grads(np.sin, (np.arange(3),), 1)
    with pytest.raises(TransformArgumentError, match="modes must be"):
        np2tf.check_grads(np.sin, (X,), 1, "forward")


def test_errors_have_codes() -> None:
    """Each class has its own code, and its docstring is the title of the code."""
    kinds = TransformError.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds) == 13
    for kind in kinds:
        assert kind.code in diagnostics.codes()
        assert kind.__name__ in vars(errors)
