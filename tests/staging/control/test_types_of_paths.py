"""Numbers and arrays whose type depends on the path keep the type that they have in NumPy on each path."""

from __future__ import annotations

import pytest

from np2tf.core.counts import counts
from tests.helpers.differential import compare, load, observe
from tests.helpers.mixed_types import PROGRAMS, Maker, calls, source_of
from tests.helpers.replacing import Taken, entered, imported, taken

__all__ = ["entered", "taken"]
#: What the host runs on some paths: Python's integers have more than 64 bits, or NumPy raises an error.
ON_HOST = {
    "a table's index",
    "beyond 64 bits",
    "comparisons of large integers",
    "division by zero",
    "small integers that each round makes anew",
    "an array that each round makes anew",
    "a flag",
    "a sum of elements",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name: str) -> None:
    body, given = PROGRAMS[name]
    compare(source_of(body), *given, ran=None if name in ON_HOST else "compiled", ways=("jitted",))


@pytest.mark.parametrize("start", ["after a round", "at once"])
def test_replaced(start: str, request: pytest.FixtureRequest) -> None:
    fixture: Taken = request.getfixturevalue("taken" if start == "after a round" else "entered")
    problems = []
    for name, (body, given) in PROGRAMS.items():
        source = source_of(body)
        function, reference = imported(source)["f"], load(source)["f"]
        for call in given:
            arguments = [_arguments(call) for _ in range(2)]
            difference = observe(function, arguments[0]).differs_from(observe(reference, arguments[1]))
            if difference:
                problems.append(f"{name}, f({call}): {difference}")
    assert problems == []
    assert fixture.over > len(PROGRAMS) // 2


def _arguments(call: str) -> tuple[object, ...]:
    import numpy as np

    return eval(f"({call},)", {"np": np})  # type: ignore[no-any-return]


#: Of 200 programs, 2 run with the other tests, and all with `-m long`.
STARTS = [0, *(pytest.param(start, marks=pytest.mark.long) for start in range(2, 200, 22))]


@pytest.mark.parametrize("start", STARTS)
def test_random(start: int) -> None:
    before = counts.compiled + counts.graph
    for seed in range(start, start + (22 if start else 2)):
        compare(Maker(seed).program(), *calls(seed), ran=None, ways=("jitted",), messages=False)
    assert counts.compiled + counts.graph > before
