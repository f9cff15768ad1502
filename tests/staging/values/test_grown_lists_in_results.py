"""Lists that a staged loop has made longer are Python's lists in a result, whatever holds them there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import np2tf


class Result(NamedTuple):
    """A named tuple that holds a list."""

    rows: Any
    total: Any


class Holder:
    """An object that holds a list."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows


def grown(x: Any) -> Any:
    """The numbers of `x`, one by one in a list."""

    def step(i: Any, rows: Any) -> Any:
        rows.append(x[i] * 2)
        return rows

    return np2tf.for_loop(range(x.shape[0]), step, [])


def in_named_tuple(x: Any, log: Any) -> Any:
    return Result(grown(x), x.sum())


def in_nested_tuples(x: Any, log: Any) -> Any:
    return (Result({"rows": grown(x)}, [grown(x + 1)]),)


def beside_a_change(x: Any, log: Any) -> Any:
    log.append(x[0])
    return grown(x)


def in_a_change(x: Any, log: Any) -> Any:
    log.append(grown(x))
    return x.sum()


def in_a_new_object(x: Any, log: Any) -> Any:
    return Holder(grown(x))


def described(value: Any) -> Any:
    """A value as plain data, with the classes of all that is in it."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(item) for item in value]
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return described(vars(value)) if isinstance(value, Holder) else (type(value).__name__, repr(value))


FUNCTIONS = [in_named_tuple, in_nested_tuples, beside_a_change, in_a_change, in_a_new_object]


@pytest.mark.parametrize("tier", ["compile", "host"])
@pytest.mark.parametrize("count", [0, 1, 70])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_grown_lists_in_results(function: Callable[..., Any], count: int, tier: str) -> None:
    """The result and the argument hold what they hold on NumPy, of the same classes."""
    x = np.arange(count + 1.0)[1:]
    if not count and function is beside_a_change:
        x = np.arange(1.0)
    expected_log: list[Any] = [7]
    expected = function(x, expected_log)
    jitted = np2tf.jit(function, tier=tier)
    for _ in range(2):
        log: list[Any] = [7]
        assert described(jitted(x, log)) == described(expected)
        assert described(log) == described(expected_log)
    if tier == "compile":
        assert jitted.compiled_count + jitted.graph_count == 2
