"""The lines of a function that bind a name, by its bytecode; only error messages need them."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import NamedTuple

_BINDS = ("STORE_FAST", "STORE_DEREF", "STORE_NAME", "STORE_GLOBAL", "STORE_ATTR")


class _Binding(NamedTuple):
    offset: int
    word: str
    line: int


def last_line(code: types.CodeType, word: str, until: int | None = None) -> int | None:
    """Return the last line that binds a name or attribute.

    Args:
        code: the code of the function.
        word: the name.
        until: the offset of the instruction up to which the code is read.
    """
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
