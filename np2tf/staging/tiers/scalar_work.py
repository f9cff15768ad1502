"""Code that computes with single numbers, in loops of Python over the elements of arrays."""

from __future__ import annotations

import dis
import types
from collections.abc import Mapping
from typing import Any

from np2tf.staging.tiers.program_code import DEPTH, functions_of, loop_ends
from np2tf.staging.tiers.random_work import FAST

#: What code names that computes with single numbers: builtins, and functions of `math`, NumPy and generators.
_OF_NUMBERS = frozenset(
    {"range", "len", "abs", "min", "max", "int", "float", "bool", "complex", "round", "divmod", "pow"}
    | {"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "arctan", "arctan2", "tanh", "hypot"}
    | {"floor", "ceil", "pi", "e", "inf", "nan", "math", "random", "shape", "real", "imag", "conjugate"}
    | {"float64", "float32", "int64", "int32", "complex128", *FAST}
)


def loops_over_numbers(code: types.CodeType, names: Mapping[str, Any]) -> bool:
    """Return whether code, and what it calls of the program, computes with single numbers in loops.

    Args:
        names: the globals of the code.
    """
    return _computes_numbers(code, names, DEPTH) and _has_loop(code, names, DEPTH)


def _computes_numbers(code: types.CodeType, names: Mapping[str, Any], depth: int) -> bool:
    """Return whether code computes with single numbers only: it names no function or method of arrays, has no
    slices, and calls only functions of the program of which the same holds.
    """
    steps = list(dis.get_instructions(code))
    if any(step.opname in ("BUILD_SLICE", "BINARY_SLICE", "STORE_SLICE") for step in steps):
        return False
    own = functions_of(set(code.co_names), names) if depth else ()
    callees = {function.__name__: function for function in own}
    if not {*code.co_names} - callees.keys() <= _OF_NUMBERS | _modules(names):
        return False
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return all(_computes_numbers(part, names, depth) for part in inner) and all(
        _computes_numbers(function.__code__, function.__globals__, depth - 1) for function in callees.values()
    )


def _has_loop(code: types.CodeType, names: Mapping[str, Any], depth: int) -> bool:
    if loop_ends(code):
        return True
    own = functions_of(set(code.co_names), names) if depth else ()
    return any(_has_loop(function.__code__, function.__globals__, depth - 1) for function in own)


def _modules(names: Mapping[str, Any]) -> set[str]:
    """Return the names of modules and of plain numbers."""
    kinds = (types.ModuleType, int, float, complex)
    return {name for name, value in list(names.items()) if isinstance(value, kinds)}
