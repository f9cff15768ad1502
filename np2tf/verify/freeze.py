"""Turns a program's result into plain data: containers of host arrays, strings and Python scalars.

Freezing copies. A result that a later call overwrites stays as it was, and a result on a device has arrived
on the host before the clock stops.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Instance:
    """An object of a class of the program.

    Attributes:
        kind: the name of the class.
        attributes: the frozen attributes.
    """

    kind: str
    attributes: dict[str, Any]


def freeze(value: Any, seen_ids: frozenset[int] = frozenset()) -> Any:
    """Copy `value` into plain data. An object that has no readable attributes is represented by its class's
    name.

    Args:
        value: any value.
        seen_ids: the ids of the containers around `value`, by which cycles are found.
    """
    import numpy as np

    if value is None or (isinstance(value, (bool, int, float, complex, str, bytes)) and _is_builtin(value)):
        return value
    if hasattr(value, "__array__") and hasattr(value, "dtype"):
        return np.array(value)
    if id(value) in seen_ids:
        return "<cycle>"
    seen_ids = seen_ids | {id(value)}
    if isinstance(value, Mapping):
        return {_key(key, seen_ids): freeze(item, seen_ids) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(freeze(item, seen_ids) for item in value)
    if isinstance(value, list):
        return [freeze(item, seen_ids) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((freeze(item, seen_ids) for item in value), key=repr)
    if hasattr(value, "__dict__") and not callable(value):
        attributes = {name: freeze(item, seen_ids) for name, item in vars(value).items()}
        return Instance(type(value).__name__, attributes)
    return Instance(type(value).__name__, {})


def _key(key: Any, seen_ids: frozenset[int]) -> Any:
    value = freeze(key, seen_ids)
    return value.item() if hasattr(value, "dtype") else value  # arrays do not hash, and 1 == np.int64(1)


def _is_builtin(value: Any) -> bool:
    # numpy.float64 is a subclass of float, and numpy.str_ of str: NumPy's scalars are frozen like arrays.
    return type(value).__module__ == "builtins"
