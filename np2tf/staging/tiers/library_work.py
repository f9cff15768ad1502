"""Code that compiling makes hardly faster, or slower: the time is that of NumPy's libraries, which transform,
solve and sort as fast as compiled code, or of single numbers that loops draw and which compiled code draws
more slowly than NumPy.

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
#: Methods that draw one number if they get no more arguments than that. Compiled code draws more
#: slowly than NumPy: normal numbers of the old generator, many normal numbers, and what it calls back for.
_NORMAL = {"randn": 0, "standard_normal": 0, "normal": 2}
_CALLED_BACK = {
    **dict.fromkeys(("exponential", "poisson", "geometric", "chisquare", "standard_gamma", "rayleigh"), 1),
    **dict.fromkeys(("gamma", "beta", "binomial", "laplace", "lognormal", "negative_binomial", "gumbel"), 2),
    **dict.fromkeys(("triangular", "hypergeometric"), 3),
}
#: The same for methods that compiled code draws faster than NumPy.
_FAST = {
    **dict.fromkeys(("rand", "random", "random_sample"), 0),
    "choice": 1,
    **dict.fromkeys(("uniform", "randint", "integers"), 2),
}
#: What code names that computes with single numbers: builtins, and functions of `math`, NumPy and generators.
_OF_NUMBERS = frozenset(
    {"range", "len", "abs", "min", "max", "int", "float", "bool", "complex", "round", "divmod", "pow"}
    | {"sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "arctan", "arctan2", "tanh", "hypot"}
    | {"floor", "ceil", "pi", "e", "inf", "nan", "math", "random", "shape", "real", "imag", "conjugate"}
    | {"float64", "float32", "int64", "int32", "complex128", *_FAST}
)
#: Calls of calls are followed so deep.
_DEPTH = 4


#: The names of the libraries' functions that code calls.
_calls: dict[types.CodeType, frozenset[str]] = {}
#: The share of the host's time that compiling code is expected to save.
_savings: dict[types.CodeType, float] = {}


def expected_saving(code: types.CodeType, names: Mapping[str, Any]) -> float:
    """Return the share of the host's time that compiling the code is expected to save.

    Args:
        names: the globals of the code.
    """
    if code not in _savings:
        _savings[code] = _saving(code, names)
    return _savings[code]


def _saving(code: types.CodeType, names: Mapping[str, Any]) -> float:
    if _draws_in_loops(code, names, _DEPTH):
        return constants.DRAWS_SAVING
    if library_calls(code, names):
        return constants.LIBRARY_SAVING
    is_scalar = _computes_numbers(code, names, _DEPTH) and _has_loop(code, names, _DEPTH)
    return constants.SCALAR_SAVING if is_scalar else constants.EXPECTED_SAVING


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


def _draws_in_loops(code: types.CodeType, names: Mapping[str, Any], depth: int, fast: bool = False) -> bool:
    """Return whether code draws slowly in a loop, or calls functions that draw in loops.

    What calls such functions often would need more random words at once than a fast loop has room for
    (`np2tf.staging.xla.compiler_options`): the functions are compiled by themselves.

    Args:
        fast: whether draws of single numbers count that compiled code makes faster than NumPy.
    """
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if _draws_in_a_loop(code, fast) or any(_draws_in_loops(part, names, depth, fast) for part in inner):
        return True
    has_loop = bool(_loop_ends(code))
    callees = _functions(set(code.co_names), names) if depth else ()
    return any(
        _draws_in_loops(callee.__code__, callee.__globals__, depth - 1, fast=True)
        or (has_loop and _draws_in_a_loop(callee.__code__, False, everywhere=True))
        for callee in callees
    )


def _loop_ends(code: types.CodeType) -> dict[int, int]:
    """Return where the loops of code end, by where they begin."""
    return {
        one.argval: one.offset
        for one in dis.get_instructions(code)
        if one.opcode in _JUMPS and one.argval < one.offset
    }


def _draws_in_a_loop(code: types.CodeType, fast: bool, everywhere: bool = False) -> bool:
    methods = {*_NORMAL, *_CALLED_BACK, *(_FAST if fast else ())}
    if methods.isdisjoint(code.co_names):
        return False
    ends = _loop_ends(code)
    name, loop_end, of, before = "", -1, "", ""
    for one in dis.get_instructions(code):
        loop_end = max(loop_end, ends.get(one.offset, -1))
        if one.offset >= loop_end and not everywhere:
            continue
        if one.opname.startswith("LOAD_") and one.argval in code.co_names:
            if one.argval in methods:
                name, of = one.argval, before
            before = one.argval
            continue
        before = ""
        if one.opname.startswith("CALL") and name:
            if _is_slow_draw(name, of, one.arg or 0) or (fast and (one.arg or 0) <= _FAST.get(name, -1)):
                return True
            name = ""
    return False


def _is_slow_draw(name: str, of: str, count: int) -> bool:
    """Return whether compiled code draws more slowly than NumPy by a method, called with `count` arguments.

    Args:
        of: the name of what the method is read from; that of the old generator's module is `random`.
    """
    if name in _NORMAL:
        return of == "random" or name == "randn" or count > _NORMAL[name]
    return name in _CALLED_BACK and (of != "random" or name != "exponential" or count > _CALLED_BACK[name])


def _computes_numbers(code: types.CodeType, names: Mapping[str, Any], depth: int) -> bool:
    """Return whether code computes with single numbers only, in loops over elements: it names no function or
    method of arrays, has no slices, and calls only functions of the program of which the same holds.
    """
    steps = list(dis.get_instructions(code))
    if any(step.opname in ("BUILD_SLICE", "BINARY_SLICE", "STORE_SLICE") for step in steps):
        return False
    own = _functions(set(code.co_names), names) if depth else ()
    callees = {function.__name__: function for function in own}
    if not {*code.co_names} - callees.keys() <= _OF_NUMBERS | _modules(names):
        return False
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return all(_computes_numbers(part, names, depth) for part in inner) and all(
        _computes_numbers(function.__code__, function.__globals__, depth - 1) for function in callees.values()
    )


def _modules(names: Mapping[str, Any]) -> set[str]:
    """Return the names of modules and of plain numbers."""
    kinds = (types.ModuleType, int, float, complex)
    return {name for name, value in list(names.items()) if isinstance(value, kinds)}


def _has_loop(code: types.CodeType, names: Mapping[str, Any], depth: int) -> bool:
    if _loop_ends(code):
        return True
    own = _functions(set(code.co_names), names) if depth else ()
    return any(_has_loop(function.__code__, function.__globals__, depth - 1) for function in own)


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
            # A jitted function that has run knows what its source has; its translation shows other loops.
            host = getattr(member, "__dict__", {}).get("_host")
            function = getattr(member, "__wrapped__", member) if host is None else host.original
            if isinstance(function, types.FunctionType):
                yield function
