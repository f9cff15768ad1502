"""Random programs give NumPy's results: on the host, with every operation on TensorFlow, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import Outcome, alike, arguments_of, load, observe, promoted, translation
from random_programs import Program, program
from smaller_programs import smaller

import np2tf

#: name of a way to run a translation -> settings of np2tf.config
WAYS = {
    "usual": {},
    "tensors": {"eager": "tensorflow"},
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
            problem = _difference(found, wanted[k], made.exact, way)
            if problem:
                return f"call {k}: {problem}"
    return None


def _difference(found: Outcome, wanted: Outcome, exact: frozenset[str], way: str) -> str | None:
    if _error(found) != _error(wanted):
        return f"error: {wanted.error} on NumPy, {found.error} translated"
    parts = [("arguments", found.arguments, wanted.arguments)]
    if not wanted.error:
        parts.append(("result", found.result, wanted.result))
    if way == "usual":
        parts.append(("aliases", found.aliases, wanted.aliases))
    for part, mine, theirs in parts:
        # A loop or branch may give one type to numbers of Python and of NumPy.
        if way == "compiled":
            mine, theirs = promoted(mine), promoted(theirs)
        if not alike(mine, theirs):
            if part == "result":
                differing = [(m, t) for m, t in zip(mine[1:], theirs[1:]) if not alike(m, t)]
                mine, theirs = zip(*differing) if differing else (mine, theirs)
            return f"{part}: {theirs} on NumPy, {mine} translated"
    if not wanted.error:
        for (name, mine), (_, theirs) in zip(found.result[1:], wanted.result[1:]):
            if name in exact and not identical(mine, theirs):
                return f"result: {name} is exact, {theirs} on NumPy, {mine} translated"
    return None


def _error(outcome: Outcome) -> str:
    """The class of what was raised. What a helper of the lowered program reads unbound is a NameError for Python."""
    name = outcome.error[0] if outcome.error else ""
    return "NameError" if name == "UnboundLocalError" else name


def identical(a: Any, b: Any) -> bool:
    """Whether two descriptions have the same values, to the last bit."""
    if isinstance(a, tuple) and a and isinstance(b, tuple):
        if a[0] in ("array", "number"):
            return bool(np.array_equal(a[3], b[3]))
        return all(map(identical, a, b))
    return True


def judge(seed: int, way: str) -> None:
    """Compare; what differs is printed with as few statements as show it."""
    made = program(seed)
    place = "device" if way == "tensors" and seed % 2 else "host"
    problem = difference(made, way, place)
    if problem is None:
        return

    kind = problem.split(":")[1]

    def fails(source: str) -> bool:
        try:
            found = difference(Program(source, made.calls, made.exact), way, place)
        except Exception:  # no program any more
            return False
        return found is not None and found.split(":")[1] == kind

    least = smaller(made.source, fails)
    shown = difference(Program(least, made.calls, made.exact), way, place)
    pytest.fail(f"seed {seed}, {way}: {shown}\n\n{least}\ncalls: {made.calls}\n\n{translation(least)}", pytrace=False)
