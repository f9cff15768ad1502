"""Checks whether a property's setter only sets attributes of its own object."""

from __future__ import annotations

import builtins
import dis
import types
from typing import Any

from np2tf.runtime.introspection.code_names import codes_within
from np2tf.runtime.introspection.user_objects import is_foreign

#: Builtins that only compute.
_COMPUTE = frozenset({
    "abs", "bool", "complex", "dict", "float", "frozenset", "int", "isinstance", "issubclass", "len", "list",
    "max", "min", "pow", "range", "round", "set", "slice", "str", "sum", "super", "tuple", "type",
})  # fmt: skip


def has_side_effects(setter: Any) -> bool:
    """Return whether a setter calls or rebinds something with effects that a graph would not have."""
    if type(setter) is not types.FunctionType:
        return True
    for code in codes_within(setter.__code__):
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and _acts(
                instruction.argval, setter.__globals__
            ):
                return True
    return bool(setter.__closure__) and any(cell != "__class__" for cell in setter.__code__.co_freevars)


def _acts(name: str, space: dict[str, Any]) -> bool:
    value = space.get(name, getattr(builtins, name, None))
    if isinstance(value, type) and issubclass(value, BaseException):
        return False
    if value is getattr(builtins, name, None):
        return name not in _COMPUTE
    if isinstance(value, types.ModuleType):
        return not is_foreign(value.__name__)
    return callable(value) and not is_foreign(getattr(value, "__module__", None))
