"""Elements selected by index, condition or choice, and functions that write to them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, tensor_array
from np2tf.arrays.dispatch.op import (
    LEFT_TO_NUMPY,
    OPS,
    Array,
    Axis,
    Operand,
    Operands,
    attach,
    op,
    positional_only,
)
from np2tf.arrays.functions.iterators import flat_view, flatiter, repeat_to_length
from np2tf.arrays.functions.ufuncs.comparison import truth
from np2tf.arrays.indexing.get_set import setitem
from np2tf.arrays.indexing.index_keys import get_masked, positions, true_places, where_mask
from np2tf.arrays.indexing.selection import guard_gradient, mask_selection, selected_array
from np2tf.arrays.operands.conversion import (
    as_tensor,
    as_view,
    cast,
    convert_assigned,
    promote,
    refuse_to_lose_gradient,
    to_numpy,
)
from np2tf.arrays.operands.promotion import kind_of, result_type
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.dtype_dispatch import gather_parts
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.counts import counts
from np2tf.core.errors import ShapeNeededError, ValueNeededError

__all__ = [
    "choose",
    "compress",
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "select",
    "take",
    "take_along_axis",
]


# -- take ----------------------------------------------------------------------------------------------------
# Elements selected by index, by condition or by choice.

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
    """Return indices, which may be negative, brought into the bounds of an axis by NumPy's `mode`."""
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
    """Return the elements at positions along an axis."""
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
    """Return the elements at positions along an axis, with separate positions for each slice."""
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


@op(np.compress)
def compress(condition: Array, a: Array, axis: Axis = None) -> ndarray:
    """Return the slices along an axis where a condition is true."""
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
    """Choose each element from one of several arrays."""
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
    """Return, for each element, the choice of the first condition that is true."""
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


# -- put -----------------------------------------------------------------------------------------------------
# Functions that write into their first argument, and return it: always use the returned object.
#
# They write through an array, so that its views and its owner see the write. A tf.Tensor, which cannot
# change, is replaced by a new tensor.


def writes(numpy: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Return a decorator that makes a function which writes into its first argument."""

    def decorate(implementation: Callable[..., None]) -> Callable[..., Any]:
        def on_numpy(target: Any, args: Any, kwargs: Any) -> None:
            numpy(target, *map(to_numpy, args), **{name: to_numpy(value) for name, value in kwargs.items()})

        first = next(iter(inspect.signature(implementation).parameters))
        by_position = positional_only(numpy, implementation)

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not args and first in by_position:
                numpy(**kwargs)  # raises
            target, *args = args if args else (kwargs.pop(first),)  # type: ignore[assignment]
            if isinstance(target, tf.Tensor):
                return call(tensor_array(target), *args, **kwargs).tensor
            # Our arrays call themselves np.ndarray too: which kind it is, `is_array` says.
            on_host = isinstance(target, np.ndarray) and not is_array(target)
            if on_host and current_scope() is None:
                refuse_to_lose_gradient((*args, *kwargs.values()))
                on_numpy(target, args, kwargs)
                return target
            if type(target) is scalar or not (on_host or is_array(target)):
                raise TypeError(f"argument 1 must be numpy.ndarray, not {type(target).__name__}")
            array = as_view(target)
            if array.is_read_only:
                if not tf.executing_eagerly():
                    raise ValueError("assignment destination is read-only")
                # NumPy decides which error comes first, and whether there is anything to write.
                copy = np.array(array.numpy())
                copy.flags.writeable = False
                on_numpy(copy, args, kwargs)
                return target
            try:
                implementation(array, *args, **kwargs)
            except LEFT_TO_NUMPY:
                if not tf.executing_eagerly():
                    raise
                counts.host += 1
                copy = np.array(array.numpy())
                on_numpy(copy, args, kwargs)
                array.store(tf.constant(copy))
            return target

        call.numpy = numpy  # type: ignore[attr-defined]
        OPS[numpy] = call
        return call

    return decorate


def _static_size(array: ndarray) -> int:
    size = array.tensor.shape.num_elements()
    if size is None:
        raise ShapeNeededError("a write by position into an array whose size is known only at run time")
    return size


@writes(np.put)
def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values at flat positions."""
    index = reshaped_index(indices_of(ind), [-1])
    if index.shape[0] is None:
        raise ShapeNeededError("put at places whose number is known only at run time")
    if index.shape[0] == 0:
        return
    if a.tensor.shape.num_elements() == 0:
        raise IndexError("cannot replace elements of an empty array")
    values = convert_assigned(v, a.dtype)
    if values.shape.num_elements() == 0:
        return
    flat = flat_view(a)
    place = bring_into_bounds(index, _static_size(a), 0, mode)
    setitem(flat, tensor_array(place), tensor_array(repeat_to_length(values, index.shape[0])))


def _ramp(length: Any, shape: list[int]) -> tf.Tensor:
    if isinstance(length, int):
        return tf.constant(np.arange(length).reshape(shape))
    return tf.reshape(tf.range(length, dtype=tf.int64), shape)


@writes(np.put_along_axis)
def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: Any) -> None:
    """Write values at positions along an axis."""
    target = flat_view(arr) if axis is None else arr
    tensor, index, along_axis = prepare_along_axis(target.tensor, indices, 0 if axis is None else axis)
    rank = tensor.shape.rank
    key = tuple(
        tensor_array(index)
        if k == along_axis
        else tensor_array(_ramp(axis_length(tensor, k), [-1 if j == k else 1 for j in range(rank)]))
        for k in range(rank)
    )
    setitem(target, key, values)


@writes(np.place)
def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Write values one after another where a mask is true."""
    values = tf.reshape(convert_assigned(vals, arr.dtype), [-1])
    flat_mask = tf.reshape(truth(as_tensor(mask)), [-1])
    if values.shape[0] == 0:
        is_empty = tf.get_static_value(~reduce_any(flat_mask))
        if is_empty is None:
            raise ValueNeededError("place of no values, with a mask known only at run time")
        if not is_empty:
            raise ValueError("Cannot insert from an empty array!")
        return
    if flat_mask.shape[0] != _static_size(arr):
        raise ValueError("place: mask and data must be the same size")
    count = tf.shape(values, tf.int64)[0]
    source = tf.math.floormod(tf.cumsum(tf.cast(flat_mask, tf.int64)) - 1, count)
    flat = flat_view(arr)
    flat.store(tf.where(flat_mask, tf.gather(values, source), flat.tensor))


def _safely_cast(values: Any, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return `values` in `dtype`: an array by the 'safe' rule, numbers and lists without a check."""
    if (is_array(values) and type(values) is not scalar) or isinstance(values, (np.ndarray, tf.Tensor)):
        source_dtype = kind_of(values)
        if not np.can_cast(source_dtype, dtype, "safe"):
            raise TypeError(
                f"Cannot cast array data from {source_dtype!r} to {dtype!r} according to the rule 'safe'"
            )
    return convert_assigned(values, dtype)


@writes(np.putmask)
def putmask(a: ndarray, /, mask: Any, values: Any) -> None:
    """Write values where a mask is true, each at its own position."""
    flat_mask = tf.reshape(truth(as_tensor(mask)), [-1])
    size = _static_size(a)
    if flat_mask.shape[0] != size:
        raise ValueError("putmask: mask and data must be the same size")
    tensor = _safely_cast(values, a.dtype)
    if tensor.shape.num_elements() == 0:
        return
    flat = flat_view(a)
    flat.store(tf.where(flat_mask, repeat_to_length(cast(tensor, a.dtype), size), flat.tensor))


@writes(np.copyto)
def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy the elements of one array into another array."""
    kind = kind_of(src)
    if casting != "unsafe":
        # NumPy raises the error if the cast is not allowed.
        sample: Any = np.empty(0, kind) if isinstance(kind, np.dtype) else kind(1)
        np.copyto(np.empty(0, dst.dtype), sample, casting)  # type: ignore[arg-type]
    if where is True:
        setitem(dst, ..., tensor_array(as_tensor(src)) if isinstance(src, (list, tuple)) else src)
        return
    target, mask = dst.tensor, where_mask(where)
    if isinstance(kind, np.dtype):
        # Elements that are not copied are not converted either.
        whole = as_tensor(src)
        src = tf.where(mask, whole, tf.zeros((), whole.dtype))
    source = convert_assigned(src, dst.dtype)
    while source.shape.rank > target.shape.rank and source.shape[0] == 1:
        source = source[0]
    value = tf.where(mask, source, target)
    if value.shape.rank != target.shape.rank or not value.shape.is_compatible_with(target.shape):
        raise ValueError(f"could not broadcast where mask or value into shape {dst.shape}")
    dst.store(value)


@writes(np.fill_diagonal)
def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Write values into the main diagonal."""
    rank = a.ndim
    if rank < 2:
        raise ValueError("array must be at least 2-d")
    shape = a.tensor.shape.as_list()
    if rank == 2 and not (wrap and shape[0] > shape[1]):
        _fill_matrix(a, val)
        return
    if rank > 2 and len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    step = shape[1] + 1 if rank == 2 else 1 + int(np.cumprod(shape[:-1]).sum())
    flatiter(a)[slice(None, None, step)] = val


def _fill_matrix(a: ndarray, val: Any) -> None:
    tensor = a.tensor
    rows, columns = tensor.shape.as_list()
    if rows is None or columns is None:
        raise ShapeNeededError("fill_diagonal of a matrix whose shape is known only at run time")
    values = repeat_to_length(convert_assigned(val, a.dtype), min(rows, columns))
    wide = tf.pad(tf.reshape(values, [1, -1]), [[0, 0], [0, columns - values.shape[0]]])
    on_diagonal = tf.constant(np.eye(rows, columns, dtype=bool))
    a.store(tf.where(on_diagonal, wide, tensor))


def _put_method(self: ndarray, indices: Any, values: Any, mode: str = "raise") -> None:
    put(self, indices, values, mode)


ndarray.put = _put_method  # type: ignore[attr-defined]
