"""Keeping XLA from copying an array for every element that a loop writes.

XLA updates an array in place if nothing reads the old contents afterwards. It also likes to compute a cheap
value twice, once for the write and once for each further use; the second computation then reads the old
contents, and the whole array is copied in every iteration (measured: 2000 ns instead of 7 for an element of
a 48 × 48 array). So the numbers that were computed from the array and are still in use are pinned down
before the write.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from np2tf.tnp._array.ndarray import cell_of, ndarray
from np2tf.tnp._tensor.graph_queries import depends
from np2tf.tnp._tensor.storage import Cell, current_region, staging_for_xla


def compute_before_write(array: ndarray, value: tf.Tensor) -> tf.Tensor:
    """`value`, about to be written to one element of `array`, computed once and before the write."""
    if not staging_for_xla():
        return value
    return pin_before_write(cell_of(array), [value], always=False)[0]


def pin_before_write(cell: Cell, values: list[tf.Tensor], always: bool = True) -> list[tf.Tensor]:
    """`values`, about to be written to elements of `cell`, computed once and before the writes.

    The other staged numbers in use that depend on the contents are pinned with them. Unless `always`,
    nothing is pinned where there are no such numbers.
    """
    entered = current_region()
    if entered is None or entered.counter is None:
        return values
    alive = [number for number in (reference() for reference in entered.numbers) if number is not None]
    # Inside a branch or a throw-away trace the numbers of the loop's body would be replaced by tensors that
    # do not leave it.
    inside = tf.compat.v1.get_default_graph() is not getattr(cell.value, "graph", None)
    others = [number for number in alive if not inside and depends(cell_of(number).value, cell.value)]
    if not others and not always:
        return values
    results = pinned(entered.counter, [*values, *[cell_of(number).value for number in others]])
    for number, tensor in zip(others, results[len(values) :], strict=True):
        cell_of(number).rebase(tensor)
    return results[: len(values)]


def pinned(counter: tf.Tensor, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """`tensors`, each computed once; `counter` is the loop's, an integer that is never negative."""
    # A conditional is what XLA neither fuses nor computes twice; its predicate must not be known to be true.
    values = tf.cond(
        counter >= 0,
        lambda: [tf.identity(tensor) for tensor in tensors],
        lambda: [tf.zeros_like(tensor) for tensor in tensors],
    )
    return list(values)
