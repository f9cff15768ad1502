"""Loops that exchange names (`old, new = new, old`): each name has memory of its own in every iteration."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.values import ExchangedMemory, Value, in_memory
from np2tf.rewrites.tensorflow_target.model.world import merge

Env = dict[str, Value]


class Turns:
    """The memory of names at the beginning of an iteration of one loop.

    Several states arrive at the beginning of an iteration. Names that share memory in a state form a group.
    If a name of a group has different memory in different states, the group gets a root of its own: in each
    iteration the memory of the group is shared with no other name.
    """

    def __init__(self, loop: cst.CSTNode) -> None:
        self._loop = loop
        self._leader: dict[str, str] = {}

    def head(self, *states: Env) -> Env:
        """Return the values of the names at the beginning of an iteration."""
        together = merge(*states) or {}
        names = sorted(name for name, value in together.items() if value.memory)
        for state in states:
            self._bring_together(names, state)
        for group in self._groups(names):
            if all(_have_same_memory([state.get(name) for state in states]) for name in group):
                continue
            for name in group:
                outside = [root for root in together[name].memory if isinstance(root, tuple)]
                memory = frozenset([ExchangedMemory(self._loop, group[0]), *outside])
                together[name] = in_memory(together[name], memory)
        return together

    def _bring_together(self, names: Sequence[str], state: Env) -> None:
        for position, name in enumerate(names):
            for other_name in names[position + 1 :]:
                known = name in state and other_name in state
                if known and not state[name].memory.isdisjoint(state[other_name].memory):
                    self._leader[self._of(other_name)] = self._of(name)

    def _of(self, name: str) -> str:
        while self._leader.get(name, name) != name:
            name = self._leader[name]
        return name

    def _groups(self, names: Sequence[str]) -> list[list[str]]:
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault(self._of(name), []).append(name)
        return list(groups.values())


def _have_same_memory(values: Sequence[Value | None]) -> bool:
    """Return whether a name has the same memory in all states that have it."""
    return len({value.memory for value in values if value is not None and value.memory}) <= 1
