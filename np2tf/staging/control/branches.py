"""Both sides of an if as one tf.cond, or computed and selected, with writes as slice updates."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.arrays.array.ndarray import storage_of
from np2tf.arrays.array.slice_updates import slice_under_xla
from np2tf.arrays.indexing.get_set import pin_before_write
from np2tf.arrays.operands.widened_storage import WidenedStorage, read_widened
from np2tf.arrays.tensors.graph_queries import note_block
from np2tf.arrays.tensors.graphs import new_placeholder
from np2tf.arrays.tensors.storage import Storage, current_scope, link_aliases, staged_device, staging_scope
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import (
    BranchDtypeError,
    BranchTypeError,
    PromotionError,
    RankChangeError,
    RecursionLimitError,
    StagingError,
    TraceAgain,
    TraceDifferenceError,
    XlaShapeError,
)
from np2tf.staging.control.variables import NO_VARIABLES, Variables, describe, structure
from np2tf.staging.trace.provenance import (
    merged_storages,
    new_storages,
    number_among,
    possible_aliases,
    provenance_of,
)
from np2tf.staging.trace.trace import Trace
from np2tf.staging.values.carried_values import (
    Carried,
    Undefined,
    are_same,
    flatten,
    form_of,
    is_widened,
    join,
    like,
)
from np2tf.staging.values.containers import guard_closures
from np2tf.staging.values.staged_list import fit_structure, merge_structures
from np2tf.staging.xla.loop_passes import compute_once

# -- partial updates -----------------------------------------------------------------------------------------
# The writes of a staged branch to an array, as slice updates.
#
# A conditional that returns a whole array copies it, in each branch and for the loop around it (measured:
# 93 ms instead of 8 for a recursive filter over 800 columns of 600 rows that begins with ``if j < 2``). So
# under XLA a branch returns the rows that it writes and their places, and they are written behind the
# conditional.

#: The place of a slice's first element, and the slice.
SliceUpdate = tuple[tf.Tensor, tf.Tensor]

#: With more updates in a branch the code would become too large.
_MAX_UPDATES = 4


def updates_between(after: tf.Tensor, before: tf.Tensor) -> list[SliceUpdate] | None:
    """Return the slice updates that turn `before` into `after`, in order; None if anything else happened."""
    pieces = []
    inside = after.graph is not before.graph
    while after is not before:
        if inside and _captured_tensor(after) is before:
            break
        if after.op.type != "XlaDynamicUpdateSlice":
            return None
        after, piece, start = after.op.inputs
        pieces.append((start, piece))
    return pieces[::-1]


def _captured_tensor(tensor: tf.Tensor) -> tf.Tensor | None:
    """Return the outside tensor that a placeholder of a function's graph stands for."""
    for outside, inside in getattr(tensor.graph, "captures", ()):
        if inside is tensor:
            return outside
    return None


def common_shapes(
    yes: list[SliceUpdate] | None, no: list[SliceUpdate] | None, whole: tf.TensorShape
) -> list[tf.TensorShape] | None:
    """Return the shapes of the slices that both branches can return; None if returning the whole array is
    better.
    """
    if yes is None or no is None:
        return None
    sides = [[piece.shape for _, piece in side] for side in (yes, no)]
    longest = max(sides, key=len)
    if not 0 < len(longest) <= _MAX_UPDATES or not all(
        shape.is_fully_defined() for shape in (*longest, whole)
    ):
        return None
    if 2 * sum(shape.num_elements() for shape in longest) > whole.num_elements():
        return None
    fits = all([*side, *[side[-1]] * (len(longest) - len(side))] == longest for side in sides if side)
    return longest if fits else None


def of_shapes(
    pieces: list[SliceUpdate], shapes: Sequence[tf.TensorShape], before: tf.Tensor
) -> list[SliceUpdate]:
    """Return as many updates as there are shapes: the last update repeated, or the present contents."""
    if pieces:
        return [*pieces, *[pieces[-1]] * (len(shapes) - len(pieces))]
    start = tf.zeros(len(before.shape), tf.int64)
    return [(start, tf.slice(before, start, shape)) for shape in shapes]


def apply_update(before: tf.Tensor, piece: SliceUpdate) -> tf.Tensor:
    """Return `before` with a slice update applied."""
    start, value = piece
    return gen_xla_ops.xla_dynamic_update_slice(before, value, start)


# -- if conversion -------------------------------------------------------------------------------------------
# If-conversion: where that is faster under XLA, both sides of a branch are computed, and results chosen.

_CHEAP_OPS = 150
#: So many elements count as few: an accelerator computes many in the time in which a branch makes it wait for
#: the host (some 10 µs).
_FEW, _FEW_ON_ACCELERATORS = 4, 2**18
_PURE = frozenset({"Const", "Pack", "AddV2", "Sub", "Mul", "Cast"})
_BLOCKS = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
)


def is_cheap(ops: Sequence[tf.Operation | None]) -> bool:
    """Return whether XLA should compute both sides and choose: few ops, on numbers or elements, or on
    an accelerator on arrays that are not large.
    """
    return len(ops) <= _CHEAP_OPS and all(map(_is_cheap_op, ops))


def _is_cheap_op(op: tf.Operation | None) -> bool:
    if op is None:  # a branch that is not made by choice
        return False
    if op.type in ("Placeholder", "Const"):
        return True
    if op.type == "XlaDynamicUpdateSlice":
        return is_small(op.inputs[1])
    return op.type not in _BLOCKS and all(map(is_small, op.outputs))


def is_small(tensor: tf.Tensor) -> bool:
    """Return whether a tensor has so few elements that both sides of a branch may compute it."""
    size = tensor.shape.num_elements() if tensor.shape.rank is not None else None
    return size is not None and size <= (_FEW if staged_device() == "cpu" else _FEW_ON_ACCELERATORS)


def choose(
    test: tf.Tensor, yes: list[tf.Tensor], no: list[tf.Tensor], storages: list[Storage]
) -> list[tf.Tensor]:
    """Return the results of one of two sides that have both been computed, and perform the writes of that
    side (if-conversion).
    """
    count = len(yes) - len(storages)
    for storage, after_yes, after_no in zip(storages, yes[count:], no[count:], strict=True):
        if is_small(after_yes):
            storage.write(tf.where(test, after_yes, after_no))
        else:
            elements = [updates_between(after, storage.value) for after in (after_yes, after_no)]
            assert elements[0] is not None  # of a large array, a cheap side writes elements only
            assert elements[1] is not None
            _choose_elements(test, storage, elements[0], elements[1])
    return [tf.where(test, a, b) for a, b in zip(yes[:count], no[:count], strict=True)]


def _choose_elements(
    test: tf.Tensor, storage: Storage, yes: list[SliceUpdate], no: list[SliceUpdate]
) -> None:
    """Write the elements that the taken branch writes."""
    # The k-th writes of both sides become one write, to the place of the side that is taken.
    paired = len(yes) == len(no) and all(a.shape == b.shape for (_, a), (_, b) in zip(yes, no, strict=True))
    if paired:
        writes = [
            (_choose_start(test, a, b), tf.where(test, x, y), None)
            for (a, x), (b, y) in zip(yes, no, strict=True)
        ]
    else:
        writes = [(start, element, test) for start, element in yes]
        writes += [(start, element, tf.logical_not(test)) for start, element in no]
    elements = pin_before_write(storage, [element for _, element, _ in writes])
    for (start, _, condition), element in zip(writes, elements, strict=True):
        base = storage.value
        if condition is not None:
            element = tf.where(condition, element, slice_under_xla(base, start, element.shape.as_list()))
        storage.write(apply_update(base, (start, element)))


def _choose_start(test: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return one of two start vectors, chosen number by number, so that XLA need not build the vectors."""
    if _same_place(a, b):
        return a
    if a.op.type == b.op.type == "Pack":
        return tf.stack([_choose_start(test, m, n) for m, n in zip(a.op.inputs, b.op.inputs, strict=True)])
    return tf.where(test, a, b)


def _same_place(a: tf.Tensor, b: tf.Tensor) -> bool:
    """Return whether two start vectors are certainly equal: the same ops compute them from the same
    values.
    """
    if a is b:
        return True
    if a.op.type != b.op.type or a.op.type not in _PURE or len(a.op.inputs) != len(b.op.inputs):
        return False
    if a.op.type == "Const":
        return np.array_equal(tf.get_static_value(a), tf.get_static_value(b))
    return all(_same_place(m, n) for m, n in zip(a.op.inputs, b.op.inputs, strict=True))


# -- conditionals --------------------------------------------------------------------------------------------
# Staged branches: both sides of an ``if`` over mutable arrays become one `tf.cond`.
#
# Each side is first traced into a throw-away graph, to learn its results and the storages that it writes.
# The two results are then widened to a common form, as NumPy would; storages written on either side become
# results as well. A branch inside a throw-away graph, of a branch or a loop, is only foreseen: its result
# is a placeholder of the right form. Otherwise the number of traces would double with each construct around
# it.

Branch = Callable[[], Any]
#: The storages that a branch writes, each with the shapes of the pieces that it writes; None for the whole.
Shapes = dict[Storage, list[tf.TensorShape] | None]


class _Side:
    """The results and writes of one branch, learnt from a throw-away trace.

    Attributes:
        error: the exception that this branch raises, if it does.
        after: the storages that it writes, with their values at its end.
        possible_aliases: for each leaf the storages from outside that it may share memory with.
        new: for each leaf the storages made here that it may share memory with.
        ops: its operations, with the operations of the branches inside it.
        graph: the throw-away graph; `graphs` has this graph and the graphs of the loops and branches inside.
    """

    def __init__(self, trace: Trace, branch: Branch) -> None:
        self.error: Exception | None = None
        self.leaves: list[Any] = []
        self.forms: list[Carried | None] = []
        guard = guard_closures(branch)
        description_count = len(trace.shown_text.descriptions)
        with trace.throwing_away() as inside, staging_scope(trace) as scope:
            try:
                self.result = branch()
                self.leaves, self.rebuild, self.outline = flatten(self.result)
                self.forms = [form_of(leaf) for leaf in self.leaves]
                self.origins = [provenance_of(leaf) for leaf in self.leaves]
                self.possible_aliases = [possible_aliases(leaf) for leaf in self.leaves]
                self.new = [new_storages(leaf) for leaf in self.leaves]
                read_widened(self.leaves)
            except (StagingError, PromotionError, TraceAgain):
                raise
            except RecursionError as error:
                raise RecursionLimitError("calls in compiled branches are nested too deeply") from error
            except Exception as error:
                self.error = error
                # Drop text recorded for the error message: NumPy formats it again.
                del trace.shown_text.descriptions[description_count:]
            finally:
                self.after = {storage: storage._value for storage in scope.writes}
                scope.undo()
                guard.check()
        self.ops = [*inside.graph.get_operations(), *inside.ops]
        self.graph, self.graphs = inside.graph, inside.graphs

    def align(self, other_side: _Side) -> None:
        """Give unbound names, and lists that differ, the structure of the other branch."""
        with self.graph.as_default():
            own_result = like(self.result, other_side.result)
            result = fit_structure(
                own_result, merge_structures(own_result, like(other_side.result, own_result))
            )
            leaves, self.rebuild, self.outline = flatten(result)
            place = {id(leaf): k for k, leaf in enumerate(self.leaves)}
            places = [place.get(id(leaf)) for leaf in leaves]
            self.forms = [
                form_of(leaf) if k is None else self.forms[k] for k, leaf in zip(places, leaves, strict=True)
            ]
            self.origins = [None if k is None else self.origins[k] for k in places]
            self.possible_aliases = [set() if k is None else self.possible_aliases[k] for k in places]
            self.new = [set() if k is None else self.new[k] for k in places]
        self.leaves, self.result = leaves, result


def stage_branches(
    trace: Trace, test: tf.Tensor, then: Branch, otherwise: Branch, variables: Variables = NO_VARIABLES
) -> Any:
    """Return the result of `then()` or `otherwise()` as one `tf.cond`.

    The graph never executes a branch that raises. If its condition holds at run time, a violation is
    recorded: the call is discarded and repeated on the host, where the exception is raised as in NumPy.

    Raises:
        StagingError: if the two branches have no common form.
    """
    sides = _Side(trace, then), _Side(trace, otherwise)
    if sides[0].error is not None and sides[1].error is not None:
        # A call that gets here raises on both sides. The host repeats it and raises the right exception.
        raise sides[0].error
    if sides[0].error is not None:
        record_violation(test)
        return otherwise()
    if sides[1].error is not None:
        record_violation(tf.logical_not(test))
        return then()
    forms = _common_forms(trace, variables, *sides)
    widened_tests = {} if trace.root is None else _widened_arrays(test, forms, variables, *sides)
    storages = list({**sides[0].after, **sides[1].after})
    sources: list[set[Storage]] = [set() for _ in forms]
    tracked_storages = _tracked_arrays(forms, *sides)
    by_choice = trace.xla and all(is_cheap(side.ops) for side in sides)
    shapes = {
        storage: _shapes(storage, sides) if trace.xla and not by_choice else None for storage in storages
    }

    def side(branch: Branch, pin: bool = True) -> list[tf.Tensor]:
        with staging_scope(trace) as scope:
            scope.counter = scope.counter if pin else None
            leaves, _, _ = flatten(fit_structure(branch(), sides[0].result))
            for k, leaf in enumerate(leaves):
                sources[k] |= possible_aliases(leaf)
            results = [
                tensor
                for leaf, form in zip(leaves, forms, strict=True)
                if form is not None
                for tensor in form.tensors(leaf)
            ]
            return results + [number_among(choices, leaves[k]) for k, choices in tracked_storages.items()]

    def branch_of(branch: Branch) -> list[tf.Tensor]:
        results = _run_restoring(functools.partial(side, branch), shapes)
        scope = current_scope()
        if not trace.xla or scope is None or scope.counter is None:
            return results
        counter = tf.identity(scope.counter)  # in the branch's own graph
        return compute_once(counter, results, trace.device)

    if trace.throw_aways:
        results = _foresee(trace, forms, len(tracked_storages), shapes, sides)
        sources = [a | b for a, b in zip(sides[0].possible_aliases, sides[1].possible_aliases, strict=True)]
        if not by_choice or not all(map(is_small, results)):
            trace.throw_aways[-1].ops.append(None)
    elif by_choice:
        yes, no = (
            _run_restoring(functools.partial(side, branch, pin=False), dict.fromkeys(storages))
            for branch in (then, otherwise)
        )
        results = choose(test, yes, no, storages)
    else:
        results = tf.cond(
            test,
            functools.partial(branch_of, then),
            functools.partial(branch_of, otherwise),
        )
        results = results if isinstance(results, (list, tuple)) else [results]
        if results:
            note_block(results[0].op.inputs[0].op, [graph for side in sides for graph in side.graphs])
        _write(shapes, results)
    return _bind(results, forms, sides, widened_tests, sources, tracked_storages)


def _bind(
    results: list[tf.Tensor],
    forms: list[Carried | None],
    sides: tuple[_Side, _Side],
    widened_tests: dict[int, tuple[tf.Tensor, np.dtype[Any]]],
    sources: list[set[Storage]],
    tracked_storages: dict[int, tuple[Storage, ...]],
) -> Any:
    """Return the branch's result, made from the tensors that come out of the branch."""
    remaining_results = iter(results)
    leaves = list(sides[0].leaves)
    for k, form in enumerate(forms):
        if form is not None:
            leaves[k] = form.of(remaining_results)
            if k in widened_tests:
                leaves[k].move_to(WidenedStorage(storage_of(leaves[k]), *widened_tests[k]))
            if not form.number:
                link_aliases(storage_of(leaves[k]), sources[k])
    for k, choices in tracked_storages.items():
        storage_of(leaves[k]).identity = next(remaining_results), choices
    _join_new(leaves, forms, sides)
    return sides[0].rebuild(leaves)


def _join_new(leaves: list[Any], forms: list[Carried | None], sides: tuple[_Side, _Side]) -> None:
    """Keep together the leaves that are, or may be, one array that a branch has made."""
    arrays = [k for k, form in enumerate(forms) if form is not None and not form.number]
    for n, k in enumerate(arrays):
        for j in arrays[:n]:
            if forms[j] == forms[k] and all(are_same(side.leaves[j], side.leaves[k]) for side in sides):
                leaves[k] = leaves[j]
            elif any(side.new[j] & side.new[k] for side in sides):
                link_aliases(storage_of(leaves[k]), [storage_of(leaves[j])])
                storage_of(leaves[j]).identity = storage_of(leaves[k]).identity = None


def _shapes(storage: Storage, sides: tuple[_Side, _Side]) -> list[tf.TensorShape] | None:
    before = storage.value
    yes, no = (updates_between(side.after.get(storage, before), before) for side in sides)
    return common_shapes(yes, no, before.shape)


def _foresee(
    trace: Trace, forms: list[Carried | None], tracked_count: int, shapes: Shapes, sides: tuple[_Side, _Side]
) -> list[tf.Tensor]:
    """Return placeholders for the branch's results, and write placeholders to its storages."""
    trace.throw_aways[-1].ops += [op for side in sides for op in side.ops]
    trace.throw_aways[-1].graphs += [graph for side in sides for graph in side.graphs]
    for storage, parts in shapes.items():
        before = storage.value
        for shape in parts or ():
            start = _placeholder(tf.int64, tf.TensorShape([before.shape.rank]))
            storage.write(apply_update(storage.value, (start, _placeholder(before.dtype, shape))))
        if parts is None:
            ends = [side.after[storage].shape if storage in side.after else before.shape for side in sides]
            storage.write(_placeholder(before.dtype, ends[0].most_specific_compatible_shape(ends[1])))
    specs = [spec for form in forms if form is not None for spec in form.specs()]
    specs += [tf.TensorSpec((), tf.int32)] * tracked_count
    return [_placeholder(spec.dtype, spec.shape) for spec in specs]


def _placeholder(dtype: tf.DType, shape: tf.TensorShape) -> tf.Tensor:
    return new_placeholder(dtype, shape)


def _common_forms(trace: Trace, variables: Variables, a: _Side, b: _Side) -> list[Carried | None]:
    """Return the form in which the branch returns each leaf; None if both branches return the very same
    value.
    """
    a.align(b)
    b.align(a)
    if a.outline != b.outline:
        raise BranchTypeError(_other_structure(variables, a, b))
    forms = [_common(trace, k, variables, a, b) for k in range(len(a.leaves))]
    for side in (a, b):
        for side_form, form in zip(side.forms, forms, strict=True):
            trace.shown_text.join(side_form, form)
    dynamic_leaves = [k for k, form in enumerate(forms) if form is not None and None in form.shape]
    if trace.xla and dynamic_leaves:
        raise XlaShapeError(
            f"{_in_branch(dynamic_leaves[0], variables, a, b)}, and XLA should compile the branch"
        )
    return forms


def _in_branch(k: int, variables: Variables, a: _Side, b: _Side) -> str:
    """Return a description of a variable on each side."""
    label = variables.label(a.result, k)
    return variables.in_branch(label, *(describe(side.leaves[k], side.forms[k]) for side in (a, b)))


def _other_structure(variables: Variables, a: _Side, b: _Side) -> str:
    for (label, value), (_, other_value) in zip(
        variables.items(a.result), variables.items(b.result), strict=False
    ):
        if flatten(value)[2] != flatten(other_value)[2]:
            return variables.in_branch(label, structure(value), structure(other_value))
    return "the two sides of a branch return different structures"


def _widened_arrays(
    test: tf.Tensor, forms: list[Carried | None], variables: Variables, *sides: _Side
) -> dict[int, tuple[tf.Tensor, np.dtype[Any]]]:
    """Return the arrays whose dtype in one branch differs from the common dtype: the condition, and the
    dtype.

    Raises:
        StagingError: if an array's dtype differs in both branches.
    """
    changes = {}
    for k, (first_form, second_form, form) in enumerate(
        zip(sides[0].forms, sides[1].forms, forms, strict=True)
    ):
        then, otherwise = is_widened(first_form, form), is_widened(second_form, form)
        if then and otherwise:
            message = _in_branch(k, variables, sides[0], sides[1])
            raise BranchDtypeError(f"{message}, and has another dtype after the branch")
        narrow, condition = (first_form, test) if then else (second_form, tf.logical_not(test))
        if (then or otherwise) and form is not None and narrow is not None:
            if form.optional:
                record_violation(condition)
            else:
                changes[k] = condition, narrow.dtype
    return changes


def _tracked_arrays(forms: list[Carried | None], a: _Side, b: _Side) -> dict[int, tuple[Storage, ...]]:
    """Return the arrays that may be one of several outside storages, for which a number tells the storage at
    run time.
    """
    candidates = [merged_storages(m, n) for m, n in zip(a.origins, b.origins, strict=True)]
    return {
        k: choices
        for k, (form, choices) in enumerate(zip(forms, candidates, strict=True))
        if choices and form is not None and not form.number
    }


def _run_restoring(side: Callable[[], list[tf.Tensor]], shapes: Shapes) -> list[tf.Tensor]:
    """Return the results of `side` and its writes to storages. The storages keep their former values."""
    before = [storage.value for storage in shapes]
    results = side()
    for (storage, parts), value in zip(shapes.items(), before, strict=True):
        results += [storage.value] if parts is None else _updates_of(storage, value, parts)
    for storage, value in zip(shapes, before, strict=True):
        storage.rebase(value)
    return results


def _updates_of(storage: Storage, before: tf.Tensor, shapes: list[tf.TensorShape]) -> list[tf.Tensor]:
    """Return the starts and values of the slices that a branch has written."""
    pieces = updates_between(storage.value, before)
    pieces = None if pieces is None else of_shapes(pieces, shapes, before)
    if pieces is None or [piece.shape for _, piece in pieces] != shapes:
        raise TraceDifferenceError(
            "a side of a branch writes something different from what it wrote when first traced"
        )
    return [part for start, piece in pieces for part in (tf.cast(start, tf.int64), piece)]


def _write(shapes: Shapes, results: list[tf.Tensor]) -> None:
    """Write the storages' values or slices, which are behind the branches' results."""
    count = sum(1 if parts is None else 2 * len(parts) for parts in shapes.values())
    remaining_results = iter(results[len(results) - count :])
    for storage, parts in shapes.items():
        if parts is None:
            storage.write(next(remaining_results))
        for _ in parts or ():
            storage.write(apply_update(storage.value, (next(remaining_results), next(remaining_results))))


def _common(trace: Trace, k: int, variables: Variables, a: _Side, b: _Side) -> Carried | None:
    """Return the form in which the branch returns a value; None if both branches return the very same
    value.
    """
    leaf_a, leaf_b, form_a, form_b = a.leaves[k], b.leaves[k], a.forms[k], b.forms[k]
    if are_same(leaf_a, leaf_b):
        return None
    if isinstance(leaf_a, Undefined) or isinstance(leaf_b, Undefined):
        name, form = (leaf_a.name, form_b) if isinstance(leaf_a, Undefined) else (leaf_b.name, form_a)
        if form is not None:
            return replace(form, optional=name)
    if form_a is None or form_b is None:
        raise BranchTypeError(_in_branch(k, variables, a, b))
    if len(form_a.shape) != len(form_b.shape):
        raise RankChangeError(_in_branch(k, variables, a, b))
    return join(form_a, form_b, "a variable set in a branch", trace.root is not None)
