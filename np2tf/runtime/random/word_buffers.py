"""Buffers of raw words of bit generators. NumPy draws the words ahead, and calls take them in order."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.random.locks import lend_lock
from np2tf.runtime.random.snapshots import copy_words, snapshot
from np2tf.runtime.xla.fast_call import borrow_memory

#: The number of words that a call gets at first, and at most. XLA compiles a program for every length, and
#: makes slower code for loops whose variables take many bytes (see `compiler_options`).
FIRST_WORDS, MAX_WORDS = 2**13, 2**25
#: The number of buffers that are kept, and their maximal length.
_MAX_KEPT_BUFFERS, _MAX_KEPT_LENGTH = 4, 2**20


@dataclass
class Buffer:
    """Words that a bit generator will make.

    Attributes:
        words: the words, of shape (length,).
        position: the position of the next word.
        state: the state of the bit generator at this position.
    """

    words: tf.Tensor
    position: int
    state: Any

    def fits(self, state: Any, length: int) -> bool:
        """Return whether the buffer has this length, continues from this state, and is at most half used."""
        return self.state == state and self.words.shape[0] == length and self.position <= length // 2


#: id of a bit generator -> the bit generator and its buffer; the latest entry is the last.
_buffers: dict[int, tuple[Any, Buffer]] = {}
_lock = threading.Lock()


def buffer_of(bits: Any, spare: Any, length: int, dtype: tf.DType) -> Buffer:
    """Return a buffer of this length whose position is in its first half.

    Args:
        bits: the bit generator, whose lock the caller holds.
        spare: another bit generator of its class, whose state may change.
        dtype: the dtype of the words.
    """
    state = snapshot(bits)
    _, old_buffer = _buffers.get(id(bits), (None, None))
    if old_buffer is not None and old_buffer.fits(state, length):
        return old_buffer
    copy_words(bits, spare)
    buffer = Buffer(
        borrow_memory(spare.random_raw(length).astype(dtype.as_numpy_dtype, copy=False)), 0, state
    )
    with _lock:
        _buffers.pop(id(bits), None)
        if length <= _MAX_KEPT_LENGTH:
            _buffers[id(bits)] = bits, buffer
        if len(_buffers) > _MAX_KEPT_BUFFERS:
            del _buffers[next(iter(_buffers))]
    return buffer


def take(bits: Any, buffer: Buffer, position: int) -> None:
    """Move the bit generator to `position` of its buffer."""
    skip(bits, position - buffer.position)
    buffer.position, buffer.state = position, snapshot(bits)


def skip(bits: Any, count: int) -> None:
    """Skip `count` words. A stored half word may be lost."""
    if count and isinstance(bits, (np.random.PCG64, np.random.PCG64DXSM)):
        bits.advance(count)
    elif count:
        with lend_lock(bits):
            bits.random_raw(count, output=False)
