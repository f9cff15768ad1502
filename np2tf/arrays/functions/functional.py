"""Functions that apply a Python function to parts of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.ndarray import is_array, is_unsupported_dtype, tensor_array
from np2tf.arrays.dispatch.host_fallback import known_value
from np2tf.arrays.dispatch.op import OPS
from np2tf.arrays.dispatch.placement import runs_on_host, wrap_result
from np2tf.arrays.functions.reshape import expand_dims
from np2tf.arrays.functions.take_put import truth
from np2tf.arrays.indexing.get_set import getitem
from np2tf.arrays.operands.conversion import as_tensor, is_numpy_subclass
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.core.errors import NoGraphFormError

__all__ = ["apply_along_axis", "apply_over_axes", "piecewise"]

#: The largest number of calls of a Python function that a graph holds one by one.
_MAX_UNROLLED_CALLS = 256


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to every slice of one axis."""
    if runs_on_host((arr, *args), kwargs) or _is_numpys(arr):

        def on_slice(row: np.ndarray) -> Any:
            return known_value(func1d(wrap_result(row), *args, **kwargs))

        return wrap_result(np.apply_along_axis(on_slice, axis, known_value(arr)))
    tensor = as_tensor(arr)
    rank = tensor.shape.rank
    axis = normalize_axis_index(axis, rank)
    last = tf.transpose(tensor, [k for k in range(rank) if k != axis] + [axis])
    outer = last.shape.as_list()[:-1]
    if None in outer or np.prod(outer) > _MAX_UNROLLED_CALLS:
        raise NoGraphFormError("apply_along_axis over very many slices, or a number known only at run time")
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    length = tf.shape(last)[-1] if last.shape[-1] is None else last.shape[-1]
    rows = tf.unstack(tf.reshape(last, [math.prod(outer), length]))
    outputs = [func1d(tensor_array(row), *args, **kwargs) for row in rows]
    if any(map(_is_numpys, outputs)) and tf.executing_eagerly():
        remaining_tensors = iter(outputs)
        return wrap_result(
            np.apply_along_axis(lambda row: known_value(next(remaining_tensors)), axis, known_value(tensor))
        )
    results = [as_tensor(result) for result in outputs]
    stack = tf.stack([tf.cast(result, results[0].dtype) for result in results])
    width = results[0].shape.rank
    stack = tf.reshape(stack, tf.concat([tf.constant(outer, tf.int32), tf.shape(results[0])], 0))
    front = list(range(len(outer)))
    order = front[:axis] + [len(outer) + k for k in range(width)] + front[axis:]
    return tensor_array(tf.transpose(stack, order))


def _is_numpys(value: Any) -> bool:
    """Return whether only NumPy can hold an array: its class is derived, or TensorFlow lacks its dtype."""
    return isinstance(value, np.ndarray) and (is_numpy_subclass(value) or is_unsupported_dtype(value.dtype))


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Apply ``func(a, axis)`` for each of several axes, one after another. The number of axes does not
    change.
    """
    value = (
        a
        if is_array(a)
        else wrap_result(np.asarray(known_value(a)))
        if not isinstance(a, tf.Tensor)
        else tensor_array(a)
    )
    rank = value.ndim
    for axis in np.atleast_1d(np.asarray(known_value(axes))).tolist():
        axis = axis + rank if axis < 0 else axis
        result = func(value, axis)
        if result.ndim != value.ndim:
            result = expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


OPS[np.apply_along_axis] = apply_along_axis
OPS[np.apply_over_axes] = apply_over_axes


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Evaluate each function where its condition holds; see numpy.piecewise."""
    if runs_on_host((x, condlist, *args), kw) or is_numpy_subclass(x):
        functions = [
            (lambda values, *arguments, f=f, **keywords: f(wrap_result(values), *arguments, **keywords))
            if callable(f)
            else f
            for f in funclist
        ]
        return wrap_result(np.piecewise(_to_numpy(x), _to_numpy(condlist), functions, *args, **kw))
    tensor = as_tensor(x)
    conditions = _conditions(condlist, tensor)
    if len(funclist) == len(conditions) + 1:
        otherwise = ~reduce_any(tf.stack([tf.broadcast_to(c, tf.shape(tensor)) for c in conditions]), 0)
        conditions.append(otherwise)
    elif len(funclist) != len(conditions):
        count = len(conditions)
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    result = tensor_array(tf.zeros_like(tensor))
    values = tensor_array(tensor)
    for condition, function in zip(conditions, funclist, strict=True):
        mask = tensor_array(condition)
        if not callable(function):
            result[mask] = function  # type: ignore[index]
        else:
            elements = getitem(values, mask)
            if elements.tensor.shape[0] != 0:
                result[mask] = function(elements, *args, **kw)  # type: ignore[index]
    return result


def _to_numpy(value: Any) -> Any:
    from np2tf.arrays.operands.conversion import to_numpy

    return to_numpy(value)


def _conditions(condlist: Any, x: tf.Tensor) -> list[tf.Tensor]:
    """Return the conditions as boolean tensors; NumPy accepts one condition without a list around it."""
    is_number = not isinstance(condlist, (list, tuple)) and as_tensor(condlist).shape.rank == 0
    if is_number or (x.shape.rank != 0 and as_tensor(condlist[0]).shape.rank == 0):
        condlist = [condlist]
    return [truth(as_tensor(condition)) for condition in condlist]
