"""Removes updates of an array whose elements a later update replaces before anything reads them.

XLA computes and writes them all. Reads of a part go to the values that were written there
(`tnp/_slicing/slice_updates.py`), so that in a loop that writes the same rows several times only the last
writes count (lattice Boltzmann, 60 × 120, 40 steps: 19 ms with all writes, 12 ms with the last of three).
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from np2tf.tnp._slicing.slice_updates import update_of
from np2tf.tnp._tensor.graph_queries import ancestors

#: The first elements and the ends of a part along the axes.
_Place = list[tuple[int, int]]


def remove_lost_updates(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> None:
    """Change a loop's body so that it performs no updates that later updates hide.

    Args:
        counter: the loop's counter.
        results: the results of the body, which stay.
    """
    live_ops, ends = ancestors(results), set(map(id, results))
    for op in reversed([op for op in counter.graph.get_operations() if op in live_ops]):
        place = _place(op)
        user = op
        while place is not None and (earlier := _only_update(user, live_ops, ends)) is not None:
            old_place = _place(earlier)
            if old_place is not None and all(
                a <= c and d <= b for (a, b), (c, d) in zip(place, old_place, strict=True)
            ):
                user._update_input(0, earlier.inputs[0])
                live_ops.discard(earlier)
            else:
                user = earlier


def _only_update(user: tf.Operation, live_ops: set[tf.Operation], ends: set[int]) -> tf.Operation | None:
    """Return the update whose result only `user` takes, as the array that it updates; else None."""
    array = user.inputs[0]
    if id(array) in ends or update_of(array.op) is None:
        return None
    users = [consumer for consumer in array.consumers() if consumer in live_ops]
    operands = [operand for consumer in users for operand in consumer.inputs if operand is array]
    return array.op if users == [user] and len(operands) == 1 else None


def _place(op: tf.Operation) -> _Place | None:
    update = update_of(op)
    if update is None or update[2] is None or not update[1].shape.is_fully_defined():
        return None
    _, value, starts = update
    return [(start, start + size) for start, size in zip(starts, value.shape, strict=True)]
