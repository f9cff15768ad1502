"""The names in a function's code, and in the code of the functions and classes inside it."""

from __future__ import annotations

import dis
import functools
import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any

#: Stands for the names that patterns of ``match`` read.
MATCHES = "match"
_READS = ("LOAD_ATTR", "LOAD_METHOD", "DELETE_ATTR")
_GLOBAL = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"})


def codes_within(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code itself, and that of the functions and classes inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_within(constant)


def all_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of global variables and attributes."""
    for inner_code in codes_within(code):
        yield from inner_code.co_names


@functools.lru_cache(4096)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """Return the names of global variables, each once."""
    return tuple(
        dict.fromkeys(
            instruction.argval for instruction in _instructions(code) if instruction.opname in _GLOBAL
        )
    )


def imported_modules(code: types.CodeType, space: dict[str, Any]) -> list[types.ModuleType]:
    """Return the modules that the code imports, if they are already loaded."""
    package = space.get("__package__") or ""
    modules = []
    for name in _imported_names(code):
        paths = [name.partition(".")[0], name, f"{package}.{name}".rstrip(".")]
        paths.append(f"{package.rpartition('.')[0]}.{name}")
        modules += [sys.modules[path] for path in dict.fromkeys(paths) if path in sys.modules]
    return modules


@functools.lru_cache(4096)
def _imported_names(code: types.CodeType) -> tuple[str, ...]:
    return tuple(
        instruction.argval for instruction in _instructions(code) if instruction.opname == "IMPORT_NAME"
    )


@functools.lru_cache(4096)
def assigned_attributes(code: types.CodeType) -> frozenset[str]:
    """Return the names of the attributes that the code, or code inside it, assigns."""
    return frozenset(
        instruction.argval for instruction in _instructions(code) if instruction.opname == "STORE_ATTR"
    )


@functools.lru_cache(4096)
def compares_classes(code: types.CodeType) -> bool:
    """Return whether the code compares ``type(x)`` with a class in the expression that asks for it.

    Translated code has `np2tf.type` there.
    """
    for part in codes_within(code):
        is_asked = False
        for instruction in dis.get_instructions(part):
            name = instruction.opname
            if name == "LOAD_GLOBAL" and instruction.argval == "type":
                is_asked = True
            elif name.startswith(("STORE_", "RETURN_", "POP_")):
                is_asked = False
            elif is_asked and name in ("IS_OP", "COMPARE_OP", "CONTAINS_OP"):
                return True
    return False


@functools.lru_cache(4096)
def rebound_outer_names(code: types.CodeType) -> frozenset[str]:
    """Return the closure variables that functions inside the code bind again (`nonlocal`)."""
    return frozenset(
        instruction.argval
        for inner_code in codes_within(code)
        for instruction in dis.get_instructions(inner_code)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF")
        and instruction.argval in inner_code.co_freevars
    )


#: Stands for the items of containers among the names that code changes, and for names that the text does not
#: show.
ITEMS, ANYTHING = "[]", "*"
_CHANGERS = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse"}
    | {"setdefault", "sort", "update", "appendleft", "popleft", "extendleft", "rotate", "move_to_end"}
    | {"difference_update", "intersection_update", "symmetric_difference_update"}
)
_HIDDEN_CHANGERS = frozenset({"setattr", "delattr", "__dict__", "__setattr__", "vars", "globals", "exec"})


@functools.lru_cache(4096)
def changed_names(code: types.CodeType) -> frozenset[str]:
    """Return the globals, closure variables and attributes that the code, or code inside it, may bind again;
    ITEMS if it may change a container, and ANYTHING if the names are not known.
    """
    names: set[str] = set()
    for instruction in _instructions(code):
        kind, name = instruction.opname, instruction.argval
        is_in_place = kind == "BINARY_OP" and instruction.argrepr.endswith("=")  # Python 3.10 names INPLACE_*
        if is_in_place or kind.startswith(("STORE_SUBSCR", "DELETE_SUBSCR", "STORE_SLICE", "INPLACE_")):
            names.add(ITEMS)
        elif not isinstance(name, str):
            continue
        elif name in _CHANGERS:
            names.add(ITEMS)
        elif kind.startswith(("STORE_", "DELETE_")):
            names.add(name)
        elif name in _HIDDEN_CHANGERS:
            names.add(ANYTHING)
    return frozenset(names)


@functools.lru_cache(4096)
def appending_attributes(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return two sets of attributes that the code, or code inside it, reads.

    The first set has the attributes whose `append` the code calls, the second set has the attributes that it
    reads otherwise. `MATCHES` stands for attributes that patterns read.
    """
    append_targets: set[str] = set()
    reads: set[str] = set()
    for part in codes_within(code):
        # The last instruction returns or jumps.
        for instruction, successor in itertools.pairwise(dis.get_instructions(part)):
            if instruction.opname.startswith("MATCH_"):
                reads.add(MATCHES)
            if instruction.opname not in _READS:
                continue
            appends = successor.opname in _READS and successor.argval == "append"
            (append_targets if appends and instruction.opname == "LOAD_ATTR" else reads).add(
                instruction.argval
            )
    return frozenset(append_targets), frozenset(reads)


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    for inner_code in codes_within(code):
        yield from dis.get_instructions(inner_code)


def is_made_anew(function: types.FunctionType) -> bool:
    """Return whether a function is made where it is used: a lambda, or an inner function."""
    return "<l" in function.__qualname__  # <lambda>, <locals>
