"""The state of staged loops: one value, several values or none; and `np2tf.case` of staged tests."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.errors import LoopTypeError
from np2tf.core.operators import python_meaning

X = np.arange(1.0, 13.0)


def _one(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), lambda i, s: s + x[i], 0.0)


def _one_tuple(np2tf: Any, x: Any, n: int) -> Any:
    """The variable is a tuple itself."""
    return np2tf.for_loop(range(n), lambda i, pair: (pair[0] + x[i], pair[1] * 0.5), (0.0, x))


def _one_of_one(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), lambda i, s: (s[0] + x[i],), (x,))


def _several(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), lambda i, s, t: (s + x[i], t * 0.5), (0.0, x))


def _any_number(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), lambda i, *s: tuple(value + x[i] for value in s), (x,))


def _partial(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), functools.partial(lambda k, i, s: s * k + x[i], 0.5), x)


def _keep_going(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.for_loop(range(n), lambda i, s: s + x[i], x, keep_going=lambda s: s.sum() < 150)


def _while(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.while_loop(lambda s: s.sum() > 1, lambda s: s * 0.5, x)


def _while_tuple(np2tf: Any, x: Any, n: int) -> Any:
    return np2tf.while_loop(lambda s: s[0].sum() > 1, lambda s: (s[0] * 0.5, s[1] + 1), (x, 0))


def _none(np2tf: Any, x: Any, n: int) -> Any:
    out = x * 0

    def step(i: Any) -> None:
        out[i] = x[i] * 2

    np2tf.for_loop(range(n), step)
    return out


def _while_none(np2tf: Any, x: Any, n: int) -> Any:
    out = x * 1

    def step() -> None:
        out[:] = out * 0.5

    np2tf.while_loop(lambda: out.sum() > 1, step)
    return out


@pytest.mark.parametrize("n", [0, 3, 12])
@pytest.mark.parametrize(
    "loop",
    [
        *(_one, _one_tuple, _one_of_one, _several, _any_number, _partial, _keep_going, _while, _while_tuple),
        *(_none, _while_none),
    ],
)
def test_staged_loops_have_python_s_meaning(loop: Any, n: int) -> None:
    class Plain:
        for_loop = staticmethod(python_meaning("for_loop"))
        while_loop = staticmethod(python_meaning("while_loop"))

    right = loop(Plain, X.copy(), n)
    found = np2tf.jit(lambda x: loop(np2tf, x, n), tier="compile")(X.copy())
    assert (type(found) is tuple) == (type(right) is tuple)
    for one, other in zip(_items(found), _items(right), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12)


def _items(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


@pytest.mark.parametrize("step", [lambda s: s[0] * 0.5, lambda s: (s[0] * 0.5, 1)])
def test_a_tuple_that_does_not_stay_one(step: Any) -> None:
    """The error says so where a step of one variable does not return what it gets."""

    @np2tf.jit(tier="compile")
    def f(x: Any) -> Any:
        return np2tf.while_loop(lambda s: s[0].sum() > 1, step, (x,))

    told = f.explain(X)
    assert told.code == LoopTypeError.code
    assert "`s` is a tuple of 1 before the loop" in told.reason
    assert told.reason.endswith("; a step of one variable gets and returns the value itself")


def _graded(np2tf: Any, x: Any, i: int) -> Any:
    return np2tf.case(
        [
            (x[i] > 10, lambda: x * 2),
            (lambda: x[i] > 5, lambda: x - 1),
            (lambda: x[i] > 2, lambda: x * 0.5),
        ],
        default=lambda: -x,
    )


def _writing(np2tf: Any, x: Any, i: int) -> Any:
    """A branch writes to its operand, and adds to a list that it gets."""

    def first(y: Any, rows: list[Any]) -> Any:
        y[0] = 100.0
        return y, rows

    def second(y: Any, rows: list[Any]) -> Any:
        rows.append(y[i])
        return y, rows[1:]

    y, rows = np2tf.case(
        [(x[i] > 10, first), (lambda: x[i] > 5, second)], lambda y, rows: (y + 1, rows), x * 1, [x[1]]
    )
    return y, rows[0]


@pytest.mark.parametrize("i", range(12))
@pytest.mark.parametrize("function", [_graded, _writing])
def test_case_of_staged_tests(function: Any, i: int) -> None:
    class Plain:
        case = staticmethod(python_meaning("case"))

    right = function(Plain, X.copy(), i)
    found = np2tf.jit(lambda x: function(np2tf, x, i), tier="compile")(X.copy())
    for one, other in zip(_items(found), _items(right), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_only_the_taken_branch_of_a_case_writes() -> None:
    @np2tf.jit(tier="compile")
    def f(x: Any) -> Any:
        def first() -> None:
            x[0] = 1.0

        def second() -> None:
            x[1] = 2.0

        np2tf.case([(x[5] > 0, first), (lambda: x[6] > 0, second)], default=lambda: None)
        return tnp.sum(x)

    for at, place in ((5, 0), (6, 1), (7, None)):
        x = np.zeros(8)
        x[at] = 3.0
        f(x)
        assert np.flatnonzero(x).tolist() == sorted({at, place} - {None})
