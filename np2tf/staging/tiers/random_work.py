"""Code that draws random numbers in loops more slowly if it is compiled, or needs too many at once."""

from __future__ import annotations

import dis
import types
from collections.abc import Mapping
from typing import Any

from np2tf.staging.tiers.program_code import functions_of, loop_ends

#: Methods that draw one number if they get no more arguments than that. Compiled code draws more
#: slowly than NumPy: normal numbers of the old generator, many normal numbers, and what it calls back for.
_NORMAL = {"randn": 0, "standard_normal": 0, "normal": 2}
_CALLED_BACK = {
    **dict.fromkeys(("exponential", "poisson", "geometric", "chisquare", "standard_gamma", "rayleigh"), 1),
    **dict.fromkeys(("gamma", "beta", "binomial", "laplace", "lognormal", "negative_binomial", "gumbel"), 2),
    **dict.fromkeys(("triangular", "hypergeometric"), 3),
}
#: The same for methods that compiled code draws faster than NumPy.
FAST = {
    **dict.fromkeys(("rand", "random", "random_sample"), 0),
    "choice": 1,
    **dict.fromkeys(("uniform", "randint", "integers"), 2),
}


def draws_in_loops(code: types.CodeType, names: Mapping[str, Any], depth: int, fast: bool = False) -> bool:
    """Return whether code draws slowly in a loop, or calls functions that draw in loops.

    What calls such functions often would need more random words at once than a fast loop has room for
    (`np2tf.staging.xla.compiler_options`): the functions are compiled by themselves.

    Args:
        fast: whether draws of single numbers count that compiled code makes faster than NumPy.
    """
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    if _draws_in_a_loop(code, fast) or any(draws_in_loops(part, names, depth, fast) for part in inner):
        return True
    has_loop = bool(loop_ends(code))
    callees = functions_of(set(code.co_names), names) if depth else ()
    return any(
        draws_in_loops(callee.__code__, callee.__globals__, depth - 1, fast=True)
        or (has_loop and _draws_in_a_loop(callee.__code__, False, everywhere=True))
        for callee in callees
    )


def _draws_in_a_loop(code: types.CodeType, fast: bool, everywhere: bool = False) -> bool:
    methods = {*_NORMAL, *_CALLED_BACK, *(FAST if fast else ())}
    if methods.isdisjoint(code.co_names):
        return False
    ends = loop_ends(code)
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
            if _is_slow_draw(name, of, one.arg or 0) or (fast and (one.arg or 0) <= FAST.get(name, -1)):
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
