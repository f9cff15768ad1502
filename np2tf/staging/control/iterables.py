"""`range`, `enumerate`, `zip` and `reversed` with operands that may be staged, for `for_loop`.

For Python operands these are the builtins themselves.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, weak_scalar
from np2tf.arrays.array.sequences import NumberSequence
from np2tf.arrays.functions.ranges import arange
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.path_dependent import as_index
from np2tf.arrays.operands.staged_numbers import known_int
from np2tf.arrays.ragged import RaggedArray
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.symbolic_integers import lower_bound as lower
from np2tf.arrays.tensors.symbolic_integers import upper_bound as upper
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import RangeStepError, ShapeNeededError
from np2tf.staging.values.number_list import NumberList
from np2tf.staging.values.staged_list import StagedList


@dataclass(frozen=True)
class StagedIterable:
    """An iterable whose length may be known only at run time, and that a staged counter can index."""

    length: Any
    item: Callable[[Any], Any]
    maximum: int | None = None

    def __iter__(self) -> Iterator[Any]:
        if not isinstance(self.length, int):
            raise ShapeNeededError("iteration over a range that is known only at run time")
        return (self.item(k) for k in builtins.range(self.length))


class StagedRange(StagedIterable, NumberSequence):
    """A range from `ends` (start, stop and step) whose length is known only at run time."""

    def __init__(
        self, ends: tuple[Any, Any, int], length: Any, item: Callable[[Any], Any], maximum: int | None
    ) -> None:
        super().__init__(length, item, maximum)
        object.__setattr__(self, "_ends", ends)

    def make_array(self, dtype: Any = None) -> ndarray:
        """Return the array of the numbers. Of a range without numbers NumPy makes an array of float64.

        Raises:
            StagingError: if the dtype could refuse some of the numbers.
        """
        if dtype is not None:
            raise ShapeNeededError("an array of a given dtype from a range that is known only at run time")
        record_violation(self.length < 1)
        return self.make_index()

    def make_index(self) -> ndarray:
        """Return the numbers as an index array."""
        return arange(*self._ends)  # type: ignore[attr-defined]


def _is_staged_number(value: Any) -> bool:
    return type(value) is scalar and tf.get_static_value(value.tensor) is None


def range(*ends: Any) -> Any:
    """Return ``range(stop)``, ``range(start, stop)`` or ``range(start, stop, step)``.

    Args:
        *ends: the start, stop and step; start and stop may be staged integers, the step must be known.

    Returns:
        A range; for staged ends, an iterable for `np2tf.for_loop`.

    Raises:
        StagingError: if the step is known only at run time.
        TypeError, ValueError: as the builtin.

    See https://docs.python.org/3/library/functions.html#func-range.
    """
    ends = tuple(map(as_index, ends))
    if not any(_is_staged_number(end) for end in ends):
        return builtins.range(*(end.__index__() if is_array(end) else end for end in ends))
    start, stop = (0, ends[0]) if len(ends) == 1 else ends[:2]
    step = ends[2] if len(ends) == 3 else 1
    if _is_staged_number(step):
        raise RangeStepError("a range whose step is known only at run time")
    step = int(step)
    first, last = known_int(start), known_int(stop)
    span = (stop - start) if step > 0 else (start - stop)
    size = abs(step)
    count = (span + (size - 1)) // size
    tensor = tf.maximum(count.tensor, 0) if is_array(count) else max(count, 0)
    low = lower(first) if step > 0 else _above(lower(last))
    high = _below(upper(last)) if step > 0 else upper(first)

    def item(k: Any) -> Any:
        value = start + k * step
        return (
            weak_scalar(value.tensor, int, SymInt.fresh(value.tensor, low, high))
            if is_array(value)
            else value
        )

    return StagedRange((start, stop, step), tensor, item, _positive(upper(known_int(count))))


def _positive(limit: int | None) -> int | None:
    return None if limit is None else max(limit, 0)


def _below(limit: int | None) -> int | None:
    return None if limit is None else limit - 1


def _above(limit: int | None) -> int | None:
    return None if limit is None else limit + 1


def sequence(iterable: Any) -> StagedIterable | None:
    """Return `iterable` in a form that a staged loop can index; None if only Python can iterate over it."""
    if isinstance(iterable, StagedIterable):
        return iterable
    if isinstance(iterable, builtins.range):
        return StagedIterable(len(iterable), lambda k: _range_item(iterable, k))
    if isinstance(iterable, StagedList):
        count = iterable.count
        return StagedIterable(
            count if isinstance(count, int) else count.tensor, iterable.__getitem__, iterable.capacity
        )
    if type(iterable) is RaggedArray and not tf.executing_eagerly():
        count = iterable.size
        return StagedIterable(count if isinstance(count, int) else count.tensor, iterable.__getitem__)
    if type(iterable) is NumberList:
        return StagedIterable(as_tensor(iterable.length), iterable.__getitem__)
    if is_array(iterable) and not tf.executing_eagerly() and iterable.shape:
        length = iterable.shape[0]
        if current_scope() is not None or not isinstance(length, int):
            return StagedIterable(length if isinstance(length, int) else length.tensor, iterable.__getitem__)
    return None


def _range_item(values: builtins.range, k: Any) -> Any:
    if not is_array(k):
        return values[k]
    value = values.start + k * values.step
    ends = sorted((values[0], values[-1])) if len(values) else (values.start, values.start)
    return weak_scalar(value.tensor, int, SymInt.fresh(value.tensor, ends[0], ends[1]))


def _sequences(*iterables: Any) -> list[StagedIterable] | None:
    """Return a sequence for each iterable; None if the builtin must be used."""
    if not any(
        is_array(iterable)
        or issubclass(type(iterable), (StagedIterable, StagedList, NumberList, RaggedArray))
        for iterable in iterables
    ):
        return None
    parts = [sequence(iterable) for iterable in iterables]
    if any(part is None for part in parts):
        return None
    return [part for part in parts if part is not None]


def enumerate(iterable: Any, start: int = 0) -> Any:
    """Return ``enumerate(iterable, start)``.

    Args:
        iterable: any iterable; a staged range or list, or an array of rank 1 or more.
        start: the first number.

    See https://docs.python.org/3/library/functions.html#enumerate.
    """
    parts = _sequences(iterable)
    if parts is None:
        return builtins.enumerate(iterable, start)
    return StagedIterable(parts[0].length, lambda k: (start + k, parts[0].item(k)), parts[0].maximum)


def zip(*iterables: Any, strict: bool = False) -> Any:
    """Return ``zip(*iterables)``.

    Args:
        *iterables: any iterables; staged ranges and lists, and arrays of rank 1 or more.
        strict: whether different lengths are an error.

    Raises:
        ValueError: if `strict` is true and the lengths differ.
        StagingError: if `strict` is true and a length is known only at run time.

    See https://docs.python.org/3/library/functions.html#zip.
    """
    parts = _sequences(*iterables)
    if parts is None:
        return builtins.zip(*iterables, strict=strict)
    lengths = [part.length for part in parts]
    if all(isinstance(length, int) for length in lengths):
        if strict and len(set(lengths)) > 1:
            raise ValueError("zip() arguments have different lengths")
        shortest = min(lengths)
    elif strict:
        raise ShapeNeededError("zip(strict=True) of sequences whose lengths are known only at run time")
    else:
        shortest = functools.reduce(tf.minimum, [tf.cast(length, tf.int64) for length in lengths])
    bounds = [
        length if isinstance(length, int) else part.maximum for length, part in builtins.zip(lengths, parts)
    ]
    upper_bound = min((limit for limit in bounds if limit is not None), default=None)
    return StagedIterable(shortest, lambda k: tuple(part.item(k) for part in parts), upper_bound)


def reversed(iterable: Any) -> Any:
    """Return ``reversed(iterable)``.

    Args:
        iterable: any sequence; a staged range or list, or an array of rank 1 or more.

    See https://docs.python.org/3/library/functions.html#reversed.
    """
    parts = _sequences(iterable)
    if parts is None:
        return builtins.reversed(iterable)
    (items,) = parts
    count: Any = items.length if isinstance(items.length, int) else weak_scalar(items.length, int)
    return StagedIterable(items.length, lambda k: items.item(count - 1 - k), items.maximum)
