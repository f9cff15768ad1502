"""reduce, accumulate, reduceat and at of ufuncs on tensors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import ndarray, tensor_array, wrap_tensor
from np2tf.arrays.functions import cumulative, reductions
from np2tf.arrays.functions.creation import astype
from np2tf.arrays.functions.reduction_kernels import apply_where
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.functions.ufuncs.running_products import scan, tree_reduce
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.indexing.get_set import getitem, setitem
from np2tf.arrays.indexing.index_keys import AdvancedKey, expand, is_parted, leading_mask
from np2tf.arrays.operands.axes import normalize_axes, normalize_axis, rank_of
from np2tf.arrays.operands.conversion import as_tensor, as_view, cast
from np2tf.arrays.operands.promotion import kind_of_item, promotion_kind, ufunc_loop
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.tapes import may_record
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

# -- reduceat ------------------------------------------------------------------------------------------------
# `reduceat` of ufuncs on tensors: one reduction for each of several slices.

#: The largest number of slices.
_MAX_SLICES = 64


def reduceat(ufunc: Ufunc, array: Any, indices: Any, axis: int, dtype: np.dtype[Any]) -> Any:
    """Return `ufunc.reduceat` for indices that are known while staging.

    Raises:
        IndexError: an index is out of bounds.
        ValueError: the indices are not a vector.
        StagingError: the indices are not known, none or too many, or the ufunc has no reduction on tensors.
    """
    x = as_tensor(array)
    along = normalize_axis(axis, rank_of(x))
    starts = tf.get_static_value(as_tensor(indices, np.int64))
    length = x.shape[along]
    reduce = reducers.get(ufunc.__name__)
    if starts is None or length is None or reduce is None or np.size(starts) > _MAX_SLICES:
        raise NoGraphFormError(f"{ufunc.__name__}.reduceat")
    if starts.ndim != 1:
        raise ValueError("object too deep for desired array")
    for start in starts:
        if not 0 <= start < length:
            raise IndexError(f"index {start} out-of-bounds in {ufunc.__name__}.reduceat [0, {length})")
    parts = []
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), length]):
        # If an index is not below the next index, the slice is the element at the index.
        piece = tf.gather(x, tf.range(start, max(stop, start + 1)), axis=along)
        parts.append(as_tensor(reduce(tensor_array(piece), axis=along, dtype=dtype)))
    if not parts:
        raise NoGraphFormError("reduceat of no slices")
    return tensor_array(tf.stack(parts, along))


# -- reduce --------------------------------------------------------------------------------------------------
# `reduce` and `accumulate` of ufuncs on tensors.

_ASSOCIATIVE = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "gcd",
    "lcm",
    "hypot",
    "logaddexp",
    "logaddexp2",
)
#: The associative ufuncs of which an operand may be repeated.
_IDEMPOTENT = frozenset(
    {
        "bitwise_and",
        "bitwise_or",
        "logical_and",
        "logical_or",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "gcd",
        "lcm",
    }
)
#: The associative ufuncs that round, so that results depend on the order of operations. NumPy accumulates
#: these, except in graphs and where a gradient tape may record.
_ROUNDING_UFUNCS = frozenset({"hypot", "logaddexp", "logaddexp2"})


def _in_dtype(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return the operand in the dtype in which NumPy computes; a selection stays a selection."""
    return array if promotion_kind(array) == dtype else astype(as_view(array), dtype)


def _known_length(x: tf.Tensor, axis: int) -> int:
    """Return the length of an axis, which must be known while staging."""
    if x.shape[axis] is None:
        raise ShapeNeededError("a ufunc's reduction along an axis of unknown length")
    return int(x.shape[axis])


def _reduce(ufunc: Ufunc) -> Callable[..., Any]:
    """Return the method `reduce` of an associative ufunc."""

    def reduce(
        array: Any,
        axis: Any,
        dtype: np.dtype[Any],
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        x = as_tensor(_in_dtype(array, dtype))
        start = None if initial is None else _initial(initial, dtype)
        neutral = ufunc.identity if initial is None else start
        if where is not True:
            if neutral is None:
                raise ValueError(
                    f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where "
                    "mask one has to specify 'initial'"
                )
            if initial is not None and ufunc.__name__ not in _IDEMPOTENT:
                neutral = ufunc.identity
                if neutral is None:
                    raise NoGraphFormError(f"initial= and where= of {ufunc.__name__}.reduce")
            x = apply_where(x, where, neutral)
        axes = normalize_axes(axis, rank_of(x))
        if ufunc.__name__ == "lcm" and len(axes) > 1:
            raise ValueError(
                "reduction operation 'lcm' is not reorderable, so at most one axis may be specified"
            )
        if 0 in [_known_length(x, along) for along in axes]:
            if neutral is None:
                raise ValueError(
                    f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
                )
            shape = tf.shape(reduce_any(tf.zeros_like(x, tf.bool), axes, bool(keepdims)))
            return wrap_tensor(tf.fill(shape, as_tensor(ufunc.identity if start is None else start, dtype)))
        for along in sorted(axes, reverse=True):
            x = tree_reduce(ufunc.implementation, x, along, keepdims)
        result = x if start is None else ufunc.implementation(start, x)
        return wrap_tensor(cast(result, dtype))

    return reduce


def _initial(value: Any, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return the number from which a reduction starts, as NumPy converts it to the dtype of the reduction."""
    start = as_tensor(value)
    if rank_of(start) != 0:
        raise ValueError("setting an array element with a sequence.")
    return cast(start, dtype)


def _accumulate(ufunc: Ufunc) -> Callable[..., Any]:
    """Return the method `accumulate` of an associative ufunc."""

    def accumulate(array: Any, axis: int, dtype: np.dtype[Any]) -> Any:
        x = as_tensor(_in_dtype(array, dtype))
        _refuse_number(x)
        along = normalize_axis(axis, rank_of(x))
        _known_length(x, along)
        if ufunc.__name__ in _ROUNDING_UFUNCS and tf.executing_eagerly() and not may_record():
            raise NoGraphFormError(
                f"{ufunc.__name__}.accumulate in eager code, which would round in another order than NumPy,"
            )
        return wrap_tensor(cast(scan(ufunc.implementation, x, along), dtype))

    return accumulate


def _refuse_number(array: Any) -> None:
    """Refuse to accumulate an operand without axes."""
    if rank_of(as_tensor(array)) == 0:
        raise TypeError("cannot accumulate on a scalar")


def _refusing_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a running sum or product as a method of the ufunc, which refuses operands without axes."""

    def accumulate(array: Any, **kwargs: Any) -> Any:
        _refuse_number(array)
        return function(array, **kwargs)

    return accumulate


def _without_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy as the method `reduce` of the ufunc, which has a dtype."""

    def reduce(array: Any, dtype: np.dtype[Any], **kwargs: Any) -> Any:
        return function(_in_dtype(array, dtype), **kwargs)

    return reduce


def _with_initial(
    function: Callable[..., Any], combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
) -> Callable[..., Any]:
    """Return `all` or `any` as the method `reduce` of the ufunc, which starts from a truth value."""

    def reduce(array: Any, dtype: np.dtype[Any], initial: Any = None, **kwargs: Any) -> Any:
        result = function(array, **kwargs)
        if initial is None:
            return result
        return wrap_tensor(combine(as_tensor(result), _initial(initial, dtype)))

    return reduce


#: The name of a ufunc -> its reduce and accumulate. They are given the dtype in which NumPy computes.
reducers: dict[str, Callable[..., Any]] = {
    **{name: _reduce(getattr(ufuncs, name)) for name in _ASSOCIATIVE},
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": _without_dtype(reductions.max),
    "minimum": _without_dtype(reductions.min),
    "logical_and": _with_initial(reductions.all, tf.logical_and),
    "logical_or": _with_initial(reductions.any, tf.logical_or),
}
accumulators: dict[str, Callable[..., Any]] = {
    **{name: _accumulate(getattr(ufuncs, name)) for name in _ASSOCIATIVE},
    "add": _refusing_numbers(cumulative.cumsum),
    "multiply": _refusing_numbers(cumulative.cumprod),
}


# -- at ------------------------------------------------------------------------------------------------------
# `at` of ufuncs on tensors: an operation for each of several indices.

_SCATTER: dict[str, Callable[..., tf.Tensor]] = {
    "add": tf.tensor_scatter_nd_add,
    "subtract": tf.tensor_scatter_nd_sub,
    "maximum": tf.tensor_scatter_nd_max,
    "minimum": tf.tensor_scatter_nd_min,
}


def scatter(ufunc: Ufunc, array: ndarray, indices: Any, operand: Any) -> None:
    """``ufunc.at(array, indices, operand)``: once for every index, also for repeated indices."""
    tensor = array.tensor
    if array.is_read_only:
        raise ValueError("array is read-only")
    operands = (tensor,) if operand is None else (tensor, operand)
    # For NumPy a Python number is an array like any other here, and not weak.
    loop = ufunc_loop(ufunc.numpy, tuple(map(kind_of_item, operands)))
    items = expand(indices, tensor.shape.rank)
    if not any(isinstance(item, tf.Tensor) for item in items) or leading_mask(items) is not None:
        old = getitem(array, indices)
        new = ufunc(old) if operand is None else ufunc(old, wrap_tensor(as_tensor(operand, loop[1])))
        if not new.tensor.shape.is_compatible_with(old.tensor.shape):
            raise ValueError("array is not broadcastable to correct shape")
        setitem(array, indices, new)
        return
    # A result of another kind is cast back after every single step, as NumPy does.
    combine = _SCATTER.get(ufunc.__name__)
    value = tf.zeros((), tf.bool) if operand is None else as_tensor(operand, loop[1])
    stepwise = combine is None or loop[0].kind != array.dtype.kind or loop[0].kind not in "iuf"
    key = AdvancedKey(tensor if stepwise else cast(tensor, loop[0]), items, is_parted(indices))
    key.check_value(value)
    if value.shape.rank > key.rank:
        raise ValueError("array is not broadcastable to correct shape")
    if stepwise:
        array.store(key.scatter(value, functools.partial(_apply_one_by_one, ufunc, loop)))
    else:
        array.store(cast(key.scatter(value, combine), array.dtype))


def _apply_one_by_one(
    ufunc: Ufunc, loop: Any, base: tf.Tensor, places: tf.Tensor, values: tf.Tensor
) -> tf.Tensor:
    """Apply a ufunc at each place in turn; a place is a row of `places`, as in tensor_scatter_nd_add."""
    if tf.executing_eagerly():
        raise NoGraphFormError("a loop over the indices, one operation at a time")
    width = places.shape[-1]
    rows = tf.reshape(places, [-1, width])
    parts = tf.reshape(values, tf.concat([tf.shape(rows)[:1], tf.shape(base)[width:]], 0))

    def step(k: tf.Tensor, array: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        row = rows[k][None]
        old = cast(tf.gather_nd(array, row), loop[0])
        new = ufunc.implementation(old) if ufunc.nin == 1 else ufunc.implementation(old, parts[k][None])
        return k + 1, tf.tensor_scatter_nd_update(
            array, row, cast(cast(new, loop[-1]), array.dtype.as_numpy_dtype)
        )

    count = tf.shape(rows)[0]
    return tf.while_loop(lambda k, _: k < count, step, (tf.zeros((), tf.int32), base))[1]


Ufunc.on_tensors = sys.modules[__name__]
