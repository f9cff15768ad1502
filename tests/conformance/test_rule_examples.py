"""Every example of rules/*.toml gives what NumPy gives: on the host, eagerly, staged and compiled.

The exceptions are listed in rule_example_limits.toml with the reason; a limit that no longer holds fails.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from np2tf.core import rules
from np2tf.core.rules import tomllib
from tests.helpers import rule_examples
from tests.helpers.op_harness import Raised
from tests.helpers.rule_examples import DTYPES, SHAPES, Point

LIMITS = tomllib.loads(Path(__file__).with_name("rule_example_limits.toml").read_text(encoding="utf-8"))
CHAPTERS = [stem for stem in rules.chapters() if stem != "removed"]


def points(chapter: str, dtype: str, mode: str, is_whole: bool = True) -> list[Point]:
    """Return the points of a mode. The compiled mode omits points that NumPy refuses or that end the process.

    Without `is_whole` every example is staged for float64 (compiled over the first shape that NumPy takes),
    and for one of the four other dtypes, in turn.
    """
    found = [p for p in rule_examples.points(chapter, DTYPES, tuple(SHAPES)) if p.dtype == dtype]
    if mode in ("graph", "xla") and dtype not in ("float64", "int32"):
        # Shapes matter less to the other dtypes than the seconds that tracing takes.
        found = [point for point in found if point.shape == "matrix"]
    if mode != "xla":
        return found if is_whole or dtype == "float64" else _in_turn(found, dtype)
    if dtype in ("int32", "bool") and chapter == "linalg":
        return []  # The same kernels as for float64, and they take longest to compile.
    shapes = ("matrix", "vector") if dtype == "float64" else ("matrix",)
    found = [point for point in found if point.shape in shapes]
    aborts = LIMITS["aborts"]["examples"]
    found = [
        point
        for point in found
        if not isinstance(rule_examples.expected(point), Raised) and point.expression not in aborts
    ]
    if is_whole:
        return found
    if dtype == "float64":
        found = sorted(found, key=lambda point: shapes.index(point.shape))
        return list({point.expression: point for point in reversed(found)}.values())
    return _in_turn(found, dtype)


def _in_turn(found: list[Point], dtype: str) -> list[Point]:
    """The points of the examples whose turn it is to be staged for a dtype other than float64."""
    turn = {name: number % 4 for number, name in enumerate(_expressions())}
    return [point for point in found if turn[point.expression] == DTYPES.index(dtype) - 1]


@cache
def _expressions() -> list[str]:
    """Every example, in the order of the rules."""
    return list(
        dict.fromkeys(
            example for examples_of_rule in rules.examples().values() for example in examples_of_rule
        )
    )


def listed(mode: str, dtype: str, evaluated: list[Point]) -> dict[str, str]:
    """The points of `evaluated` that are known to differ, and why."""
    reasons = {}
    of_expression = defaultdict(list)
    for point in evaluated:
        of_expression[point.expression].append(point)
    for limit in LIMITS["limit"]:
        for expression, where in limit["examples"].items() if mode in limit["modes"] else ():
            for part in where.split():
                named, _, shapes = part.partition("/")
                for point in of_expression[expression] if named == dtype else ():
                    if not shapes or point.shape in shapes.split("+"):
                        reasons[str(point)] = limit["reason"]
    return reasons


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["host", "eager", pytest.param("graph", marks=pytest.mark.long), "xla"])
@pytest.mark.filterwarnings("ignore")
def test_examples_give_what_numpy_gives(mode: str, dtype: str) -> None:
    """One function per chapter; what differs is what is listed."""
    judge(mode, dtype, is_whole=mode in ("host", "eager"))


@pytest.mark.long
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["graph", "xla"])
@pytest.mark.filterwarnings("ignore")
def test_all_examples_give_what_numpy_gives_staged(mode: str, dtype: str) -> None:
    """Every example for every dtype, under XLA for float64 also over vectors. It takes minutes."""
    judge(mode, dtype, is_whole=True)


def test_the_selection_covers_the_examples() -> None:
    """Each example that can be compiled is compiled for float64, and most are for another dtype, too."""
    for chapter in CHAPTERS:
        whole, part = (
            {
                dtype: {point.expression for point in points(chapter, dtype, "xla", is_whole)}
                for dtype in DTYPES
            }
            for is_whole in (True, False)
        )
        assert part["float64"] == whole["float64"]
        other_turns = [part[dtype] for dtype in DTYPES[1:]]
        assert len(set().union(*other_turns)) == sum(map(len, other_turns)), "an example has two turns"
        assert len(set().union(*other_turns)) >= 0.5 * len(
            set().union(*[whole[dtype] for dtype in DTYPES[1:]])
        )


def judge(mode: str, dtype: str, is_whole: bool) -> None:
    """Evaluate the points, and compare what differs with the list."""
    evaluated = {chapter: points(chapter, dtype, mode, is_whole) for chapter in CHAPTERS}
    known = listed(mode, dtype, [point for group in evaluated.values() for point in group])
    found: dict[str, str] = {}
    for group in evaluated.values():
        # A point that cannot be compiled would take its whole chapter with it.
        together = [point for point in group if str(point) not in known]
        for part in (together, *([point] for point in group if str(point) in known)):
            if part:
                found |= {str(point): problem for point, problem in rule_examples.differences(part, mode)}
    assert {point: problem for point, problem in found.items() if point not in known} == {}
    assert {point: why for point, why in known.items() if point not in found} == {}, "stale limits"


def test_limits_are_about_examples() -> None:
    """An expression that no rule has any more has no limits; every reason says something."""
    expressions = {example for examples_of_rule in rules.examples().values() for example in examples_of_rule}
    for limit in (*LIMITS["limit"], {**LIMITS["aborts"], "modes": ["xla"]}):
        assert set(limit["examples"]) <= expressions
        assert set(limit["modes"]) <= {"host", "eager", "graph", "xla"}
        assert len(limit["reason"]) > 10


def test_most_examples_have_no_limit() -> None:
    """NumPy accepts most examples for most dtypes, and the limits are few."""
    every = [p for chapter in CHAPTERS for p in rule_examples.points(chapter, DTYPES, tuple(SHAPES))]
    accepted = [point for point in every if not isinstance(rule_examples.expected(point), Raised)]
    assert len(every) > 4000
    assert len(accepted) > 0.8 * len(every)
    for mode in ("graph", "xla"):
        known = [p for dtype in DTYPES for p in listed(mode, dtype, [q for q in every if q.dtype == dtype])]
        assert len(known) < 0.06 * len(every)
