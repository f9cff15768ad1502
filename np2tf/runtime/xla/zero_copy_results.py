"""Large results of XLA programs as arrays over the tensors' own memory, without a copy.

Copying costs as much as NumPy takes for a sum of the same size, and more where the memory is new: 32 MB that
XLA makes in 4 ms were in the caller's hands after 16, and after 8 when they are handed over. The array is
np.ndarray and may be written to, for nobody else sees its memory. That has to be certain: TensorFlow lets a
result that is an input, or a constant of the program, share the memory of that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

#: Smaller results are copied: that is cheap (up to 1 MB no difference was measured, at 8 MB a seventh), and
#: they own their memory as NumPy's do, so that they can be resized in place.
LEAST_BYTES = 4 << 20


class ZeroCopyResults:
    """Hands over the results of one XLA program.

    The first two results of each output are copied, and the first is kept until the second comes: if they
    have the same memory, the program returns a constant, which must stay what it is.
    """

    def __init__(self) -> None:
        self._first: dict[int, tf.Tensor] = {}
        self._is_new: dict[int, bool] = {}

    def array(self, place: int, outputs: Iterable[tf.Tensor], inputs: Iterable[Any]) -> np.ndarray:
        """The array of the output at `place`, which is the caller's from now on."""
        outputs = list(outputs)
        value = outputs[place]
        seen = np.asarray(memoryview(value))
        if seen.nbytes < LEAST_BYTES or not self._is_known_to_be_new(place, value, seen):
            return np.array(seen)
        others = [*inputs, *outputs[:place], *outputs[place + 1 :]]
        if any(np.may_share_memory(seen, other._numpy()) for other in others):
            return np.array(seen)
        memory = (ctypes.c_char * seen.nbytes).from_address(seen.ctypes.data)
        memory.tensor = value  # type: ignore[attr-defined]  # which frees the memory when it goes
        return np.ndarray(seen.shape, seen.dtype, memory)  # type: ignore[arg-type]

    def _is_known_to_be_new(self, place: int, value: tf.Tensor, seen: np.ndarray) -> bool:
        if place not in self._is_new:
            first = self._first.pop(place, None)
            if first is None:
                self._first[place] = value
                return False
            self._is_new[place] = not np.may_share_memory(seen, first._numpy())
            return False
        return self._is_new[place]
