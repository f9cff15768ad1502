"""Operations on selections, computed on the whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, tensor_array, weak_scalar, wrap_tensor
from np2tf.arrays.indexing import selection as element_sources
from np2tf.arrays.indexing.selection import (
    AxisMask,
    Round,
    Selection,
    Source,
    align,
    selected_array,
    selection_of,
    span,
)
from np2tf.arrays.indexing.selection_chunks import inner, reduce_selection
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.axis_reductions import inner_product, reduce_any, reduce_sum
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import tensor_of
from np2tf.arrays.tensors.violations import record_violation

# -- elementwise ---------------------------------------------------------------------------------------------
# Elementwise operations on selections, which compute on the whole arrays.


def selections(operands: Sequence[Any]) -> list[Selection | None] | None:
    """Return the selection behind each operand, or None for other operands; None if no operand is a
    selection.
    """
    if not staging_for_xla():
        return None
    result = [selection_of(operand) for operand in operands]
    return result if any(selection is not None for selection in result) else None


def elementwise(operands: Sequence[Any], compute: Callable[[list[Any]], Any]) -> Any:
    """Apply `compute` to the whole array of each operand, and return the result as a selection.

    Returns:
        None if the parts of the operands do not match.
    """
    operand_selections = selections(operands)
    if operand_selections is None:
        return None
    operand_selections = _align_all(operand_selections)
    wholes = [
        tensor_array(selection.whole) if selection is not None else _as_it_is(operand)
        for operand, selection in zip(operands, operand_selections, strict=True)
    ]
    shapes = [tuple(as_tensor(whole).shape.as_list()) for whole in wholes]
    parts = [
        selection.parts if selection is not None else (None,) * len(shape)
        for selection, shape in zip(operand_selections, shapes, strict=True)
    ]
    result_parts = _merge_parts(shapes, parts)
    if result_parts is None:
        return None
    result = compute(wholes)
    if isinstance(result, tuple):
        return None
    return selected_array(
        Selection(result, result_parts, _elementwise_source(wholes, operand_selections, compute))
    )


def _as_it_is(operand: Any) -> Any:
    """Return an operand that is not a selection. An np.ndarray becomes a tensor, so that later writes do not
    matter.
    """
    if isinstance(operand, np.ndarray) and type(operand) is not scalar:
        return tensor_array(as_tensor(operand))
    return operand


def _elementwise_source(
    wholes: Sequence[Any], selections: Sequence[Selection | None], compute: Callable[[list[Any]], Any]
) -> Source:
    """Return the source of an elementwise result: it computes from elements that it reads of the operands."""

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        pairs = zip(wholes, selections, strict=True)
        return compute(
            [
                whole
                if selection is None
                else tensor_array(selection.read(axis, first, count, round_entered))
                for whole, selection in pairs
            ]
        )

    return read


def _align_all(selections: Sequence[Selection | None]) -> list[Selection | None]:
    """Return the selections with their intervals aligned, for each axis of the result.

    On an axis with several intervals, each array is moved so that its interval lies where the shortest
    array has its own.
    """
    result = list(selections)
    for axis in range(1, max(len(selection.parts) for selection in selections if selection is not None) + 1):
        entries = [
            (k, selection, selection.parts[-axis])
            for k, selection in enumerate(result)
            if selection is not None and len(selection.parts) >= axis and selection.parts[-axis] is not None
        ]
        if len(entries) < 2:
            continue
        shortest = min((part for _, _, part in entries), key=_length)
        for k, selection, _ in entries:
            result[k] = align(selection, len(selection.parts) - axis, shortest) or selection
    return result


def _length(part: AxisMask | None) -> int:
    assert part is not None
    length: int = part.mask.shape[0]
    return length


def _merge_parts(
    shapes: Sequence[tuple[Any, ...]], parts: Sequence[Sequence[AxisMask | None]]
) -> tuple[AxisMask | None, ...] | None:
    """Return the parts of the broadcast result; None if a part meets an axis with another part."""
    rank = max(map(len, shapes))
    result: list[AxisMask | None] = []
    for axis in range(-rank, 0):
        here = [(s[axis], p[axis]) for s, p in zip(shapes, parts, strict=True) if len(s) >= -axis]
        axis_parts = [part for _, part in here if part is not None]
        if axis_parts:
            if any(
                (part is None and size != 1) or (part is not None and part.key != axis_parts[0].key)
                for size, part in here
            ):
                return None
            result.append(axis_parts[0])
        else:
            result.append(None)
    return tuple(result)


# -- reductions ----------------------------------------------------------------------------------------------
# Reductions of selections, which compute on the whole array with a neutral number or a mask.

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


# -- products ------------------------------------------------------------------------------------------------
# Products of vectors and matrices that are selections.

#: The products that are computed here, by the names of NumPy's functions.
PRODUCTS = ("dot", "vdot", "inner", "matmul")


def product(name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return a product of vectors and matrices that have the same part of the summed axis."""
    if name not in PRODUCTS or len(args) != 2 or kwargs:
        return None
    operand_selections = selections(args)
    if operand_selections is None:
        return None
    whole = [
        selection or _without_parts(arg) for selection, arg in zip(operand_selections, args, strict=True)
    ]
    a, b = whole
    if (
        not 1 <= len(a.parts) <= 2
        or not 1 <= len(b.parts) <= 2
        or (name in ("vdot", "inner") and len(a.parts) + len(b.parts) > 2)
    ):
        return None
    inner_a, inner_b = len(a.parts) - 1, max(len(b.parts) - 2, 0)
    new_b = align(b, inner_b, a.parts[inner_a])
    if new_b is None or a.whole.shape[inner_a] != new_b.whole.shape[inner_b]:
        return None
    original_b, inner_part = b, a.parts[inner_a]
    vectors = len(a.parts) == len(b.parts) == 1
    b = new_b
    if vectors and a.whole.dtype == b.whole.dtype and a.whole.dtype.is_floating:
        whole_product = inner_product(a.whole, b.whole, a.mask())
        return wrap_tensor(
            whole_product if inner_part is None else inner(a, original_b, inner_part, False, whole_product)
        )
    left, right = tensor_array(a.fill_outside(0, [inner_a])), tensor_array(b.fill_outside(0, [inner_b]))
    result = function(left, right)
    if vectors and inner_part is not None:
        return wrap_tensor(inner(a, original_b, inner_part, name == "vdot", result.tensor))
    parts_left = (*a.parts[:inner_a], *[part for k, part in enumerate(b.parts) if k != inner_b])
    # The result has no source: in rounds of 64 columns such a product takes 1.5 times as long as on the whole
    # array, which is twice the work (700 products of 1,050 elements and as many rows: 105 ms and 64).
    return selected_array(Selection(result.tensor, parts_left)) if any(parts_left) else result


def outer_product(a: Any, b: Any) -> Any:
    """Return the outer product of two vectors, as the elementwise product of a column and a row."""
    left, right = (selection_of(operand) or _without_parts(operand) for operand in (a, b))
    if len(left.parts) != 1 or len(right.parts) != 1:
        return None
    columns = left.source and element_sources.add_axis(left.source, -1)
    rows = right.source and element_sources.add_axis(right.source, -2)
    column = selected_array(Selection(left.whole[:, None], (*left.parts, None), columns))
    row = selected_array(Selection(right.whole[None, :], (None, *right.parts), rows))
    return column * row  # type: ignore[operator]


def _without_parts(operand: Any) -> Selection:
    tensor = operand.tensor if is_array(operand) else as_tensor(operand)
    return Selection(tensor, (None,) * tensor.shape.rank)


# -- operations ----------------------------------------------------------------------------------------------
# The operations on selections that avoid dynamic shapes, and the file that computes each of them.

#: Elementwise functions of one or more arrays that are not ufuncs -> their number of operands.
_ELEMENTWISE = {"where": 3, "nan_to_num": 1, "around": 1, "round": 1}


def apply_to_selections(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Return the result of an op on selections; None if the op needs their dynamic shape."""
    if not args or selections(args[:3]) is None:
        return None
    if _ELEMENTWISE.get(name) == len(args) and not kwargs:
        return elementwise(args, lambda wholes: function(*wholes).tensor)
    if selections(args[:2]) is None:
        return None
    if name == "outer" and len(args) == 2 and not kwargs:
        return outer_product(*args)
    return (
        product(name, function, args, kwargs) if name in PRODUCTS else reduction(name, function, args, kwargs)
    )
