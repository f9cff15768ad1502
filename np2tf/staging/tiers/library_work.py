"""Code whose time is that of NumPy's libraries, which transform, solve and sort as fast as compiled code."""

from __future__ import annotations

import dis
import types
from collections.abc import Mapping
from typing import Any

from np2tf.staging.tiers.program_code import DEPTH, functions_of

#: Functions of NumPy and SciPy: transforms, solvers, sorting. Code that calls them spends its time there.
_LIBRARY = frozenset(
    {f"{prefix}fft{suffix}" for prefix in ("", "i", "r", "ir", "h", "ih") for suffix in ("", "2", "n")}
    | {"solve", "lstsq", "inv", "pinv", "svd", "eig", "eigh", "eigvals", "eigvalsh", "qr", "cholesky"}
    | {"sort", "argsort", "lexsort", "unique", "spsolve", "splu"}
)
#: Functions of the module `np.fft` that compute little; its name alone is no transform then.
_OF_FREQUENCIES = frozenset({"fftfreq", "rfftfreq", "fftshift", "ifftshift"})
#: The names of the libraries' functions that code calls.
_calls: dict[types.CodeType, frozenset[str]] = {}


def library_calls(code: types.CodeType, names: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the libraries' functions that the code calls, by itself or in its callees.

    Args:
        names: the globals of the code.
    """
    if code not in _calls:
        _calls[code] = _calls_in(code, names, DEPTH)
    return _calls[code]


def _calls_in(code: types.CodeType, names: Mapping[str, Any], depth: int) -> frozenset[str]:
    words = set(code.co_names)
    own_words = {word for word in words & _LIBRARY if _is_of_program(names.get(word), names)}
    found = frozenset(words & _LIBRARY - (own_words - _attributes(code) if own_words else own_words))
    if found and not (found == {"fft"} and words & _OF_FREQUENCIES):
        return found
    for part in code.co_consts:
        if isinstance(part, types.CodeType) and (found := _calls_in(part, names, depth)):
            return found
    for callee in functions_of(words, names) if depth else ():
        if found := _calls_in(callee.__code__, callee.__globals__, depth - 1):
            return found
    return frozenset()


def _attributes(code: types.CodeType) -> set[str]:
    """Return the attributes and methods that code reads."""
    return {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}


def _is_of_program(value: Any, names: Mapping[str, Any]) -> bool:
    """Return whether a value is a function that the program itself defines in these globals."""
    function = getattr(value, "__wrapped__", value)
    return isinstance(function, types.FunctionType) and function.__module__ == names.get("__name__")
