"""Arrays made from a shape and a value: zeros, ones, empty, full, and those like another array."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import tensorflow as tf

from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.layout_probes import layout_probe, resolve_order
from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._array.strides import lay_out, lay_out_copy, order_of_new
from np2tf.tnp._dispatch.argument_types import BoundedShape, COrF, DType, MemoryOrder, bounded_shape_of
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._masked.selected_arrays import MOST_BOUNDED, part_of_whole
from np2tf.tnp._operands.conversion import as_tensor, as_view
from np2tf.tnp._operands.promotion import tf_dtype
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp._tensor.symint import SymInt

__all__ = ["empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]


_FLOAT = np.dtype(float)


def fill(shape: tuple[Any, ...], value: tf.Tensor, order: str | None = None) -> ndarray:
    """Return a new array filled with one value.

    Args:
        shape: the lengths of the axes; a length may be a tensor or a staged integer.
        value: the value, a tensor of no axes, which has the dtype of the array.
        order: the memory order: "C" or "F"; None stands for "C".

    Raises:
        ValueError: a length is negative.
    """
    if any(isinstance(n, SymInt) for n in shape):
        return _fill_bounded(shape, value, order)
    return lay_out(_fill_tensor(shape, value), order_of_new(len(shape), order))


def _fill_bounded(shape: tuple[Any, ...], value: tf.Tensor, order: str | None) -> ndarray:
    """Return an array of run-time lengths, as a part of an array of the greatest possible lengths."""
    for n in shape:
        if isinstance(n, SymInt) and (n.low is None or n.low < 0):
            record_violation(n.tensor < 0)
    upper_lengths = tuple(max(n.high or 0, 0) if isinstance(n, SymInt) else n for n in shape)
    static_lengths = [n for n in upper_lengths if isinstance(n, int)]
    if len(static_lengths) < len(upper_lengths) or math.prod(static_lengths) > MOST_BOUNDED:
        return fill(tuple(n.tensor if isinstance(n, SymInt) else n for n in shape), value, order)
    return part_of_whole(fill(upper_lengths, value, order), shape)


def _fill_like(source: ndarray, shape: tuple[Any, ...], value: tf.Tensor, order: str | None) -> ndarray:
    """Return an array filled with one value, in the memory layout of `source`.

    If `shape` has another number of axes than the source, the array is in C order.
    """
    if any(isinstance(n, SymInt) for n in shape):
        return fill(shape, value, order if order in ("C", "F") else "C")
    if order in (None, "A", "K") and source.tensor.shape.rank != len(shape):
        return fill(shape, value, resolve_order(layout_probe(source), order))
    return lay_out_copy(_fill_tensor(shape, value), source, order)


def _fill_tensor(shape: tuple[Any, ...], value: tf.Tensor) -> tf.Tensor:
    if any(isinstance(n, int) and n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    return (
        tf.fill(_lengths(shape), value) if value.shape.rank == 0 else tf.broadcast_to(value, _lengths(shape))
    )


def _lengths(shape: tuple[Any, ...]) -> Any:
    if all(isinstance(n, int) for n in shape):
        return tf.constant(shape, tf.int64) if shape else tf.zeros((0,), tf.int64)
    return tf.stack([tf.cast(n, tf.int64) for n in shape])


@op(np.zeros)
def zeros(
    shape: BoundedShape, dtype: DType = _FLOAT, order: COrF = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array of zeros.

    Args:
        shape: the lengths of the axes; a length may be known only at run time.
        dtype: the dtype; None is float64.
        order: "C" or "F".
        device: None or "cpu".
        like: array whose class decides how the result is made.

    Returns:
        An array of the given shape and dtype.

    Raises:
        ValueError: a length is negative.

    See https://numpy.org/doc/stable/reference/generated/numpy.zeros.html.
    """
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)), order)


@op(np.empty)
def empty(
    shape: BoundedShape, dtype: DType = _FLOAT, order: COrF = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array, which np2tf fills with zeros.

    Args:
        shape: the lengths of the axes; a length may be known only at run time.
        dtype: the dtype; None is float64.
        order: "C" or "F".
        device: None or "cpu".
        like: array whose class decides how the result is made.

    Returns:
        An array of the given shape and dtype.

    Raises:
        ValueError: a length is negative.

    See https://numpy.org/doc/stable/reference/generated/numpy.empty.html.
    """
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)), order)


@op(np.ones)
def ones(
    shape: BoundedShape, dtype: DType = _FLOAT, order: COrF = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array of ones.

    Args:
        shape: the lengths of the axes; a length may be known only at run time.
        dtype: the dtype; None is float64.
        order: "C" or "F".
        device: None or "cpu".
        like: array whose class decides how the result is made.

    Returns:
        An array of the given shape and dtype.

    Raises:
        ValueError: a length is negative.

    See https://numpy.org/doc/stable/reference/generated/numpy.ones.html.
    """
    return fill(shape, tf.ones((), tf_dtype(dtype or float)), order)


@op(np.full)
def full(
    shape: BoundedShape,
    fill_value: Any,
    dtype: DType = None,
    order: COrF = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a new array filled with one value.

    Args:
        shape: the lengths of the axes; a length may be known only at run time.
        fill_value: number, or array that broadcasts to the shape.
        dtype: the dtype; None is that of `fill_value`.
        order: "C" or "F".
        device: None or "cpu".
        like: array whose class decides how the result is made.

    Returns:
        An array of the given shape and dtype.

    Raises:
        ValueError: a length is negative.

    See https://numpy.org/doc/stable/reference/generated/numpy.full.html.
    """
    value = as_tensor(fill_value, dtype)
    return fill(shape, value, order)


def _shape_like(source: ndarray, shape: Any) -> tuple[Any, ...]:
    if shape is not None:
        return bounded_shape_of(shape)
    a = source.tensor
    if a.shape.is_fully_defined():
        return tuple(a.shape.as_list())
    if staging_for_xla() and a.shape.rank is not None:
        return bounded_shape_of(source.shape)
    return tuple(tf.unstack(tf.shape(a, tf.int64), num=a.shape.rank))


def _dtype_like(a: ndarray, dtype: Any) -> tf.DType:
    return a.tensor.dtype if dtype is None else tf_dtype(dtype)


def _prototype(value: Any) -> ndarray:
    """Return the array that a new array copies its shape, dtype and layout from.

    Raises:
        StagingError: the new array would be in another byte order.
    """
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        raise MemoryLayoutError("an array in another byte order")
    return as_view(value)


Prototype = Annotated[ndarray, _prototype]


@op(np.zeros_like)
def zeros_like(
    a: Prototype,
    dtype: DType = None,
    order: MemoryOrder = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return a new array of zeros, like another array.

    Args:
        a: array of any dtype and shape.
        dtype: the dtype; None is that of `a`.
        order: the memory order: "C", "F", "A", or "K" for the order of `a`.
        subok: whether a subclass of np.ndarray is kept.
        shape: the lengths of the axes; None is the shape of `a`.
        device: None or "cpu".

    Returns:
        An array in the shape and dtype of `a`, unless others are given.

    Raises:
        StagingError: `a` is in another byte order.

    See https://numpy.org/doc/stable/reference/generated/numpy.zeros_like.html.
    """
    return _fill_like(a, _shape_like(a, shape), tf.zeros((), _dtype_like(a, dtype)), order)


@op(np.empty_like)
def empty_like(
    prototype: Prototype,
    /,
    dtype: DType = None,
    order: MemoryOrder = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return a new array like another array, which np2tf fills with zeros.

    Args:
        prototype: array of any dtype and shape.
        dtype: the dtype; None is that of `prototype`.
        order: the memory order: "C", "F", "A", or "K" for the order of `prototype`.
        subok: whether a subclass of np.ndarray is kept.
        shape: the lengths of the axes; None is the shape of `prototype`.
        device: None or "cpu".

    Returns:
        An array in the shape and dtype of `prototype`, unless others are given.

    Raises:
        StagingError: `prototype` is in another byte order.

    See https://numpy.org/doc/stable/reference/generated/numpy.empty_like.html.
    """
    return _fill_like(
        prototype, _shape_like(prototype, shape), tf.zeros((), _dtype_like(prototype, dtype)), order
    )


@op(np.ones_like)
def ones_like(
    a: Prototype,
    dtype: DType = None,
    order: MemoryOrder = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return a new array of ones, like another array.

    Args:
        a: array of any dtype and shape.
        dtype: the dtype; None is that of `a`.
        order: the memory order: "C", "F", "A", or "K" for the order of `a`.
        subok: whether a subclass of np.ndarray is kept.
        shape: the lengths of the axes; None is the shape of `a`.
        device: None or "cpu".

    Returns:
        An array in the shape and dtype of `a`, unless others are given.

    Raises:
        StagingError: `a` is in another byte order.

    See https://numpy.org/doc/stable/reference/generated/numpy.ones_like.html.
    """
    return _fill_like(a, _shape_like(a, shape), tf.ones((), _dtype_like(a, dtype)), order)


@op(np.full_like)
def full_like(
    a: Prototype,
    fill_value: Any,
    dtype: DType = None,
    order: MemoryOrder = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    """Return a new array filled with one value, like another array.

    Args:
        a: array of any dtype and shape.
        fill_value: number, or array that broadcasts to the shape.
        dtype: the dtype; None is that of `a`.
        order: the memory order: "C", "F", "A", or "K" for the order of `a`.
        subok: whether a subclass of np.ndarray is kept.
        shape: the lengths of the axes; None is the shape of `a`.
        device: None or "cpu".

    Returns:
        An array in the shape and dtype of `a`, unless others are given.

    Raises:
        StagingError: `a` is in another byte order.

    See https://numpy.org/doc/stable/reference/generated/numpy.full_like.html.
    """
    value = as_tensor(fill_value, _dtype_like(a, dtype).as_numpy_dtype)
    return _fill_like(a, _shape_like(a, shape), value, order)
