"""The fast path of small keys of eager tensors: an integer, a slice or a mask, by one kernel (see
`_dispatch`).
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.ops import gen_array_ops

from np2tf.tnp._array.ndarray import ndarray, tensor_array, tensor_scalar
from np2tf.tnp._dispatch.eager_fast_path import _BOOL, _number, eager
from np2tf.tnp._slicing.view_transforms import BasicIndexing
from np2tf.tnp._tensor.small_constants import constant
from np2tf.tnp._tensor.storage import Storage

_FULL = slice(None)
_ENDS = frozenset({int, type(None)})


def get_item(array: ndarray, key: Any) -> Any:
    """Return ``array[key]`` on the fast path; None for any other kind of key or array."""
    kind = type(key)
    tensor = eager(array) if type(array) is ndarray else None
    if tensor is None or not tensor._rank():
        return None
    if kind is int:
        return _element(array, tensor, key)
    if kind is slice:
        return _stretch(array, tensor, key)
    return _get_masked(tensor, key) if kind is ndarray else None


def _element(array: ndarray, tensor: Any, key: int) -> Any:
    shape = tensor._shape_tuple()
    length = shape[0]
    if not -length <= key < length:
        return None
    place = key + length if key < 0 else key
    value = gen_array_ops.strided_slice(
        tensor, constant((place,)), constant((place + 1,)), constant((1,)), 0, 0, 0, 0, 1
    )
    if len(shape) == 1:
        return tensor_scalar(value)
    return _view_with_value(array, (place, *[_FULL] * (len(shape) - 1)), value)


def _stretch(array: ndarray, tensor: Any, key: slice) -> Any:
    if not {type(key.start), type(key.stop), type(key.step)} <= _ENDS or key.step == 0:
        return None
    start, stop, step = key.indices(tensor._shape_tuple()[0])
    if not len(range(start, stop, step)):
        start, stop, step = 0, 0, 1
    # TensorFlow has no number for the place before the first element. A mask bit means "to the end".
    to_the_end = 1 if stop < 0 else 0
    value = gen_array_ops.strided_slice(
        tensor, constant((start,)), constant((max(stop, 0),)), constant((step,)), 0, to_the_end, 0, 0, 0
    )
    return _view_with_value(array, (key, *[_FULL] * (tensor._rank() - 1)), value)


def _view_with_value(array: ndarray, key: tuple[Any, ...], value: Any) -> ndarray:
    """Return a view together with its current value, which is valid until the next write."""
    view = array.view_through(BasicIndexing(key))
    view._cache = (view._storage.value, None, value)  # type: ignore[union-attr]
    return view


def _get_masked(tensor: Any, key: ndarray) -> Any:
    mask = eager(key)
    if mask is None or mask._datatype_enum() != _BOOL or not mask._rank():
        return None
    if mask._shape_tuple() != tensor._shape_tuple()[: mask._rank()]:
        return None
    places = gen_array_ops.where(mask)
    if mask._rank() > 1:
        return tensor_array(gen_array_ops.gather_nd(tensor, places))
    flat = gen_array_ops.reshape(places, constant((-1,), tf.int32))
    return tensor_array(gen_array_ops.gather_v2(tensor, flat, constant(0, tf.int32)))


def set_item(array: ndarray, key: Any, value: Any) -> bool:
    """Write one element of a whole array on the fast path; return False if the call has another form."""
    if type(array) is not ndarray or array._chain or type(array._storage) is not Storage:
        return False
    tensor = array._storage.value
    if type(tensor) is not EagerTensor:
        return False
    shape = tensor._shape_tuple()
    if type(key) is not int or len(shape) != 1 or not -shape[0] <= key < shape[0]:
        return False
    enum = tensor._datatype_enum()
    new = eager(value)
    if new is None:
        new = _number(value, enum)
        if new is None:
            return False
    elif new._rank() or new._datatype_enum() != enum:
        return False
    place = key + shape[0] if key < 0 else key
    array._storage.write(
        gen_array_ops.tensor_strided_slice_update(
            tensor, constant((place,)), constant((place + 1,)), constant((1,)), new, 0, 0, 0, 0, 1
        )
    )
    return True
