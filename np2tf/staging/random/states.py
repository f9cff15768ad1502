"""The state of a bit generator: as arrays, as a snapshot that can be restored, and under its lock."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from np2tf.staging.process.boundary import GENERATORS

# -- states --------------------------------------------------------------------------------------------------
# Converts the state of a generator to arrays of integers, and back.

#: Parts of a state that no draw changes.
CONSTANT_PARTS = frozenset({"inc"})
#: Parts that do not determine the next words: half a word, and half a pair of normal numbers.
BESIDE = ("has_uint32", "uinteger", "has_gauss", "gauss")
_WORD = 2**64


def is_generator(value: Any) -> bool:
    """Return whether `value` is a generator of NumPy or np2tf's over it, and not of a derived class."""
    kind = type(value)
    return kind in GENERATORS or (
        kind.__module__ == "np2tf.arrays.front.random_generators" and isinstance(value, GENERATORS)
    )


def numpys(generator: Any) -> Any:
    """Return NumPy's own generator behind a generator of np2tf."""
    return getattr(generator, "_plain", generator)


def is_legacy(generator: Any) -> bool:
    """Return whether a generator is a `RandomState`, which keeps a second normal number."""
    return isinstance(generator, np.random.RandomState)


def bit_generator(generator: Any) -> Any:
    """Return the bit generator of a generator."""
    return generator.bit_generator if isinstance(generator, np.random.Generator) else generator._bit_generator


def global_state() -> Any:
    """Return the generator behind the functions of `numpy.random`."""
    return np.random.mtrand._rand  # type: ignore[attr-defined]


def state_of(generator: Any) -> dict[str, Any]:
    """Return the state as NumPy reports it; for a `RandomState`, with its second normal number."""
    plain = numpys(generator)
    if is_legacy(plain):
        return plain.get_state(legacy=False)  # type: ignore[return-value]
    return dict(plain.bit_generator.state)


def pack(state: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return the state as arrays of unsigned integers, by name."""
    return {name: _pack_value(value) for name, value in leaves(state)}


def put_state(generator: Any, parts: dict[str, np.ndarray]) -> None:
    """Give a generator the packed parts of a state; other parts stay."""
    plain = numpys(generator)
    state = _unpack_value(state_of(plain), parts)
    if is_legacy(plain):
        plain.set_state(state)
    else:
        plain.bit_generator.state = state


def new_like(generator: Any) -> Any:
    """Return a generator of the same kind with a state of its own, for trial draws."""
    bits = type(bit_generator(generator))(0)
    return np.random.RandomState(bits) if is_legacy(generator) else np.random.Generator(bits)


def leaves(state: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a state that are numbers or arrays, by name."""
    for name, value in state.items():
        if isinstance(value, dict):
            yield from leaves(value)
        elif not isinstance(value, str):
            yield name, value


def _pack_value(value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, float):
        return np.array([value]).view(np.uint64)
    return np.array([value % _WORD, value // _WORD], np.uint64)


def _unpack_value(state: dict[str, Any], parts: dict[str, np.ndarray]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, dict):
            result[name] = _unpack_value(value, parts)
        elif name not in parts:
            result[name] = value
        elif isinstance(value, np.ndarray):
            result[name] = np.array(parts[name], value.dtype)
        elif isinstance(value, float):
            result[name] = float(np.asarray(parts[name], np.uint64).view(np.float64)[0])
        else:
            low, high = parts[name].tolist()
            result[name] = low + _WORD * high
    return result


# -- snapshots -----------------------------------------------------------------------------------------------
# Snapshots of bit generators, for comparing them and for undoing draws.

#: Methods of `RandomState` that do not change its second normal number.
_OF_WORDS = frozenset({"rand", "random", "random_sample", "uniform", "randint", "choice", "permutation"})
_MT_BYTES = 4 * (624 + 1)


def snapshot(bits: Any) -> Any:
    """Return the state that determines the next words, as a value for comparisons."""
    if _is_in_memory(bits):
        return _memory(bits)
    return tuple(
        value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in leaves(dict(bits.state))
        if name not in BESIDE
    )


def copy_words(source: Any, to: Any) -> None:
    """Let the bit generator `to` make the same words as `source`, which has the same class."""
    if _is_in_memory(source):
        _write(to, _memory(source))
    else:
        to.state = source.state


def restorer(generator: Any, names: set[str]) -> Callable[[], None]:
    """Return a function that gives the generator its present state again after calls of the methods."""
    bits = bit_generator(generator)
    if _is_in_memory(bits) and (not is_legacy(generator) or names <= _OF_WORDS):
        memory = _memory(bits)
        return lambda: _write(bits, memory)
    parts = pack(state_of(generator))
    return lambda: put_state(generator, parts)


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


# -- locks ---------------------------------------------------------------------------------------------------
# Holds the locks of bit generators during a call.
#
# NumPy before 2.4 has locks that a thread can acquire only once, and its methods acquire them: the holder
# lends the lock to each method that draws. Later versions have reentrant locks.

_REENTRANT = type(threading.RLock())


class _Thread(threading.local):
    """The locks that a thread holds and can acquire only once, by their ids."""

    def __init__(self) -> None:
        self.locks: dict[int, Any] = {}


_thread = _Thread()


@contextmanager
def hold_locks(all_bits: Sequence[Any]) -> Iterator[None]:
    """Hold the locks of bit generators, each once, in an order that all threads share."""
    locks = {id(bits.lock): bits.lock for bits in all_bits}
    with ExitStack() as stack:
        for key in sorted(locks):
            if isinstance(locks[key], _REENTRANT):
                stack.enter_context(locks[key])
            elif key not in _thread.locks:
                stack.enter_context(_hold(key, locks[key]))
        yield


@contextmanager
def _hold(key: int, lock: Any) -> Iterator[None]:
    with lock:
        _thread.locks[key] = lock
        try:
            yield
        finally:
            del _thread.locks[key]


@contextmanager
def lend_lock(bits: Any) -> Iterator[None]:
    """Release the lock of a bit generator, if this thread holds it, for a method that acquires it."""
    lock = _thread.locks.pop(id(bits.lock), None)
    if lock is None:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()
        _thread.locks[id(lock)] = lock
