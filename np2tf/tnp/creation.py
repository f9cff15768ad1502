"""Arrays from numbers, from other objects, and like other arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.conversion import as_tensor, as_view, is_guest, to_numpy
from np2tf.tnp.hosted import hosted
from np2tf.tnp.layout import is_contiguous, shadow
from np2tf.tnp.lenses import Basic
from np2tf.tnp.ndarray import array_over, is_array, ndarray, scalar, tensor_array
from np2tf.tnp.normalize import OPS, Array, DType, Int, Shape, attach, checked_device, op, shape_of
from np2tf.tnp.promotion import tf_dtype
from np2tf.tnp.residence import eager_on_host, has_tensor, placed
from np2tf.tnp.warn import warn_cast

__all__ = [
    "array",
    "asanyarray",
    "asarray",
    "asarray_chkfinite",
    "ascontiguousarray",
    "asfortranarray",
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

_FLOAT = np.dtype(float)
_ORDERS = (None, "C", "F", "A", "K")


def fill(shape: tuple[Any, ...], value: tf.Tensor) -> ndarray:
    """A new array of `shape` (whose lengths may be tensors) full of a 0-d `value`.

    Raises:
        ValueError: a length is negative.
    """
    if any(isinstance(n, int) and n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    return tensor_array(tf.fill(_lengths(shape), value))


def _lengths(shape: tuple[Any, ...]) -> Any:
    if all(isinstance(n, int) for n in shape):
        return tf.constant(shape, tf.int64) if shape else tf.zeros((0,), tf.int64)
    return tf.stack([tf.cast(n, tf.int64) for n in shape])


@op(np.zeros)
def zeros(
    shape: Shape, dtype: DType = _FLOAT, order: Any = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)))


@op(np.empty)
def empty(
    shape: Shape, dtype: DType = _FLOAT, order: Any = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    return fill(shape, tf.zeros((), tf_dtype(dtype or float)))


@op(np.ones)
def ones(
    shape: Shape, dtype: DType = _FLOAT, order: Any = "C", *, device: Any = None, like: Any = None
) -> ndarray:
    return fill(shape, tf.ones((), tf_dtype(dtype or float)))


@op(np.full)
def full(
    shape: Shape,
    fill_value: Any,
    dtype: DType = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    value = as_tensor(fill_value, dtype)
    return fill(shape, value) if value.shape.rank == 0 else _spread(value, _lengths(shape))


def _spread(value: tf.Tensor, shape: Any) -> ndarray:
    return tensor_array(tf.broadcast_to(value, shape))


def _shape_like(a: tf.Tensor, shape: Any) -> tuple[Any, ...]:
    if shape is not None:
        return shape_of(shape)
    if a.shape.is_fully_defined():
        return tuple(a.shape.as_list())
    return tuple(tf.unstack(tf.shape(a, tf.int64), num=a.shape.rank))


def _dtype_like(a: tf.Tensor, dtype: Any) -> tf.DType:
    return a.dtype if dtype is None else tf_dtype(dtype)


@op(np.zeros_like)
def zeros_like(
    a: Array,
    dtype: DType = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    return fill(_shape_like(a, shape), tf.zeros((), _dtype_like(a, dtype)))


@op(np.empty_like)
def empty_like(
    prototype: Array,
    /,
    dtype: DType = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    return fill(_shape_like(prototype, shape), tf.zeros((), _dtype_like(prototype, dtype)))


@op(np.ones_like)
def ones_like(
    a: Array,
    dtype: DType = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    return fill(_shape_like(a, shape), tf.ones((), _dtype_like(a, dtype)))


@op(np.full_like)
def full_like(
    a: Array,
    fill_value: Any,
    dtype: DType = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> ndarray:
    value = as_tensor(fill_value, _dtype_like(a, dtype).as_numpy_dtype)
    lengths = _shape_like(a, shape)
    return fill(lengths, value) if value.shape.rank == 0 else _spread(value, _lengths(lengths))


# -- from objects -------------------------------------------------------------------------------------------


@op(np.array)
def _made(
    object: Any,
    dtype: DType = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: Int = 0,
    ndmax: Int = 0,
    like: Any = None,
) -> ndarray:
    if order not in _ORDERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if copy is False and not is_array(object) and not isinstance(object, tf.Tensor):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    if ndmax:
        raise StagingError("ndmax=", "NP2TF503")
    if isinstance(object, np.ndarray) and dtype is None and not object.dtype.isnative:
        raise StagingError("an array in another byte order", "NP2TF503")
    object = np.asarray(object) if is_guest(object) else object
    if dtype is not None and (is_array(object) or isinstance(object, (np.ndarray, tf.Tensor))):
        warn_cast(as_tensor(object), dtype)
    tensor = as_tensor(object, dtype)
    missing = (ndmin or 0) - tensor.shape.rank
    return tensor_array(tensor[(None,) * missing + (...,)] if missing > 0 else tensor)


def _unchanged(a: Any, dtype: Any, order: Any) -> ndarray | None:
    """The array of ours that `a` is, or stands for as an input, where NumPy would not copy it."""
    if type(a) is scalar or not (is_array(a) or (current_region() is not None and isinstance(a, np.ndarray))):
        return None
    if is_guest(a):
        return None
    shared = as_view(a)
    if dtype is not None and np.dtype(getattr(dtype, "as_numpy_dtype", dtype)) != shared.dtype:
        return None
    if order not in _ORDERS or (order == "C" and not is_contiguous(shared)):
        return None
    if order == "F" and shared.ndim > 1:
        layout = shadow(shared)
        return shared if layout is not None and layout.flags.f_contiguous else None
    return shared


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
) -> ndarray:
    """An array of anything; see https://numpy.org/doc/stable/reference/generated/numpy.array.html."""
    if subok and is_guest(object):
        return np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)  # type: ignore[return-value]
    if like is not None and not is_array(like):
        return np.array(to_numpy(object), dtype, copy=copy, order=order, ndmin=ndmin, like=like)  # type: ignore[return-value]
    if ndmax == 0 and eager_on_host() and not has_tensor((object,)):
        wanted = getattr(dtype, "as_numpy_dtype", dtype)
        made = np.array(object, wanted, copy=copy, order=order, ndmin=ndmin)
        shares = isinstance(object, np.ndarray) and np.may_share_memory(made, object)
        return made if shares else placed(made)  # type: ignore[return-value,no-any-return]
    if not copy:
        shared = _unchanged(object, dtype, order)
        if shared is not None and shared.ndim >= ndmin:
            return shared
        if shared is not None:
            return shared.view_through(Basic((None,) * (ndmin - shared.ndim) + (slice(None),) * shared.ndim))
        if copy is False and is_array(object):
            raise ValueError("Unable to avoid copy while creating an array as requested.")
    extra = {} if ndmax == 0 else {"ndmax": ndmax}
    return _made(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **extra)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: bool | None = None,
    like: Any = None,
) -> ndarray:
    """`a` as an array: the same object where nothing has to change."""
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
    """`a` as an array, perhaps of a class of its own: the same object where nothing has to change."""
    checked_device(device)
    return array(a, dtype, copy=copy, order=order, subok=True, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """`a` as an array in C order, of at least one axis."""
    return array(a, dtype, copy=None, order="C", ndmin=1, like=like)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> ndarray:
    """`a` as an array, in Fortran order on the host; tensors have no memory order."""
    return array(a, dtype, copy=None, order="F", ndmin=1, like=like)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """`a` as an array that fulfils `requirements`; tensors fulfil them all."""
    shared = asanyarray(a, dtype)
    if not is_array(shared):
        return np.require(shared, dtype, requirements)  # type: ignore[return-value]
    wanted = {requirements} if isinstance(requirements, str) else set(requirements or ())
    np.require(np.empty(0), requirements=requirements)  # which knows all that there are
    return array(shared, copy=None, order="C" if wanted & {"C", "C_CONTIGUOUS", "CONTIGUOUS"} else None)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> ndarray:
    """`asarray`, refusing what is not finite.

    Raises:
        ValueError: there is an infinity or a NaN.
    """
    made = asarray(a, dtype, order)
    np.asarray_chkfinite(to_numpy(made))
    return made


@op(np.copy)
def copy(a: Array, order: Any = "K", subok: bool = False) -> ndarray:
    return tensor_array(a)


def _copy_method(a: ndarray, order: str = "C") -> Any:
    return a if type(a) is scalar else copy(a)


attach("copy", _copy_method)

frombuffer = hosted(np.frombuffer)
fromiter = hosted(np.fromiter)
fromstring = hosted(np.fromstring)
_from_others = hosted(np.from_dlpack)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array over the memory of another library's; of a tensor, that tensor."""
    if device is None and (is_array(x) or isinstance(x, tf.Tensor)) and type(x) is not scalar:
        if copy or not is_array(x):
            return array(x, copy=True) if copy else tensor_array(x)
        return x[...] if x.tensor.shape.rank is not None else array_over(*x.storage())  # type: ignore[no-any-return]
    return _from_others(x, device=device, copy=copy)


OPS[np.from_dlpack] = from_dlpack
