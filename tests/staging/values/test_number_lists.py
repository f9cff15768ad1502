"""A stand-in for a list of numbers passes for a list, and refuses every use that would see another list."""

from __future__ import annotations

import collections.abc
import copy
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import StagingError
from np2tf.staging.values.number_list import NumberList, number_type


def _take_apart(values: Any) -> Any:
    match values:
        case [first, *_]:
            return first
    return None


#: Uses of a list for which Python needs its items or its length.
USES: dict[str, Callable[[Any], Any]] = {
    "len": len,
    "iter": iter,
    "list": list,
    "tuple": tuple,
    "set": set,
    "sorted": sorted,
    "sum": sum,
    "max": max,
    "reversed": reversed,
    "zip": lambda values: list(zip(values, values, strict=True)),
    "unpacking": lambda values: (lambda *items: items)(*values),
    "a pattern": _take_apart,
    "str": str,
    "repr": repr,
    "format": lambda values: f"{values}",
    "percent": lambda values: "%s" % values,  # noqa: UP031
    "membership": lambda values: 3 in values,
    "index": operator.index,
    "float": float,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "np.asarray": np.asarray,
    "np.sum": np.sum,
    "joining": lambda values: values + [1],  # noqa: RUF005
    "joining on the right": lambda values: [1] + values,  # noqa: RUF005
    "repetition": lambda values: values * 2,
    "repetition on the left": lambda values: 2 * values,
    "repetition by a number of NumPy's": lambda values: values * np.int64(2),
    "equality": lambda values: values == [1, 2, 3],
    "inequality": lambda values: values != [1, 2, 3],
    "order": lambda values: values < [2],
    "joining in place": lambda values: operator.iadd(values, [1]),
    "assignment": lambda values: operator.setitem(values, 0, 1),
    "deletion": lambda values: operator.delitem(values, 0),
    "an index of another type": lambda values: values[1.0],
    "a step of zero": lambda values: values[::0],
    **{f"the method {name}": operator.attrgetter(name) for name in dir(list) if not name.startswith("__")},
}


@pytest.fixture
def numbers() -> NumberList:
    return NumberList(np2tf.device_put(np.array([1, 2, 3])))


@pytest.mark.parametrize("use", USES)
def test_a_use_is_refused(use: str, numbers: NumberList) -> None:
    with pytest.raises(StagingError):
        USES[use](numbers)


def test_it_passes_for_a_list(numbers: NumberList) -> None:
    assert isinstance(numbers, list)
    assert isinstance(numbers, collections.abc.Sequence)
    assert not isinstance(numbers, (tuple, np.ndarray))
    with pytest.raises(TypeError):
        hash(numbers)
    assert numbers


def test_the_types_of_items() -> None:
    assert number_type([1, -2]) is int
    assert number_type([1.0, float("nan")]) is float
    for values in ([], [1, 2.0], [True, 1], [1, 2**63], ["a"], [np.int64(1)], [np.float64(1)], [[1]]):
        assert number_type(values) is None
