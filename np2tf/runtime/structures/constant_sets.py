"""Sets of strings, numbers and tuples of these, which are constants of compiled code, and must not change."""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import Any

import numpy as np

from np2tf.staging import ArgumentError

_PLAIN = (str, bytes, bool, type(None), int, float, complex)
#: A larger set is no constant, because its key would be as long.
_MAX_ITEMS = 1000
#: Methods that change a set.
_MUTATORS = frozenset(
    {"add", "clear", "difference_update", "discard", "intersection_update", "pop", "remove"}
    | {"symmetric_difference_update", "update"}
)


def is_constant_set(value: Any) -> bool:
    """Return whether a value is a set of items that are compared by value."""
    return type(value) in (set, frozenset) and len(value) <= _MAX_ITEMS and all(map(_is_plain, value))


def _is_plain(item: Any) -> bool:
    if type(item) is tuple:
        return all(map(_is_plain, item))
    return type(item) in _PLAIN or isinstance(item, (np.generic, enum.Enum))


def key_of_set(value: Any, names: Collection[str] | None) -> Any:
    """Return a part of a key that is equal for sets with the same items in the same order.

    Args:
        value: the set.
        names: the names in the code that reads it; None if it may use other names.

    Raises:
        StagingError: if the code may change the set.
    """
    if type(value) is set and (names is None or not _MUTATORS.isdisjoint(names)):
        raise ArgumentError("a set that the function may change cannot be an input of a graph")
    return type(value), tuple(map(_key_of_item, value))


def _key_of_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_key_of_item, item))
    return type(item), item.hex() if type(item) is float else repr(item) if type(item) is complex else item
