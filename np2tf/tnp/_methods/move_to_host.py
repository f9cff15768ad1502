"""Move an array to NumPy's memory, if NumPy must see the memory: as records, as text, as another class."""

from __future__ import annotations

from sys import getrefcount
from threading import RLock
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.ndarray import ndarray, storage_of, tensor_array
from np2tf.tnp._tensor.storage import current_scope

#: The numbers of references to an array and to its storage.
_References = tuple[int, int]
_NO_REFERENCES = (0, 0)
#: The numbers for arrays whose method `view` is called: first for an array without a name, then with a name.
_reference_counts: list[_References] = []
_lock = RLock()


def bring_to_host(array: ndarray) -> np.ndarray:
    """Return the contents of `array` as NumPy's memory, for a call of its method `view`.

    The memory is read-only if another object refers to the array or sees its memory, because that object
    would not see the writes.

    Raises:
        StagingError: the value is not known while staging.
    """
    if current_scope() is not None or not tf.executing_eagerly():
        raise MemoryLayoutError("NumPy asks for the memory of a staged array")
    references = getrefcount(array), getrefcount(storage_of(array))
    counts.host += 1
    memory = np.array(array.numpy())
    memory.flags.writeable = _is_nobodys(references)
    return memory


def _is_nobodys(references: _References) -> bool:
    """Return whether an array with these reference counts ends with the call, and its memory with it."""
    with _lock:
        if not _reference_counts:
            _reference_counts.append(_NO_REFERENCES)
            _probe().view("V4")
            name = _probe()
            name.view("V4")
            _reference_counts.pop(0)
        elif _reference_counts[0] is _NO_REFERENCES:
            _reference_counts.append(references)
            return False
        alone, name_counts = _reference_counts
    # If a name does not count as a reference (Python 3.14), the counts say nothing.
    return alone < name_counts and references[0] <= alone[0] and references[1] <= alone[1]


def _probe() -> Any:
    return tensor_array(tf.zeros(1))
