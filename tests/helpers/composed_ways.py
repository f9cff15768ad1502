"""Runs many expressions as one function, in every way of np2tf, and finds those that differ from NumPy."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from np2tf.core.counts import counts
from tests.helpers.composed_expressions import ARRAYS, NUMBERS, SHAPE, Expression, arguments, same
from tests.helpers.differential import load, translation

#: What the numbers are in the calls, and which arrays: the last call repeats the first.
CALLS = ((0, 0.7, 3.0), (1, 0.3, 2.0), (1, -1.0, 0.0), (0, 0.7, 3.0))
_PARAMETERS = (*ARRAYS, *NUMBERS)
#: XLA has no kernel for this operation, so that a function with it is a graph.
_GRAPH_ONLY = "np.linalg.eigvalsh(np.ones((2, 2)) + t)"

Caller = Callable[[dict[str, Any]], Sequence[Any]]


@dataclass(frozen=True)
class Difference:
    """An expression with another result than NumPy's.

    Attributes:
        expression: the expression.
        way: the way in which it ran.
        text: what differs.
    """

    expression: Expression
    way: str
    text: str

    def __str__(self) -> str:
        return f"{self.way}: {self.expression.text}: {self.text}"


class NotRun(Exception):
    """Not all expressions run in this way."""


def source_of(expressions: Sequence[Expression], *more: str) -> str:
    """Return a module with a function of the arguments that returns all expressions."""
    results = "".join(f"        {text},\n" for text in (*(e.text for e in expressions), *more))
    return f"import numpy as np\n\n\ndef program({', '.join(_PARAMETERS)}):\n    return (\n{results}    )\n"


def _function(expressions: Sequence[Expression], *more: str) -> Callable[..., Any]:
    return load(translation(source_of(expressions, *more)))["program"]


@contextlib.contextmanager
def _jitted(expressions: Sequence[Expression], compiled: bool) -> Iterator[Caller]:
    function = _function(expressions, *([] if compiled else [_GRAPH_ONLY]))

    def call(given: dict[str, Any]) -> Sequence[Any]:
        before = counts.compiled, counts.graph
        results = function(**given)
        ran = counts.compiled - before[0], counts.graph - before[1]
        if not ran[0 if compiled else 1]:
            raise NotRun(f"compiled {ran[0]}, graphs {ran[1]}")
        return results[: len(expressions)]

    with np2tf.config.using(tier="compile"):
        yield call


def _tensors(given: dict[str, Any]) -> list[tf.Tensor]:
    return [tf.constant(given[name], np.asarray(given[name]).dtype) for name in _PARAMETERS]


@contextlib.contextmanager
def _traced(expressions: Sequence[Expression]) -> Iterator[Caller]:
    function = tf.function(_function(expressions))
    yield lambda given: function(*_tensors(given))


@contextlib.contextmanager
def _saved(expressions: Sequence[Expression]) -> Iterator[Caller]:
    specs = [tf.TensorSpec(SHAPE, np.dtype(dtype), name) for name, dtype in ARRAYS.items()]
    specs += [tf.TensorSpec((), tf.float64, name) for name in NUMBERS]
    with tempfile.TemporaryDirectory() as folder:
        np2tf.save(_function(expressions), folder, signatures=[specs])
        model = tf.saved_model.load(folder)
        yield lambda given: model(*_tensors(given))


@contextlib.contextmanager
def _eager(expressions: Sequence[Expression]) -> Iterator[Caller]:
    function = _function(expressions)
    with np2tf.config.using(jit="off", eager="tensorflow"):
        yield lambda given: function(**given)


WAYS: dict[str, Callable[[Sequence[Expression]], contextlib.AbstractContextManager[Caller]]] = {
    "xla": lambda expressions: _jitted(expressions, True),
    "graph": lambda expressions: _jitted(expressions, False),
    "tf.function": _traced,
    "saved model": _saved,
    "eager": _eager,
}
#: where numbers arrive as arrays of no axes
_STRONG = ("tf.function", "saved model")


def differences(expressions: Sequence[Expression], way: str, seed: int = 0) -> list[Difference]:
    """Return the expressions that differ from NumPy, run as one function; by parts if they cannot be."""
    try:
        return list(_differences(expressions, way, seed))
    except Exception as error:  # anything that a program may meet
        if len(expressions) == 1:
            return [Difference(expressions[0], way, f"{type(error).__name__}: {str(error)[:300]}")]
        half = len(expressions) // 2
        return differences(expressions[:half], way, seed) + differences(expressions[half:], way, seed)


def _differences(expressions: Sequence[Expression], way: str, seed: int) -> Iterator[Difference]:
    first: list[np.ndarray] = []
    exact: list[np.ndarray] = []
    found: dict[int, str] = {}
    with WAYS[way](expressions) as call, np.errstate(all="ignore"):
        for arrays, *numbers in CALLS:
            given = arguments(seed + arrays) | dict(zip(NUMBERS, numbers))
            results = [np.asarray(result) for result in call(_copied(given))]
            if way in _STRONG:
                given |= {name: np.float64(given[name]) for name in NUMBERS}
            knowledge = [expression.known(given) for expression in expressions]
            for k, (known, result) in enumerate(zip(knowledge, results, strict=True)):
                problem = known.differs(result)
                if problem is not None:
                    found.setdefault(k, f"{problem}; numbers {numbers}, arguments {seed + arrays}")
            if not first:
                first, exact = results, [(known.error == 0) & ~known.free for known in knowledge]
        # The last call repeats the first. Where rounding may differ, fused products may have made it differ.
        for k, (before, after) in enumerate(zip(first, results)):
            if (
                before.shape != after.shape
                or not (same(before, after, np.zeros(before.shape)) | ~exact[k]).all()
            ):
                found.setdefault(k, "the same call gave another result")
    for k, text in found.items():
        yield Difference(expressions[k], way, text)


def _copied(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in given.items()}


def reduced(difference: Difference, seed: int = 0, rounds: int = 12, at_once: int = 40) -> Difference:
    """Return a difference of a smaller expression, by trying many smaller ones as one function."""
    for _ in range(rounds):
        tried = {part.text: part for part in difference.expression.simpler()}
        valid = [part for part in tried.values() if part.operation is not None and _is_valid(part, seed)]
        smaller = sorted(valid, key=lambda part: len(part.text))
        smaller = [part for part in smaller if len(part.text) < len(difference.expression.text)]
        for start in range(0, len(smaller), at_once):
            found = differences(smaller[start : start + at_once], difference.way, seed)
            if found:
                difference = min(found, key=lambda each: len(each.expression.text))
                break
        else:
            return difference
    return difference


def _is_valid(expression: Expression, seed: int) -> bool:
    try:
        expression.known(arguments(seed) | dict(zip(NUMBERS, CALLS[0][1:])))
    except Exception:  # NumPy has no such operation
        return False
    return True
