"""Functions that write into their first argument, and return it: always use the returned object.

They write through an array, so that its views and its owner see the write. A tf.Tensor, which cannot
change, is replaced by a new tensor.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import ShapeNeededError, ValueNeededError
from np2tf.tnp._array.ndarray import is_array, ndarray, scalar, tensor_array
from np2tf.tnp._chapters.indexing.flatiter import flat_view, flatiter, repeat_to_length
from np2tf.tnp._chapters.indexing.take import (
    axis_length,
    bring_into_bounds,
    indices_of,
    prepare_along_axis,
    reshaped_index,
    truth,
)
from np2tf.tnp._dispatch.op import LEFT_TO_NUMPY, OPS, positional_only
from np2tf.tnp._indexing.boolean_masks import where_mask
from np2tf.tnp._indexing.get_set import setitem
from np2tf.tnp._operands.conversion import (
    as_tensor,
    as_view,
    cast,
    convert_assigned,
    refuse_to_lose_gradient,
    to_numpy,
)
from np2tf.tnp._operands.promotion import kind_of
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import current_scope

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def writes(numpy: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Return a decorator that makes a function which writes into its first argument.

    Args:
        numpy: NumPy's function, which handles arrays on the host.
    """

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
    """Write values at flat positions.

    Args:
        a: array to write into.
        ind: array of integers, the positions in the flattened array.
        v: array of values, repeated as necessary.
        mode: "raise", "wrap" or "clip" for positions out of bounds.

    Raises:
        IndexError: a position is out of bounds with mode "raise", or `a` is empty.
        StagingError: the number of positions or the size of `a` is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.put.html.
    """
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
    """Write values at positions along an axis.

    Args:
        arr: array to write into.
        indices: array of integers with as many axes as `arr`.
        values: array of values, which broadcasts to the shape of `indices`.
        axis: the axis of the positions; None is the flattened array.

    Raises:
        IndexError: a position is out of bounds, or `indices` is not of integers.
        ValueError: the numbers of axes differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.put_along_axis.html.
    """
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
    """Write values one after another where a mask is true.

    Args:
        arr: array to write into.
        mask: array of booleans with as many elements as `arr`.
        vals: array of values, repeated as necessary.

    Raises:
        ValueError: the sizes differ, or there are no values for true elements.
        StagingError: there are no values, and the mask is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.place.html.
    """
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
    """Return `values` in `dtype`: an array by the 'safe' rule, numbers and lists of numbers without a check.

    Raises:
        TypeError: the array's dtype cannot be cast safely.
    """
    if (is_array(values) and type(values) is not scalar) or isinstance(values, (np.ndarray, tf.Tensor)):
        source_dtype = kind_of(values)
        if not np.can_cast(source_dtype, dtype, "safe"):
            raise TypeError(
                f"Cannot cast array data from {source_dtype!r} to {dtype!r} according to the rule 'safe'"
            )
    return convert_assigned(values, dtype)


@writes(np.putmask)
def putmask(a: ndarray, /, mask: Any, values: Any) -> None:
    """Write values where a mask is true, each at its own position.

    Args:
        a: array to write into.
        mask: array of booleans with as many elements as `a`.
        values: array of values, repeated as necessary.

    Raises:
        ValueError: the sizes differ.
        TypeError: the values cannot be cast safely to the dtype of `a`.
        StagingError: the size of `a` is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.putmask.html.
    """
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
    """Copy the elements of one array into another array.

    Args:
        dst: array to write into.
        src: array that broadcasts to the shape of `dst`.
        casting: the rule of casting: "no", "equiv", "safe", "same_kind" or "unsafe".
        where: boolean mask of the elements to copy.

    Raises:
        TypeError: the rule does not allow the cast.
        ValueError: the shapes do not fit.

    See https://numpy.org/doc/stable/reference/generated/numpy.copyto.html.
    """
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
    """Write values into the main diagonal.

    Args:
        a: array of at least two axes to write into.
        val: number, or array of values, repeated as necessary.
        wrap: whether the diagonal of a tall matrix begins again after the last column.

    Raises:
        ValueError: `a` has fewer than two axes, or more than two axes of different lengths.
        StagingError: the shape of a matrix is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fill_diagonal.html.
    """
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
