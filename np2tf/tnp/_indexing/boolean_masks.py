"""Boolean arrays as keys: ``x[mask]`` and ``x[mask] = value``."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._indexing.keys import FULL
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._operands.promotion import default_dtype, kind_of
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp._tensor.index_bounds import record_violation


def where_mask(where: Any) -> tf.Tensor:
    """Return the argument `where` of a function that writes, as a boolean tensor.

    Numbers and lists are converted; an array must be boolean.

    Raises:
        TypeError: the array is not boolean.
    """
    if hasattr(where, "dtype") and default_dtype(kind_of(where)).kind != "b":
        raise TypeError("Cannot cast array data to dtype('bool') according to the rule 'safe'")
    return as_tensor(where, np.bool_)


def leading_mask(items: list[Any]) -> tf.Tensor | None:
    """Return the boolean array of a key like ``x[mask]`` or ``x[mask, :]``; None for any other key."""
    first = items[0] if items else None
    if (
        isinstance(first, tf.Tensor)
        and first.dtype == tf.bool
        and first.shape.rank
        and _drop_ellipsis(items[1:])
    ):
        return first
    return None


def _drop_ellipsis(items: list[Any]) -> bool:
    return all(isinstance(item, slice) and item == FULL for item in items)


def true_places(mask: tf.Tensor) -> tf.Tensor:
    """Return the positions of the true elements, one row each; a constant if the mask is known."""
    static_mask = None if tf.executing_eagerly() else tf.get_static_value(mask)
    return (
        tf.where(mask)
        if static_mask is None
        else tf.constant(np.argwhere(static_mask).reshape(-1, static_mask.ndim))
    )


def get_masked(tensor: tf.Tensor, mask: tf.Tensor, axis: int = 0) -> tf.Tensor:
    """Return the elements at which `mask`, which lies along the axes from `axis` on, is true."""
    if tf.executing_eagerly() or tf.get_static_value(mask) is None:
        return tf.boolean_mask(tensor, mask, axis=axis)
    if mask.shape.rank == 1:
        return gather_parts(tensor, true_places(mask)[:, 0], axis)
    return tf.gather_nd(tensor, true_places(mask))


def check_mask(mask: tf.Tensor, base: tf.Tensor, first: int = 0) -> None:
    """Check that a mask, which begins at axis `first`, has the lengths of its axes.

    Raises:
        IndexError: the lengths differ.
    """
    for axis, (have, want) in enumerate(
        zip(mask.shape.as_list(), base.shape.as_list()[first:], strict=False), first
    ):
        if have is not None and want is not None and have != want:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )
        if have is None or want is None:
            record_violation(tf.not_equal(tf.shape(mask)[axis - first], tf.shape(base)[axis]))


def expand_mask(mask: tf.Tensor, rank: int) -> tf.Tensor:
    """Return a mask of the leading axes with an axis of length 1 for each other axis of an array."""
    inner = rank - mask.shape.rank
    return tf.reshape(mask, tf.concat([tf.shape(mask), tf.ones(inner, tf.int32)], 0)) if inner else mask


def write_masked(base: tf.Tensor, mask: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Return `base` after ``base[mask] = value``, without a data-dependent shape.

    The k-th true element takes the k-th value.

    Args:
        base: the tensor.
        mask: a boolean tensor over the leading axes of `base`.
        value: a tensor that broadcasts to the masked elements.

    Raises:
        ValueError: the value does not broadcast.
    """
    inner = base.shape.rank - mask.shape.rank
    wide = expand_mask(mask, base.shape.rank)
    value = _fit_value(value, base.shape.as_list()[mask.shape.rank :], mask)
    if value.shape.rank <= inner:
        return tf.where(wide, value, base)
    count = tf.math.count_nonzero(mask)
    _check_count(count, value)
    flat = tf.reshape(tf.cast(mask, tf.int64), [-1])
    source = tf.reshape(tf.cumsum(flat) - 1, tf.shape(mask))
    last = tf.maximum(tf.shape(value, tf.int64)[0] - 1, 0)
    if not value.shape[0]:
        # There may be no value at all, and gathering from an empty tensor fails.
        value = tf.pad(value, [[0, 1]] + [[0, 0]] * inner)
    return tf.where(wide, tf.gather(value, tf.clip_by_value(source, 0, last)), base)


def _fit_value(value: tf.Tensor, inner_lengths: list[int | None], mask: tf.Tensor) -> tf.Tensor:
    """Return `value` without leading axes of length 1; the axes behind the mask must broadcast to
    `inner_lengths`.
    """
    while value.shape.rank > len(inner_lengths) and value.shape[0] == 1:
        value = value[0]
    inner = value.shape.as_list()[max(value.shape.rank - len(inner_lengths), 0) :]
    pairs = zip(reversed(inner), reversed(inner_lengths), strict=False)
    if value.shape.rank > len(inner_lengths) + 1 or any(
        n not in (1, None, m) and m is not None for n, m in pairs
    ):
        raise ValueError(
            f"shape mismatch: value array of shape {tuple(value.shape)} could not be broadcast to indexing "
            f"result of shape {(tf.get_static_value(tf.math.count_nonzero(mask)), *inner_lengths)}"
        )
    return value


def _check_count(count: tf.Tensor, value: tf.Tensor) -> None:
    value_count = tf.shape(value, tf.int64)[0]
    if hasattr(count, "numpy"):
        if int(value_count) != int(count):
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {int(value_count)} input values to "
                f"the {int(count)} output values where the mask is true"
            )
    elif value.shape[0] is not None:
        record_violation(tf.not_equal(value_count, count))
