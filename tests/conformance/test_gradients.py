"""Every derivative of an example of rules/*.toml is right: tapes against finite differences.

Examples over matrices of float64, where functions neither jump nor bend. Examples that differ are listed
with the reason; an entry that no longer differs fails.
"""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.core import rules
from tests.helpers import gradient_points

BY_NUMPY = "computed by NumPy: TensorFlow sees no connection, and a tape gives None"
NUMBERS = "Python's numbers: no tensor is left to differentiate"
SINGLE = "differences of float32 are right to two digits; the gradient itself is exact"
#: Examples whose gradients are not what differences give, and why.
LIMITS = {
    "np.asarray(a, dtype=np.float32)": SINGLE,
    "np.astype(a, np.float32)": SINGLE,
    "a.astype(np.float32)": SINGLE,
    "np.linalg.cholesky(s)": "of a symmetric matrix: TensorFlow spreads the gradient over both triangles",
    "np.sort(np.linalg.eig(s)[0].real)": BY_NUMPY,
    "np.sort(np.linalg.eigvals(s).real)": BY_NUMPY,
    "v.item(1)": NUMBERS,
    "a.sum().item()": NUMBERS,
    "a.tolist()": NUMBERS,
}
CHAPTERS = [stem for stem in rules.chapters() if stem != "removed" and gradient_points.points(stem)]
LEAST = 400


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.filterwarnings("ignore")
def test_gradients_are_right(chapter: str) -> None:
    """Of a chapter's examples, with respect to every operand."""
    points = gradient_points.points(chapter)
    found = {point.expression: gradient_points.difference(point) for point in points}
    wrong = {name for name, problem in found.items() if problem is not None}
    assert {name: found[name] for name in wrong - set(LIMITS)} == {}
    assert (set(LIMITS) & set(found)) - wrong == set(), "stale limits"


def test_limits_are_about_examples() -> None:
    """Every limit is about an example of a rule; many examples have no limit."""
    every = {point.expression for chapter in CHAPTERS for point in gradient_points.points(chapter)}
    assert set(LIMITS) <= every
    assert len(every - set(LIMITS)) >= LEAST


def test_a_wrong_gradient_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is not blind."""
    (point,) = [p for p in gradient_points.points("ufuncs") if p.expression == "np.sin(a)"]
    assert gradient_points.difference(point) is None
    # Not by setattr, which would bind NumPy's name as well.
    monkeypatch.setitem(vars(gradient_points.tnp), "sin", tnp.cos)
    assert "where differences give" in str(gradient_points.difference(point))


def gradient(function: object, *operands: object) -> list[list[float]]:
    """Of the sum of a function's result, with respect to each operand."""
    tensors = [tf.constant(operand, tf.float64) for operand in operands]
    with np2tf.config.using(eager="tensorflow"), tf.GradientTape() as tape:
        tape.watch(tensors)
        result = tnp.sum(function(*map(tensor_array, tensors))).tensor
    return [found.numpy().tolist() for found in tape.gradient(result, tensors)]


def test_equal_operands() -> None:
    """Where two operands are equal, the gradient is not counted twice."""
    found = gradient(tnp.hypot, [3.0, -2.0], [3.0, 2.0])
    np.testing.assert_allclose(np.abs(found), np.full((2, 2), 0.5**0.5))


def test_no_gradient_is_nan_where_a_branch_is_not_taken() -> None:
    """A branch that is not taken does not spoil the branch that is taken."""
    assert gradient(tnp.hypot, [0.0, 1.0], [0.0, 0.0])[0][1] == 1.0
    assert np.isfinite(gradient(tnp.cbrt, [8.0, 1.0])).all()
    assert np.isfinite(gradient(tnp.sinc, [0.0, 0.5])).all()
    assert np.isfinite(gradient(lambda x: tnp.where(x > 0, x, 0.0) ** 2, [0.0, 2.0])).all()
