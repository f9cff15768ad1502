"""The analysis of a loop before it is staged: its number of iterations, and the changes that it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from np2tf.runtime.structures.carried_values import Carried
from np2tf.runtime.structures.containers import Path
from np2tf.tnp._array.ndarray import scalar
from np2tf.tnp._tensor.storage import Storage, aliases
from np2tf.tnp._tensor.symint import distance


@dataclass(frozen=True)
class TripCount:
    """The number of iterations of a loop: an upper bound, or the exact number."""

    maximum: int | None
    exact: bool


UNKNOWN_TRIP_COUNT = TripCount(None, False)


@dataclass
class LoopAnalysis:
    """The results of the throw-away traces of a loop."""

    forms: list[Carried | None]
    ends: list[Carried | None] = field(default_factory=list)
    storages: list[Storage] = field(default_factory=list)
    fresh: dict[int, Storage] = field(default_factory=dict)
    exits: dict[int, Storage] = field(default_factory=dict)
    written_storages: set[Storage] = field(default_factory=set)
    #: The graph of an iteration, and the graphs of the loops and branches inside.
    graphs: list[tf.Graph] = field(default_factory=list)
    new: set[int] = field(default_factory=set)
    kept_paths: dict[Path, Path] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)
    #: The variables that an iteration either leaves or binds to a new array.
    rebinding_variables: set[int] = field(default_factory=set)

    def mutable(self) -> list[int]:
        """Return the carried arrays that are written to, under any name that they have in the course of the
        loop.
        """
        variables = {k for k, storage in self.fresh.items() if storage in self.written_storages}
        place = {id(storage): k for k, storage in self.fresh.items()}
        moves = [
            (k, place[id(storage)])
            for k, storage in self.exits.items()
            if id(storage) in place and k in self.fresh
        ]
        while True:
            more = (
                variables | {a for a, b in moves if b in variables} | {b for a, b in moves if a in variables}
            )
            if more == variables:
                return sorted(variables)
            variables = more

    def passed_on(self, k: int) -> list[int]:
        """Return the variables whose initial arrays `k` is after one iteration, after two, and so on."""
        place = {id(storage): j for j, storage in self.fresh.items()}
        variables: list[int] = []
        j = place.get(id(self.exits.get(k)))
        while j is not None and j not in variables:
            variables.append(j)
            j = place.get(id(self.exits.get(j)))
        return variables

    def holds(self, k: int) -> bool:
        """Return whether a carried array holds other arrays of the loop, because it has the rows of a
        list.
        """
        if k in self.rebinding_variables and k not in self.mutable():
            return False
        exit_storage = self.exits.get(k)
        storages = {*self.fresh.values(), *self.exits.values()} - {exit_storage}
        return exit_storage is not None and bool(storages & set(aliases(exit_storage)))


def steps_of(before: Sequence[Any], after: Sequence[Any]) -> dict[int, int]:
    """Return the amounts by which an iteration changes Python integers, if they are the same in every
    iteration.
    """
    steps = {}
    for k, (entry, leaf) in enumerate(zip(before, after, strict=True)):
        if all(
            type(number) is scalar and number.weak is int and number.staged_integer is not None
            for number in (entry, leaf)
        ):
            amount = distance(entry.staged_integer, leaf.staged_integer)
            if amount is not None:
                steps[k] = amount
    return steps
