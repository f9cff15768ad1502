"""Converts the state of a generator to arrays of integers, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

#: Parts of a state that no draw changes.
CONSTANT_PARTS = frozenset({"inc"})
#: Parts that do not determine the next words: half a word, and half a pair of normal numbers.
BESIDE = ("has_uint32", "uinteger", "has_gauss", "gauss")
_GENERATORS = (np.random.Generator, np.random.RandomState)
_WORD = 2**64


def is_generator(value: Any) -> bool:
    """Return whether `value` is a generator of NumPy or np2tf's over it, and not of a derived class."""
    kind = type(value)
    return kind in _GENERATORS or (kind.__module__ == "np2tf.tnp.random" and isinstance(value, _GENERATORS))


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
