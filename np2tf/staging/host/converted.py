"""Which functions come from files that `np2tf convert` has written, and can be raised for the host."""

from __future__ import annotations

import sys
import types

from np2tf.core.operators import OPERATORS
from np2tf.staging.objects.code_names import all_names
from np2tf.staging.process.boundary import is_of_translated_module

#: The operators that run loops. A single call of a function with one of them may take long, so that raising
#: the function at once is worth its time.
_LOOPS = frozenset({"for_loop", "while_loop", "map_loop", "list_of"})


def is_converted(function: types.FunctionType) -> bool:
    """Return whether a function's code reads np2tf's operators, or `tnp`, from these modules by name."""
    names = set(all_names(function.__code__))
    if names.isdisjoint(OPERATORS.keys() | {"tnp"}) or is_of_translated_module(function):
        return False
    space = function.__globals__
    modules = [sys.modules[name] for name in ("np2tf", "np2tf.tnp") if name in sys.modules]
    return any(space.get(name) is module for name in names for module in modules)


def has_loops(code: types.CodeType) -> bool:
    """Return whether code names an operator that runs a loop."""
    return not _LOOPS.isdisjoint(all_names(code))
