"""Text that code indexes by numbers which compiled code does not know: such code cannot be compiled, and its
bytecode tells that before TensorFlow is imported to find it out.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterable
from typing import Any

_TEXT = (str, bytes)


def indexes_text(code: types.CodeType, args: Iterable[Any]) -> bool:
    """Return whether code takes single characters of a text, given the arguments of its function in order."""
    names = [name for name, value in zip(code.co_varnames, args) if isinstance(value, _TEXT)]
    return bool(names) and not _indexed_names(code).isdisjoint(names)


@functools.cache
def _indexed_names(code: types.CodeType) -> frozenset[str]:
    """Return the variables that code indexes by something that is no constant."""
    steps = list(dis.get_instructions(code))
    return frozenset(
        step.argval
        for k, step in enumerate(steps)
        if step.opname.startswith("LOAD_FAST")
        and isinstance(step.argval, str)
        and _is_indexed(steps[k + 1 :])
    )


def _is_indexed(steps: list[dis.Instruction]) -> bool:
    """Return whether the steps index what was loaded before the first of them."""
    depth, is_constant = 1, True
    for step in steps:
        if depth == 2 and step.opname.startswith("BINARY_SUBSCR"):
            return not is_constant
        is_constant = is_constant and step.opname in ("LOAD_CONST", "BUILD_SLICE")
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            return False
        depth += dis.stack_effect(step.opcode, step.arg)
        if depth < 2:
            return False
    return False
