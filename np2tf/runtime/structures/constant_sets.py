"""Sets of texts, numbers and tuples of these: constants of compiled code, which it must not change."""

from __future__ import annotations

import enum
from collections.abc import Collection
from typing import Any

import numpy as np

from np2tf.staging import ArgumentError

_PLAIN = (str, bytes, bool, type(None), int, float, complex)
#: A set with more items is no constant: its key would be that long.
_MOST = 1000
#: Methods that change a set.
_CHANGING = frozenset(
    {"add", "clear", "difference_update", "discard", "intersection_update", "pop", "remove"}
    | {"symmetric_difference_update", "update"}
)


def is_constant_set(value: Any) -> bool:
    """Whether a value is a set of which all items tell by themselves what they are."""
    return type(value) in (set, frozenset) and len(value) <= _MOST and all(map(_is_plain, value))


def _is_plain(item: Any) -> bool:
    if type(item) is tuple:
        return all(map(_is_plain, item))
    return type(item) in _PLAIN or isinstance(item, (np.generic, enum.Enum))


def key_of_set(value: Any, names: Collection[str] | None) -> Any:
    """A part of a key that is equal for sets with the same items in the same order.

    Args:
        value: the set.
        names: those in the code that reads it, None if it may use others.

    Raises:
        StagingError: the code may change it.
    """
    if type(value) is set and (names is None or not _CHANGING.isdisjoint(names)):
        raise ArgumentError("a set that the function may change cannot be an input of a graph")
    return type(value), tuple(map(_key_of_item, value))


def _key_of_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_key_of_item, item))
    return type(item), item.hex() if type(item) is float else repr(item) if type(item) is complex else item
