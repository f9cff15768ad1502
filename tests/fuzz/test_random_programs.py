"""Random programs give NumPy's results: on the host, with every operation on TensorFlow, and compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import Outcome, arguments_of, load, observe, translation
from tests.helpers.random_programs import Program, program
from tests.helpers.smaller_programs import smaller

#: name of a way to run a translation -> settings of np2tf.config
WAYS = {
    "usual": {},
    "tensors": {"eager": "tensorflow", "jit": "off"},
    "compiled": {"tier": "compile"},
}


@dataclass(frozen=True)
class Gap:
    """A known difference, whose programs are left out.

    Attributes:
        pattern: what such a program has in its text.
        way: in which way to run it differs.
        place: where its arguments live then.
        program: the shortest such program.
        call: its arguments.
    """

    pattern: str
    way: str
    place: str
    program: str
    call: str

    def holds(self, source: str, way: str, place: str) -> bool:
        """Return whether a program may differ for this reason."""
        return way == self.way and place == self.place and re.search(self.pattern, source) is not None


GAPS = {
    "asarray puts an array of the host on TensorFlow, where new arrays are to be": Gap(
        r"np\.asarray", "tensors", "host", "v = np.asarray(a)\n    v[0] = 7.0", "np.zeros(3)"
    ),
}
#: where the arguments live -> what puts one there
PLACES = {
    "host": lambda argument: argument,
    "device": lambda argument: np2tf.device_put(argument) if isinstance(argument, np.ndarray) else argument,
}


def difference(made: Program, way: str, place: str) -> str | None:
    """Return the difference from NumPy, None if there is none."""
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
    if _error(found, wanted) != _error(wanted, wanted):
        return f"error: {wanted.error} on NumPy, {found.error} translated"
    if found.error and _error(wanted, wanted) == "unbound":
        return None  # `v = w` of an unbound name passes; the next use raises, and what lies between has run
    # One single-precision number makes all other numbers rough in their seventh digit.
    rtol = 1e-4 if "float32" in made.source + made.calls[0] else 1e-9
    parts = [("arguments", found.arguments, wanted.arguments)]
    if not wanted.error:
        parts.append(("result", found.result, wanted.result))
    for part, translated_part, numpy_part in parts:
        if len(translated_part) != len(numpy_part):
            return f"{part}: {numpy_part} on NumPy, {translated_part} translated"
        names = (
            [f"a{k}" for k in range(len(translated_part))]
            if part == "arguments"
            else [x[0] for x in numpy_part[1:]]
        )
        for name, a, b in zip(names, translated_part[1:], numpy_part[1:]):
            # A long computation is compiled in every way, and a compiled loop or branch may widen a number.
            digits = 0 if name in made.exact else rtol
            if not same(a, b, digits, number_types=found.ran == "host"):
                return f"{part}: {b} on NumPy, {a} translated"
    if way == "usual" and found.ran == "host" and found.aliases != wanted.aliases:
        return "aliases: other arrays share memory"
    return None


def _error(outcome: Outcome, wanted: Outcome) -> str:
    """The class of what was raised.

    Where a name is read that is not bound, any exception will do: what stands for it in translated code
    may be handed to a function that looks at its type first.
    """
    unbound = wanted.error and wanted.error[0] in ("NameError", "UnboundLocalError")
    return ("unbound" if unbound else outcome.error[0]) if outcome.error else ""


def same(a: Any, b: Any, rtol: float, number_types: bool) -> bool:
    """Return whether two descriptions are equal, floats to some digits.

    Args:
        a: a description.
        b: another description.
        rtol: how far floats may differ, in parts of them or of ten; 0 for not at all.
        number_types: tell numbers of Python and NumPy apart.
    """
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return bool(a == b)
    if a and b and a[0] in ("array", "number") and b[0] in ("array", "number"):
        # The sides of a branch that is compiled may be a number and an array of no axes.
        if a[:3] != b[:3] and (number_types or a[2] != () or b[2] != ()):
            return False
        return bool(np.allclose(a[3], b[3], rtol=rtol, atol=10 * rtol, equal_nan=True))
    return len(a) == len(b) and all(same(m, n, rtol, number_types) for m, n in zip(a, b))


def judge(seed: int, way: str) -> None:
    """Compare; what differs is printed with as few statements as show it."""
    made = program(seed)
    place = "device" if way == "tensors" and seed % 2 else "host"
    if any(gap.holds(made.source + made.calls[0], way, place) for gap in GAPS.values()):
        return
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
    told = f"seed {seed}, {way}: {shown}\n\n{least}\ncalls: {made.calls}\n\n{translation(least)}"
    pytest.fail(told, pytrace=False)


#: programs that run with the other tests, and in one test
PROGRAMS, CHUNK = 300, 20
#: way -> one program of how many runs in it there; compiling takes the most time
SHARE = {"usual": 3, "tensors": 5, "compiled": 20}


@pytest.mark.parametrize("start", range(0, PROGRAMS, CHUNK))
@pytest.mark.parametrize("way", WAYS)
def test_random_programs(way: str, start: int) -> None:
    for seed in range(start, start + CHUNK):
        if seed % SHARE[way] == 0:
            judge(seed, way)


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, PROGRAMS + 10_000, 1000))
@pytest.mark.parametrize("way", WAYS)
def test_many_random_programs(way: str, start: int) -> None:
    for seed in range(start, start + 1000):
        judge(seed, way)


@pytest.mark.parametrize("gap", GAPS.values(), ids=GAPS)
def test_known_gaps_are_there(gap: Gap) -> None:
    source = f"import numpy as np\n\n\ndef program(a):\n    {gap.program}\n    return {{'a': a}}\n"
    assert gap.holds(source, gap.way, gap.place)
    assert difference(Program(source, (gap.call,), frozenset()), gap.way, gap.place)


def test_programs_are_the_same_every_time_and_mostly_run() -> None:
    made = [program(seed) for seed in range(100)]
    assert [generated.source for generated in made] == [program(seed).source for seed in range(100)]
    ran = [
        observe(load(generated.source)["program"], arguments_of(generated.calls[0])).error is None
        for generated in made
    ]
    assert sum(ran) >= 97
