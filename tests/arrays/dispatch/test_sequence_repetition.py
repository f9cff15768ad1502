"""A number times a list, tuple or string repeats the sequence, as in NumPy; an array multiplies elements."""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp

NUMBERS = {
    "int": lambda m: m.prod(m.array([2, 3])),
    "float": lambda m: m.sum(m.array([1.5])),
    "bool": lambda m: m.any(m.array([1])),
    "complex": lambda m: m.sum(m.array([1j])),
    "array": lambda m: m.array(2),
}


def outcome(function: Any, *operands: Any) -> Any:
    try:
        found = function(*operands)
    except TypeError:
        return TypeError
    return (type(found), found) if isinstance(found, (list, tuple, str)) else np.asarray(found).tolist()


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
@pytest.mark.parametrize("function", [operator.mul, operator.add, operator.sub])
@pytest.mark.parametrize("sequence", [[1, 2], (1, 2), "ab"])
@pytest.mark.parametrize("number", NUMBERS)
def test_as_in_numpy(number: str, sequence: Any, function: Any, eager: str) -> None:
    def result_of(m: ModuleType) -> Any:
        n = NUMBERS[number](m)
        return outcome(function, n, sequence), outcome(function, sequence, n)

    with np2tf.config.using(eager=eager):
        found = result_of(tnp)
    assert found == result_of(np)


def test_staged() -> None:
    """How often is data: the function runs as Python, and gives what NumPy gives."""

    def levels(x: Any) -> Any:
        return tnp.array([1.0, 2.0] * tnp.sum(x)) + 1

    with np2tf.config.using(tier="compile"):
        found = np2tf.jit(levels)(tnp.array([1, 2]))
    assert np.asarray(found).tolist() == [2.0, 3.0] * 3
