"""A tf.Tensor or tf.Variable is an operand of every function of `tnp`, eagerly and in graphs of any shapes.

unknown_shape_limits.toml lists the expressions that have no meaning there, with the reason; an entry that
works by now fails. (tests/conformance/test_unknown_shapes.py does the same with arrays of ours.)
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.dispatch import unknown_shapes
from np2tf.core import rules
from tests.conformance.test_unknown_shapes import LIMITS
from tests.helpers import op_harness, rule_examples
from tests.helpers.rule_examples import Point

#: Knowledge that a graph has of the shapes -> the tables of limits.
KNOWN = {"shape": ("known",), "some": ("length",), "rank": ("length", "lengths"), "nothing": ("rank",)}
OPERANDS = {"a", "b", "v", "s", "k"}
#: Refused for arrays of ours only: raw tensors cannot be written to, and share no memory that anybody sees.
BETTER = {"np.may_share_memory(a, a)"}
#: At least so many examples give what NumPy gives.
LEAST = {"shape": 300, "some": 250, "rank": 240, "nothing": 320}


@lru_cache(maxsize=1)
def points() -> list[Point]:
    """The examples that only call functions of NumPy's on their operands, over matrices of float64."""
    found = []
    for chapter in rules.chapters():
        if chapter not in ("removed", "methods", "random", "io"):
            found += rule_examples.points(chapter, ("float64",), ("matrix",))
    # A raw tensor cannot be written to: a function that writes gives a new tensor.
    found = [point for point in found if point.names and not point.rule.writes]
    return [point for point in found if _only_calls(point) and not _is_refused(point)]


def _is_refused(point: Point) -> bool:
    return isinstance(rule_examples.expected(point), op_harness.Raised)


def _only_calls(point: Point) -> bool:
    """True if operands are arguments only: nothing asks a raw tensor to behave as an array."""
    tree = ast.parse(point.expression, mode="eval")
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in OPERANDS]
    return all(isinstance(parents[node], (ast.Call, ast.List, ast.Tuple, ast.keyword)) for node in used)


def failing(known: str) -> dict[str, str]:
    """Expression -> what differs from NumPy, in a graph that knows so much of the shapes."""
    answers = zip(points(), rule_examples.traced(points(), False, known, lambda tensor: tensor), strict=True)
    found = {
        point.expression: rule_examples.difference(rule_examples.expected(point), answer)
        for point, answer in answers
    }
    return {expression: problem for expression, problem in found.items() if problem is not None}


@pytest.mark.parametrize("known", [*list(KNOWN)[:-1], pytest.param("nothing", marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore")
def test_raw_tensors_work_or_are_refused(known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a graph."""
    monkeypatch.setattr(unknown_shapes, "MOST_AXES", 2)
    found = failing(known)
    tables = [examples for table in KNOWN[known] for examples in LIMITS[table].values()]
    listed = {example for examples in tables for example in examples} - BETTER
    assert {example: problem for example, problem in found.items() if example not in listed} == {}
    assert {problem for problem in found.values() if not problem.startswith("raises ")} == set()
    assert listed & {point.expression for point in points()} - set(found) == set(), "stale limits"
    assert len(points()) - len(found) >= LEAST[known]


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
@pytest.mark.filterwarnings("ignore")
def test_raw_tensors_work_eagerly(make: Any) -> None:
    """Also with a function that NumPy computes: none of them raises anything but NumPy's errors."""
    wrong = {}
    for point in points():
        given = {name: make(value) for name, value in rule_examples._given(point).items()}
        answer = rule_examples._attempt(tnp, point, given)
        if not isinstance(answer, op_harness.Raised):
            answer = [rule_examples._known(part) for part in answer]
        problem = rule_examples.difference(rule_examples.expected(point), answer)
        if problem is not None:
            wrong[point.expression] = problem
    assert wrong == {}


@pytest.mark.parametrize("autograph", [True, False])
def test_plain_tensorflow_functions(autograph: bool) -> None:
    """`tf.function` with its defaults leaves the op library alone."""

    @tf.function(autograph=autograph, input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def flat(x: tf.Tensor) -> Any:
        moved = tnp.squeeze(tnp.flip(tnp.transpose(x))[None], axis=0)
        return tf.convert_to_tensor(tnp.ravel(moved)), tf.convert_to_tensor(tnp.sum(x, axis=0))

    ravelled, summed = flat([[1.0, 2.0], [3.0, 4.0]])
    assert ravelled.numpy().tolist() == [4.0, 2.0, 3.0, 1.0]
    assert summed.numpy().tolist() == [4.0, 6.0]


def test_in_a_keras_layer() -> None:
    """A layer's `call` gets tensors, eagerly and in `predict`'s graph."""

    class Energy(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return tf.convert_to_tensor(tnp.mean(tnp.square(tnp.flip(x, axis=1)), axis=1))

    layer = Energy()
    values = [[1.0, 2.0], [3.0, 4.0]]
    assert layer(tf.constant(values)).numpy().tolist() == [2.5, 12.5]
    model = tf.keras.Sequential([tf.keras.Input((2,)), layer])
    assert model.predict(tf.constant(values), verbose=0).tolist() == [2.5, 12.5]


def test_variables_take_part_in_gradients() -> None:
    """An eager Variable is read under the tape."""
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tnp.sum(tnp.square(v))
    assert np2tf.device_get(tape.gradient(y.tensor, v)).tolist() == [2.0, 4.0, 6.0]
