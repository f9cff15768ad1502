"""Counts from a compiled program's text how many kernels XLA starts, and in how many rounds of loops."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) \(.*\{$")
_OPERATION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = .*? ([a-z][a-z0-9\-]*)\(")
_CALLED = re.compile(
    r"\b(?:body|to_apply|calls|called_computations|branch_computations|true_computation|false_computation)="
    r"(?:\{([^}]*)\}|%?([\w.\-]+))"
)
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')
#: Operations that start no kernel.
_FREE = frozenset({
    "after-all", "bitcast", "constant", "get-tuple-element", "opt-barrier", "parameter", "partition-id",
    "replica-id", "tuple",
})  # fmt: skip
#: Operations whose computations are run as they are, and not as a part of a kernel.
_NESTED = frozenset({"call", "while", "conditional"})


@dataclass
class _Computation:
    kernels: int = 0
    nested: list[tuple[str, int | None]] = field(default_factory=list)


def launches(text: str) -> dict[str, Any]:
    """Return the numbers of kernels and of rounds of an optimized program of XLA.

    Returns:
        "kernels" that are started in all; "rounds" one after another in the loop that starts most of them;
        "a round" the kernels in each round there. A number is None if it depends on data.
    """
    computations: dict[str, _Computation] = {}
    entry, current = "", _Computation()
    for line in text.splitlines():
        head = _COMPUTATION.match(line)
        if head:
            current = computations[head[2]] = _Computation()
            entry = head[2] if head[1] else entry
            continue
        operation = _OPERATION.match(line)
        if operation is None or operation[1] in _FREE or operation[1].endswith("-done"):
            continue
        if operation[1] not in _NESTED:
            current.kernels += 1
            continue
        trips = _TRIPS.search(line)
        count = int(trips[1]) if trips else None if operation[1] == "while" else 1
        names = [name.strip(" %") for found in _CALLED.findall(line) for name in "".join(found).split(",")]
        current.nested += [(name, count) for name in names]
    innermost = _most(computations, entry, 1)
    return {"kernels": _total(computations, entry), "rounds": innermost[0], "a round": innermost[1]}


def _total(computations: dict[str, _Computation], name: str) -> int | None:
    total: int | None = computations[name].kernels
    for inner, count in computations[name].nested:
        inside = _total(computations, inner)
        total = None if total is None or inside is None or count is None else total + count * inside
    return total


def _most(computations: dict[str, _Computation], name: str, rounds: int | None) -> tuple[int | None, int]:
    """Return the rounds of the deepest loop, and the kernels in its body with what is called there."""
    own = computations[name]
    loops = [(inner, count) for inner, count in own.nested if count != 1]
    calls = [inner for inner, count in own.nested if count == 1]
    here = rounds, own.kernels + sum(_most(computations, inner, rounds)[1] for inner in calls)
    found = [
        _most(computations, inner, None if rounds is None or count is None else rounds * count)
        for inner, count in loops
    ]
    found += [one for one in (_most(computations, inner, rounds) for inner in calls) if one[0] != rounds]
    return max([here, *found], key=lambda one: (float("inf") if one[0] is None else one[0], one[1]))


__all__ = ["launches"]
