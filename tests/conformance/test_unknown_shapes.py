"""Every example of rules/*.toml in graphs that know neither the first length of an operand nor its rank.

An example gives what NumPy gives, or is refused with a StagingError. The refused examples are listed in
unknown_shape_limits.toml with the reason; an entry that works by now fails.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from np2tf.arrays.dispatch import unknown_shapes
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.core import rules
from np2tf.core.rules import tomllib
from tests.helpers import op_harness, rule_examples
from tests.helpers.rule_examples import Point

LIMITS = tomllib.loads(Path(__file__).with_name("unknown_shape_limits.toml").read_text(encoding="utf-8"))
if NUMPY < (2, 2):
    # NumPy before 2.2 trims arrays of one axis, and asks the rows of other arrays whether they are zero.
    LIMITS["rank"]["trim_zeros of several axes"] = ["np.trim_zeros(v[k] * [0, 1, 0], 'f')"]
#: The part of the shape that a graph is told -> the table of limits.
KNOWN = {"some": "length", "nothing": "rank"}
#: At least so many of the examples work.
LEAST = {"some": 455, "nothing": 430}


@lru_cache(maxsize=1)
def points() -> dict[str, list[Point]]:
    """The examples with operands that NumPy takes, over matrices of float64, by chapter."""
    found = {}
    for chapter in rules.chapters():
        listed = [] if chapter == "removed" else rule_examples.points(chapter, ("float64",), ("matrix",))
        found[chapter] = [p for p in listed if p.names and not _is_refused(p)]
    return {chapter: listed for chapter, listed in found.items() if listed}


def _is_refused(point: Point) -> bool:
    return isinstance(rule_examples.expected(point), op_harness.Raised)


def limits(known: str) -> dict[str, str]:
    """Example -> why it is refused."""
    return {example: reason for reason, examples in LIMITS[KNOWN[known]].items() for example in examples}


@pytest.mark.parametrize(
    ("known", "step"), [("some", 1), ("nothing", 4), pytest.param("nothing", 1, marks=pytest.mark.long)]
)
@pytest.mark.filterwarnings("ignore")
def test_examples_work_or_are_refused(known: str, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly the listed examples differ, and no listed example gives a wrong value. Each `step`-th example
    is tried.
    """
    # The operands have no more axes, nor have the results; each rank takes its time.
    monkeypatch.setattr(unknown_shapes, "MOST_AXES", 2)
    found: dict[str, str] = {}
    tried: set[str] = set()
    for every in points().values():
        chosen = every[::step]
        tried |= {point.expression for point in chosen}
        for point, answer in zip(chosen, rule_examples.traced(chosen, False, known), strict=True):
            problem = rule_examples.difference(rule_examples.expected(point), answer)
            if problem is not None:
                found[point.expression] = problem
    listed = {example: reason for example, reason in limits(known).items() if example in tried}
    assert {example: problem for example, problem in found.items() if example not in listed} == {}
    assert set(listed) - set(found) == set(), "stale limits"
    assert {problem for problem in found.values() if not problem.startswith("raises ")} == set()


@pytest.mark.parametrize("known", KNOWN)
def test_most_examples_work(known: str) -> None:
    """The limits are about examples that there are, and leave most of them."""
    every = {point.expression for listed in points().values() for point in listed}
    assert set(limits(known)) <= every
    assert len(every - set(limits(known))) >= LEAST[known]
