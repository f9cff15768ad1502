"""`associative_scan`: all prefixes of a sequence under an associative operation, in few steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.transform_errors import RaggedRowsError, TransformArgumentError
from np2tf.transforms.core.functions import check_callable, runnable_for
from np2tf.transforms.core.leaves import Form, as_array, shape_of, with_rows
from np2tf.transforms.core.structures import TREES, Structure

_Leaves = list[Any]


def associative_scan(fn: Callable[..., Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Return the prefixes of a sequence under an associative operation.

    Pairs of neighbours are combined first, then pairs of pairs: for n elements `fn` is called about 2 log2(n)
    times, with slices of many elements.

    Args:
        fn: an associative function ``(a, b) -> c`` of values of the structure of `elems`, which works on many
            elements along `axis` at once.
        elems: arrays of any dtypes with equal lengths along `axis`, or a nested value of these.
        reverse: whether suffixes are computed, from the last element on.
        axis: the axis of the sequence.

    Returns:
        A value of the structure, shapes and dtypes of `elems`: element k is the combination of elements 0 to
        k.

    Raises:
        TransformArgumentError: the lengths along `axis` differ.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html.
    """
    check_callable(fn, "associative_scan")
    form = Form((elems,))
    structure = Structure(elems, TREES)
    if any(type(with_rows(leaf)) is RaggedArray for leaf in structure.leaves):
        raise RaggedRowsError("associative_scan of rows of different lengths; use np2tf.vmap or np2tf.scan")
    run = runnable_for(fn, form)
    leaves = [leaf if form.is_host else as_array(leaf) for leaf in structure.leaves]
    if any(not -len(shape_of(leaf)) <= axis < len(shape_of(leaf)) for leaf in leaves):
        raise TransformArgumentError(f"associative_scan: axis {axis} is not an axis of every array")
    axes = [axis % len(shape_of(leaf)) for leaf in leaves]
    lengths = {shape_of(leaf)[axis] for leaf, axis in zip(leaves, axes, strict=True)}
    if len(lengths) > 1:
        raise TransformArgumentError(
            f"array inputs to associative_scan must have the same length along the axis; they have {lengths}"
        )
    scan = _Scan(run, structure, axes)
    leaves = scan.cut(leaves, slice(None, None, -1)) if reverse else leaves
    prefixes = scan.prefixes(leaves)
    return form.build(structure, scan.cut(prefixes, slice(None, None, -1)) if reverse else prefixes)


class _Scan:
    def __init__(self, run: Callable[..., Any], structure: Structure, axes: Sequence[int]) -> None:
        self._run, self._structure, self._axes = run, structure, axes

    def cut(self, leaves: Sequence[Any], part: slice) -> _Leaves:
        """Return a slice along the axis of every leaf."""
        return [leaf[(*[slice(None)] * axis, part)] for leaf, axis in zip(leaves, self._axes, strict=True)]

    def prefixes(self, leaves: _Leaves) -> _Leaves:
        """Return the prefixes, each of length 1 to n."""
        if not leaves or shape_of(leaves[0])[self._axes[0]] < 2:
            return leaves
        count = shape_of(leaves[0])[self._axes[0]]
        pairs = self._combine(self.cut(leaves, slice(0, count - 1, 2)), self.cut(leaves, slice(1, None, 2)))
        odd = self.prefixes(pairs)
        before = self.cut(odd, slice(None, -1)) if count % 2 == 0 else odd
        even = self._combine(before, self.cut(leaves, slice(2, None, 2)))
        first = self.cut(leaves, slice(0, 1))
        return [
            _interleave(tnp.concatenate([head, tail], axis=axis), odd_leaf, axis, count)
            for head, tail, odd_leaf, axis in zip(first, even, odd, self._axes, strict=True)
        ]

    def _combine(self, left: Sequence[Any], right: Sequence[Any]) -> _Leaves:
        result = self._run(self._structure.build(left), self._structure.build(right))
        return self._structure.leaves_of(result, "the result of associative_scan's function")


def _interleave(even: Any, odd: Any, axis: int, count: int) -> Any:
    """Return one array with the even and the odd places of two others."""
    places = np.empty(count, int)
    places[::2] = np.arange((count + 1) // 2)
    places[1::2] = np.arange((count + 1) // 2, count)
    return tnp.take(tnp.concatenate([even, odd], axis=axis), places, axis=axis)
