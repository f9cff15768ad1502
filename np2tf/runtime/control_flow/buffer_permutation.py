"""Tracks, by numbers that a loop carries, which array from before the loop each loop variable is
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.runtime.control_flow.loop_analysis import LoopAnalysis
from np2tf.runtime.tracing.provenance import provenance_of, storages_with_itself
from np2tf.tnp._array.ndarray import chain_of, is_array, storage_of
from np2tf.tnp._tensor.storage import Storage, alias_closure, aliases, is_outside, link_aliases


class BufferPermutation:
    """The array from before the loop that each carried, written variable is after the loop.

    ``cur, nxt = nxt, cur`` permutes names, not contents. Contents written through `nxt` belong, after the
    loop, to one of the two original arrays, depending on the number of iterations. So each such variable
    carries the number of its original along, and after the loop every original gets the contents of the
    variable with its number.
    """

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis) -> None:
        """Find the variables whose arrays the loop permutes.

        Args:
            leaves: the values of the loop's variables before it.
            plan: the loop's analysis.
        """
        self.names = [k for k in plan.mutable() if is_array(leaves[k])]
        self.originals: list[Any] = [leaves[k] for k in self.names]
        exits = [plan.exits.get(k) for k in self.names]
        permuted = set(map(id, exits)) == {id(plan.fresh[k]) for k in self.names}
        self.is_permuted = permuted
        self.initial = [tf.constant(n, tf.int32) for n in range(len(self.names))] if permuted else []

    def after(self, inner: LoopAnalysis, outs: list[Any], tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return the number of the original of each variable at the end of an iteration.

        Args:
            inner: the analysis of the iteration.
            outs: the values of the variables at its end.
            tensors: the numbers at its beginning.
        """
        names = self.names if self.is_permuted else []
        owner = {id(inner.fresh[k]): n for n, k in enumerate(names)}
        return [tensors[owner[id(storage_of(outs[k]))]] for k in names]

    def write_back(self, leaves: list[Any], numbers: list[tf.Tensor]) -> None:
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


class RebindingFlags:
    """Tracks whether a variable that only some iterations bind to a new array is still the array from before
    the loop.

    An example is ``if better: best = x + step``. Each such variable carries a boolean along.
    """

    def __init__(self, leaves: Sequence[Any], plan: LoopAnalysis, permutation: BufferPermutation) -> None:
        """Find the variables that only some iterations bind.

        Args:
            leaves: the values of the loop's variables before it.
            plan: the loop's analysis.
            permutation: the variables that carry the number of an array already.
        """
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

    def write_back(self, before: Sequence[Any], leaves: list[Any], flags: list[tf.Tensor]) -> None:
        """Record which array each variable is after the loop.

        Args:
            before: the values of the variables before the loop.
            leaves: their values after it.
            flags: the flags after it.
        """
        for k, still in zip(self.names, flags, strict=True):
            storages, number = storages_with_itself(storage_of(before[k]))
            storage_of(leaves[k]).identity = tf.where(still, tf.cast(number, tf.int32), -1), storages


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
