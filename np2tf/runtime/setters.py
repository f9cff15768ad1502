"""Setters of properties: whether they do anything besides setting attributes of their own object."""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import types
from typing import Any

from np2tf.runtime.code_names import codes_within
from np2tf.runtime.instances import is_foreign

#: Builtins that only compute.
_COMPUTE = frozenset({
    "abs", "bool", "complex", "dict", "float", "frozenset", "int", "isinstance", "issubclass", "len", "list",
    "max", "min", "pow", "range", "round", "set", "slice", "str", "sum", "super", "tuple", "type",
})  # fmt: skip

#: In the place of names that patterns of ``match`` read.
MATCHES = "match"
_READS = ("LOAD_ATTR", "LOAD_METHOD", "DELETE_ATTR")


@functools.lru_cache(4096)
def assigned_attributes(code: types.CodeType) -> frozenset[str]:
    """The names of the attributes that some code, or code inside it, assigns."""
    return frozenset(
        one.argval
        for part in codes_within(code)
        for one in dis.get_instructions(part)
        if one.opname == "STORE_ATTR"
    )


@functools.lru_cache(4096)
def appending_attributes(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the attributes that some code, or code inside it, reads to call their `append`, and of
    those that it reads for something else; `MATCHES` stands for those that patterns read.
    """
    appending: set[str] = set()
    read: set[str] = set()
    for part in codes_within(code):
        # The last instruction returns or jumps.
        for one, following in itertools.pairwise(dis.get_instructions(part)):
            if one.opname.startswith("MATCH_"):
                read.add(MATCHES)
            if one.opname not in _READS:
                continue
            appends = following.opname in _READS and following.argval == "append"
            (appending if appends and one.opname == "LOAD_ATTR" else read).add(one.argval)
    return frozenset(appending), frozenset(read)


def does_more(setter: Any) -> bool:
    """Whether a setter calls or rebinds something whose effects a graph would not have."""
    if not isinstance(setter, types.FunctionType):
        return True
    for code in codes_within(setter.__code__):
        for one in dis.get_instructions(code):
            if one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME") and _acts(one.argval, setter.__globals__):
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
