"""Leaves of nested values: as tensors that a tape can watch, and back in the form that the caller expects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import lazy
from np2tf.runtime.environment.raw_tensors import ragged, raw
from np2tf.tnp._array.dtypes import is_unsupported_dtype
from np2tf.tnp._array.ndarray import (
    is_array,
    scalar,
    tensor_array,
    tensor_scalar,
    weak_scalar,
)
from np2tf.tnp._dispatch.residency import new_arrays_on_host
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._operands.differentiated_values import is_followed
from np2tf.tnp._ragged.object_arrays import from_numpy, is_object_array
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transforms.core.structures import Structure

#: The dtype of derivatives with respect to integers, which have no values: JAX's float0.
FLOAT0 = np.dtype([("float0", "V")])
_PYTHON = (bool, int, float, complex)


def dtype_of(leaf: Any) -> np.dtype[Any] | None:
    """Return the dtype that NumPy gives to a leaf; None for a leaf that is no number."""
    if is_array(leaf):
        return leaf.dtype  # type: ignore[no-any-return]
    if type(leaf) in raw:
        return np.dtype(leaf.dtype.as_numpy_dtype)
    if isinstance(leaf, (*_PYTHON, np.ndarray, np.generic)):
        dtype = np.asarray(leaf).dtype
        return None if is_unsupported_dtype(dtype) else dtype
    return None


def is_inexact(leaf: Any) -> bool:
    """Return whether a leaf is a floating-point or complex number or array."""
    dtype = dtype_of(leaf)
    return dtype is not None and np.issubdtype(dtype, np.inexact)


def shape_of(leaf: Any) -> tuple[Any, ...]:
    """Return the shape of a leaf that is a number or array."""
    if type(leaf) is RaggedArray:
        return (leaf.size,)
    return tuple(leaf.shape) if hasattr(leaf, "shape") else ()


def wrapper_of(leaf: Any) -> Callable[[tf.Tensor], Any]:
    """Return the function that makes an array or number of the kind of `leaf` from a tensor."""
    if type(leaf) is scalar:
        weak = leaf.weak
        return tensor_scalar if weak is None else lambda tensor: weak_scalar(tensor, weak)
    kind = type(leaf)
    if kind in _PYTHON:
        return lambda tensor: weak_scalar(tensor, kind)
    if isinstance(leaf, np.generic):
        return tensor_scalar
    if kind in raw and leaf.shape.rank == 0:
        return tensor_scalar
    return tensor_array


def as_array(leaf: Any) -> Any:
    """Return the form of a leaf that a function gets from a transform: a copy on TensorFlow for an array."""
    if isinstance(leaf, np.ndarray) and not is_array(leaf):
        return (
            leaf if dtype_of(leaf) is None or type(leaf) is not np.ndarray else tensor_array(as_tensor(leaf))
        )
    if is_array(leaf) and type(leaf) is not scalar:
        return tensor_array(tf.identity(leaf.tensor))
    if type(leaf) in raw and dtype_of(leaf) is not None:
        return wrapper_of(leaf)(as_tensor(leaf))
    if type(leaf) in ragged:
        return lazy.arrays.ragged_array_of(leaf)
    return leaf.copy() if type(leaf) is RaggedArray else leaf


def with_rows(leaf: Any) -> Any:
    """Return a leaf; for a ragged tensor, and for an object array of arrays, the ragged array.

    Raises:
        RaggedRowsError: the rows of an object array do not fit into a ragged tensor.
    """
    if type(leaf) in ragged:
        return lazy.arrays.ragged_array_of(leaf)
    return RaggedArray.of_tensor(from_numpy(leaf)) if is_object_array(leaf) else leaf


def stays_on_tensorflow() -> bool:
    """Return whether results must be arrays on TensorFlow, because more derivatives may be asked of them."""
    return current_scope() is not None or transform_depth.depth > 0 or not new_arrays_on_host()


class Form:
    """The form in which a transform returns its results: that of its arguments.

    Args:
        values: the arguments. Tensors give tensors, arrays on TensorFlow give such arrays, and others give
            np.ndarray, if nothing else records the call.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        leaves = [leaf for value in values for leaf in Structure(value).leaves]
        self._tensors = any(type(leaf) in raw for leaf in leaves) and not stays_on_tensorflow()
        if any(type(leaf) in ragged for leaf in leaves):
            # A ragged tensor shows that the caller is no translated function.
            self._tensors = current_scope() is None and not transform_depth.depth
        has_arrays = any(is_array(leaf) or type(leaf) is RaggedArray for leaf in leaves)
        self._arrays = self._tensors or stays_on_tensorflow() or has_arrays
        #: True if the call may run on the host, by NumPy alone.
        self.is_host = not self._arrays

    def leaf(self, value: Any) -> Any:
        """Return one leaf in this form. A number without axes is a scalar of NumPy's."""
        if type(value) is RaggedArray:
            flat = tensor_array(value.ragged_tensor.flat_values)
            return value.with_flat(self.leaf(flat))
        if isinstance(value, tf.Tensor):
            value = tensor_scalar(value) if value.shape.rank == 0 else tensor_array(value)
        if not is_array(value):
            return value
        if self._tensors:
            return value.tensor
        if self._arrays or is_followed(value):
            return value
        array = value.numpy()
        return array[()] if not array.shape else np.array(array)

    def of(self, value: Any) -> Any:
        """Return a nested value with its leaves in this form."""
        structure = Structure(value)
        return structure.build([self.leaf(leaf) for leaf in structure.leaves])

    def build(self, structure: Structure, leaves: Sequence[Any]) -> Any:
        """Return a value of a structure, with its leaves in this form."""
        return structure.build([self.leaf(leaf) for leaf in leaves])
