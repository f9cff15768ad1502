"""Nested values as transforms see them: leaves in a structure, as tensors, and back in the form that the
caller expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import (
    is_array,
    is_unsupported_dtype,
    scalar,
    tensor_array,
    tensor_scalar,
    weak_scalar,
)
from np2tf.arrays.dispatch.placement import new_arrays_on_host
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.differentiated_values import is_followed
from np2tf.arrays.ragged import RaggedArray, from_numpy, is_object_array
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core import late
from np2tf.core.containers import LIST, TUPLE, Builder, Container, Registry
from np2tf.core.errors import RaggedRowsError, TransformArgumentError
from np2tf.staging.objects.user_objects import INSTANCE
from np2tf.staging.process.boundary import ragged, raw

# -- structures ----------------------------------------------------------------------------------------------
# Nested values as transforms see them: leaves in a structure, as JAX's pytrees.

#: None has no leaves, as in JAX.
NONE = Container(
    type(None),
    keys=lambda value: (),
    items=lambda value: (),
    builder=lambda value: lambda items: None,
    outline=lambda value: (),
)


def _sorted_keys(value: dict[Any, Any]) -> list[Any]:
    try:
        return sorted(value)
    except TypeError:
        return list(value)


def _dict_builder(value: dict[Any, Any]) -> Builder:
    keys, order = _sorted_keys(value), list(value)

    def build(items: Sequence[Any]) -> dict[Any, Any]:
        entries = dict(zip(keys, items, strict=True))
        return {key: entries[key] for key in order}

    return build


#: Dicts with the same keys have the same structure, in whatever order the keys stand.
DICT = Container(
    dict,
    keys=_sorted_keys,
    items=lambda value: [value[key] for key in _sorted_keys(value)],
    builder=_dict_builder,
)


def _rows_builder(value: RaggedArray) -> Builder:
    """Return the function that makes rows of new elements, in the form of the elements."""

    def build(items: Sequence[Any]) -> Any:
        (flat,) = items
        if isinstance(flat, (tf.Tensor, np.ndarray)) or is_array(flat):
            return value.with_flat(flat)
        if isinstance(flat, _Star):
            return flat
        raise RaggedRowsError(f"a ragged array cannot have a {type(flat).__name__} for each element")

    return build


#: Ragged arrays, with the flat array of their elements as the only item.
_ROWS = Container(
    RaggedArray,
    keys=lambda value: ("elements",),
    items=lambda value: (tensor_array(value.ragged_tensor.flat_values),),
    builder=_rows_builder,
    outline=lambda value: value.lengths_key,
)
#: Lists, dicts, tuples and named tuples, objects that consist of their attributes (dataclasses), and None. A
#: ragged array is a leaf.
TREES = Registry(LIST, DICT, TUPLE, NONE, INSTANCE)
#: The same, in which the elements of a ragged array are a leaf.
DENSE_TREES = TREES | (_ROWS,)


class Structure:
    """The structure of a nested value without its leaves.

    Attributes:
        leaves: the leaves of `value`, in order.
        outline: a value that is equal for values of the same structure.
    """

    def __init__(self, value: Any, registry: Registry = DENSE_TREES) -> None:
        self._registry = registry
        self.leaves, self._rebuild, self.outline = registry.flatten(value)

    def build(self, leaves: Sequence[Any]) -> Any:
        """Return a value of this structure with other leaves."""
        return self._rebuild(list(leaves))

    def leaves_of(self, value: Any, subject: str) -> list[Any]:
        """Return the leaves of another value of the same structure, which errors call `subject`.

        Raises:
            TransformArgumentError: the structures differ.
        """
        structure = Structure(value, self._registry)
        if structure.outline != self.outline:
            if structure.text == self.text:
                raise RaggedRowsError(f"{subject} must have rows of the same lengths")
            raise TransformArgumentError(
                f"{subject} must have the structure {self.text}, but has {structure.text}: give the same "
                "nesting of lists, tuples and dicts, with the same keys"
            )
        return structure.leaves

    @property
    def text(self) -> str:
        """The structure as a text, with `*` for each leaf."""
        return show(self.build([_Star()] * len(self.leaves)))


class _Star:
    def __repr__(self) -> str:
        return "*"


def show(value: Any) -> str:
    """Return a nested value as a short text."""
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "…"


def map_leaves(function: Callable[[Any], Any], value: Any, registry: Registry = DENSE_TREES) -> Any:
    """Return a nested value with `function` applied to each leaf."""
    structure = Structure(value, registry)
    return structure.build([function(leaf) for leaf in structure.leaves])


def broadcast_prefix(prefix: Any, value: Any, subject: str) -> list[Any]:
    """Return an entry of `prefix` for each leaf of `value`. An entry stands for all leaves below its place.

    Args:
        prefix: a nested value of the structure of `value`, or of its upper levels. None is an entry.
        subject: the name of `prefix` in an error.

    Raises:
        TransformArgumentError: `prefix` does not have the structure of the upper levels of `value`.
    """
    kind = None if prefix is None else TREES.find(prefix)
    if kind is None or is_array(prefix):
        return [prefix] * len(Structure(value, TREES).leaves)
    if isinstance(prefix, (list, tuple)) and isinstance(value, (list, tuple)):
        fits = len(prefix) == len(value)
    else:
        fits = type(prefix) is type(value) and kind.outline_of(prefix) == kind.outline_of(value)
    if not fits:
        raise TransformArgumentError(
            f"{subject} must have the structure of the values that it is for, or be one number for all of "
            f"them: {show(prefix)} does not fit"
        )
    container = TREES.find(value)
    assert container is not None
    return [
        entry
        for part, item in zip(kind.items(prefix), container.items(value), strict=True)
        for entry in broadcast_prefix(part, item, subject)
    ]


# -- leaves --------------------------------------------------------------------------------------------------
# Leaves of nested values: as tensors that a tape can watch, and back in the form that the caller expects.

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
        return late.arrays.ragged_array_of(leaf)
    return leaf.copy() if type(leaf) is RaggedArray else leaf


def with_rows(leaf: Any) -> Any:
    """Return a leaf; for a ragged tensor, and for an object array of arrays, the ragged array.

    Raises:
        RaggedRowsError: the rows of an object array do not fit into a ragged tensor.
    """
    if type(leaf) in ragged:
        return late.arrays.ragged_array_of(leaf)
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
