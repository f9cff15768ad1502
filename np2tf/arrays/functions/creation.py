"""Arrays from data, from a shape and a value, and astype."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import (
    is_laid_out,
    lay_out,
    lay_out_copy,
    layout_probe,
    order_of_new,
    rename_dtype,
    resolve_order,
)
from np2tf.arrays.array.ndarray import (
    array_over,
    is_array,
    is_unsupported_dtype,
    ndarray,
    scalar,
    tensor_array,
    wrap_tensor,
)
from np2tf.arrays.array.sequences import is_number_sequence
from np2tf.arrays.array.view_transforms import BasicIndexing, BroadcastTo, Reshape
from np2tf.arrays.dispatch.eager_fast_path import convert
from np2tf.arrays.dispatch.host_fallback import host_only
from np2tf.arrays.dispatch.op import (
    OPS,
    BoundedShape,
    COrF,
    DType,
    Int,
    MemoryOrder,
    View,
    attach,
    bounded_shape_of,
    call_numpy,
    checked_device,
    copy_mode,
    memory_order,
    op,
)
from np2tf.arrays.dispatch.placement import eager_on_host, has_tensor, wrap_result
from np2tf.arrays.functions.shared_memory import view_of_buffer
from np2tf.arrays.indexing.selection import MOST_BOUNDED, part_of_whole, selected_array, selection_of
from np2tf.arrays.operands.conversion import as_tensor, as_view, convert_assigned, is_numpy_subclass, to_numpy
from np2tf.arrays.operands.promotion import tf_dtype
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.counts import counts
from np2tf.core.errors import MemoryLayoutError, NoGraphFormError

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "astype",
    "copy",
    "empty",
    "empty_like",
    "from_dlpack",
    "frombuffer",
    "fromiter",
    "fromstring",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "require",
    "zeros",
    "zeros_like",
]


# -- casts ---------------------------------------------------------------------------------------------------
# `astype`: the function and the method.


@op(np.astype)
def astype(x: Any, dtype: DType, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """Return an array in another dtype."""
    if not is_array(x) and not isinstance(x, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    result: ndarray = _astype_method(as_view(x), dtype, copy=copy)
    return result


def _astype_method(
    a: ndarray, dtype: Any, order: Any = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    if copy is True and casting == "unsafe" and order == "K":
        direct = convert(a, dtype)
        if direct is not None:
            return direct
    target_dtype = np.dtype(getattr(dtype, "as_numpy_dtype", dtype))
    have = a.dtype
    if not np.can_cast(have, target_dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {have!r} to {target_dtype!r} according to the rule {casting!r}"
        )
    if isinstance(copy, np._CopyMode):  # type: ignore[attr-defined]
        raise ValueError("_CopyMode enum is not allowed for astype function. Use true/false instead.")
    letter = memory_order(order)
    if not copy and have == target_dtype and is_laid_out(a, letter):
        return a
    if is_unsupported_dtype(target_dtype) or not target_dtype.isnative:
        counts.host += 1
        has_no_derivative = target_dtype.kind not in "OVfc"
        return np.array(a.contents() if has_no_derivative else a.numpy()).astype(target_dtype)
    # (`astype` converts a NumPy number as an array, without a look whether it fits.)
    plain = type(a) is scalar and a.alternatives is None
    tensor = convert_assigned(a.tensor if plain else a, target_dtype)
    return wrap_tensor(tensor) if type(a) is not ndarray else lay_out_copy(tensor, a, letter)


attach("astype", _astype_method)


# -- arrays --------------------------------------------------------------------------------------------------
# Arrays from existing data: `array`, `asarray`, `copy`, `frombuffer`, `from_dlpack`.


@op(np.array)
def _make_array(
    object: Any,
    dtype: DType = None,
    *,
    copy: Any = True,
    order: MemoryOrder = "K",
    subok: bool = False,
    ndmin: Int = 0,
    ndmax: Any = None,
    like: Any = None,
) -> ndarray:
    """https://numpy.org/doc/stable/reference/generated/numpy.array.html"""
    if copy is False and not is_array(object) and not isinstance(object, tf.Tensor):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if ndmax is not None:
        raise NoGraphFormError("ndmax=")
    if isinstance(object, np.ndarray) and dtype is None and not object.dtype.isnative:
        raise MemoryLayoutError("an array in another byte order")
    object = np.asarray(object) if is_numpy_subclass(object) else object
    tensor = as_tensor(object) if dtype is None else convert_assigned(object, dtype)
    target_dtype = dtype if dtype is not None else _dtype_of(object)
    rank_gap = (ndmin or 0) - tensor.shape.rank
    if order == "A" and not (copy and is_array(object) and object.tensor.dtype == tensor.dtype):
        order = "K"  # as NumPy does where it does not simply copy
    if rank_gap <= 0:
        return rename_dtype(lay_out_copy(tensor, object, order), target_dtype)
    result = lay_out_copy(tensor[(None,) * rank_gap + (...,)], object, order)
    if tensor.shape.is_fully_defined():
        # It is a view of an array of fewer axes.
        result.storage_and_chain()[0].owner_chain = (Reshape(tuple(tensor.shape.as_list())),)
    return rename_dtype(result, target_dtype)


def _dtype_of(value: Any) -> Any:
    return value.dtype if isinstance(value, (np.ndarray, np.generic)) else None


def _share_unchanged(a: Any, dtype: Any, order: Any) -> ndarray | None:
    """Return the array on TensorFlow that `a` is or stands for, if NumPy would not copy it; else None."""
    if type(a) is scalar or not (is_array(a) or (current_scope() is not None and isinstance(a, np.ndarray))):
        return None
    if is_numpy_subclass(a):
        return None
    view = as_view(a)
    if dtype is not None and np.dtype(getattr(dtype, "as_numpy_dtype", dtype)) != view.dtype:
        return None
    return view if order == "A" or is_laid_out(view, order) else None


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int | None = None,
    like: Any = None,
) -> ndarray:
    """Return an array made of numbers, sequences, arrays or tensors."""
    order, copy = memory_order(order), copy_mode(copy)
    if is_number_sequence(object) and copy is not False:
        object = object.make_array(dtype)
    if subok and is_numpy_subclass(object):
        return np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)  # type: ignore[return-value]
    if like is not None and not is_array(like):
        return np.array(to_numpy(object), dtype, copy=copy, order=order, ndmin=ndmin, like=like)  # type: ignore[return-value]
    if ndmax is None and eager_on_host() and not has_tensor((object,)):
        target_dtype = getattr(dtype, "as_numpy_dtype", dtype)
        result = np.array(object, target_dtype, copy=copy, order=order, ndmin=ndmin)
        shares = isinstance(object, np.ndarray) and np.may_share_memory(result, object)
        return result if shares else wrap_result(result)  # type: ignore[return-value,no-any-return]
    if not copy:
        view = _share_unchanged(object, dtype, order)
        if view is not None and view.ndim >= ndmin:
            return view
        if view is not None:
            rank_gap, shape = ndmin - view.ndim, view.tensor.shape
            if shape.is_fully_defined():
                return view.view_through(Reshape((*[1] * rank_gap, *shape.as_list())))
            return view.view_through(BasicIndexing((None,) * rank_gap + (slice(None),) * shape.rank))
        if copy is False and is_array(object):
            np.array([], copy=False)  # raises
    extra = {} if ndmax is None else {"ndmax": ndmax}
    return _make_array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **extra)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """Return `a` as an array: the same object if nothing has to change."""
    checked_device(device)
    return array(a, dtype, copy=copy, order=order, like=like)


def asanyarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """Return `a` as an array, perhaps of a subclass: the same object if nothing has to change."""
    checked_device(device)
    return array(a, dtype, copy=copy, order=order, subok=True, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array in C order with at least one axis."""
    return array(a, dtype, copy=None, order="C", ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array in Fortran order with at least one axis."""
    return array(a, dtype, copy=None, order="F", ndmin=1, like=like)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array that meets requirements."""
    if like is not None and not is_array(like):
        return call_numpy(np.require, (a, dtype, requirements), {"like": like})  # type: ignore[no-any-return]
    flags = {_REQUIREMENTS[requirement.upper()] for requirement in requirements or ()}
    source = asarray(a, dtype) if "E" in flags else asanyarray(a, dtype)
    if not is_array(source):
        return np.require(source, dtype, requirements)  # type: ignore[return-value]
    if flags >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = "F" if "F" in flags else "C" if "C" in flags else "A"
    result = array(source, copy=None, order=order)
    return result if all(result.flags[flag] for flag in flags - {"E"}) else _copy_method(result, order)  # type: ignore[attr-defined,no-any-return]


_REQUIREMENTS = {
    letter: names[0]
    for names in (
        ("C", "C_CONTIGUOUS", "CONTIGUOUS"),
        ("F", "F_CONTIGUOUS", "FORTRAN"),
        ("A", "ALIGNED"),
        ("W", "WRITEABLE"),
        ("O", "OWNDATA"),
        ("E", "ENSUREARRAY"),
    )
    for letter in names
}


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """Return `asarray(a)` after a check that all numbers are finite."""
    result = asarray(a, dtype, order)
    np.asarray_chkfinite(to_numpy(result))
    return result


@op(np.copy)
def copy(a: View, order: MemoryOrder = "K", subok: bool = False) -> ndarray:
    """Return a copy of an array."""
    return _copy_array(a, order)


def _copy_method(a: ndarray, order: Any = "C") -> Any:
    letter = memory_order(order) or "C"
    return a if type(a) is scalar else _copy_array(a, letter)


def _copy_array(a: ndarray, order: Any) -> ndarray:
    part = selection_of(a)
    if part is not None and len(part.parts) == 1:  # of which there is one order only
        return selected_array(part)
    return lay_out_copy(a.tensor, a, order)


attach("copy", _copy_method)

_from_others_memory = host_only(np.frombuffer)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, *, like: Any = None) -> Any:
    """Return an array of one axis over a buffer. Over the memory of an array on TensorFlow the result is a
    view.
    """
    view = view_of_buffer(buffer, lambda memory: np.frombuffer(memory, dtype, count, offset))
    if view is not None:
        return view
    result = _from_others_memory(buffer, dtype, count, offset, like=like)
    if type(result) is ndarray and memoryview(buffer).readonly:
        return result.view_through(BroadcastTo(tuple(result.tensor.shape.as_list())))
    return result


OPS[np.frombuffer] = frombuffer
fromiter = host_only(np.fromiter)
fromstring = host_only(np.fromstring)
_from_others = host_only(np.from_dlpack)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """Return an array over the memory of another library's array; for a tensor, over that tensor."""
    if device is None and (is_array(x) or isinstance(x, tf.Tensor)) and type(x) is not scalar:
        if copy or not is_array(x):
            return array(x, copy=True) if copy else tensor_array(x)
        return x[...] if x.tensor.shape.rank is not None else array_over(*x.storage_and_chain())  # type: ignore[no-any-return]
    return _from_others(x, device=device, copy=copy)


OPS[np.from_dlpack] = from_dlpack


# -- from shape ----------------------------------------------------------------------------------------------
# Arrays made from a shape and a value: zeros, ones, empty, full, and those like another array.

_FLOAT = np.dtype(float)


def fill(shape: tuple[Any, ...], value: tf.Tensor, order: str | None = None) -> ndarray:
    """Return a new array filled with one value, a tensor without axes, whose dtype it has.

    A length may be a tensor or a staged integer.

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
    """Return a new array of zeros."""
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)), order)


@op(np.empty)
def empty(
    shape: BoundedShape, dtype: DType = _FLOAT, order: COrF = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array, which np2tf fills with zeros."""
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)), order)


@op(np.ones)
def ones(
    shape: BoundedShape, dtype: DType = _FLOAT, order: COrF = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    """Return a new array of ones."""
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
    """Return a new array filled with one value."""
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
    """Return a new array of zeros, like another array."""
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
    """Return a new array like another array, which np2tf fills with zeros."""
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
    """Return a new array of ones, like another array."""
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
    """Return a new array filled with one value, like another array."""
    value = as_tensor(fill_value, _dtype_like(a, dtype).as_numpy_dtype)
    return _fill_like(a, _shape_like(a, shape), value, order)
