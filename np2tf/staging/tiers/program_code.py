"""What the bytecode of a program shows: the loops of a function, and the functions that it calls."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Mapping
from typing import Any

#: The instructions that jump, backwards at the end of a loop.
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
#: Calls of calls are followed so deep.
DEPTH = 4


def loop_ends(code: types.CodeType) -> dict[int, int]:
    """Return where the loops of code end, by where they begin."""
    return {
        one.argval: one.offset
        for one in dis.get_instructions(code)
        if one.opcode in _JUMPS and one.argval < one.offset
    }


def functions_of(words: set[str], names: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """Yield the program's functions and methods with these names."""
    for name, value in list(names.items()):
        if isinstance(value, type) and value.__module__ == names.get("__name__"):
            members = [vars(value).get(word) for word in words]
        else:
            members = [value] if name in words else []
        for member in members:
            # A jitted function that has run knows what its source has; its translation shows other loops.
            host = getattr(member, "__dict__", {}).get("_host")
            function = getattr(member, "__wrapped__", member) if host is None else host.original
            if isinstance(function, types.FunctionType):
                yield function
