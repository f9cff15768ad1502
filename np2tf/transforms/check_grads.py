"""`check_grads`: derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.core.errors import CheckGradsError, TransformArgumentError
from np2tf.transforms.derivatives import jvp, vjp
from np2tf.transforms.runnable import check_callable
from np2tf.transforms.values import Structure, dtype_of, map_leaves

#: The step and the tolerance by dtype.
_STEPS = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4, "float64": 1e-6, "complex128": 1e-6}
_TOLERANCES = {"float16": 1e-1, "float32": 1e-2, "complex64": 1e-2, "float64": 1e-5, "complex128": 1e-5}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare the derivatives of `f` with finite differences, in random directions.

    Args:
        f: a function of arrays of any shapes and inexact dtypes, or of nested values of these, that returns
            the same.
        args: the arguments of `f`, as a tuple.
        order: up to which order derivatives are compared; 2 includes derivatives of derivatives.
        modes: "fwd" for `jvp`, "rev" for `vjp`, or both.
        atol, rtol: the absolute and relative tolerance; None for values that fit the dtypes.
        eps: the step of the differences; None for a value that fits the dtypes.

    Raises:
        CheckGradsError: a derivative differs, or `jvp` or `vjp` computes a different value from `f`.

    See https://docs.jax.dev/en/latest/_autosummary/jax.test_util.check_grads.html.
    """
    check_callable(f, "check_grads")
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not set(modes) <= {"fwd", "rev"}:
        raise TransformArgumentError(f'modes must be "fwd" and "rev", not {modes}')
    values = tuple(map_leaves(_host, arg) for arg in args)
    names = [str(dtype_of(leaf)) for leaf in Structure(values).leaves]
    step = eps if eps is not None else max((_STEPS.get(name, 1e-6) for name in names), default=1e-6)
    tolerance = max((_TOLERANCES.get(name, 1e-5) for name in names), default=1e-5)
    checker = _Check(np.random.RandomState(0), modes, atol or tolerance, rtol or tolerance, step)
    checker.check(f, values, order, "f")


class _Check:
    def __init__(
        self, random: np.random.RandomState, modes: Sequence[str], atol: float, rtol: float, step: float
    ) -> None:
        self._random, self._modes = random, modes
        self._atol, self._rtol, self._step = atol, rtol, step

    def check(self, f: Callable[..., Any], args: tuple[Any, ...], order: int, name: str) -> None:
        """Compare the derivatives of `f` up to an order."""
        if "fwd" in self._modes:
            self._check_forward(f, args, name)
            if order > 1:
                directions = map_leaves(self._direction, args)
                self.check(partial(_forward, f, directions), args, order - 1, f"jvp of {name}")
        if "rev" in self._modes:
            cotangent = self._check_reverse(f, args, name)
            if order > 1:
                self.check(partial(_reverse, f, cotangent), args, order - 1, f"vjp of {name}")

    def _check_forward(self, f: Callable[..., Any], args: tuple[Any, ...], name: str) -> None:
        tangents = map_leaves(self._direction, args)
        value, tangent = map(_on_host, jvp(f, args, tangents))
        self._compare(value, _on_host(f(*args)), f"the value of jvp of {name}")
        self._compare(tangent, self._difference(f, args, tangents), f"the jvp of {name}")

    def _check_reverse(self, f: Callable[..., Any], args: tuple[Any, ...], name: str) -> Any:
        value, pull = vjp(f, *args)
        value = _on_host(value)
        self._compare(value, _on_host(f(*args)), f"the value of vjp of {name}")
        tangents = map_leaves(self._direction, args)
        cotangent = map_leaves(self._direction, value)
        product = _on_host(pull(cotangent))
        self._compare(
            _inner(product, tangents),
            _inner(cotangent, self._difference(f, args, tangents)),
            f"the vjp of {name}",
        )
        return cotangent

    def _direction(self, leaf: Any) -> Any:
        dtype = dtype_of(leaf)
        if dtype is None or dtype.kind not in "fc":
            raise TransformArgumentError(
                f"check_grads takes floating-point and complex values, but got {dtype}"
            )
        direction = np.asarray(self._random.standard_normal(np.shape(leaf)))
        if dtype.kind == "c":
            direction = direction + 1j * self._random.standard_normal(np.shape(leaf))
        return direction.astype(dtype)[()]

    def _difference(self, f: Callable[..., Any], args: tuple[Any, ...], tangents: Any) -> Any:
        """Return the central difference of `f` along the tangents."""
        half = self._step / 2
        after, before = (Structure(_on_host(f(*_step_along(args, tangents, step)))) for step in (half, -half))
        pairs = zip(after.leaves, before.leaves, strict=True)
        return after.build(
            [(upper - lower) / np.asarray(self._step, upper.real.dtype) for upper, lower in pairs]
        )

    def _compare(self, derivative: Any, expected_derivative: Any, subject: str) -> None:
        for value, expected_value in zip(
            Structure(derivative).leaves, Structure(expected_derivative).leaves, strict=True
        ):
            if not np.allclose(value, expected_value, rtol=self._rtol, atol=self._atol, equal_nan=True):
                raise CheckGradsError(f"{subject} is {value}, where finite differences give {expected_value}")


def _host(leaf: Any) -> Any:
    value = to_numpy(leaf)
    return value if not isinstance(value, float | complex) else np.asarray(value)[()]


def _on_host(value: Any) -> Any:
    return map_leaves(lambda leaf: to_numpy(leaf) if is_array(leaf) else np.asarray(leaf)[()], value)


def _step_along(args: Any, tangents: Any, step: float) -> Any:
    structure = Structure(args)
    pairs = zip(structure.leaves, Structure(tangents).leaves, strict=True)
    return structure.build(
        [(value + np.asarray(step, value.real.dtype) * tangent) for value, tangent in pairs]
    )


def _inner(a: Any, b: Any) -> float:
    """Return the pairing of a cotangent with a tangent, without conjugates, as JAX has it."""
    pairs = zip(Structure(a).leaves, Structure(b).leaves, strict=True)
    return float(sum(np.real(np.sum(value * factor)) for value, factor in pairs))


def _forward(f: Callable[..., Any], directions: Any, *args: Any) -> Any:
    return jvp(f, args, directions)


def _reverse(f: Callable[..., Any], cotangent: Any, *args: Any) -> Any:
    value, pull = vjp(f, *args)
    return value, pull(cotangent)
