"""Arrays and numbers that a transform differentiates (see `np2tf.tnp._warnings.followed_tensors`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._warnings.followed_tensors import are_followed, are_recorded, refuse_tensors


def is_followed(value: Any) -> bool:
    """Return whether a transform differentiates an array, a number or a tensor."""
    return any_followed((value,))


def any_followed(values: Iterable[Any]) -> bool:
    """Return whether a transform differentiates one of the values, also in lists, tuples and dicts."""
    return bool(transform_depth.depth) and are_followed(_tensors(values))


def any_recorded(values: Iterable[Any]) -> bool:
    """Return whether a tape records what is computed with one of the values, also in staged code."""
    return are_recorded(_tensors(values))


def refuse_to_leave(name: str | None, values: Iterable[Any]) -> None:
    """Check that no value is being differentiated, because `name` takes the values to the host.

    If `name` is None, the function of another package that the program has called is named.

    Raises:
        LeftTensorFlowError: a transform differentiates one of them.
    """
    if transform_depth.depth:
        refuse_tensors(name, _tensors(values))


def refuse_host_result(name: str, args: Iterable[Any], result: Any) -> None:
    """Check the arguments of a function of NumPy that has computed `result`. Integers have no derivative.

    Raises:
        LeftTensorFlowError: `result` is inexact, and a transform differentiates an argument.
    """
    if transform_depth.depth and _is_inexact(result):
        refuse_to_leave(name, args)


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values, also of lists, tuples and dicts, with the tensors of arrays."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())
        else:
            yield value.tensor if is_array(value) else value


def _is_inexact(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_is_inexact, result))
    return not isinstance(result, (np.ndarray, np.generic)) or result.dtype.kind not in "biu"
