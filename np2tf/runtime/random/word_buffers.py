"""Raw words of bit generators: NumPy draws them ahead, and calls take from them one after the other."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.random.snapshots import copy_words, snapshot
from np2tf.runtime.xla.fast_call import borrow_memory

#: How many words a call is given at first, and at most. XLA compiles a program for every length, and makes
#: slower code of loops whose variables take many bytes (see `compiler_options`).
FIRST, MOST = 2**13, 2**25
#: So many buffers of at most that length are kept.
_KEPT, _LONGEST_KEPT = 4, 2**20


@dataclass
class Buffer:
    """Words that a bit generator will make.

    Attributes:
        words: of shape (length,).
        position: of the word that is made next.
        state: that of the bit generator at this position.
    """

    words: tf.Tensor
    position: int
    state: Any

    def fits(self, state: Any, length: int) -> bool:
        """Whether it is of this length, goes on from this state, and has half of its words left."""
        return self.state == state and self.words.shape[0] == length and self.position <= length // 2


#: id of a bit generator -> itself and its buffer; the latest is the last.
_buffers: dict[int, tuple[Any, Buffer]] = {}
_lock = threading.Lock()


def buffer_of(bits: Any, spare: Any, length: int, dtype: tf.DType) -> Buffer:
    """A buffer of this length that begins no later than in its middle.

    Args:
        bits: the bit generator, whose lock is held.
        spare: another one of its class, whose state may change.
        dtype: of the words.
    """
    state = snapshot(bits)
    _, known = _buffers.get(id(bits), (None, None))
    if known is not None and known.fits(state, length):
        return known
    copy_words(bits, spare)
    made = Buffer(borrow_memory(spare.random_raw(length).astype(dtype.as_numpy_dtype, copy=False)), 0, state)
    with _lock:
        _buffers.pop(id(bits), None)
        if length <= _LONGEST_KEPT:
            _buffers[id(bits)] = bits, made
        if len(_buffers) > _KEPT:
            del _buffers[next(iter(_buffers))]
    return made


def take(bits: Any, buffer: Buffer, position: int) -> None:
    """Let the bit generator be where `position` of its buffer is."""
    skip(bits, position - buffer.position)
    buffer.position, buffer.state = position, snapshot(bits)


def skip(bits: Any, count: int) -> None:
    """Leave out so many words. What is kept of half a word may be lost."""
    if count and isinstance(bits, (np.random.PCG64, np.random.PCG64DXSM)):
        bits.advance(count)
    elif count:
        bits.random_raw(count, output=False)
