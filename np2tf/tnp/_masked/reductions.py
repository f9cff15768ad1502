"""Reductions of selections, which compute on the whole array with a neutral number or a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from np2tf.tnp._array.ndarray import tensor_array, weak_scalar, wrap_tensor
from np2tf.tnp._masked.chunked_reductions import reduce_selection
from np2tf.tnp._masked.element_sources import Round, Source
from np2tf.tnp._masked.selected_arrays import selected_array, selection_of
from np2tf.tnp._masked.selection import AxisMask, Selection, span
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any, reduce_sum
from np2tf.tnp._tensor.symint import tensor_of

#: Reduction -> the number that replaces unselected elements without changing the result.
_NEUTRAL: dict[str, Callable[[tf.DType], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "any": lambda dtype: 0,
    "all": lambda dtype: 1,
    "count_nonzero": lambda dtype: 0,
    "max": lambda dtype: dtype.min if dtype.is_integer or dtype.is_bool else float("-inf"),
    "min": lambda dtype: dtype.max if dtype.is_integer or dtype.is_bool else float("inf"),
}
#: Reductions that are computed on the whole array with the argument `where`.
_WITH_WHERE = ("mean", "std", "var")
_DEFAULTS = {
    "axis": None,
    "dtype": None,
    "out": None,
    "mean": None,
    "keepdims": False,
    "where": True,
    "ddof": 0,
}
_CUMULATIVE = {"cumsum": 0, "cumprod": 1}
#: Function along an axis -> the reduction whose neutral number may replace unselected elements.
_ALONG = {"cumsum": "sum", "cumprod": "prod", "argmax": "max", "argmin": "min"}


def reduction(name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return ``name(selection, axis)``; None if the reduction cannot be computed on the whole array."""
    args, kwargs = _drop_defaults(args, kwargs)
    if name in _WITH_WHERE:
        result = _mean(function, args, kwargs) if name == "mean" else None
        return _where(function, args, kwargs) if result is None else result
    if name in _ALONG:
        of_vector = _accumulate if name in _CUMULATIVE else _position
        result = of_vector(name, function, args, kwargs)
        return _accumulate_axis(name, function, args, kwargs) if result is None else result
    if name == "norm":
        return _norm(function, args, kwargs)
    if name not in _NEUTRAL or len(args) > 2 or kwargs.keys() - {"axis"}:
        return None
    selection = selection_of(args[0])
    if selection is None:
        return None
    axis = args[1] if len(args) == 2 else kwargs.get("axis")
    axes = _axes(axis, len(selection.parts))
    if axes is None:
        return None
    if name in ("max", "min"):
        for k in axes:
            part = selection.parts[k]
            if part is not None:
                empty = (
                    tf.logical_not(reduce_any(part.mask))
                    if part.interval is None
                    else span(part.interval) <= 0
                )
                record_violation(empty)
    operand = selection.fill_outside(_NEUTRAL[name](selection.whole.dtype), axes)
    result = function(tensor_array(operand), axis=None if axis is None else axes)
    parts_left = tuple(part for k, part in enumerate(selection.parts) if k not in axes)
    if any(parts_left):
        source = _reduction_source(selection, axes, _NEUTRAL[name](selection.whole.dtype), function)
        return selected_array(Selection(result.tensor, parts_left, source))
    whole = result.tensor
    quicker = reduce_selection(name, selection, axes, whole)
    if quicker is whole:
        return result
    weak = getattr(result, "weak", None)  # before NumPy 2.3, the number of elements is a Python number
    return weak_scalar(quicker, weak) if weak else wrap_tensor(quicker)


def _reduction_source(
    selection: Selection, axes: Sequence[int], neutral: Any, function: Callable[..., Any]
) -> Source:
    """Return the source of a reduction over `axes` that leaves an axis with a part."""
    source_axes = [k - len(selection.parts) for k in range(len(selection.parts)) if k not in axes]

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        part = selection.read(source_axes[axis], first, count, round_entered)
        mask = selection.mask(axes)
        operand = part if mask is None else tf.where(mask, part, tf.cast(neutral, part.dtype))
        return function(tensor_array(operand), axis=tuple(axes)).tensor

    return read


def _drop_defaults(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return the arguments that differ from their defaults: methods pass every argument."""
    arguments = list(args)
    while len(arguments) > 1 and (arguments[-1] is None or arguments[-1] is False):
        arguments.pop()
    return arguments, {k: v for k, v in kwargs.items() if v is not _DEFAULTS.get(k, _DEFAULTS)}


def _mean(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    selection = selection_of(args[0])
    if selection is None or len(args) > 2 or kwargs.keys() - {"axis"}:
        return None
    if selection.whole.dtype not in (tf.float32, tf.float64):
        return None
    axes = _axes(args[1] if len(args) == 2 else kwargs.get("axis"), len(selection.parts))
    if axes is None or any(part is not None for k, part in enumerate(selection.parts) if k not in axes):
        return None
    count = tf.ones((), selection.whole.dtype)
    for k in axes:
        part = selection.parts[k]
        if part is None:
            size = selection.whole.shape[k]
        else:
            size = tf.math.count_nonzero(part.mask) if part.interval is None else span(part.interval)
        count *= tf.cast(size, selection.whole.dtype)
    whole = reduce_sum(selection.fill_outside(0, axes), axes)
    return wrap_tensor(reduce_selection("sum", selection, axes, whole) / count)


def _accumulate_axis(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Return running sums and products, or positions of extremes, along an axis with an interval."""
    selection = selection_of(args[0])
    if selection is None or len(args) > 2 or kwargs.keys() - {"axis"}:
        return None
    axes = _axes(args[1] if len(args) == 2 else kwargs.get("axis"), len(selection.parts))
    part = selection.parts[axes[0]] if axes is not None and len(axes) == 1 else None
    if axes is None or part is None or part.interval is None:
        return None
    result = function(
        tensor_array(selection.fill_outside(_NEUTRAL[_ALONG[name]](selection.whole.dtype), axes)),
        axis=axes[0],
    )
    if name in ("cumsum", "cumprod"):
        return selected_array(Selection(result.tensor, selection.parts))
    start, stop = (tensor_of(end) for end in part.interval)
    record_violation(start >= stop)  # in this case NumPy raises
    # If all selected elements equal the filling, the first position of the whole array was found.
    place = tf.maximum(result.tensor, start) - start
    parts_left = tuple(part for k, part in enumerate(selection.parts) if k not in axes)
    return selected_array(Selection(place, parts_left)) if any(parts_left) else wrap_tensor(place)


def _where(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Compute a reduction on the whole array with the mask as its argument `where`."""
    selection = selection_of(args[0])
    names = ("axis", "dtype", "out", "ddof", "keepdims")
    _, kwargs = _drop_defaults((), {**dict(zip(names, args[1:], strict=False)), **kwargs})
    if selection is None or len(args) > 6 or kwargs.keys() - {"axis", "ddof"}:
        return None
    axes = _axes(kwargs.get("axis"), len(selection.parts))
    if axes is None or any(part is not None for k, part in enumerate(selection.parts) if k not in axes):
        return None
    mask = tf.broadcast_to(selection.mask(), selection.whole.shape)
    other_keywords = {name: value for name, value in kwargs.items() if name != "axis"}
    return function(tensor_array(selection.whole), axis=axes, where=tensor_array(mask), **other_keywords)


def _vector(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[tf.Tensor, AxisMask] | None:
    """Return the whole array and the part of a vector of real numbers.

    Returns:
        None if the vector is not the only argument, has no part, or is complex.
    """
    selection = selection_of(args[0])
    if (
        selection is None
        or len(args) != 1
        or kwargs
        or len(selection.parts) != 1
        or selection.parts[0] is None
    ):
        return None
    return None if selection.whole.dtype.is_complex else (selection.whole, selection.parts[0])


def _position(name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return the position of an extreme: the number of selected elements before it.

    No element before the extreme exceeds the number that fills the unselected places.
    """
    vector = _vector(args, kwargs)
    if vector is None:
        return None
    whole, part = vector
    record_violation(tf.logical_not(reduce_any(part.mask)))
    fill = tf.cast(_NEUTRAL["max" if name == "argmax" else "min"](whole.dtype), whole.dtype)
    place = function(tensor_array(tf.where(part.mask, whole, fill))).tensor
    before = tf.range(whole.shape[0], dtype=tf.int64) < place
    return wrap_tensor(tf.math.count_nonzero(tf.logical_and(part.mask, before), dtype=tf.int64))


def _accumulate(name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return running sums or products; unselected elements are replaced by the neutral number."""
    selection = selection_of(args[0])
    if selection is None or len(args) != 1 or kwargs or len(selection.parts) != 1:
        return None
    result = function(tensor_array(selection.fill_outside(_CUMULATIVE[name])))
    return selected_array(Selection(result.tensor, selection.parts))


def _norm(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return the Euclidean norm of a vector. Zeros in the place of unselected elements do not change it."""
    selection = selection_of(args[0])
    if selection is None or len(args) != 1 or kwargs or len(selection.parts) != 1:
        return None
    return function(tensor_array(selection.fill_outside(0)))


def _axes(axis: Any, rank: int) -> tuple[int, ...] | None:
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(axis, int) and -rank <= axis < rank for axis in axes):
        return None
    return tuple(axis % rank for axis in axes)
