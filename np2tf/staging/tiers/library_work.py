"""Code that compiling makes hardly faster, or slower: the time is that of NumPy's libraries, which transform,
solve and sort as fast as compiled code, or of single numbers that loops draw from NumPy's old generator,
which compiled code draws more slowly.

The code, and the program's functions that it calls, tell before anything is spent.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Mapping
from typing import Any

from np2tf.staging.tiers import constants

#: Functions of NumPy and SciPy: transforms, solvers, sorting. Code that calls them spends its time there.
_LIBRARY = frozenset(
    {f"{prefix}fft{suffix}" for prefix in ("", "i", "r", "ir", "h", "ih") for suffix in ("", "2", "n")}
    | {"solve", "lstsq", "inv", "pinv", "svd", "eig", "eigh", "eigvals", "eigvalsh", "qr", "cholesky"}
    | {"sort", "argsort", "lexsort", "unique", "spsolve", "splu"}
)
#: The instructions that jump, backwards at the end of a loop.
_JUMPS = frozenset(dis.hasjrel) | frozenset(dis.hasjabs)
#: Functions of the module `np.fft` that compute little; its name alone is no transform then.
_OF_FREQUENCIES = frozenset({"fftfreq", "rfftfreq", "fftshift", "ifftshift"})
#: Functions of NumPy's old generator, which draw one number if they get no more arguments than that. The
#: names of the first group are only its own, the others are its if they are read from `np.random`.
_OLD_DRAWS = {"rand": 0, "randn": 0, "random_sample": 0, "randint": 2}
_DRAWS = {
    **dict.fromkeys(("random", "standard_normal"), 0),
    **dict.fromkeys(("choice", "exponential", "poisson"), 1),
    **dict.fromkeys(("uniform", "normal"), 2),
}
#: Calls of calls are followed so deep.
_DEPTH = 4


#: The names of the libraries' functions that code calls.
_calls: dict[types.CodeType, frozenset[str]] = {}
#: Whether code draws single numbers in loops.
_draws: dict[types.CodeType, bool] = {}


def expected_saving(code: types.CodeType, names: Mapping[str, Any]) -> float:
    """Return the share of the host's time that compiling the code is expected to save.

    Args:
        names: the globals of the code.
    """
    if code not in _draws:
        _draws[code] = _draws_in_loops(code, names, _DEPTH)
    if _draws[code]:
        return constants.DRAWS_SAVING
    return constants.LIBRARY_SAVING if library_calls(code, names) else constants.EXPECTED_SAVING


def library_calls(code: types.CodeType, names: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the libraries' functions that the code calls, by itself or in its callees.

    Args:
        names: the globals of the code.
    """
    if code not in _calls:
        _calls[code] = _calls_in(code, names, _DEPTH)
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
    for callee in _functions(words, names) if depth else ():
        if found := _calls_in(callee.__code__, callee.__globals__, depth - 1):
            return found
    return frozenset()


def _draws_in_loops(code: types.CodeType, names: Mapping[str, Any], depth: int) -> bool:
    """Return whether code draws single numbers from NumPy's old generator in a loop, by itself or in the
    functions that it calls.
    """
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if _draws_in_a_loop(code) or any(_draws_in_loops(part, names, depth) for part in inner):
        return True
    callees = _functions(set(code.co_names), names) if depth else ()
    return any(_draws_in_loops(callee.__code__, callee.__globals__, depth - 1) for callee in callees)


def _draws_in_a_loop(code: types.CodeType) -> bool:
    draws = _OLD_DRAWS | (_DRAWS if "random" in code.co_names else {})
    if draws.keys().isdisjoint(code.co_names):
        return False
    instructions = list(dis.get_instructions(code))
    ends = {
        one.argval: one.offset for one in instructions if one.opcode in _JUMPS and one.argval < one.offset
    }
    arguments, loop_end, of = -1, -1, ""
    for one in instructions:
        loop_end = max(loop_end, ends.get(one.offset, -1))
        if one.offset >= loop_end:
            continue
        if one.opname.startswith("LOAD_") and one.argval in code.co_names:
            arguments = _OLD_DRAWS.get(one.argval, _DRAWS.get(one.argval, -1) if of == "random" else -1)
            of = one.argval
            continue
        of = ""
        if one.opname.startswith("CALL") and arguments >= 0:
            if (one.arg or 0) <= arguments:
                return True
            arguments = -1
    return False


def _attributes(code: types.CodeType) -> set[str]:
    """Return the attributes and methods that code reads."""
    return {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}


def _is_of_program(value: Any, names: Mapping[str, Any]) -> bool:
    """Return whether a value is a function that the program itself defines in these globals."""
    function = getattr(value, "__wrapped__", value)
    return isinstance(function, types.FunctionType) and function.__module__ == names.get("__name__")


def _functions(words: set[str], names: Mapping[str, Any]) -> Iterator[types.FunctionType]:
    """Yield the program's functions and methods with these names."""
    for name, value in list(names.items()):
        if isinstance(value, type) and value.__module__ == names.get("__name__"):
            members = [vars(value).get(word) for word in words]
        else:
            members = [value] if name in words else []
        for member in members:
            function = getattr(member, "__wrapped__", member)
            if isinstance(function, types.FunctionType):
                yield function
