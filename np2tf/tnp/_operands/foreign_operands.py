"""Operands of TensorFlow and Keras that are no tensors: what the functions of `tnp` take in their place.

A variable of Keras, and whatever else has TensorFlow's protocol ``__tf_tensor__``, is its tensor. A ragged
tensor is a ragged array. A sparse tensor, or Keras' placeholder of a tensor, is refused with the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import lazy
from np2tf.tnp._array.ndarray import arrays_of_rows
from np2tf.tnp._front.operand_kinds import PLAIN
from np2tf.tnp._operands.axis_arguments import MOST_AXES

#: The class of an operand -> the function that replaces it.
_replacements: dict[type, Callable[[Any], Any]] = {}
#: The largest number of classes to remember, so that a program that keeps making classes has memory left.
_MAX_CLASSES = 10_000
#: The classes of operands that stay.
_stay: set[Any] = {*PLAIN, np.ndarray}
_CONTAINERS = frozenset((list, tuple, dict))


def replace_operands(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return operands with tensors and arrays in the place of other objects of TensorFlow and Keras.

    Raises:
        TypeError: an operand has no array, such as a sparse tensor.
    """
    return tuple([_replace(value) for value in values])


def call_replaced(function: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function with such operands replaced. Ragged tensors give a ragged tensor."""
    result = function(*replace_operands(args), **dict(zip(kwargs, replace_operands(kwargs.values()))))
    return result.tensor if type(result) in arrays_of_rows else result


def are_known(values: Iterable[Any], depth: int = 0) -> bool:
    """Return whether all operands stay as they are. Nothing is replaced where NumPy has no more axes, such as
    in a list that contains itself.
    """
    if depth > MOST_AXES:
        return True
    for value in values:
        kind = type(value)
        if kind in _CONTAINERS:
            if not are_known(value.values() if kind is dict else value, depth + 1):
                return False
        elif kind not in _stay and _replacement(kind) is not None:
            return False
    return True


def _replace(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {name: _replace(item) for name, item in value.items()}
    if kind in _CONTAINERS:
        return kind(map(_replace, value))
    replacement = _replacement(kind)
    return value if replacement is None else replacement(value)


def _replacement(kind: type) -> Callable[[Any], Any] | None:
    if kind in _stay:
        return None
    replacement = _replacements.get(kind) or _make(kind)
    if replacement is not None:
        _replacements[kind] = replacement
    elif len(_stay) < _MAX_CLASSES:
        _stay.add(kind)
    return replacement


def _make(kind: type) -> Callable[[Any], Any] | None:
    if issubclass(kind, (tf.Tensor, tf.Variable)):
        return None
    if issubclass(kind, tf.RaggedTensor):
        return _ragged
    if issubclass(kind, tf.SparseTensor):
        return _sparse
    if issubclass(kind, tf.IndexedSlices):
        return tf.convert_to_tensor
    if kind.__name__ == "KerasTensor" and kind.__module__.partition(".")[0] == "keras":
        return _placeholder
    is_keras = kind.__module__.partition(".")[0] == "keras"
    return tf.convert_to_tensor if is_keras and hasattr(kind, "__tf_tensor__") else None


def _ragged(tensor: tf.RaggedTensor) -> Any:
    return lazy.arrays.ragged_array_of(tensor)


def _sparse(tensor: tf.SparseTensor) -> Any:
    raise TypeError(
        "a tf.SparseTensor is no array: use the functions of tf.sparse, or make it dense with "
        "tf.sparse.to_dense(x)"
    )


def _placeholder(tensor: Any) -> Any:
    raise TypeError(
        "a KerasTensor has no values: call the function in a layer, such as "
        "keras.layers.Lambda(lambda x: tnp.sin(x))"
    )
