"""Index keys: every form that NumPy accepts, converted to one item per axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError, UnsupportedDtypeError
from np2tf.tnp._array.ndarray import is_array, scalar, tensor_scalar
from np2tf.tnp._operands.axis_arguments import MOST_AXES
from np2tf.tnp._operands.conversion import as_tensor, without_class
from np2tf.tnp._operands.path_dependent import as_index
from np2tf.tnp._tensor.symint import SymInt

FULL = slice(None)

_NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


def expand(key: Any, rank: int | None) -> list[Any]:
    """Return a key as one item per axis.

    Args:
        key: the key as the program writes it.
        rank: the number of axes of the array.

    Returns:
        For each axis an int, SymInt, slice or index tensor (int64 or bool); None for each new axis.

    Raises:
        IndexError: the key has too many indices, or an item that is not an index.
    """
    if rank is None:
        raise ShapeNeededError("indexing an array of unknown rank")
    parts = [_item(part) for part in (key if isinstance(key, tuple) else (key,))]
    axis_count = sum(_axes_used(part) for part in parts)
    if axis_count > rank:
        raise IndexError(
            f"too many indices for array: array is {rank}-dimensional, but {axis_count} were indexed"
        )
    ellipses = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    where = ellipses[0] if ellipses else len(parts)
    if rank - axis_count + len(parts) > MOST_AXES:
        raise IndexError(f"number of dimensions must be within [0, {MOST_AXES}]")
    parts = [_settle_sequence(part) if type(part) is slice else part for part in parts]
    return [*parts[:where], *[FULL] * (rank - axis_count), *parts[where + 1 :]]


def _settle_sequence(part: slice) -> slice:
    return slice(*(None if end is None else _integer(end) for end in (part.start, part.stop, part.step)))


def is_parted(key: Any) -> bool:
    """Return whether a slice, an Ellipsis (also of no length) or a new axis stands between two other indices.

    If so, the axes that index arrays pick are the first axes of the result.
    """
    parts = key if isinstance(key, tuple) else (key,)
    basic = (type(part) is slice or part is None or part is Ellipsis for part in parts)
    advanced_places = [place for place, is_basic in enumerate(basic) if not is_basic]
    return bool(advanced_places) and advanced_places[-1] - advanced_places[0] >= len(advanced_places)


def holds(key: Any, value: Any) -> bool:
    """Return whether `value` (Ellipsis or None) is a part of a key."""
    return any(part is value for part in key) if isinstance(key, tuple) else key is value


def holds_0d_array(key: Any) -> bool:
    """Return whether an index is an array without axes: NumPy then copies, while an integer would give a
    view.
    """
    return any(map(_is_0d_array, key)) if isinstance(key, tuple) else _is_0d_array(key)


def _is_0d_array(part: Any) -> bool:
    kind = type(part)
    if kind is int or kind is slice or part is None or part is Ellipsis or kind is scalar:
        return False
    return (is_array(part) or isinstance(part, np.ndarray)) and part.ndim == 0


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, tf.Tensor) and item.dtype == tf.bool:
        return int(item.shape.rank)
    return 1


def _item(part: Any) -> Any:
    part = as_index(part)
    kind = type(part)
    if kind is int or part is None or part is Ellipsis:
        return part
    if kind is slice:
        # The ends of the slice are converted after the check that there is an axis for it.
        return part
    if isinstance(part, (bool, np.bool_)):
        return tf.constant(bool(part))
    if isinstance(part, np.integer):
        return int(part)
    if kind is scalar and part.dtype.kind in "iu":
        return _integer(part)
    if isinstance(part, (str, bytes, float, complex, dict)):
        raise IndexError(_NOT_AN_INDEX)
    return _index_array(part)


def _index_array(part: Any) -> Any:
    if not is_array(part) and isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    if isinstance(part, (list, tuple)):
        index = _sequence_to_index(part)
    else:
        index = as_tensor(without_class(part))
    if index.shape.rank is None:
        raise ShapeNeededError("an index of unknown rank")
    if index.dtype == tf.bool:
        return index
    if not index.dtype.is_integer:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if index.shape.rank == 0:
        return _integer(tensor_scalar(index))
    return tf.cast(index, tf.int64)


def _sequence_to_index(values: Any) -> tf.Tensor:
    """Return a list or tuple as an index array; an empty list or tuple becomes an integer array."""
    try:
        index = as_tensor(values)
    except UnsupportedDtypeError:
        raise IndexError(_NOT_AN_INDEX) from None
    return tf.cast(index, tf.int64) if index.shape.num_elements() == 0 and index.dtype != tf.bool else index


def _integer(value: Any) -> int | SymInt:
    """Return an index or an end of a slice: an int, or a staged integer with its known bounds."""
    if is_array(value):
        value = as_index(value)
        tensor = value.tensor
        if not hasattr(tensor, "numpy"):
            if tensor.shape.rank is None:
                return _integer(tf.reshape(tensor, []))
            if not tensor.dtype.is_integer or tensor.shape.rank != 0:
                raise TypeError("slice indices must be integers or None or have an __index__ method")
            static = tf.get_static_value(tensor)
            if static is not None:
                return int(static)
            integer = value.staged_integer if type(value) is scalar else None
            return integer if integer is not None else SymInt.fresh(tf.cast(tensor, tf.int64))
    if isinstance(value, tf.Tensor):
        return _integer(tensor_scalar(value))
    try:
        return int(value.__index__())
    except AttributeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None
