"""Snapshots of bit generators, for comparing them and for undoing draws."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.runtime.random import states

#: Methods of `RandomState` that do not change its second normal number.
_OF_WORDS = frozenset({"rand", "random", "random_sample", "uniform", "randint", "choice", "permutation"})
_MT_BYTES = 4 * (624 + 1)


def snapshot(bits: Any) -> Any:
    """Return the state that determines the next words, as a value for comparisons."""
    if _is_in_memory(bits):
        return _memory(bits)
    return tuple(
        value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in states.leaves(dict(bits.state))
        if name not in states.BESIDE
    )


def copy_words(source: Any, to: Any) -> None:
    """Let the bit generator `to` make the same words as `source`, which has the same class."""
    if _is_in_memory(source):
        _write(to, _memory(source))
    else:
        to.state = source.state


def restorer(generator: Any, names: set[str]) -> Callable[[], None]:
    """Return a function that gives the generator its present state again.

    Args:
        names: the names of the methods that are called in between.
    """
    bits = states.bit_generator(generator)
    if _is_in_memory(bits) and (not states.is_legacy(generator) or names <= _OF_WORDS):
        memory = _memory(bits)
        return lambda: _write(bits, memory)
    parts = states.pack(states.state_of(generator))
    return lambda: states.put_state(generator, parts)


def _is_in_memory(bits: Any) -> bool:
    # NumPy copies the key number by number, which takes 40 µs.
    return type(bits) is np.random.MT19937 and _is_known()


def _memory(bits: Any) -> bytes:
    return ctypes.string_at(bits.ctypes.state_address, _MT_BYTES)


def _write(bits: Any, memory: bytes) -> None:
    ctypes.memmove(bits.ctypes.state_address, memory, _MT_BYTES)


@functools.cache
def _is_known() -> bool:
    """Return whether the memory of an MT19937 holds its key and its position next to each other."""
    bits = np.random.MT19937(0)
    bits.random_raw(5)
    state = bits.state["state"]
    return _memory(bits) == state["key"].tobytes() + np.int32(state["pos"]).tobytes()
