"""Normalisers: the conversion of an argument by its annotation."""

from __future__ import annotations

import operator
from typing import Annotated, Any

import numpy as np
import tensorflow as tf

from np2tf.staging import UnsupportedDtypeError
from np2tf.tnp._array.ndarray import arrays_of_rows, is_array, ndarray, scalar
from np2tf.tnp._array.sequences import StackableSequence, operand_of
from np2tf.tnp._front.operand_kinds import device_kind
from np2tf.tnp._operands.axis_arguments import checked_rank
from np2tf.tnp._operands.conversion import as_tensor, as_view, to_numpy
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._tensor.storage import staging_for_xla


def _operand(value: Any) -> Any:
    """Return a Python number as it is, because it is weak in promotion; any other operand as a tensor."""
    kind = type(value)
    if kind in (int, float, complex) or (kind is scalar and value.weak is not None) or value is None:
        return value
    return as_tensor(operand_of(value))


def _operands(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [_operand(value) for value in values]
    if isinstance(values, StackableSequence):
        return values  # type: ignore[return-value]
    if type(values) in arrays_of_rows:
        return [_operand(row) for row in values]
    tensor = as_tensor(values)
    if tensor.shape.rank == 0:
        raise TypeError("iteration over a 0-d array")
    return list(tf.unstack(tensor))


def _optional_tensor(value: Any) -> tf.Tensor | None:
    return None if value is None else as_tensor(value)


def _dtype(value: Any) -> np.dtype[Any] | None:
    if value is None:
        return None
    dtype = np.dtype(value.as_numpy_dtype if isinstance(value, tf.DType) else value)
    if not has_tf_dtype(dtype) or not dtype.isnative:
        raise UnsupportedDtypeError.of(dtype=dtype)
    return dtype


def _int(value: Any) -> int:
    return value if type(value) is int else operator.index(value)


def _optional_int(value: Any) -> int | None:
    return None if value is None else _int(value)


def _axis(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(operator.index(item) for item in value)
    return value if value is None else operator.index(value)


def _length(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("an integer is required")
    if type(value) is scalar and tf.get_static_value(value.tensor) is None:
        return value.tensor
    return operator.index(value)


def shape_of(value: Any) -> tuple[Any, ...]:
    """Return the lengths of axes as numbers; lengths that are known only at run time are tensors."""
    if isinstance(value, (tf.Tensor, np.ndarray)) or (is_array(value) and value.ndim == 1):
        return tuple(operator.index(n) for n in to_numpy(value))
    if isinstance(value, (tuple, list, tf.TensorShape)):
        checked_rank(len(value))
        return tuple(_length(item) for item in value)
    return (_length(value),)


def bounded_shape_of(value: Any) -> tuple[Any, ...]:
    """Return a shape as `shape_of` does; under XLA, lengths with a known bound become symbolic integers."""
    if not staging_for_xla() or isinstance(value, (tf.Tensor, np.ndarray, tf.TensorShape)):
        return shape_of(value)
    if not isinstance(value, (tuple, list)):
        return (_bounded_length(value),)
    checked_rank(len(value))
    return tuple(map(_bounded_length, value))


def _bounded_length(value: Any) -> Any:
    length = _length(value)
    integer = value.staged_integer if isinstance(length, tf.Tensor) and type(value) is scalar else None
    return length if integer is None or integer.high is None else integer


def checked_device(value: Any) -> Any:
    """Return the name of a device as `x.device` shows it.

    Raises:
        ValueError: the machine has no device of that name.
    """
    if value not in (None, "cpu") and not (value == "gpu" and device_kind() != "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {value}')
    return value


def memory_order(value: Any) -> str | None:
    """Return the letter of a memory order as a capital; None stays None.

    Raises:
        TypeError, ValueError: NumPy's errors, for a value that is no order.
    """
    if value is None:
        return None
    letter = value.decode() if isinstance(value, bytes) else value
    if not isinstance(letter, str):
        raise TypeError(f"order must be str, not {type(value).__name__}")
    if letter.upper() not in _LETTERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{letter}')")
    return letter.upper()


_LETTERS = frozenset("CFAK")


#: NumPy's `copy=` by the members of the enumeration that it also takes.
_COPY_MODES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}  # type: ignore[attr-defined]


def copy_mode(value: Any) -> bool | None:
    """Return the meaning of an argument `copy`: True, False, or None for a copy only if it is needed.

    Raises:
        ValueError: the argument is a string.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    return _COPY_MODES[value] if isinstance(value, np._CopyMode) else bool(value)  # type: ignore[attr-defined]


def _c_or_f(value: Any) -> str | None:
    letter = memory_order(value)
    if letter not in ("C", "F", None):
        raise ValueError("only 'C' or 'F' order is permitted")
    return letter


Array = Annotated[tf.Tensor, as_tensor]


Operand = Annotated[Any, _operand]


Operands = Annotated[list[Any], _operands]


OptionalArray = Annotated[Any, _optional_tensor]


View = Annotated[ndarray, as_view]


DType = Annotated[Any, _dtype]


Axis = Annotated[Any, _axis]


Int = Annotated[Any, _int]


OptionalInt = Annotated[Any, _optional_int]


Shape = Annotated[tuple[Any, ...], shape_of]


BoundedShape = Annotated[tuple[Any, ...], bounded_shape_of]


MemoryOrder = Annotated[Any, memory_order]


COrF = Annotated[Any, _c_or_f]


#: The conversions of arguments that NumPy takes as arrays, whatever sequence they are.
OF_ARRAYS = frozenset({as_tensor, as_view, _operand, _optional_tensor})
