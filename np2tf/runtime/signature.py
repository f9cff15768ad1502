"""The signature of a call: which arguments are arrays, numbers and constants, and a key to compare them by.

Arrays become inputs of the compiled function. Numbers are constants of it at first, and inputs once they are
seen to vary. Everything else is a constant, compared by value where it is immutable and by identity where it
is not.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.dependencies import current, readers
from np2tf.staging import StagingError
from np2tf.tnp.dtypes import has_tf_dtype
from np2tf.tnp.ndarray import is_array, scalar

_BY_VALUE = (str, bytes, bool, type(None), type(Ellipsis), np.dtype, range, tf.DType)
_BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)


@dataclass
class Signature:
    """A call's arguments taken apart.

    Attributes:
        arrays: the arrays, in order of first appearance; one that appears twice is here once.
        numbers: the Python and NumPy numbers.
        key: everything else, hashable; with `number_key` it determines the compiled code.
    """

    arrays: list[Any] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    keepalive: list[Any] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Any, ...]:
        """What must be equal for two calls to share code, numbers left aside."""
        return tuple(self.parts)

    @property
    def number_key(self) -> tuple[Any, ...]:
        """The numbers, so that equal keys mean equal bits."""
        return tuple(number_key(value) for value in self.numbers)

    def add_array(self, value: Any) -> int:
        """The index of an array among `arrays`."""
        identity = id(value._host) if is_array(value) and value._host is not None else id(value)
        place = self._places.get(identity)
        if place is None:
            place = self._places[identity] = len(self.arrays)
            self.arrays.append(value)
        self.parts.append(("array", place, type(value), value.dtype, tuple(value.shape)))
        return place


def number_key(value: Any) -> Any:
    """A hashable that is equal for numbers of the same type and bits."""
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    return (float, value.hex()) if type(value) is float else (type(value), repr(value))


#: Rebuilds a value from the staged arrays and numbers of its signature.
Rebuild = Callable[[Sequence[Any], Sequence[Any]], Any]


def take_apart(value: Any, signature: Signature, depth: int = 0) -> Rebuild:
    """Add `value` to the signature; returns how to put it together again inside a trace.

    Raises:
        StagingError: it holds something whose changes could not be noticed.
    """
    kind = type(value)
    if kind is int or kind is float or kind is complex or isinstance(value, (np.number, np.bool_)):
        place = len(signature.numbers)
        signature.numbers.append(value)
        signature.parts.append(("number", kind))
        return lambda arrays, numbers: numbers[place]
    if is_array(value) or isinstance(value, (np.ndarray, tf.Tensor)):
        return _take_array(value, signature)
    if depth > 6:
        raise StagingError("an argument is nested too deeply", "NP2TF520")
    if isinstance(value, (*_BY_VALUE, *_BY_IDENTITY)) or hasattr(value, "__wrapped__"):
        signature.parts.append((kind, value))
        take_dependencies(current(readers(value)), signature, depth + 1)
        return lambda arrays, numbers: value
    if kind is list or isinstance(value, tuple):
        signature.parts.append((kind, len(value)))
        items = [take_apart(item, signature, depth + 1) for item in value]
        build = kind if kind in (list, tuple) else (lambda made: kind(*made))
        return lambda arrays, numbers: build([item(arrays, numbers) for item in items])
    if kind is dict:
        signature.parts.append((dict, tuple(value)))
        entries = {key: take_apart(item, signature, depth + 1) for key, item in value.items()}
        return lambda arrays, numbers: {key: item(arrays, numbers) for key, item in entries.items()}
    if kind is slice:
        parts = take_apart((value.start, value.stop, value.step), signature, depth + 1)
        return lambda arrays, numbers: slice(*parts(arrays, numbers))
    raise StagingError(
        f"an argument or variable of type {kind.__qualname__} cannot be an input of a graph", "NP2TF520"
    )


def take_dependencies(values: Sequence[Any], signature: Signature, depth: int = 0) -> None:
    """Add what a function reads besides its arguments: arrays as inputs, everything else as constants.

    Raises:
        StagingError: as `take_apart`, or for an array on TensorFlow, whose changes could not be noticed.
    """
    given = len(signature.numbers)
    for value in values:
        if is_array(value) and value._host is None:
            raise StagingError("a global or closure variable is an array on TensorFlow", "NP2TF507")
        if not _is_opaque(value):
            take_apart(value, signature, depth)
    # The code reads these numbers by name: they cannot become inputs.
    signature.parts.extend(map(number_key, signature.numbers[given:]))
    del signature.numbers[given:]


def _is_opaque(value: Any) -> bool:
    """A class, function or module: `dependencies` follows what it reads, and its identity does not vary."""
    if isinstance(value, _BY_IDENTITY) or hasattr(value, "__wrapped__"):
        return True
    ours = type(value).__module__.split(".")[0] in ("np2tf", "numpy", "typing")
    return ours and not is_array(value) and callable(value)


def _take_array(value: Any, signature: Signature) -> Rebuild:
    if not has_tf_dtype(
        np.dtype(value.dtype.as_numpy_dtype) if isinstance(value, tf.Tensor) else value.dtype
    ):
        raise StagingError(f"TensorFlow has no dtype {value.dtype}", "NP2TF504")
    if type(value) is scalar and value.weak is not None:
        raise StagingError("a staged number outside of its trace", "NP2TF520")
    place = signature.add_array(value)
    return lambda arrays, numbers: arrays[place]


def share_memory(arrays: Sequence[Any]) -> bool:
    """Whether two different host arrays among `arrays` may overlap."""
    buffers = [a._host if is_array(a) else a for a in arrays if not isinstance(a, tf.Tensor)]
    buffers = [buffer for buffer in buffers if isinstance(buffer, np.ndarray) and buffer.size]
    cells = [a._cell for a in arrays if is_array(a) and a._host is None]
    if len({id(cell) for cell in cells}) < len(cells):
        return True
    return any(_overlap(a, b) for k, a in enumerate(buffers) for b in buffers[k + 1 :])


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
