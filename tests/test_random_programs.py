"""Random programs give NumPy's results: on the host, with every operation on TensorFlow, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import Outcome, arguments_of, load, observe, translation
from random_programs import Program, program
from smaller_programs import smaller

import np2tf

#: name of a way to run a translation -> settings of np2tf.config
WAYS = {
    "usual": {},
    "tensors": {"eager": "tensorflow", "jit": "off"},
    "compiled": {"tier": "compile"},
}

#: where the arguments live -> what puts one there
PLACES = {
    "host": lambda argument: argument,
    "device": lambda argument: np2tf.device_put(argument) if isinstance(argument, np.ndarray) else argument,
}


def difference(made: Program, way: str, place: str) -> str | None:
    """What is not as in NumPy, None if nothing is."""
    reference = load(made.source)["program"]
    wanted = [observe(reference, arguments_of(call)) for call in made.calls]
    with np2tf.config.using(**WAYS[way]):
        function = load(translation(made.source))["program"]
        for k, call in enumerate(made.calls):
            found = observe(function, tuple(map(PLACES[place], arguments_of(call))))
            problem = _difference(found, wanted[k], made, way)
            if problem:
                return f"call {k}, {problem}"
    return None


def _difference(found: Outcome, wanted: Outcome, made: Program, way: str) -> str | None:
    if _error(found) != _error(wanted):
        return f"error: {wanted.error} on NumPy, {found.error} translated"
    # One single-precision number makes all others rough in its seventh digit.
    rtol = 1e-4 if "float32" in made.source + made.calls[0] else 1e-9
    parts = [("arguments", found.arguments, wanted.arguments)]
    if not wanted.error:
        parts.append(("result", found.result, wanted.result))
    for part, mine, theirs in parts:
        if len(mine) != len(theirs):
            return f"{part}: {theirs} on NumPy, {mine} translated"
        names = [f"a{k}" for k in range(len(mine))] if part == "arguments" else [x[0] for x in theirs[1:]]
        for name, a, b in zip(names, mine[1:], theirs[1:]):
            if not same(a, b, 0 if name in made.exact else rtol, number_types=way != "compiled"):
                return f"{part}: {b} on NumPy, {a} translated"
    if way == "usual" and found.aliases != wanted.aliases:
        return "aliases: other arrays share memory"
    return None


def _error(outcome: Outcome) -> str:
    """The class of what was raised. What a helper of the lowered program reads unbound is a NameError for Python."""
    name = outcome.error[0] if outcome.error else ""
    return "NameError" if name == "UnboundLocalError" else name


def same(a: Any, b: Any, rtol: float, number_types: bool) -> bool:
    """Whether two descriptions are equal, floats to some digits.

    Args:
        a: one.
        b: the other.
        rtol: how far floats may differ, in parts of them or of ten; 0 for not at all.
        number_types: tell numbers of Python and NumPy apart; a loop or branch may widen the one to the other.
    """
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return bool(a == b)
    if a and b and a[0] == b[0] and a[0] in ("array", "number"):
        if a[:3] != b[:3] and (number_types or a[0] == "array"):
            return False
        return bool(np.allclose(a[3], b[3], rtol=rtol, atol=10 * rtol, equal_nan=True))
    return len(a) == len(b) and all(same(m, n, rtol, number_types) for m, n in zip(a, b))


def judge(seed: int, way: str) -> None:
    """Compare; what differs is printed with as few statements as show it."""
    made = program(seed)
    place = "device" if way == "tensors" and seed % 2 else "host"
    problem = difference(made, way, place)
    if problem is None:
        return

    kind = problem.split(":")[0].split(", ")[1]

    def fails(source: str) -> bool:
        try:
            found = difference(Program(source, made.calls, made.exact), way, place)
        except Exception:  # no program any more
            return False
        return found is not None and found.split(":")[0].split(", ")[1] == kind

    least = smaller(made.source, fails)
    shown = difference(Program(least, made.calls, made.exact), way, place)
    pytest.fail(f"seed {seed}, {way}: {shown}\n\n{least}\ncalls: {made.calls}\n\n{translation(least)}", pytrace=False)
