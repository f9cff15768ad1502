"""Keys and their bits: the counter-based generator Threefry-2x32 with 20 rounds.

J. Salmon and others, Parallel random numbers: as easy as 1, 2, 3 (2011), https://doi.org/10.1145/2063384.2063405.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from np2tf import tnp

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MASK = 0xFFFFFFFF
#: Each element has a counter of its own, of which the upper word is zero.
_MAX_ELEMENTS = 1 << 32


def PRNGKey(seed: Any) -> Any:
    """Return the key of a seed.

    Args:
        seed: an integer of at most 64 bits, or an integer array without axes.

    Returns:
        An array of the shape (2,) and dtype uint32.

    Raises:
        TypeError: if the seed is no integer.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.PRNGKey.html.
    """
    if isinstance(seed, (int, np.integer)):
        words = int(seed) & ((1 << 64) - 1)
        return tnp.array([words >> 32, words & _MASK], dtype=np.uint32)
    number = tnp.asarray(seed)
    if number.ndim or not np.issubdtype(np.dtype(number.dtype), np.integer):
        raise TypeError(f"a seed is an integer, not an array of shape {number.shape} and {number.dtype}")
    number = number.astype(np.int64)
    return tnp.stack([(number >> 32) & _MASK, number & _MASK]).astype(np.uint32)


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
    """Return new keys, whose numbers are independent of each other and of the key's.

    Args:
        key: the key.
        num: the number of new keys, or the shape of an array of them.

    Returns:
        An array of the dtype uint32, with the keys along its last axis of length 2.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html.
    """
    shape = (num,) if isinstance(num, int) else tuple(num)
    return tnp.stack(words(key, shape), axis=-1)


def fold_in(key: Any, data: Any) -> Any:
    """Return a new key for a key and a number, such as the number of a step.

    Args:
        key: the key.
        data: an integer, of which 32 bits count.

    Returns:
        An array of the shape (2,) and dtype uint32.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.fold_in.html.
    """
    if isinstance(data, (int, np.integer)):
        low = tnp.array([int(data) & _MASK], dtype=np.uint32)
    else:
        low = (tnp.asarray(data).astype(np.int64).reshape(1) & _MASK).astype(np.uint32)
    return tnp.concatenate(_threefry(key, tnp.zeros(1, np.uint32), low))


def bits(key: Any, shape: Sequence[int] = (), dtype: Any = np.uint64) -> Any:
    """Return random bits.

    Args:
        key: the key.
        shape: the shape of the result.
        dtype: uint8, uint16, uint32 or uint64.

    Returns:
        An array of this shape and dtype, all of whose values are equally likely.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html.
    """
    result_dtype = np.dtype(dtype)
    if result_dtype.kind != "u":
        raise ValueError(f"bits are of an unsigned dtype, not {result_dtype}")
    high, low = words(key, shape)
    if result_dtype.itemsize == 8:
        return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    return (high ^ low).astype(result_dtype)


def words(key: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Return two random words for each element of a shape, as arrays of uint32.

    Raises:
        ValueError: if there are more than 2**32 elements.
    """
    size = math.prod(shape)
    if size > _MAX_ELEMENTS:
        raise ValueError(f"a key has numbers for {_MAX_ELEMENTS} elements at most, and not for {size}")
    low = tnp.arange(size, dtype=np.uint32)
    high, low = _threefry(key, tnp.zeros_like(low), low)
    return high.reshape(tuple(shape)), low.reshape(tuple(shape))


def _threefry(key: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the words that the cipher makes of counters x and y."""
    key = tnp.asarray(key)
    if tuple(key.shape) != (2,) or np.dtype(key.dtype) != np.uint32:
        raise TypeError(f"a key has the shape (2,) and dtype uint32, not {tuple(key.shape)} and {key.dtype}")
    # Parts of length 1, since NumPy warns where numbers without axes overflow.
    first, second = key[0:1], key[1:2]
    schedule = (first, second, first ^ second ^ np.uint32(_PARITY))
    x, y = x + schedule[0], y + schedule[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(distance)) | (y >> np.uint32(32 - distance))) ^ x
        x = x + schedule[(group + 1) % 3]
        y = y + (schedule[(group + 2) % 3] + np.uint32(group + 1))
    return x, y


__all__ = ["PRNGKey", "bits", "fold_in", "split", "words"]
