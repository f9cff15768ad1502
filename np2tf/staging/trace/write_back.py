"""Writes the changes of a compiled call into the caller's arrays.

If other threads or processes may write to an array while the call runs, the call works on a private copy, and
only the elements that it has changed are written: an element that the call has left alone may have been
written by another thread in the meantime. An element that gets the value that it had is left alone, too. In
NumPy such a write can be the last only if two threads write one element without an order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.staging.process.boundary import variables
from np2tf.staging.process.concurrency import may_be_written_by_others

#: If others may write to them, arrays of up to this many bytes are copied although the call only reads them:
#: it may read an element several times, and must find one value each time.
COPIED_BYTES = 1 << 16
#: Unsigned integers of these sizes tell whether the bits of two numbers differ.
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def private_copies(arrays: Sequence[Any], written_places: Collection[int]) -> dict[int, np.ndarray]:
    """Return copies of the arrays that others may write to while a call runs, by their places.

    Args:
        arrays: the arrays that the call reads.
        written_places: the places of the arrays that the call writes.
    """
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
        arrays: the arrays.
        values: their new values.
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
