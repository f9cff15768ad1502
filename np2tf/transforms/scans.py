"""scan and associative_scan: loops with carried values, and prefixes of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.front.at import at
from np2tf.arrays.ragged import RaggedArray
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import CarryTypeError, RaggedRowsError, ShapeNeededError, TransformArgumentError
from np2tf.staging.control.statements import for_loop
from np2tf.transforms.runnable import check_callable, runnable_for
from np2tf.transforms.shapes import shapes_of_result
from np2tf.transforms.values import TREES, Form, Structure, as_array, dtype_of, shape_of, with_rows

# -- scans ---------------------------------------------------------------------------------------------------
# `scan`: a loop with carried values and one result for each step.

#: Loops of at most this many steps are unrolled while staging.
_UNROLL = 8


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Any, Any]:
    """Run ``carry, y = f(carry, x)`` for each slice of `xs`, and stack the results `y`.

    Args:
        f: a function ``(carry, x) -> (carry, y)``. The carry keeps its structure, shapes and dtypes.
        init: the first carry: an array, a number, or a nested value of these.
        xs: arrays of any dtypes that are sliced along their first axis, or a nested value of these; None if
            `f` takes no slices, so that ``x`` is None.
        length: the number of steps; it is needed if `xs` has no arrays.
        reverse: whether the steps run from the last slice to the first.
        unroll: has no effect on the result, as in JAX.

    Returns:
        The pair of the last carry and the results `y`, stacked along a new first axis in the order of `xs`.

    Raises:
        CarryTypeError: the carry changes its structure, a shape or a dtype.
        TransformArgumentError: the first axes of `xs` have different lengths, or there is no length.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html.
    """
    check_callable(f, "scan")
    form = Form((init, xs))
    rows = Structure(xs, TREES)
    count = _length(rows.leaves, length)
    run = runnable_for(f, form)
    arrays = rows.leaves if form.is_host else [as_array(leaf) for leaf in rows.leaves]
    body = _Body(run, rows, arrays, form)
    carry = _typed_carry(init, body, count)
    if current_scope() is not None and count > _UNROLL:
        carry, results = _stage(body, carry, count, reverse)
    else:
        carry, results = _step_by_step(body, carry, count, reverse)
    return form.of(carry), form.of(results)


class _Body:
    """One step of a scan.

    Args:
        rows: the structure of the slices.
        xs: the arrays that are sliced.
    """

    def __init__(self, run: Callable[..., Any], rows: Structure, xs: Sequence[Any], form: Form) -> None:
        self._run, self._rows, self._xs, self.form = run, rows, xs, form

    def step(self, carry: Any, k: Any) -> tuple[Any, Any]:
        """Return the carry and the result of step `k`."""
        x = self._rows.build([_row(leaf, k) for leaf in self._xs])
        pair = self._run(carry, x)
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TransformArgumentError(
                f"the function of scan must return a pair (carry, y), but returns a {type(pair).__name__}"
            )
        _check_carry(carry, pair[0])
        return pair[0], pair[1]

    def shapes(self, carry: Any) -> tuple[Any, Any]:
        """Return the carry and the result of a step as shapes and dtypes."""
        x = self._rows.build([_row(leaf, 0) if shape_of(leaf)[0] else _empty_row(leaf) for leaf in self._xs])
        return shapes_of_result(self._run, (carry, x))  # type: ignore[no-any-return]


def _row(leaf: Any, k: Any) -> Any:
    part = leaf[k]
    is_on_tensorflow = is_array(part) or type(part) is RaggedArray
    return part if is_on_tensorflow or not part.shape else np.array(part)


def _empty_row(leaf: Any) -> Any:
    return np.zeros(shape_of(leaf)[1:], dtype_of(leaf))


def _length(leaves: Sequence[Any], length: int | None) -> int:
    for leaf in leaves:
        if not shape_of(leaf):
            raise TransformArgumentError(
                "scan slices xs along the first axis, and a value of xs has no axis: pass it by a closure"
            )
    lengths = [shape_of(leaf)[0] for leaf in leaves]
    lengths += [] if length is None else [length]
    if not lengths:
        raise TransformArgumentError("scan needs xs with arrays, or length")
    if not all(isinstance(size, int) for size in lengths):
        raise ShapeNeededError("scan over values whose number is known only at run time; write a for loop")
    if len(set(lengths)) > 1:
        raise TransformArgumentError(f"scan got values with different leading axis sizes: {lengths}")
    return int(lengths[0])


def _typed_carry(init: Any, body: _Body, count: int) -> Any:
    """Return the first carry: Python's numbers in it get the dtype that the step gives them."""
    structure = Structure(init)
    leaves = structure.leaves if body.form.is_host else [as_array(leaf) for leaf in structure.leaves]
    if not any(type(leaf) in (bool, int, float, complex) for leaf in leaves):
        return structure.build(leaves)
    if count and body.form.is_host:
        after = body.step(structure.build(leaves), 0)[0]
    else:
        after = body.shapes(structure.build(leaves))[0]
    leaves_after = structure.leaves_of(after, "the carry that the function of scan returns")
    carry_leaves = []
    for leaf, leaf_after in zip(leaves, leaves_after, strict=True):
        if type(leaf) in (bool, int, float, complex):
            value = np.asarray(leaf, np.result_type(leaf, dtype_of(leaf_after)))[()]
            leaf = as_array(value) if body.form.is_host else tnp.asarray(tnp.array(value))
        carry_leaves.append(leaf)
    return structure.build(carry_leaves)


def _check_carry(before: Any, after: Any) -> None:
    """Raise CarryTypeError if a step has changed the structure or type of the carry."""
    structure = Structure(before)
    if structure.outline != Structure(after).outline:
        raise CarryTypeError(
            f"the function of scan must return a carry of the structure that it gets, {structure.text}, and "
            f"returns {Structure(after).text}"
        )
    for leaf_before, leaf_after in zip(structure.leaves, Structure(after).leaves, strict=True):
        kinds = [(dtype_of(leaf), tuple(shape_of(leaf))) for leaf in (leaf_before, leaf_after)]
        if kinds[0] != kinds[1] and type(leaf_before) not in (bool, int, float, complex):
            raise CarryTypeError(
                "the function of scan must return a carry of the type that it gets: a value is "
                f"{kinds[0][0]}{list(kinds[0][1])} before a step and {kinds[1][0]}{list(kinds[1][1])} after "
                "it; give init the dtype and shape that the step makes"
            )


def _order(count: int, reverse: bool) -> range:
    return range(count - 1, -1, -1) if reverse else range(count)


def _step_by_step(body: _Body, carry: Any, count: int, reverse: bool) -> tuple[Any, Any]:
    results = []
    for k in _order(count, reverse):
        carry, result = body.step(carry, k)
        results.append(result)
    if reverse:
        results.reverse()
    if not results:
        outline = Structure(body.shapes(carry)[1])
        return carry, outline.build([np.zeros((0, *leaf.shape), leaf.dtype) for leaf in outline.leaves])
    structure = Structure(results[0])
    columns = zip(
        *(structure.leaves_of(result, "the result of each step of scan") for result in results), strict=True
    )
    return carry, structure.build([_stack(parts) for parts in columns])


def _stack(parts: Sequence[Any]) -> Any:
    return (tnp if any(map(is_array, parts)) else np).stack(list(parts))


def _stage(body: _Body, carry: Any, count: int, reverse: bool) -> tuple[Any, Any]:
    """Run the steps as one staged loop, which writes the results into arrays."""
    outline = Structure(body.shapes(carry)[1])
    buffers = [tnp.zeros((count, *leaf.shape), leaf.dtype) for leaf in outline.leaves]
    structure = Structure(carry)

    def step(k: Any, *state: Any) -> tuple[Any, ...]:
        leaves, stacks = state[: len(structure.leaves)], state[len(structure.leaves) :]
        place = count - 1 - k if reverse else k
        after, result = body.step(structure.build(leaves), place)
        result_leaves = outline.leaves_of(result, "the result of each step of scan")
        rows = [at(buffer)[place].set(leaf) for buffer, leaf in zip(stacks, result_leaves, strict=True)]
        return (*Structure(after).leaves, *rows)

    state = for_loop(range(count), step, (*structure.leaves, *buffers))
    return structure.build(state[: len(structure.leaves)]), outline.build(state[len(structure.leaves) :])


# -- associative ---------------------------------------------------------------------------------------------
# `associative_scan`: all prefixes of a sequence under an associative operation, in few steps.

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
