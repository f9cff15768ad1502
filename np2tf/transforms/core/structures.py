"""Nested values as transforms see them: leaves in a structure, as JAX's pytrees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.pytree.containers import LIST, TUPLE, Builder, Container
from np2tf.pytree.registry import Registry
from np2tf.runtime.introspection.user_objects import INSTANCE
from np2tf.tnp._array.ndarray import is_array, tensor_array
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.transform_errors import RaggedRowsError, TransformArgumentError

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

    Args:
        value: the nested value.
        registry: the kinds of containers.

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
        """Return the leaves of another value of the same structure.

        Args:
            value: the other value.
            subject: the name of the value in an error.

        Raises:
            TransformArgumentError: the structures differ.
        """
        structure = Structure(value, self._registry)
        if structure.outline != self.outline:
            if structure.text == self.text:
                raise RaggedRowsError(f"{subject} must have rows of the same lengths")
            raise TransformArgumentError(
                f"{subject} must have the structure {self.text}, and has {structure.text}: give the same "
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
        value: a nested value.
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
