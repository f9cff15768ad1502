"""Reads attributes of any objects without running code of the program.

A `__getattr__` may raise any exception, return an object for any name, or load something.
"""

from __future__ import annotations

import types
from functools import lru_cache
from typing import Any

_LOOKUPS = ("__getattr__", "__getattribute__")
#: Members of classes that return what the object stores.
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def wrapped_function(value: Any) -> Any:
    """Return the function that a decorated function, or an object in its place, stands for; None if there is
    none.

    See https://docs.python.org/3/library/functools.html#functools.update_wrapper.
    """
    return stored_attribute(value, "__wrapped__")


def stored_attribute(value: Any, name: str) -> Any:
    """Return an attribute of an object; None if it has none, or computes it."""
    if isinstance(value, (type, types.ModuleType)) or _may_compute(type(value), name):  # type: ignore[arg-type]
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return None
        return attributes.get(name)
    return getattr(value, name, None)


@lru_cache(maxsize=1024)
def _may_compute(kind: type, name: str) -> bool:
    """Return whether reading an attribute of an object of this class may run code of the program."""
    for base in kind.__mro__:
        members = vars(base)
        if name in members:
            return not isinstance(members[name], _SLOTS) and not base.__module__.startswith("np2tf.")
        if any(type(members.get(lookup)) is types.FunctionType for lookup in _LOOKUPS):
            return not base.__module__.startswith("np2tf.")
    return False
