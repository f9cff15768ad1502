"""Shapes known only at run time: operations that work without them, and clear errors for all other
operations.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.staging import PromotionError, ShapeNeededError, StagingError
from np2tf.tnp._array.ndarray import is_array

#: Functions that work over all elements if ``axis=None``, for any number of axes.
_OVER_ALL = frozenset(
    {
        *("sum", "prod", "mean", "std", "var", "max", "min", "ptp", "any", "all", "count_nonzero", "average"),
        *("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin"),
        *("cumsum", "cumprod", "nancumsum", "nancumprod", "argmax", "argmin"),
    }
)


def flatten_unknown_rank(name: str, order: list[str], values: list[Any]) -> list[Any]:
    """Flatten an array of unknown rank if the function works over all its elements; else change nothing.

    Args:
        name: the name of the function.
        order: the names of its parameters.
        values: its arguments by position.

    Returns:
        The arguments by position.
    """
    first = values[0] if values else None
    if name not in _OVER_ALL or not isinstance(first, tf.Tensor) or first.shape.rank is not None:
        return values
    arguments = dict(zip(order, values, strict=False))
    if arguments.get("axis") is not None or arguments.get("keepdims") not in (None, False):
        return values
    if arguments.get("where", True) is not True or arguments.get("weights") is not None:
        return values
    return [tf.reshape(first, (-1,)), *values[1:]]


def refusal(error: Exception, name: str, args: tuple[Any, ...]) -> Exception:
    """Return the error to raise while staging. An error that comes from an unknown length or rank says so."""
    if isinstance(error, (StagingError, PromotionError)) or not any(map(_is_incomplete, args)):
        return error
    shape_error = ShapeNeededError(f"{name} of an array whose shape is known only at run time")
    shape_error.__cause__ = error
    return shape_error


def _is_incomplete(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_is_incomplete, value))
    tensor = value.tensor if is_array(value) else value
    return isinstance(tensor, tf.Tensor) and not tensor.shape.is_fully_defined()
