"""On the host the op library returns exactly what NumPy returns: the same type, flags, base and strides."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from np2tf import tnp
from np2tf.arrays.front.numpy_functions import WRITES, Function, universal_function
from np2tf.core import rules
from tests.helpers import rule_examples
from tests.helpers.op_harness import Raised
from tests.helpers.rule_examples import Point

CHAPTERS = [stem for stem in rules.chapters() if stem != "removed"]


def _described(value: Any, operands: dict[str, Any]) -> Any:
    """The parts of a result that a caller can tell apart, the numbers themselves left aside."""
    if isinstance(value, np.ndarray):
        owners = [name for name, operand in operands.items() if operand is value or operand is value.base]
        flags = {name: getattr(value.flags, name) for name in ("c_contiguous", "f_contiguous", "writeable")}
        base = type(value.base), value.flags.owndata
        return type(value), value.dtype, value.shape, value.strides, flags, base, owners
    if isinstance(value, (tuple, list)):
        return type(value), [_described(item, operands) for item in value]
    return type(value)


def _result(module: Any, point: Point) -> Any:
    given = rule_examples._given(point)
    try:
        result = eval(point.expression, {"np": module, **given})
    except Exception as error:
        return Raised(type(error), str(error))
    # The op library's functions return the array that they write to.
    return None if point.rule.writes else _described(result, given)


def _points(chapter: str) -> Iterator[Point]:
    for dtype in ("float64", "int32", "complex128"):
        yield from rule_examples.points(chapter, (dtype,), tuple(rule_examples.SHAPES))


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.filterwarnings("ignore")
def test_native_names_return_what_numpy_returns(chapter: str) -> None:
    """Every example of every native name."""
    with np.errstate(all="ignore"):
        wrong = [
            (str(point), _result(np, point), _result(tnp, point))
            for point in _points(chapter)
            if _result(np, point) != _result(tnp, point)
        ]
    assert wrong == []


def _functions() -> dict[str, Any]:
    """Every function and ufunc of the rules that NumPy has under its qualified name."""
    found = {}
    for name, rule in rules.rules().items():
        if rule.chapter == "removed" or name.endswith(".at"):
            continue
        try:
            value = operator.attrgetter(name.removeprefix("numpy."))(np)
        except AttributeError:
            continue
        if callable(value) and not isinstance(value, type) and ".ndarray." not in name:
            found[name] = value
    return found


def test_every_name_hands_host_operands_to_numpy_as_they_are() -> None:
    """Also a name without examples: NumPy's function gets the very objects, and its result comes back."""
    x, options, answer = np.ones(2), {"key": [1.0, "text"]}, object()
    calls = []

    def recorder(*args: Any, **kwargs: Any) -> object:
        calls.append((args, kwargs))
        return answer

    for name in _functions():
        calls.clear()
        result = Function(recorder, name)(x, 2, options, key=options)
        assert result is (x if name in WRITES else answer), name
        ((args, kwargs),) = calls
        assert args[0] is x, name
        assert args[2] is kwargs["key"] is options, name


def test_every_name_stands_for_numpys() -> None:
    """A front's function is NumPy's own object; each ufunc of NumPy has one universal function of np2tf."""
    for name, value in _functions().items():
        tnp_object = operator.attrgetter(name.removeprefix("numpy."))(tnp)
        if isinstance(value, np.ufunc):
            assert tnp_object is universal_function(value), name
        elif tnp_object is not value:
            assert tnp_object.numpy == value, name
