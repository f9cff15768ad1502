"""Writes the changes of a compiled call into the caller's arrays, lists, dicts and objects.

If other threads or processes may write to an array while the call runs, the call works on a private copy, and
only the elements that it has changed are written: an element that the call has left alone may have been
written by another thread in the meantime. An element that gets the value that it had is left alone, too. In
NumPy such a write can be the last only if two threads write one element without an order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.core.containers import STRUCTURES
from np2tf.staging.objects.user_objects import assign, with_attributes
from np2tf.staging.process.boundary import variables
from np2tf.staging.process.concurrency import may_be_written_by_others

# -- arrays --------------------------------------------------------------------------------------------------

#: If others may write to them, arrays of up to this many bytes are copied although the call only reads them:
#: it may read an element several times, and must find one value each time.
COPIED_BYTES = 1 << 16
#: Unsigned integers of these sizes tell whether the bits of two numbers differ.
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def private_copies(arrays: Sequence[Any], written_places: Collection[int]) -> dict[int, np.ndarray]:
    """Return copies of the arrays that others may write to while a call runs, by their places."""
    return {
        k: np.array(array)
        for k, array in enumerate(arrays)
        if type(array) is not scalar
        and may_be_written_by_others(array)
        and (k in written_places or array.nbytes <= COPIED_BYTES)
    }


def prepare_writes(
    arrays: Sequence[Any], values: Sequence[tf.Tensor], before: Sequence[np.ndarray | None]
) -> Callable[[], None]:
    """Return a function that gives every array its new value, and has nothing left to do that could fail.

    A value that lies in another array's memory is copied before that is written.

    Args:
        before: the private copies that the call has read; None for an array that is written as a whole.
    """
    hosts = [None if is_array(array) or type(array) in variables else array for array in arrays]
    new_values: list[Any] = []
    for k, (host, value) in enumerate(zip(hosts, values, strict=True)):
        if host is None:
            new_values.append(value)
            continue
        view = np.asarray(memoryview(value))
        earlier = [host for host in hosts[:k] if isinstance(host, np.ndarray)]
        new_values.append(view.copy() if any(np.may_share_memory(view, host) for host in earlier) else view)

    def write() -> None:
        for array, host, value, old in zip(arrays, hosts, new_values, before, strict=True):
            if host is not None and old is not None:
                np.copyto(host, value, where=_differs(value, old))
            elif host is not None:
                host[...] = value
            elif is_array(array):
                array.store(value)
            else:
                array.assign(value)

    return write


def _differs(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Return where the bits of two arrays of one shape and dtype differ."""
    size = new.dtype.itemsize
    unit = _BITS[min(size, 8)]
    pairs = (np.ascontiguousarray(array).reshape(-1).view(unit) for array in (new, old))
    differ = np.not_equal(*pairs)
    if size > 8:
        differ = differ.reshape(-1, size // 8).any(axis=1)
    return differ.reshape(new.shape)


# -- lists, dicts and objects --------------------------------------------------------------------------------


class ArgumentRef(NamedTuple):
    """Stands in a result for the `place`-th list, dict or object of the caller."""

    place: int


class NewObject(NamedTuple):
    """Stands in a result for the `number`-th object that the function has made."""

    number: int
    kind: type
    state: dict[str, Any]


class NewItems(NamedTuple):
    """The items that a changed list or dict gets, by their keys, and the items that are appended to a list.

    The other items are left alone, because other threads may write them in the meantime.
    """

    items: dict[Any, Any]
    appended: list[Any]


class Outcome(NamedTuple):
    """The result of a trace: the function's result, and the new contents of changed arguments: new items, all
    items, or new attributes.
    """

    result: Any
    changes: dict[int, Any]


def is_plain(outcome: Outcome) -> bool:
    """Return whether a result can be returned unchanged, because it neither contains nor changes the caller's
    objects.
    """
    return not outcome.changes and not _holds_marks(outcome.result)


def _holds_marks(value: Any) -> bool:
    if isinstance(value, (ArgumentRef, NewObject)):
        return True
    return any(map(_holds_marks, STRUCTURES.items(value)))


def prepare_changes(outcome: Outcome, holders: Sequence[Any]) -> tuple[Any, Callable[[], None]]:
    """Return the result with the caller's own lists, dicts and objects in it, and a function that changes
    these.
    """
    instances: dict[int, Any] = {}
    changes = {place: _restore_arguments(new, holders, instances) for place, new in outcome.changes.items()}
    result = _restore_arguments(outcome.result, holders, instances)

    def change() -> None:
        for place, new in changes.items():
            holder = holders[place]
            container = STRUCTURES.find(holder)
            if type(new) is NewItems:
                for key, item in new.items.items():
                    holder[key] = item
                if new.appended:
                    holder.extend(new.appended)
            elif container is not None and container.fill is not None:
                container.fill(holder, new)
            else:
                assign(holder, new)

    return result, change


def _restore_arguments(value: Any, holders: Sequence[Any], instances: dict[int, Any]) -> Any:
    kind = type(value)
    if kind is ArgumentRef:
        return holders[value.place]
    if kind is NewObject:
        if value.number not in instances:
            instances[value.number] = with_attributes(
                value.kind, _restore_arguments(value.state, holders, instances)
            )
        return instances[value.number]
    return STRUCTURES.map_items(lambda item: _restore_arguments(item, holders, instances), value)
