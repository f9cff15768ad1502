"""JAX's rules of promotion: a lattice, in which several types promote to the least type above all of them.

The edges are the edges of https://docs.jax.dev/en/latest/type_promotion.html, under its names: "u1" is uint8,
"bf" is bfloat16, and "i*", "f*" and "c*" are Python's numbers. If a Python number is the least type above
all operands, the result has the default dtype of its kind, as everywhere in `tnp`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import PromotionError
from np2tf.tnp._warnings.user_lines import user_location

_NAMES: dict[str, Any] = {
    "b1": np.dtype(bool),
    **{f"{kind}{size}": np.dtype(f"{kind}{size}") for kind in "ui" for size in (1, 2, 4, 8)},
    "bf": np.dtype(tf.bfloat16.as_numpy_dtype),
    **{name: np.dtype(name) for name in ("f2", "f4", "f8", "c8", "c16")},
    "i*": int,
    "f*": float,
    "c*": complex,
}
_JAX = {
    "b1": "i*",
    "i*": "u1 i1",
    "f*": "bf f2 c*",
    "c*": "c8",
    "u1": "u2 i2",
    "u2": "u4 i4",
    "u4": "u8 i8",
    "u8": "f*",
    "i1": "i2",
    "i2": "i4",
    "i4": "i8",
    "i8": "f*",
    "bf": "f4",
    "f2": "f4",
    "f4": "f8 c8",
    "f8": "c16",
    "c8": "c16",
}
#: Without promotion, a Python number still takes the dtype of the array, unless the array's kind is narrower.
_WITHOUT_PROMOTION = {"i*": "u1 u2 u4 u8 i1 i2 i4 i8 f*", "f*": "bf f2 f4 f8 c*", "c*": "c8 c16"}
#: The number of bits of an integer that a floating-point dtype can hold.
_EXACT = {
    _NAMES[name]: bits for name, bits in {"bf": 8, "f2": 11, "f4": 24, "f8": 53, "c8": 24, "c16": 53}.items()
}


def _types_above(edges: dict[str, str]) -> dict[Any, frozenset[Any]]:
    """Return, for each type, the set of the type itself and all types above it."""

    def reach(name: str) -> set[Any]:
        return {_NAMES[name]}.union(*map(reach, edges.get(name, "").split()))

    return {kind: frozenset(reach(name)) for name, kind in _NAMES.items()}


_ABOVE = {"all": _types_above(_JAX), "safe": _types_above(_JAX), "none": _types_above(_WITHOUT_PROMOTION)}


def is_known(kinds: Iterable[Any]) -> bool:
    """Return whether the lattice has all of these types; other types are promoted by NumPy."""
    return all(kind in _ABOVE["all"] for kind in kinds)


class Lattice:
    """The rules of a mode, with the default dtypes of a setting of `np2tf.config.floats`."""

    def __init__(self, mode: str, floats: str) -> None:
        self._mode = mode
        self._above = _ABOVE[mode]
        narrow = floats == "float32"
        self._defaults: dict[Any, np.dtype[Any]] = {
            int: np.dtype(np.int64),
            float: np.dtype(np.float32 if narrow else np.float64),
            complex: np.dtype(np.complex64 if narrow else np.complex128),
        }

    def default(self, kind: Any) -> np.dtype[Any]:
        """Return the dtype of an array of one type."""
        return self._defaults.get(kind, kind)

    def common(self, kinds: tuple[Any, ...]) -> np.dtype[Any]:
        """Return the common dtype of operands of these types.

        Raises:
            PromotionError: the mode does not promote them.
        """
        result = self._join(kinds)
        if result is None:
            pairs = combinations(dict.fromkeys(kinds), 2)
            raise self._refusal(*next(pair for pair in pairs if self._join(pair) is None))
        return result

    def inexact(self, kinds: tuple[Any, ...]) -> np.dtype[Any]:
        """Return the common dtype as a floating-point dtype; for integers, the default of these dtypes."""
        common = self.common(kinds)
        return self._defaults[float] if common.kind in "bui" else common

    def loop(self, ufunc: np.ufunc, kinds: tuple[Any, ...]) -> tuple[np.dtype[Any], ...]:
        """Return the dtypes of a ufunc's operands and results. Functions of floats use the default floats.

        Raises:
            PromotionError: the mode does not promote the operands.
            TypeError: the ufunc has no such loop (NumPy's error).
        """
        common = self.common(kinds)
        dtypes = _loop(ufunc, common)
        return (
            _loop(ufunc, self._defaults[float]) if common.kind in "bui" and dtypes[0].kind == "f" else dtypes
        )

    def _join(self, kinds: tuple[Any, ...]) -> np.dtype[Any] | None:
        """Return the result type; None if there is none, or if it is not safe."""
        bounds = frozenset.intersection(*(self._above[kind] for kind in kinds))
        least = next((kind for kind in bounds if bounds <= self._above[kind]), None)
        if least is None:
            return None
        result = self.default(least)
        return result if self._mode != "safe" or self._is_safe(kinds, result) else None

    def _is_safe(self, kinds: tuple[Any, ...], dtype: np.dtype[Any]) -> bool:
        """Return whether the result type is an operand's type and holds the values of all other operands."""
        return any(dtype == self.default(kind) for kind in kinds) and all(
            _holds(dtype, kind) for kind in kinds if isinstance(kind, np.dtype)
        )

    def _refusal(self, first: Any, second: Any) -> PromotionError:
        file, line = user_location()
        cause = f"{_kind_name(first)} and {_kind_name(second)} meet at {file}, line {line}"
        message = f'{cause}, and promotion="{self._mode}" does not promote them: convert one with astype'
        return PromotionError(message, (file, line))


def _holds(wide: np.dtype[Any], kind: np.dtype[Any]) -> bool:
    """Return whether a type above `kind` holds all of its values. Only integers may have too many bits."""
    if kind.kind not in "ui" or wide not in _EXACT:
        return True
    return int(np.iinfo(kind).max).bit_length() <= _EXACT[wide]


def _kind_name(kind: Any) -> str:
    return kind.name if isinstance(kind, np.dtype) else f"Python's {kind.__name__}"


def takes_one_type(ufunc: np.ufunc) -> bool:
    """Return whether a ufunc requires operands of a common type. For example, ldexp does not."""
    return any(len(set(loop.partition("->")[0])) == 1 for loop in ufunc.types)


def _loop(ufunc: np.ufunc, dtype: np.dtype[Any]) -> tuple[np.dtype[Any], ...]:
    return ufunc.resolve_dtypes((*[dtype] * ufunc.nin, *[None] * ufunc.nout))
