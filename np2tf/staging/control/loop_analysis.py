"""What is known of a loop before it is built: trip count, changes, arrays that it permutes, and whether it
waits for somebody else.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from np2tf.arrays.array.ndarray import chain_of, is_array, scalar, storage_of
from np2tf.arrays.tensors.storage import Storage, alias_closure, aliases, is_known, is_outside, link_aliases
from np2tf.arrays.tensors.symbolic_integers import distance
from np2tf.core.errors import PollingError
from np2tf.staging.trace.provenance import provenance_of, storages_with_itself
from np2tf.staging.values.carried_values import Carried
from np2tf.staging.values.containers import Path

# -- loop analysis -------------------------------------------------------------------------------------------
# The analysis of a loop before it is staged: its number of iterations, and the changes that it makes.


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

    def left_behind(self, leaves: Sequence[Any]) -> list[int]:
        """Return the carried arrays that the loop writes to, and leaves behind: each iteration binds a new
        array to the name, and no other name has the old one.
        """
        kept = {id(alias) for storage in self.exits.values() for alias in (storage, *aliases(storage))}
        return [
            k
            for k, storage in self.fresh.items()
            if storage in self.written_storages
            and k in self.new
            and k in self.exits
            and id(storage) not in kept
            and is_array(leaves[k])
            and not chain_of(leaves[k])
        ]

    def holds(self, k: int) -> bool:
        """Return whether a carried array holds other arrays of the loop, because it has the rows of a
        list.
        """
        if k in self.rebinding_variables and k not in self.mutable():
            return False
        exit_storage = self.exits.get(k)
        storages = {*self.fresh.values(), *self.exits.values()} - {exit_storage}
        return exit_storage is not None and bool(storages & set(aliases(exit_storage)))

    def holders(self, leaves: Sequence[Any]) -> list[int]:
        """Return the carried arrays that hold an array which the loop writes to under another name."""
        mutable = self.mutable()
        entries = self._entries(leaves)
        holders = [k for k in self.fresh if mutable and self.holds(k)]
        return holders + [
            k
            for k, storage in [*self.exits.items(), *entries.items()]
            if storage and set(aliases(storage)) & self.written_storages
        ]

    def hazard(self, leaves: Sequence[Any], read_storages: set[Storage]) -> tuple[int, list[int]] | None:
        """Return a carried array that may be another array, if one of the two is written to, and the other
        variables that it may be; None if there is none.

        Args:
            leaves: the values of the loop's variables before it.
            read_storages: what an iteration reads from outside.
        """
        mutable, entries = self.mutable(), self._entries(leaves)
        for k in self.fresh:
            entry, exit_storage = entries.get(k), self.exits.get(k)
            shared_exit, shared_entry = _others(self.exits, k), _others(entries, k)
            # The name is bound to an array from before the loop, which the next iteration would write to.
            outside = (
                exit_storage is not None
                and is_known(exit_storage)
                and exit_storage not in self.fresh.values()
            )
            doubtful = shared_exit or shared_entry or outside or entry in read_storages
            if (
                any(j in mutable for j in shared_exit)
                or entry in self.storages
                or exit_storage in self.storages
                or (k in mutable and doubtful)
            ):
                exit_places = [j for j, storage in self.fresh.items() if j != k and storage is exit_storage]
                arrays = [(j, leaf) for j, leaf in enumerate(leaves) if j != k and is_array(leaf)]
                names = [j for j, leaf in arrays if storage_of(leaf) in (entry, exit_storage)]
                return k, [*shared_exit, *shared_entry, *exit_places, *names]
        return None

    def _entries(self, leaves: Sequence[Any]) -> dict[int, Storage | None]:
        return {k: storage_of(leaves[k]) for k in self.fresh if is_array(leaves[k])}


def _others(storages: Mapping[int, Storage | None], k: int) -> list[int]:
    """Return the other variables that have the same storage as `k`."""
    storage = storages.get(k)
    return [] if storage is None else [j for j, other in storages.items() if j != k and other is storage]


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


# -- polling -------------------------------------------------------------------------------------------------
# Finds loops that wait for another thread, a handler of a signal, or another process.
#
# `while not stop[0]` does not end by itself: the loop does not write `stop`. Compiled code reads an array
# when the call begins, so it would never end. Such a loop stays on the host.


def reads_no_variable(test: Callable[..., Any]) -> bool:
    """Return whether the test of a loop reads none of the loop's variables, which are its parameters."""
    code = getattr(test, "__code__", None)
    if code is None:
        return False
    parameters = {*code.co_varnames[: code.co_argcount]}
    read = {
        name
        for instruction in dis.get_instructions(code)
        if instruction.opname.startswith("LOAD")
        for name in (instruction.argval if type(instruction.argval) is tuple else (instruction.argval,))
    }
    return not parameters & ({*code.co_cellvars} | read)


class LoopGraphs:
    """The test and an iteration of a loop, as they are in their graphs.

    Attributes:
        test: the variables that the test takes, and its outcome.
        body: the variables that an iteration takes, and their next values.
    """

    def __init__(self) -> None:
        self.test: tuple[Sequence[tf.Tensor], tf.Tensor] | None = None
        self.body: tuple[Sequence[tf.Tensor], Sequence[tf.Tensor]] | None = None

    def check(self) -> None:
        """Raise PollingError for a loop whose test reads only what the loop does not change: it waits."""
        assert self.test is not None
        assert self.body is not None
        variables, after = self.body
        sources = [_Sources(variables, value) for value in after]
        # The variables whose values are known after some iterations, because none depends on itself.
        settled = {k for k, value in enumerate(after) if value is variables[k]}
        while new := {k for k, found in enumerate(sources) if k not in settled and found.settle(settled)}:
            settled |= new
        if _Sources(*self.test).settle(settled):
            raise PollingError("the loop ends when another thread or process changes what its test reads")


class _Sources:
    """What a tensor of a loop's graph is computed from.

    Attributes:
        variables: the places of the loop's variables.
        varies: whether an operation may give another value each time.
    """

    def __init__(self, variables: Sequence[tf.Tensor], tensor: tf.Tensor) -> None:
        places = {id(variable): k for k, variable in enumerate(variables)}
        self.variables: set[int] = set()
        self.varies = False
        seen: set[int] = set()
        left = [tensor]
        while left:
            tensor = left.pop()
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if id(tensor) in places:
                self.variables.add(places[id(tensor)])
            elif tensor.op.type != "Placeholder":  # which is captured from outside of the loop
                self.varies = self.varies or tensor.op.op_def.is_stateful
                left += tensor.op.inputs

    def settle(self, settled: set[int]) -> bool:
        """Return whether the tensor does not change any more once some variables do not."""
        return not self.varies and self.variables <= settled


# -- buffer permutation --------------------------------------------------------------------------------------
# Tracks, by numbers that a loop carries, which array from before the loop each loop variable is
# afterwards.


class BufferPermutation:
    """The array from before the loop that each carried, written variable is after the loop.

    ``cur, nxt = nxt, cur`` permutes names, not contents. Contents written through `nxt` belong, after the
    loop, to one of the two original arrays, depending on the number of iterations. So each such variable
    carries the number of its original along, and after the loop every original gets the contents of the
    variable with its number.
    """

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis, left_behind: Sequence[int]) -> None:
        """Find the variables whose arrays the loop permutes, besides those whose arrays it leaves behind."""
        self.names = [k for k in plan.mutable() if is_array(leaves[k]) and k not in left_behind]
        self.originals: list[Any] = [leaves[k] for k in self.names]
        exits = [plan.exits.get(k) for k in self.names]
        permuted = set(map(id, exits)) == {id(plan.fresh[k]) for k in self.names}
        self.is_permuted = permuted
        self.initial = [tf.constant(n, tf.int32) for n in range(len(self.names))] if permuted else []

    def after(self, inner: LoopAnalysis, outs: list[Any], tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return the number of each variable's original after an iteration; `tensors` are those before it."""
        names = self.names if self.is_permuted else []
        owner = {id(inner.fresh[k]): n for n, k in enumerate(names)}
        return [tensors[owner[id(storage_of(outs[k]))]] for k in names]

    def bind_after_loop(self, leaves: list[Any], numbers: list[tf.Tensor]) -> None:
        """After the loop, write the contents into the original arrays, and record which array each variable
        may be.
        """
        for n, original in enumerate(self.originals):
            if self.is_permuted:
                value = original.tensor
                for k, number in zip(self.names, numbers, strict=True):
                    value = tf.where(tf.equal(number, n), leaves[k].tensor, value)
                original.store(value)
            else:
                _poison(storage_of(original))
        storages = [storage_of(original) for original in self.originals]
        mark = object() if self.is_permuted and len(set(storages)) == len(storages) else None
        for n, k in enumerate(self.names):
            link_aliases(storage_of(leaves[k]), storages)
            storage_of(leaves[k]).distinct = mark
            known = all(
                not chain_of(original) and storage_of(original).identity is None
                for original in self.originals
            )
            if self.is_permuted and known:
                storage_of(leaves[k]).identity = numbers[n], tuple(storages)


def _poison(storage: Storage) -> None:
    """Make the contents of an array unknown, and of arrays from which a branch may have chosen it."""
    for storage_of_alias in (storage, *aliases(storage)):
        if storage_of_alias is storage or not storage.is_distinct_from(storage_of_alias):
            storage_of_alias.poison()


class LeftBehind:
    """The contents of arrays from before the loop that only the first iteration writes to.

    In ``x += v; x = x % 1.0`` the first iteration writes to the array from before the loop, and the others to
    arrays that the loop has made. So what the first one has written is carried along.
    """

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis) -> None:
        self.names = plan.left_behind(leaves)
        self._originals = [leaves[k] for k in self.names]
        self.initial = [original.tensor for original in self._originals]

    def after(self, inner: LoopAnalysis, tensors: Sequence[tf.Tensor], counter: tf.Tensor) -> list[tf.Tensor]:
        """Return the contents after an iteration that began with the first of `tensors`."""
        is_first = tf.equal(counter, 0)
        return [
            tf.where(is_first, inner.fresh[k].value, before)
            for k, before in zip(self.names, tensors, strict=False)
        ]

    def bind_after_loop(self, contents: Sequence[tf.Tensor]) -> None:
        """After the loop, write the contents into the original arrays."""
        for original, value in zip(self._originals, contents, strict=True):
            original.store(value)


class RebindingFlags:
    """Tracks whether a variable that only some iterations bind to a new array is still the array from before
    the loop.

    An example is ``if better: best = x + step``. Each such variable carries a boolean along.
    """

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis, permutation: BufferPermutation) -> None:
        """Find the variables that only some iterations bind, besides those that `permutation` has."""
        exclusions = {*plan.mutable(), *permutation.names}
        self.names = [
            k
            for k in sorted(plan.rebinding_variables)
            if k not in exclusions and is_array(leaves[k]) and not chain_of(leaves[k])
        ]
        self.initial = [tf.constant(True) for _ in self.names]

    def after(self, inner: LoopAnalysis, outs: list[Any], tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return the booleans at the end of an iteration that began with the last of `tensors`."""
        return [
            still & _is_storage(outs[k], inner.fresh[k]) for k, still in zip(self.names, tensors, strict=True)
        ]

    def bind_after_loop(self, before: Sequence[Any], leaves: list[Any], flags: list[tf.Tensor]) -> None:
        """Record which array each variable is after the loop."""
        for k, still in zip(self.names, flags, strict=True):
            storages, number = storages_with_itself(storage_of(before[k]))
            storage_of(leaves[k]).identity = tf.where(still, tf.cast(number, tf.int32), -1), storages


class Companions:
    """The numbers and arrays that a loop carries besides its variables, for the state after it."""

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis) -> None:
        self._leaves = leaves
        self._left_behind = LeftBehind(leaves, plan)
        self.permutation = BufferPermutation(leaves, plan, self._left_behind.names)
        self._flags = RebindingFlags(leaves, plan, self.permutation)
        parts = self.permutation.initial, self._left_behind.initial, self._flags.initial
        self.initial = [tensor for part in parts for tensor in part]
        self._counts = [*map(len, parts)]

    def _parts(self, tensors: Sequence[tf.Tensor]) -> tuple[list[tf.Tensor], ...]:
        first, second, third = self._counts
        tensors = list(tensors)
        return tensors[:first], tensors[first : first + second], tensors[first + second :][:third]

    def after(
        self, inner: LoopAnalysis, outs: list[Any], tensors: Sequence[tf.Tensor], counter: tf.Tensor
    ) -> list[tf.Tensor]:
        """Return the values after an iteration that began with `tensors`."""
        numbers, contents, flags = self._parts(tensors)
        return [
            *self.permutation.after(inner, outs, numbers),
            *self._left_behind.after(inner, contents, counter),
            *self._flags.after(inner, outs, flags),
        ]

    def bind_after_loop(self, leaves: list[Any], tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """After the loop, write to arrays from before it.

        Returns:
            The flags, for `note_identities`, once the other storages are written.
        """
        numbers, contents, flags = self._parts(tensors)
        self.permutation.bind_after_loop(leaves, numbers)
        self._left_behind.bind_after_loop(contents)
        return flags

    def note_identities(self, leaves: list[Any], flags: list[tf.Tensor]) -> None:
        """Record which array each variable is after the loop that only some iterations bind."""
        self._flags.bind_after_loop(self._leaves, leaves, flags)


def _is_storage(leaf: Any, storage: Storage) -> tf.Tensor:
    provenance = provenance_of(leaf)
    assert provenance is not None
    return tf.equal(provenance[1], provenance[0].index(storage))


def kept_variables(leaves: Sequence[Any], fresh: dict[int, Storage]) -> set[int]:
    """Return the variables that an iteration either leaves or binds to a new array, which is known at run
    time.
    """
    return {k for k, storage in fresh.items() if _is_kept(leaves, k, storage)}


def _is_kept(leaves: Sequence[Any], k: int, storage: Storage) -> bool:
    provenance = provenance_of(leaves[k])
    if provenance is None or isinstance(provenance[1], int) or storage not in provenance[0]:
        return False
    own_storage = storage_of(leaves[k])
    other_ids = {id(storage_of(leaf)) for j, leaf in enumerate(leaves) if j != k and is_array(leaf)}
    if other_ids & {id(own_storage), id(storage)}:
        return False
    storages = alias_closure(provenance[0], without=own_storage)
    return not any(
        storage_met is not storage and (is_outside(storage_met) or id(storage_met) in other_ids)
        for storage_met in storages
    )
