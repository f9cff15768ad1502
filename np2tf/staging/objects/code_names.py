"""What a function's bytecode says: the names that it reads, binds and changes, the lines that bind them, and
whether a setter only sets.
"""

from __future__ import annotations

import builtins
import dis
import functools
import itertools
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from np2tf.staging.objects.user_objects import is_foreign

# -- code names ----------------------------------------------------------------------------------------------
# The names in a function's code, and in the code of the functions and classes inside it.

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


# -- bindings ------------------------------------------------------------------------------------------------
# The lines of a function that bind a name, by its bytecode; only error messages need them.

_BINDS = ("STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL", "STORE_ATTR")


class _Binding(NamedTuple):
    offset: int
    word: str
    line: int


def last_line(code: types.CodeType, word: str, until: int | None = None) -> int | None:
    """Return the last line that binds a name or attribute, up to the instruction at the offset `until`."""
    lines = [
        binding.line
        for binding in _bindings(code)
        if binding.word == word and (until is None or binding.offset < until)
    ]
    return lines[-1] if lines else None


def return_line(code: types.CodeType) -> int:
    """Return the line of a function's last `return`, or the function's last line."""
    return list(_lines(code))[-1][1]


def targets(frame: types.FrameType) -> tuple[tuple[str, ...], bool]:
    """Return the names that a frame binds to the result of its call, and whether one name gets the whole."""
    instructions = [
        instruction
        for instruction in dis.get_instructions(frame.f_code)
        if instruction.offset > frame.f_lasti and instruction.opname != "CACHE"
    ]
    unpack_count = (
        instructions[0].arg or 0 if instructions and instructions[0].opname == "UNPACK_SEQUENCE" else None
    )
    count = 1 if unpack_count is None else unpack_count
    names: list[str] = []
    for instruction in instructions if unpack_count is None else instructions[1:]:
        if not instruction.opname.startswith(_BINDS) or len(names) >= count:
            break
        names += _stored_names(instruction)
    return tuple(names[:count]), unpack_count is None


def _bindings(code: types.CodeType) -> Iterator[_Binding]:
    """The instructions that bind names and attributes, in order."""
    for instruction, line in _lines(code):
        if instruction.opname.startswith(_BINDS):
            yield from (_Binding(instruction.offset, word, line) for word in _stored_names(instruction))


def _lines(code: types.CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    """The instructions with their lines."""
    lines = dict(dis.findlinestarts(code))
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        line = lines.get(instruction.offset) or line
        yield instruction, line


def _stored_names(instruction: dis.Instruction) -> tuple[str, ...]:
    """Return the names that an instruction binds. From Python 3.13 on, an instruction may bind two names, or
    bind a name and load another name."""
    words = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
    return words if instruction.opname.count("STORE") == len(words) else words[:1]


# -- names that stay the same arrays -------------------------------------------------------------------------
# How translated code binds names: `x = tnp.at(x)[i].set(v)` and `x += v` write to the array that the name
# has, and `x = np2tf.for_loop(…)` does what the loop's code does. Only guesses depend on it.

#: The operators of np2tf whose helpers, which are code inside, bind the names that they return.
_OPERATORS = frozenset({"cond", "case", "for_loop", "while_loop"})
_NAMED_STORES = ("STORE_FAST", "STORE_DEREF", "STORE_ATTR")
_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ARITHMETIC = ("BINARY_OP", "INPLACE_")
_ENDS = ("POP_TOP", "RETURN_", "STORE_")


@functools.lru_cache(4096)
def kept_and_new_names(code: types.CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names and attributes whose arrays the code, or code inside it, seems to write to, and those
    that it seems to bind to new values. A call that takes the array of a name may do either.
    """
    kept: set[str] = set()
    new: set[str] = set()
    for part in codes_within(code):
        value: list[dis.Instruction] = []
        is_bound = False
        for instruction in dis.get_instructions(part):
            kind = instruction.opname
            if kind.startswith(_NAMED_STORES):
                for name in _stored_names(instruction):
                    _set_for(value, name, kept, new).add(name)
                is_bound = True
                continue
            if is_bound or kind.startswith(_ENDS):
                kept |= _written_names(value, kind)
                value, is_bound = [], False
            if kind.startswith(("LOAD_", "BINARY_", "INPLACE_", "CALL", "UNPACK_")):
                value.append(instruction)
    return frozenset(kept), frozenset(new)


def _written_names(value: Sequence[dis.Instruction], end: str) -> set[str]:
    """Return the names whose elements a statement writes that ends with an instruction of a kind."""
    names = {name for k, _ in enumerate(value) for name in _names_at(value, k)}
    if end == "STORE_SUBSCR":
        loads = [instruction.argval for instruction in value if instruction.opname in _LOADS]
        names.update(loads[:1])
    return names


def _names_at(value: Sequence[dis.Instruction], k: int) -> list[str]:
    """Return the name, or the object and its attribute, that `tnp.at` gets if an instruction loads it."""
    if value[k].argval != "at" or value[k].opname not in _READS:
        return []
    operands = [step for step in value[k + 1 : k + 4] if step.opname in _LOADS + _READS]
    names = [step.argval for step in operands[:1]]
    return names + [step.argval for step in operands[1:2] if step.opname in _READS]


def _set_for(value: Sequence[dis.Instruction], name: str, kept: set[str], new: set[str]) -> set[str]:
    """Return the set for a name that is bound to a value: one of the two, or a set that does not count."""
    words = [instruction.argval for instruction in value]
    texts = {word for word in words if isinstance(word, str)}
    if not value or texts & _OPERATORS or (len(value) == 1 and words[0] == f"{name}_now"):
        return set()
    last = value[-1]
    is_in_place = last.opname.startswith(_ARITHMETIC) and last.argrepr.endswith("=")
    if is_in_place or "map_loop" in texts or name in _written_names(value, ""):
        return kept
    is_call = last.opname.startswith(("CALL", "UNPACK_"))
    return set() if is_call and name in texts and "tnp" not in texts else new


# -- property setters ----------------------------------------------------------------------------------------
# Checks whether a property's setter only sets attributes of its own object.

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
