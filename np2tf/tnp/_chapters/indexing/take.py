"""Elements selected by index, by condition or by choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.staging import ShapeNeededError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._dispatch.argument_types import Array, Axis, Operand, Operands
from np2tf.tnp._dispatch.op import attach, op
from np2tf.tnp._indexing.advanced_keys import positions
from np2tf.tnp._indexing.boolean_masks import get_masked, true_places
from np2tf.tnp._masked.selected_arrays import guard_gradient, selected_array
from np2tf.tnp._masked.selection import mask_selection
from np2tf.tnp._operands.conversion import as_tensor, promote
from np2tf.tnp._operands.promotion import result_type
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import staging_for_xla

__all__ = [
    "choose",
    "compress",
    "select",
    "take",
    "take_along_axis",
]

_MODES = ("raise", "clip", "wrap")


def indices_of(value: Any) -> tf.Tensor:
    """Return an index array as int64.

    Raises:
        TypeError: the array's dtype cannot be cast safely to int64.
    """
    if isinstance(value, (list, tuple)):
        # NumPy converts a list of any numbers; an array must have an integer dtype.
        return as_tensor(value, np.int64)
    tensor = as_tensor(value)
    dtype = tensor.dtype.as_numpy_dtype
    if not np.can_cast(dtype, np.int64, "safe"):
        source_dtype = np.dtype(dtype)
        raise TypeError(
            f"Cannot cast array data from {source_dtype!r} to dtype('int64') according to the rule 'safe'"
        )
    return tf.cast(tensor, tf.int64)


def reshaped_index(index: tf.Tensor, shape: list[int]) -> tf.Tensor:
    """Return an index array in another shape. An index array that is known stays known."""
    static_index = None if tf.executing_eagerly() else tf.get_static_value(index)
    return tf.reshape(index, shape) if static_index is None else tf.constant(static_index.reshape(shape))


def bring_into_bounds(index: tf.Tensor, length: Any, axis: int, mode: str) -> tf.Tensor:
    """Return indices brought into the bounds of an axis by NumPy's `mode`.

    Args:
        index: the indices, which may be negative.
        length: the length of the axis.
        axis: the axis, for messages.
        mode: "raise", "wrap" or "clip".
    """
    mode = "raise" if mode is None else mode
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if mode == "raise":
        return positions(index, length, axis)
    size = tf.cast(length, tf.int64)
    return tf.clip_by_value(index, 0, size - 1) if mode == "clip" else tf.math.floormod(index, size)


def axis_length(tensor: tf.Tensor, axis: int) -> Any:
    """Return the length of an axis: an int if it is known, otherwise a tensor."""
    size = tensor.shape[axis]
    return tf.shape(tensor, tf.int64)[axis] if size is None else size


@op(np.take, method=True)
def take(a: Array, indices: Any, axis: Axis = None, out: Any = None, mode: str = "raise") -> Any:
    """Return the elements at positions along an axis.

    Args:
        a: array of any dtype and shape.
        indices: array of integers.
        axis: the axis to work along; None is the flattened array.
        out: array to write the result into; None makes a new array.
        mode: "raise", "wrap" or "clip" for positions out of bounds.

    Returns:
        An array in which the axes of `indices` replace the axis.

    Raises:
        IndexError: a position is out of bounds with mode "raise".
        TypeError: `indices` is not of integers.
        ValueError: there is no such mode.

    See https://numpy.org/doc/stable/reference/generated/numpy.take.html.
    """
    if axis is None or (a.shape.rank == 0 and axis in (0, -1)):
        a, axis = tf.reshape(a, [-1]), 0
    axis = normalize_axis_index(axis, a.shape.rank)
    index = indices_of(indices)
    if mode == "raise" and 0 in a.shape.as_list()[:axis]:
        # Of nothing, NumPy does not look at the indices.
        return tf.zeros(tf.concat([tf.shape(a)[:axis], tf.shape(index), tf.shape(a)[axis + 1 :]], 0), a.dtype)
    return gather_parts(a, bring_into_bounds(index, axis_length(a, axis), axis, mode), axis)


def prepare_along_axis(arr: tf.Tensor, indices: Any, axis: Any) -> tuple[tf.Tensor, tf.Tensor, int]:
    """Return the operands of take_along_axis: the array, indices of the same rank, and the axis.

    Raises:
        IndexError, ValueError: NumPy raises them for these arguments.
    """
    index = as_tensor(indices)
    if not index.dtype.is_integer:
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        if index.shape.rank != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = tf.reshape(arr, [-1]), 0
    axis = normalize_axis_index(axis, arr.shape.rank)
    if index.shape.rank != arr.shape.rank:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if 0 in (n for k, n in enumerate(arr.shape.as_list()) if k != axis):
        # NumPy does not check indices that are broadcast to no elements.
        return arr, tf.zeros_like(index, tf.int64), axis
    return arr, positions(tf.cast(index, tf.int64), axis_length(arr, axis), axis), axis


@op(np.take_along_axis)
def take_along_axis(arr: Array, indices: Any, axis: Axis = -1) -> Any:
    """Return the elements at positions along an axis, with separate positions for each slice.

    Args:
        arr: array of any dtype and shape.
        indices: array of integers with as many axes as `arr`.
        axis: the axis of the positions; None is the flattened array.

    Returns:
        An array in the shape of `indices`, broadcast along the other axes.

    Raises:
        IndexError: a position is out of bounds, or `indices` is not of integers.
        ValueError: the numbers of axes differ.
        StagingError: lengths that are to be broadcast are known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html.
    """
    return tensor_array(gather_along(*prepare_along_axis(arr, indices, axis)))


def gather_along(arr: tf.Tensor, index: tf.Tensor, axis: int) -> tf.Tensor:
    """Do ``take_along_axis`` for positions that are in bounds."""
    rank = arr.shape.rank
    order = [k for k in range(rank) if k != axis] + [axis]
    last, index = _permute(arr, order), _permute(index, order)
    common = _common(last.shape.as_list()[:-1], index.shape.as_list()[:-1])
    last = _broadcast_leading(last, common)
    index = _broadcast_leading(index, common)
    return _permute(tf.gather(last, index, batch_dims=rank - 1, axis=rank - 1), list(np.argsort(order)))


def _permute(tensor: tf.Tensor, order: list[int]) -> tf.Tensor:
    return tensor if order == sorted(order) else tf.transpose(tensor, order)


def _common(left: list[Any], right: list[Any]) -> list[Any] | None:
    if None in left or None in right:
        if any(1 in (n, m) and n != m for n, m in zip(left, right, strict=True)):
            raise ShapeNeededError("broadcasting of lengths known only at run time")
        return None
    try:
        return list(np.broadcast_shapes(tuple(left), tuple(right)))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None


def _broadcast_leading(tensor: tf.Tensor, common: list[Any] | None) -> tf.Tensor:
    if common is None or tensor.shape.as_list()[:-1] == common:
        return tensor
    return tf.broadcast_to(tensor, [*common, axis_length(tensor, -1)])


# -- by condition ----------------------------------------------------------------------------------


def truth(tensor: tf.Tensor) -> tf.Tensor:
    """Return which elements are not zero, as a boolean tensor."""
    return tensor if tensor.dtype == tf.bool else tf.not_equal(tensor, tf.zeros((), tensor.dtype))


@op(np.compress)
def compress(condition: Array, a: Array, axis: Axis = None) -> ndarray:
    """Return the slices along an axis where a condition is true.

    Args:
        condition: array (n,) of any dtype.
        a: array of any dtype and shape.
        axis: the axis to work along; None is the flattened array.

    Returns:
        An array in the dtype of `a`, in its shape except for the length of the axis.

    Raises:
        ValueError: `condition` does not have one axis.
        IndexError: a true element of `condition` lies beyond the end of the axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.compress.html.
    """
    if condition.shape.rank != 1:
        raise ValueError("condition must be a 1-d array")
    if axis is None or (a.shape.rank == 0 and axis in (0, -1)):
        a, axis = tf.reshape(a, [-1]), 0
    return compress_axis(condition, a, normalize_axis_index(axis, a.shape.rank))


def compress_axis(condition: tf.Tensor, a: tf.Tensor, axis: int) -> ndarray:
    if condition.shape[0] is not None and condition.shape[0] == a.shape[axis]:
        selection = mask_selection(a, truth(condition)) if staging_for_xla() and not axis else None
        if selection is not None:
            return selected_array(guard_gradient(selection))
        return tensor_array(get_masked(a, truth(condition), axis))
    places = true_places(truth(condition))[:, 0]
    return tensor_array(gather_parts(a, positions(places, axis_length(a, axis), axis), axis))


def _compress_method(a: Any, condition: Any, axis: Any = None, out: Any = None) -> Any:
    return compress(condition, a, axis) if out is None else compress(condition, a, axis, out=out)


attach("compress", _compress_method)


# -- by choice -------------------------------------------------------------------------------------


@op(np.choose)
def choose(a: Array, choices: Operands, out: Any = None, mode: str = "raise") -> ndarray:
    """Choose each element from one of several arrays.

    Args:
        a: array of integers, the numbers of the arrays.
        choices: sequence of arrays, which broadcast with `a`.
        out: array to write the result into; None makes a new array.
        mode: "raise", "wrap" or "clip" for numbers out of range.

    Returns:
        An array in the common shape of all operands and the common dtype of the choices.

    Raises:
        ValueError: a number is out of range with mode "raise", or there is no such mode.
        TypeError: `a` is not of integers.

    See https://numpy.org/doc/stable/reference/generated/numpy.choose.html.
    """
    count = len(choices)
    picks = (
        _checked_choice(indices_of(a), count)
        if mode == "raise"
        else bring_into_bounds(indices_of(a), count, 0, mode)
    )
    tensors = promote(*choices)
    result = tensors[0]
    for k, tensor in enumerate(tensors[1:], 1):
        result = tf.where(tf.equal(picks, k), tensor, result)
    shape = tf.broadcast_dynamic_shape(tf.shape(picks), tf.shape(result))
    static = tf.broadcast_static_shape(picks.shape, result.shape)
    return tensor_array(tf.broadcast_to(result, static if static.is_fully_defined() else shape))


def _choose_method(a: Any, *choices: Any, **kwargs: Any) -> Any:
    """Choose from one sequence of arrays, or from arrays that are separate arguments."""
    return choose(a, choices[0] if len(choices) == 1 else choices, **kwargs)


attach("choose", _choose_method)


def _checked_choice(picks: tf.Tensor, count: int) -> tf.Tensor:
    violation = reduce_any((picks < 0) | (picks >= count))
    static = tf.get_static_value(violation)
    if static:
        raise ValueError("invalid entry in choice array")
    if static is None:
        record_violation(violation)
    return picks


@op(np.select)
def select(condlist: Any, choicelist: Any, default: Operand = 0) -> ndarray:
    """Return, for each element, the choice of the first condition that is true.

    Args:
        condlist: sequence of boolean arrays.
        choicelist: sequence of as many arrays.
        default: number or array for elements without a true condition.

    Returns:
        An array in the common shape of all operands and the common dtype of the choices and `default`.

    Raises:
        ValueError: the sequences have different lengths, or are empty.
        TypeError: a condition is not boolean.

    See https://numpy.org/doc/stable/reference/generated/numpy.select.html.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    conditions = [as_tensor(condition) for condition in condlist]
    for k, condition in enumerate(conditions):
        if condition.dtype != tf.bool:
            raise TypeError(f"invalid entry {k} in condlist: should be boolean ndarray")
    dtype = result_type(*choicelist, default)
    result = as_tensor(default, dtype)
    for condition, choice in zip(reversed(conditions), reversed(choicelist), strict=True):
        result = tf.where(condition, as_tensor(choice, dtype), result)
    return tensor_array(result)
