"""Gradients of the rules' examples: by a tape over np2tf, and by finite differences of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from tests.helpers import op_harness, rule_examples
from tests.helpers.rule_examples import Point

_STEP = 1e-6
#: Relative to the largest of the differences, which are right to about six digits.
_TOLERANCE = 2e-5


def points(chapter: str) -> list[Point]:
    """Return a chapter's examples over matrices of float64 with an operand for differentiation."""
    found = rule_examples.points(chapter, ("float64",), ("matrix",))
    return [point for point in found if _variables(point)]


def _variables(point: Point) -> list[str]:
    return [name for name in point.names if name != "k"]


def _given(point: Point) -> dict[str, np.ndarray]:
    """Return the example's operands, moved away from points where functions jump or bend: integers, equal
    numbers.
    """
    given = rule_examples._given(point)
    for name, part in given.items():
        if name in ("a", "b", "v"):
            given[name] = part + 0.013 * (1 + np.arange(part.size).reshape(part.shape)) * (
                -1 if name == "b" else 1
            )
        elif name == "s":
            given[name] = part + 0.017 * (1 + np.add.outer(range(3), range(3)))
    return given


def _weights(shape: Any) -> np.ndarray:
    """Return different weights for the elements of a result, so that errors do not cancel."""
    return np.cos(np.arange(1.0, 1.0 + np.prod(shape, dtype=int))).reshape(shape)


def _numpys_loss(point: Point, given: dict[str, np.ndarray]) -> float | None:
    """Return a weighted sum of the example's result on NumPy; None if it has no floating-point numbers."""
    result = rule_examples._attempt(np, point, {name: value.copy() for name, value in given.items()})
    if isinstance(result, op_harness.Raised):
        return None
    parts = [np.asarray(part) for part in result if not isinstance(part, (type, np.dtype, str))]
    floating = [part for part in parts if part.dtype.kind in "fc"]
    if not floating:
        return None
    return float(sum(np.sum(_weights(part.shape) * (part.real + 2 * part.imag)) for part in floating))


def by_differences(point: Point) -> dict[str, np.ndarray] | None:
    """Return NumPy's gradients, one for each operand; None if there are none."""
    given = _given(point)
    if _numpys_loss(point, given) is None:
        return None
    found = {}
    for name in _variables(point):
        gradient = np.zeros(given[name].shape)
        for place in np.ndindex(gradient.shape):
            losses = []
            for step in (_STEP, -_STEP):
                moved = given[name].copy()
                moved[place] += step
                losses.append(_numpys_loss(point, {**given, name: moved}))
            gradient[place] = np.nan if None in losses else (losses[0] - losses[1]) / (2 * _STEP)
        found[name] = gradient
    return found


def _parts(result: list[Any]) -> list[tf.Tensor]:
    tensors = [part.tensor if is_array(part) else part for part in result]
    return [
        part for part in tensors if isinstance(part, tf.Tensor) and (_is_real(part) or part.dtype.is_complex)
    ]


def _is_real(part: tf.Tensor) -> bool:
    return bool(part.dtype.is_floating)


def by_tape(point: Point) -> dict[str, np.ndarray] | str:
    """Return np2tf's gradients, or the exception."""
    given = {name: tf.constant(value) for name, value in _given(point).items()}
    with np2tf.config.using(eager="tensorflow"), tf.GradientTape() as tape:
        for name in _variables(point):
            tape.watch(given[name])
        result = rule_examples._attempt(
            tnp, point, {name: tensor_array(value) for name, value in given.items()}
        )
        if isinstance(result, op_harness.Raised):
            return f"raises {result.error.__name__}: {result.text}"
        loss = tf.zeros((), tf.float64)
        for part in _parts(result):
            real = part if _is_real(part) else tf.math.real(part) + 2 * tf.math.imag(part)
            loss += tf.reduce_sum(_weights(part.shape.as_list()) * tf.cast(real, tf.float64))
    try:
        found = tape.gradient(loss, given, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    return {name: np.asarray(tf.convert_to_tensor(found[name])) for name in _variables(point)}


def difference(point: Point) -> str | None:
    """Return the difference between the gradients, or None. Points without a derivative in NumPy are
    skipped.
    """
    wanted = by_differences(point)
    if wanted is None:
        return None
    got = by_tape(point)
    if isinstance(got, str):
        return got
    for name, right in wanted.items():
        there = np.isfinite(right)
        scale = 1 + np.max(np.abs(right[there]), initial=0.0)
        if not np.allclose(got[name][there], right[there], rtol=0, atol=_TOLERANCE * scale):
            return f"d/d{name} = {got[name].tolist()} where differences give {right.round(6).tolist()}"
    return None
