"""The provenance of an array that a staged loop or branch returns: whether it may be an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.arrays.array.ndarray import chain_of, is_array, storage_of
from np2tf.arrays.tensors.storage import Storage, aliases, is_outside, link_aliases
from np2tf.core.errors import AliasingError


def refuse_hidden_sharing(leaf: Any, leaves: Sequence[Any], arguments: Sequence[Storage]) -> None:
    """Refuse to return an array that may or may not share memory with an argument or another result."""
    storage = storage_of(leaf)
    other_leaves = [leaf for leaf in leaves if is_array(leaf) and storage_of(leaf) is not storage]
    other_storages = {storage_of(leaf) for leaf in other_leaves}
    if not _is_known(leaf):
        is_refused = not {*other_storages, *arguments}.isdisjoint(aliases(storage))
    else:
        # Other results that may be the same new array, and for which a number tells when they are an
        # argument.
        same_memory = [
            leaf
            for leaf in other_leaves
            if _is_known(leaf) and not storage.is_distinct_from(storage_of(leaf))
        ]
        other_storages.update(
            unknown_alias for leaf in same_memory for unknown_alias in _unknown_aliases(leaf, arguments)
        )
        suspects = _unknown_aliases(leaf, arguments)
        suspects += [
            alias for alias in storage.may_alias if any(alias is storage_of(leaf) for leaf in same_memory)
        ]
        hidden = any(_may_be_unseen(suspect, arguments) for suspect in suspects)
        is_refused = hidden or not other_storages.isdisjoint(suspects)
    if is_refused:
        raise AliasingError(
            "the function returns an array that may be the same as an argument or another result",
        )


def _is_known(leaf: Any) -> bool:
    """Return whether a run-time number tells which storage an array is."""
    return storage_of(leaf).identity is not None and not chain_of(leaf)


def _unknown_aliases(leaf: Any, arguments: Sequence[Storage]) -> list[Storage]:
    identity = storage_of(leaf).identity
    assert identity is not None
    return [alias for alias in identity[1] if alias not in arguments]


def _may_be_unseen(storage: Storage, arguments: Sequence[Storage]) -> bool:
    """Return whether a storage may be an argument without a number that tells when."""
    storages: set[Storage] = set()
    stack = [storage]
    while stack:
        alias = stack.pop()
        if alias in arguments:
            return True
        if alias not in storages and alias.identity is None:
            storages.add(alias)
            stack += alias.may_alias
    return False


#: Storages, and the number of the storage that an array has (-1: none of them); None if unknown.
Origin = tuple[tuple[Storage, ...], Any] | None
_NEW: tuple[tuple[Storage, ...], Any] = ((), -1)


def provenance_of(leaf: Any) -> Origin:
    """Return which storage from outside of the innermost scope `leaf` has."""
    if not is_array(leaf):
        return _NEW
    storage = storage_of(leaf)
    if chain_of(leaf):
        return None if possible_aliases(leaf) else _NEW
    if is_outside(storage):
        return storages_with_itself(storage)
    if storage.identity is not None:
        return storage.identity[1], storage.identity[0]
    return None if possible_aliases(leaf) else _NEW


def storages_with_itself(storage: Storage) -> tuple[tuple[Storage, ...], Any]:
    """Return the storages that a storage may be, with the storage itself last, and the number of the storage
    that it is.
    """
    if storage.identity is None:
        return (storage,), 0
    number, storages = storage.identity
    return (*storages, storage), tf.where(number < 0, len(storages), number)


def possible_aliases(leaf: Any) -> set[Storage]:
    """Return the storages from outside of the innermost scope that `leaf` may share memory with."""
    if not is_array(leaf):
        return set()
    return {storage for storage in (storage_of(leaf), *aliases(storage_of(leaf))) if is_outside(storage)}


def new_storages(leaf: Any) -> set[Storage]:
    """Return the storages made in the innermost scope that `leaf` may share memory with."""
    if not is_array(leaf):
        return set()
    return {storage for storage in (storage_of(leaf), *aliases(storage_of(leaf))) if not is_outside(storage)}


def merged_storages(a: Origin, b: Origin) -> tuple[Storage, ...] | None:
    """Return the storages that an array from either branch may be; None if that is unknown, or the array is
    new.
    """
    if a is None or b is None or not a[0] + b[0]:
        return None
    return tuple(dict.fromkeys(a[0] + b[0]))


def number_among(storages: Sequence[Storage], leaf: Any) -> tf.Tensor:
    """Return the number of the array's storage among `storages`."""
    provenance = provenance_of(leaf)
    assert provenance is not None
    places = [*map(list(storages).index, provenance[0]), -1]
    return tf.gather(tf.constant(places, tf.int32), provenance[1] % len(places))


def note_loop_result(
    leaf: Any, entry: Any, exit_storage: Storage | None, is_new: bool, ran: tf.Tensor, once: bool
) -> None:
    """Record the provenance of a loop's variable, which is the array before the loop if the loop has not run.

    Args:
        exit_storage: the array's storage at the end of an iteration.
        is_new: whether the iteration made that array.
        once: whether it certainly has run.
    """
    sources = set()
    if exit_storage is not None and not is_new:
        sources |= {exit_storage, *aliases(exit_storage)}
    if not once and is_array(entry) and storage_of(entry) is not None:
        sources |= {storage_of(entry), *aliases(storage_of(entry))}
        if is_new and not chain_of(entry):
            storages, number = storages_with_itself(storage_of(entry))
            storage_of(leaf).identity = tf.where(ran, -1, tf.cast(number, tf.int32)), storages
    link_aliases(storage_of(leaf), sources)
