"""Arrays from existing data: `array`, `asarray`, `copy`, `frombuffer`, `from_dlpack`."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import MemoryLayoutError, NoGraphFormError
from np2tf.tnp._array.layout_probes import is_laid_out
from np2tf.tnp._array.ndarray import array_over, is_array, ndarray, scalar, tensor_array
from np2tf.tnp._array.sequences import is_number_sequence
from np2tf.tnp._array.strides import lay_out_copy, rename_dtype
from np2tf.tnp._chapters.manipulation.views.shared_memory import view_of_buffer
from np2tf.tnp._dispatch.argument_types import (
    DType,
    Int,
    MemoryOrder,
    View,
    checked_device,
    copy_mode,
    memory_order,
)
from np2tf.tnp._dispatch.host_results import host_only
from np2tf.tnp._dispatch.op import OPS, attach, call_numpy, op
from np2tf.tnp._dispatch.residency import eager_on_host, has_tensor, wrap_result
from np2tf.tnp._masked.selected_arrays import selected_array, selection_of
from np2tf.tnp._operands.conversion import as_tensor, as_view, convert_assigned, is_numpy_subclass, to_numpy
from np2tf.tnp._slicing.view_transforms import BasicIndexing, BroadcastTo, Reshape
from np2tf.tnp._tensor.storage import current_scope

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "from_dlpack",
    "frombuffer",
    "fromiter",
    "fromstring",
    "require",
]


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
    """Return an array made of numbers, sequences, arrays or tensors.

    Args:
        object: array, tensor, number or nested sequence.
        dtype: the dtype; None is NumPy's choice.
        copy: True copies, None copies only if necessary, False never copies.
        order: the memory order: "C", "F", "A" or "K".
        subok: whether a subclass of np.ndarray is kept.
        ndmin: the least number of axes.
        ndmax: the greatest depth of nested sequences that become axes; None is NumPy's limit.
        like: array whose class decides how the result is made.

    Returns:
        An array on TensorFlow, or on the host if arrays live there.

    Raises:
        ValueError: `copy` is False, and a copy is necessary.
        StagingError: only NumPy handles the case: `ndmax`, or an array in another byte order.

    See https://numpy.org/doc/stable/reference/generated/numpy.array.html.
    """
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
    """Return `a` as an array: the same object if nothing has to change.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        order: the memory order; None keeps that of `a`.
        device: None or "cpu".
        copy: True copies, None copies only if necessary, False never copies.
        like: array whose class decides how the result is made.

    Raises:
        ValueError: `copy` is False, and a copy is necessary.

    See https://numpy.org/doc/stable/reference/generated/numpy.asarray.html.
    """
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
    """Return `a` as an array, perhaps of a subclass: the same object if nothing has to change.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        order: the memory order; None keeps that of `a`.
        device: None or "cpu".
        copy: True copies, None copies only if necessary, False never copies.
        like: array whose class decides how the result is made.

    Raises:
        ValueError: `copy` is False, and a copy is necessary.

    See https://numpy.org/doc/stable/reference/generated/numpy.asanyarray.html.
    """
    checked_device(device)
    return array(a, dtype, copy=copy, order=order, subok=True, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array in C order with at least one axis.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        like: array whose class decides how the result is made.

    See https://numpy.org/doc/stable/reference/generated/numpy.ascontiguousarray.html.
    """
    return array(a, dtype, copy=None, order="C", ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array in Fortran order with at least one axis.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        like: array whose class decides how the result is made.

    See https://numpy.org/doc/stable/reference/generated/numpy.asfortranarray.html.
    """
    return array(a, dtype, copy=None, order="F", ndmin=1, like=like)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """Return `a` as an array that meets requirements.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        requirements: letters or names of flags: "C", "F", "A", "W", "O", "E".
        like: array whose class decides how the result is made.

    Raises:
        ValueError: both "C" and "F" order are required.
        KeyError: there is no such requirement.

    See https://numpy.org/doc/stable/reference/generated/numpy.require.html.
    """
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
    """Return `asarray(a)` after a check that all numbers are finite.

    Args:
        a: array, tensor, number or nested sequence.
        dtype: the dtype; None is that of `a`.
        order: the memory order; None keeps that of `a`.

    Raises:
        ValueError: a number is infinite or NaN.

    See https://numpy.org/doc/stable/reference/generated/numpy.asarray_chkfinite.html.
    """
    result = asarray(a, dtype, order)
    np.asarray_chkfinite(to_numpy(result))
    return result


@op(np.copy)
def copy(a: View, order: MemoryOrder = "K", subok: bool = False) -> ndarray:
    """Return a copy of an array.

    Args:
        a: array of any dtype and shape.
        order: the memory order: "C", "F", "A" or "K".
        subok: whether a subclass of np.ndarray is kept.

    Returns:
        An array in the shape and dtype of `a`, with memory of its own.

    See https://numpy.org/doc/stable/reference/generated/numpy.copy.html.
    """
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

    Args:
        buffer: object with a buffer.
        dtype: the dtype of the elements.
        count: the number of elements; -1 is all of them.
        offset: the number of bytes to skip.
        like: array whose class decides how the result is made.

    See https://numpy.org/doc/stable/reference/generated/numpy.frombuffer.html.
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
    """Return an array over the memory of another library's array; for a tensor, over that tensor.

    Args:
        x: object with the method `__dlpack__`.
        device: None, or a device that the array must be on.
        copy: True copies, None and False do not.

    See https://numpy.org/doc/stable/reference/generated/numpy.from_dlpack.html.
    """
    if device is None and (is_array(x) or isinstance(x, tf.Tensor)) and type(x) is not scalar:
        if copy or not is_array(x):
            return array(x, copy=True) if copy else tensor_array(x)
        return x[...] if x.tensor.shape.rank is not None else array_over(*x.storage_and_chain())  # type: ignore[no-any-return]
    return _from_others(x, device=device, copy=copy)


OPS[np.from_dlpack] = from_dlpack
