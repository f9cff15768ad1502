"""Changes of a loop's body before XLA compiles it, in this order: lost updates, shared rolls, stencils
computed once, rows read before they are updated. The counter of a loop is an integer, and never negative.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import tensorflow as tf

from np2tf.arrays.array.slice_updates import pin_values, update_of
from np2tf.arrays.tensors.graph_queries import KERNELS, LOOPS, WRITES, ancestors, begin_of, has_elements

# -- materialize ---------------------------------------------------------------------------------------------
# Changes of a loop's body: values that XLA computes once for all its kernels, and other values.


def materialize(
    counter: tf.Tensor, tensors: Sequence[tf.Tensor], results: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Materialize `tensors` for all their present uses, and return the new results of the loop's body."""
    uses = [
        (consumer, k, n)
        for n, tensor in enumerate(tensors)
        for consumer in tensor.consumers()
        for k, operand in enumerate(consumer.inputs)
        if operand is tensor
    ]
    values = pin_values(counter, tensors)
    for consumer, k, n in uses:
        consumer._update_input(k, values[n])
    replacements = {id(tensor): value for tensor, value in zip(tensors, values, strict=True)}
    return [replacements.get(id(result), result) for result in results]


def replace_uses(old: tf.Tensor, new: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Let all present uses of a tensor take another one, and return the new results of the loop's body."""
    for consumer in list(old.consumers()):
        for k, operand in enumerate(consumer.inputs):
            if operand is old:
                consumer._update_input(k, new)
    return [new if result is old else result for result in results]


# -- lost updates --------------------------------------------------------------------------------------------
# Removes updates of an array whose elements a later update replaces before anything reads them.
#
# XLA computes and writes them all. Reads of a part go to the values that were written there
# (`np2tf.arrays.array.slice_updates`), so that in a loop that writes the same rows several times only the
# last writes count (lattice Boltzmann, 60 × 120, 40 steps: 19 ms with all writes, 12 ms with the last of
# three).

#: The first elements and the ends of a part along the axes.
_Place = list[tuple[int, int]]


def remove_lost_updates(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> None:
    """Change a loop's body so that it performs no updates that later updates hide."""
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


# -- read before update --------------------------------------------------------------------------------------
# Keeps XLA from copying an array for every row that a loop reads and writes.
#
# XLA updates an array in place if nothing reads its old contents afterwards. Each kernel that needs a row
# of the array reads it anew. A kernel that may run after the update then copies the whole array in every
# iteration (measured: 172 ms instead of 4 for a tridiagonal system in 200 columns of 2,000 rows, which
# writes two arrays, both from the last row of one array). Such a row is read once, before the update.

_READS = frozenset({"GatherNd", "GatherV2", "If", "Slice", "StatelessIf", "StridedSlice", "XlaDynamicSlice"})
_ROW_READS = frozenset({"StridedSlice", "XlaDynamicSlice"})
_MASKS = ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
#: A copy of fewer elements takes less time than the conditional that avoids the copy (0.7 µs).
_LARGE_READ = 4096


def read_before_writes(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the `results` of a loop's body in which rows are read before their arrays are updated."""
    outputs = _merge_reads(counter, results)
    ends = set(map(id, outputs))
    # Some staged operations are not part of the results.
    live_ops = ancestors(outputs)
    early_reads: set[tf.Operation] = set()
    operations = [op for op in counter.graph.get_operations() if op in live_ops]
    for write, base in [(op, base) for op in operations for base in _updated_arrays(op, ends)]:
        before = ancestors(write.inputs)
        after = live_ops - before - {write}
        for read_op in [op for op in base.consumers() if op.type in _READS and op in live_ops - early_reads]:
            rows = [row for row in read_op.outputs if _is_row(row, base)]
            if any(_is_used_late(row, before, after, ends) for row in rows):
                outputs = materialize(counter, rows, outputs)
                ends = set(map(id, outputs))
                early_reads.add(read_op)
    return outputs


def _merge_reads(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the `results` of a loop's body in which equal reads of an array are one read.

    XLA does the same, but later: it does not merge rows that were read early.
    """
    outputs = list(results)
    live_ops = ancestors(outputs)
    first_reads: dict[Hashable, tf.Operation] = {}
    for op in [op for op in counter.graph.get_operations() if op in live_ops and op.type in _ROW_READS]:
        first_read = first_reads.setdefault(_key(op), op)
        if first_read is not op:
            outputs = replace_uses(op.outputs[0], first_read.outputs[0], outputs)
    return outputs


def _key(op: tf.Operation) -> Hashable:
    """Return a key of a read; reads with equal keys have the same result."""
    places = [tf.get_static_value(operand) for operand in op.inputs[1:]]
    keys = [
        id(operand) if place is None else tuple(place.tolist())
        for operand, place in zip(op.inputs[1:], places, strict=True)
    ]
    masks = [op.get_attr(f"{name}_mask") for name in _MASKS] if op.type == "StridedSlice" else []
    return op.type, id(op.inputs[0]), tuple(keys), tuple(masks)


def _updated_arrays(op: tf.Operation, ends: set[int]) -> list[tf.Tensor]:
    """Return the large arrays that an operation may update in place."""
    arrays = [op.inputs[0]] if op.type in WRITES else []
    if op.type in LOOPS:
        # Its operands include arrays that it only reads; nothing uses their outputs.
        pairs = zip(op.inputs, op.outputs, strict=True)
        arrays = [before for before, after in pairs if after.consumers() or id(after) in ends]
    return [base for base in arrays if has_elements(base, _LARGE_READ)]


def _is_row(tensor: tf.Tensor, base: tf.Tensor) -> bool:
    shape = tensor.shape
    return shape.is_fully_defined() and 1 < shape.num_elements() <= base.shape.num_elements() // 2


def _is_used_late(
    row: tf.Tensor, before: set[tf.Operation], after: set[tf.Operation], ends: set[int]
) -> bool:
    """Return whether an op that may run after the write uses the row, directly or through a fused op."""
    ids, stack = {id(row)}, [row]
    while stack:
        tensor = stack.pop()
        consumers = tensor.consumers()
        if id(tensor) in ends or not after.isdisjoint(consumers):
            return True
        fused_ops = [op for op in consumers if op in before and op.type not in KERNELS]
        new = [output for op in fused_ops for output in op.outputs if id(output) not in ids]
        ids |= set(map(id, new))
        stack += new
    return False


# -- shared rolls --------------------------------------------------------------------------------------------
# Several `np.roll` of one array in a loop's body: parts of one array with a margin.
#
# XLA makes an array for each roll, or computes each roll again in its reader, one element at a time. The
# array with a margin on both sides, which has the elements of the other side, is kept in memory. Each roll
# is a part of it, and the reader is one vectorised loop. Measured for 40 steps of the game of life on 400 ×
# 400 cells, with eight neighbours: 70 ms before, 13 ms.

#: For smaller arrays, and for fewer rolls, the margin costs more than it saves.
_LARGE_ROLLED, _LEAST_ROLLS = 4096, 2
#: A margin may be at most such a part of its axis.
_PART = 8

#: The array that a tensor was made of by rolls, and by how many places it moved along each axis.
_Roll = tuple[tf.Tensor, tuple[int, ...]]


def share_rolls(counter: tf.Tensor, results: Sequence[tf.Tensor], device: str) -> list[tf.Tensor]:
    """Return the `results` of a loop's body in which rolls of the same array are parts of one array."""
    outputs = list(results)
    if device != "cpu":
        return outputs
    rolls = _rolls(counter.graph, outputs)
    roots = {id(root): root for root, _ in rolls.values()}
    live_ops = ancestors(outputs)
    for root in roots.values():
        ends = [
            (op.outputs[0], move)
            for op, (source, move) in rolls.items()
            if source is root and _is_read(op, rolls, live_ops, outputs)
        ]
        margins = [max(map(abs, numbers)) for numbers in zip(*(move for _, move in ends), strict=True)]
        if len(ends) < _LEAST_ROLLS or any(
            _PART * margin > size for margin, size in zip(margins, root.shape, strict=True)
        ):
            continue
        whole = _with_margins(counter, root, margins)
        for tensor, move in ends:
            starts = [margin - number for margin, number in zip(margins, move, strict=True)]
            part = whole[
                tuple(slice(start, start + size) for start, size in zip(starts, root.shape, strict=True))
            ]
            outputs = replace_uses(tensor, part, outputs)
    return outputs


def _rolls(graph: tf.Graph, outputs: Sequence[tf.Tensor]) -> dict[tf.Operation, _Roll]:
    """Return the operations that roll a large array by a known number of places."""
    live_ops = ancestors(outputs)
    rolls: dict[tf.Operation, _Roll] = {}
    for op in graph.get_operations():
        if op in live_ops and op.type == "ConcatV2" and len(op.inputs) == 3:
            roll = _roll(op)
            if roll is not None:
                source, move = roll
                root, before = rolls.get(source.op, (source, (0,) * len(move)))
                rolls[op] = root, tuple(a + b for a, b in zip(before, move, strict=True))
    return rolls


def _roll(op: tf.Operation) -> _Roll | None:
    """Return the array that a concatenation of its end and its beginning rolls, and the places."""
    end, head, axis_tensor = op.inputs
    axis = tf.get_static_value(axis_tensor)
    array = end.op.inputs[0] if end.op.type == "StridedSlice" else None
    whole = op.outputs[0]
    if (
        array is None
        or axis is None
        or array.shape.rank != whole.shape.rank
        or not has_elements(whole, _LARGE_ROLLED)
    ):
        return None
    axis, size = int(axis) % whole.shape.rank, array.shape.as_list()
    if size != whole.shape.as_list() or head.op.type != "StridedSlice" or head.op.inputs[0] is not array:
        return None
    length, amount = size[axis], end.shape[axis]
    if _cut(end, array, axis) != length - amount or _cut(head, array, axis) != 0:
        return None
    move = [0] * len(size)
    move[axis] = amount if 2 * amount <= length else amount - length
    return array, tuple(move)


def _cut(part: tf.Tensor, array: tf.Tensor, axis: int) -> int | None:
    """Return the place along an axis at which a slice begins that takes all elements of the other axes; else
    None.
    """
    sizes = zip(part.shape, array.shape, strict=True)
    if any(size != length for k, (size, length) in enumerate(sizes) if k != axis):
        return None
    begin = begin_of(part.op)
    return None if begin is None else begin[axis]


def _is_read(
    op: tf.Operation,
    rolls: dict[tf.Operation, _Roll],
    live_ops: set[tf.Operation],
    outputs: Sequence[tf.Tensor],
) -> bool:
    """Return whether other operations than rolls read the result of a roll."""
    tensor = op.outputs[0]
    readers = [consumer for consumer in tensor.consumers() if consumer in live_ops]
    parts = [reader for reader in readers if reader.type == "StridedSlice"]
    further = [user for part in parts for user in part.outputs[0].consumers() if user in live_ops]
    only_rolls = len(parts) == len(readers) and all(user in rolls for user in further)
    return not only_rolls or any(output is tensor for output in outputs)


def _with_margins(counter: tf.Tensor, array: tf.Tensor, margins: Sequence[int]) -> tf.Tensor:
    """Return an array in memory that continues another one periodically on both sides of its axes."""
    if array.op.type not in KERNELS and array.op.type != "Placeholder":
        array = pin_values(counter, [array])[0]
    for axis, margin in enumerate(margins):
        if margin:
            before = (slice(None),) * axis
            end, head = array[(*before, slice(-margin, None))], array[(*before, slice(0, margin))]
            array = tf.concat([end, array, head], axis)
    return pin_values(counter, [array])[0]


# -- stencil sharing -----------------------------------------------------------------------------------------
# Keeps XLA from computing the values of a large stencil once for each of their uses.
#
# XLA fuses elementwise operations and slices into each kernel that needs them, and computes them there again
# for each place from which the kernel reads them (`np.roll`, slices of a stencil), and stencils of stencils
# multiply. A value is kept in memory if computing it again costs more. Measured: one step of a finite-volume
# method on 160 × 160 cells took 17 ms, and takes 1 ms.
#
# A kernel computes a value once for each *site*: the kernel, and the way from its elements to those of the
# value. The pass goes from the results to the operands, and knows for each value at how many elements of
# which sites it is computed. A value costs what the operations behind it do, back to values in memory.

_VIEWS = frozenset({
    "BroadcastTo", "ConcatV2", "ExpandDims", "Identity", "Pack", "Pad", "PadV2", "Reshape", "Slice",
    "Squeeze", "StridedSlice", "Transpose", "Unpack", "XlaDynamicSlice",
})  # fmt: skip
#: Views that keep the order of the elements.
_SAME_PLACES = frozenset({"ExpandDims", "Identity", "Reshape", "Squeeze"})
#: Reductions, into which XLA fuses what they reduce.
_REDUCTIONS = frozenset({"All", "Any", "ArgMax", "ArgMin", "Max", "Mean", "Min", "Prod", "Sum"})
#: Elementwise operations -> the nanoseconds that an element takes if XLA does not vectorise the computation.
_NANOSECONDS = {
    **dict.fromkeys((
        "Abs", "Add", "AddV2", "Cast", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd",
        "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mul", "Neg", "NotEqual", "SelectV2", "Square",
        "Sub", "Real", "Imag", "Conj", "Complex", "Sign", "IsNan", "IsInf", "IsFinite", "Bitcast",
    ), 0.3),
    **dict.fromkeys(("RealDiv", "Sqrt", "Rsqrt", "Reciprocal", "Rint", "Round", "Floor", "Ceil"), 2.0),
    **dict.fromkeys(("Exp", "Expm1", "Tanh", "Sigmoid", "FloorDiv"), 5.0),
    **dict.fromkeys(("Log", "Log1p", "Sin", "Cos", "Atan", "Asin", "Acos", "Erf", "FloorMod"), 8.0),
    **dict.fromkeys(("Pow", "Tan", "Atan2", "Sinh", "Cosh"), 10.0),
}  # fmt: skip
#: The nanoseconds that it costs to keep a value: for a kernel of its own, and for each element in memory.
_KERNEL_COST, _STORE_COST = 1000.0, 1.0
#: Values of fewer elements are not looked at.
_LARGE_VALUE = 512
#: A value that is computed at more sites is kept, whatever it costs.
_MOST_SITES = 64
#: The first sweep takes what values cost if none is kept; the next ones know which are.
_SWEEPS = 3

#: A kernel, and the way to its elements -> the number of elements.
_Sites = dict[tuple[Hashable, ...], int]


def compute_once(counter: tf.Tensor, results: Sequence[tf.Tensor], device: str) -> list[tf.Tensor]:
    """Return the `results` of a loop's body, or of a branch in one, in which rolls of one array are shared,
    and costly values with several uses are materialized.
    """
    outputs = share_rolls(counter, results, device)
    live_ops, ends = ancestors(outputs), set(map(id, outputs))
    ops = [op for op in counter.graph.get_operations() if op in live_ops and _is_fused(op)]
    # At first nothing is in memory, so that all values are dear.
    kept: set[int] = set()
    for _ in range(_SWEEPS):
        before, kept = kept, _kept(ops, _costs(ops, kept), live_ops, ends)
        if kept == before:
            break  # another sweep would find the same
    for op in ops:
        if id(op) in kept:
            outputs = materialize(counter, [op.outputs[0]], outputs)
    return outputs


def _kept(
    ops: Sequence[tf.Operation], costs: dict[int, float], live_ops: set[tf.Operation], ends: set[int]
) -> set[int]:
    """Return the operations whose results are to be kept, given what each costs for an element."""
    kept = set()
    sites: dict[int, _Sites] = {}
    for op in reversed(ops):
        own, size = _sites(op, sites, live_ops, ends), op.outputs[0].shape.num_elements()
        again = (sum(own.values()) - size) * costs[id(op)]
        is_dear = again > _KERNEL_COST + _STORE_COST * size or len(own) > _MOST_SITES
        if is_dear and len(own) > 1 and op.type in _NANOSECONDS:
            kept.add(id(op))
            own = {(id(op),): size}
        sites[id(op)] = own
    return kept


def _costs(ops: Sequence[tf.Operation], kept: set[int]) -> dict[int, float]:
    """Return the nanoseconds of an element of each value, with all operations behind it, back to kept
    values.
    """
    # Sets of operations, as the bits of numbers: those of each cost, and those behind a value.
    of_cost: dict[float, int] = {}
    behind: dict[int, int] = {}
    costs = {}
    for k, op in enumerate(ops):
        nanoseconds = _NANOSECONDS.get(op.type, 0.0)
        of_cost[nanoseconds] = of_cost.get(nanoseconds, 0) | 1 << k
        bits = 1 << k
        for operand in op.inputs:
            bits |= behind.get(id(operand.op), 0)
        costs[id(op)] = sum(cost * (bits & of_this).bit_count() for cost, of_this in of_cost.items() if cost)
        behind[id(op)] = 0 if id(op) in kept else bits
    return costs


def _is_fused(op: tf.Operation) -> bool:
    """Return whether XLA fuses an operation with large results into its readers."""
    is_known = op.type in _NANOSECONDS or op.type in _VIEWS
    return is_known and all(has_elements(tensor, _LARGE_VALUE) for tensor in op.outputs)


def _sites(op: tf.Operation, sites: dict[int, _Sites], live_ops: set[tf.Operation], ends: set[int]) -> _Sites:
    """Return the sites of an operation, given those of its readers."""
    own: _Sites = {}
    for tensor in op.outputs:
        size = tensor.shape.num_elements()
        if id(tensor) in ends:
            own[(id(op),)] = size
        for reader in tensor.consumers():
            if reader not in live_ops:
                continue
            if id(reader) not in sites:
                # A reduction computes what it reduces; any other kernel takes it from memory.
                own[(id(reader if reader.type in _REDUCTIONS else op),)] = size
                continue
            way = _way(reader)
            for (kernel, *path), count in sites[id(reader)].items():
                site = kernel, *path, *way
                taken = min(count, size) if reader.type == "ConcatV2" else count
                own[site] = max(own.get(site, 0), taken)
    return own


def _way(reader: tf.Operation) -> tuple[Hashable, ...]:
    """Return what tells the elements that a reader takes from those that others take; empty for the
    elements at its own place.
    """
    if reader.type in _NANOSECONDS or reader.type in _SAME_PLACES or reader.type == "ConcatV2":
        return ()
    begin = begin_of(reader)
    return (id(reader),) if begin is None else (tuple(begin),)
