"""Tells whether arguments share memory, in a time that grows with their number and not with its square."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from np2tf.tnp._array.ndarray import is_array, storage_of

#: So many arrays are compared pair by pair, which costs less than sorting them.
_MOST_PAIRED = 8


def share_memory(arrays: Sequence[Any]) -> bool:
    """Return whether two different arrays among `arrays` may overlap."""
    if len(arrays) < 2:
        return False
    buffers = [a for a in arrays if isinstance(a, np.ndarray) and not is_array(a) and a.size]
    storages = [storage_of(a) for a in arrays if is_array(a)]
    if len({id(storage) for storage in storages}) < len(storages):
        return True
    pairs = combinations(buffers, 2) if len(buffers) <= _MOST_PAIRED else _neighbours(buffers)
    return any(_overlap(a, b) for a, b in pairs)


def _neighbours(buffers: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the pairs of arrays whose ranges of addresses overlap."""
    ranges = sorted((*_addresses(buffer), place) for place, buffer in enumerate(buffers))
    before: list[tuple[int, int]] = []
    for start, end, place in ranges:
        before = [(last, earlier) for last, earlier in before if last > start]
        for _, earlier in before:
            yield buffers[earlier], buffers[place]
        before.append((end, place))


def _addresses(buffer: np.ndarray) -> tuple[int, int]:
    """Return the first address of an array, and the address behind its last byte."""
    if buffer.flags.c_contiguous:
        start = buffer.__array_interface__["data"][0]
        return start, start + buffer.nbytes
    return np.lib.array_utils.byte_bounds(buffer)


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
