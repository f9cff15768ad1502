"""Questions about the graph that is being built: constants, dependencies, and tensors that are certainly
equal.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow import get_static_value

# -- graph queries -------------------------------------------------------------------------------------------
# Questions about the graph that is being staged.

WRITES = frozenset({"TensorScatterUpdate", "TensorStridedSliceUpdate", "XlaDynamicUpdateSlice"})
LOOPS = frozenset({"StatelessWhile", "While"})
#: The ops that XLA computes only once, whatever uses them.
KERNELS = frozenset({
    "All", "Any", "BatchMatMulV2", "Einsum", "If", "MatMul", "Max", "Mean", "Min", "Prod", "StatelessIf",
    "Sum", *LOOPS, *WRITES,
})  # fmt: skip
_AXIS_MASKS = ("shrink_axis", "new_axis", "ellipsis")
#: The number of ops to look back. Ops that are further back are assumed not to matter.
_HORIZON = 400


def depends_on(tensor: Any, base: Any) -> bool:
    """Return whether `tensor` is computed from `base`, as far as the graph of the loop's body shows."""
    if tensor is base or tensor.graph is not base.graph:
        return False
    stack, operations = [tensor.op], {tensor.op}
    while stack and len(operations) < _HORIZON:
        for operand in stack.pop().inputs:
            if operand is base:
                return True
            if operand.op not in operations:
                operations.add(operand.op)
                stack.append(operand.op)
    return False


def reads_elsewhere(tensor: Any, base: Any, starts: Sequence[Any]) -> bool:
    """Return whether XLA would compute `tensor` in one kernel from elements of `base` outside of a place.

    The place begins at `starts`, and has the shape of `tensor`.
    """
    if tensor.graph is not base.graph:
        # In a branch, the array is a placeholder.
        base = next((inner for outer, inner in getattr(tensor.graph, "captures", ()) if outer is base), base)
    if tensor is base:
        return False
    stack, operations = [tensor.op], {tensor.op}
    while stack:
        op = stack.pop()
        if op.type in KERNELS:
            continue
        if any(operand is base for operand in op.inputs) and not _takes(op, starts, tensor.shape):
            return True
        new = {operand.op for operand in op.inputs if operand is not base} - operations
        operations |= new
        stack += new
    return False


def _takes(op: Any, starts: Sequence[Any], shape: Any) -> bool:
    """Return whether an operation takes exactly the part of its operand that begins at `starts`."""
    begin = begin_of(op)
    return begin is not None and begin == list(starts) and op.outputs[0].shape.as_list() == shape.as_list()


def begin_of(op: Any) -> list[int] | None:
    """Return the place of the first element that a slice takes.

    Returns:
        None for other operations, and for slices that remove or insert axes, skip or reverse elements,
        or begin where the graph does not tell.
    """
    if op.type != "StridedSlice" or any(op.get_attr(f"{name}_mask") for name in _AXIS_MASKS):
        return None
    begin, _, strides = map(get_static_value, op.inputs[1:])
    open_begin, shape = op.get_attr("begin_mask"), op.inputs[0].shape
    if begin is None or strides is None or any(strides != 1) or not shape.is_fully_defined():
        return None
    places = [0 if open_begin >> k & 1 else int(first) for k, first in enumerate(begin)]
    places += [0] * (shape.rank - len(places))
    return [place + size if place < 0 else place for place, size in zip(places, shape, strict=True)]


def has_elements(tensor: Any, least: int) -> bool:
    """Return whether a tensor certainly has at least `least` elements."""
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() >= least


def ancestors(tensors: Iterable[Any]) -> set[Any]:
    """Return the operations that compute tensors."""
    operations: set[Any] = set()
    stack = list(tensors)
    while stack:
        op = stack.pop().op
        if op not in operations:
            operations.add(op)
            stack += op.inputs
    return operations


# -- blocks --------------------------------------------------------------------------------------------------
# The loops and branches of a graph, with the graphs that tell what they do.


def note_block(operation: Any, graphs: Iterable[Any]) -> None:
    """Note the graphs of a loop or branch, which are looked at in place of the operation."""
    operation._np2tf_graphs = tuple(graphs)


def is_noted_block(operation: Any) -> bool:
    """Return whether the graphs of a loop or branch are known."""
    return hasattr(operation, "_np2tf_graphs")


def graphs_within(graph: Any) -> list[Any]:
    """Return a graph, and the graphs of the loops and branches inside."""
    return [
        graph,
        *(inner for operation in graph.get_operations() for inner in getattr(operation, "_np2tf_graphs", ())),
    ]


def note_entries(graph: Any, pairs: Iterable[tuple[Any, Any]]) -> None:
    """Note pairs of a tensor outside of a loop's graph and the tensor that it is in the first iteration."""
    graph._np2tf_entries = tuple(pairs)


def entries_of(graph: Any) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of a tensor outside of a graph and the tensor that it is inside, at first or always."""
    yield from getattr(graph, "captures", ())
    yield from getattr(graph, "_np2tf_entries", ())


# -- value numbers -------------------------------------------------------------------------------------------
# Value numbers: which tensors of a graph are certainly equal, although they are computed twice.
#
# Two tensors have the same number if operations of the same type and attributes compute them from inputs of
# the same numbers, and if the operations have no effects and draw no random numbers. (This is the global
# value numbering of optimising compilers.) An array that has been written to in between is another tensor,
# so that a value computed from it has another number.

#: Ops that return their input unchanged.
_IDENTITY_OPS = frozenset({"Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot"})
#: Ops that call functions or Python: their type and attributes do not determine the result.
_OPAQUE = frozenset(
    {
        "Placeholder",
        *("While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase", "For"),
        *(
            "PartitionedCall",
            "StatefulPartitionedCall",
            "XlaLaunch",
            "PyFunc",
            "PyFuncStateless",
            "EagerPyFunc",
        ),
    }
)
#: Constants of more elements are not compared.
_LARGE = 64
#: Computations that are longer than this count as different values.
_DEPTH = 60
_numbers = itertools.count()


@dataclass
class _Table:
    """The numbers of a graph's operations by name, and the numbers by the key of the computation."""

    of_ops: dict[str, int] = field(default_factory=dict)
    of_keys: dict[Hashable, int] = field(default_factory=dict)


_tables: weakref.WeakKeyDictionary[tf.Graph, _Table] = weakref.WeakKeyDictionary()


def value_number(tensor: tf.Tensor) -> Hashable:
    """Return the value number of a tensor, which is valid for as long as the tensor lives.

    Tensors with equal numbers have the same value.
    """
    return _number(tensor, 0)


def _number(tensor: tf.Tensor, depth: int) -> Hashable:
    if hasattr(tensor, "numpy"):
        return "eager", id(tensor)
    op = tensor.op
    if op.type in _IDENTITY_OPS:
        return (
            _number(op.inputs[tensor.value_index], depth + 1) if depth < _DEPTH else _own_number(op, tensor)
        )
    if op.type == "Placeholder":
        outer = _captured_tensor(tensor)
        return _own_number(op, tensor) if outer is None or depth >= _DEPTH else _number(outer, depth + 1)
    table = _table(tensor.graph)
    number = table.of_ops.get(op.name)
    if number is None:
        key = _key(op, depth)
        number = table.of_ops[op.name] = next(_numbers) if key is None else _number_of_key(tensor.graph, key)
    return number, tensor.value_index


def _own_number(op: Any, tensor: tf.Tensor) -> Hashable:
    """Return the number of an operation that is equal to itself only."""
    table = _table(tensor.graph)
    if op.name not in table.of_ops:
        table.of_ops[op.name] = next(_numbers)
    return table.of_ops[op.name], tensor.value_index


def _key(op: Any, depth: int) -> Hashable:
    """Return a key of an operation's computation, or None. Equal keys give equal results."""
    if op.type in _OPAQUE or op._is_stateful or depth >= _DEPTH:
        return None
    if op.type == "Const":
        size = op.outputs[0].shape.num_elements()
        if size is None or size > _LARGE:
            return None
    elif not op.inputs:
        return None
    attributes = op.node_def.attr
    attribute_pairs = tuple(
        (name, attributes[name].SerializeToString(deterministic=True)) for name in sorted(attributes)
    )
    return op.type, attribute_pairs, tuple(_number(operand, depth + 1) for operand in op.inputs)


def _number_of_key(graph: tf.Graph, key: Hashable) -> int:
    """Return the number of the computation with this key, in this graph or in a graph around it."""
    for outer_graph in _outer_graphs(graph):
        if key in _table(outer_graph).of_keys:
            return _table(outer_graph).of_keys[key]
    number = _table(graph).of_keys[key] = next(_numbers)
    return number


def _outer_graphs(graph: tf.Graph) -> Iterator[tf.Graph]:
    while graph is not None:
        yield graph
        graph = getattr(graph, "outer_graph", None)


def _table(graph: tf.Graph) -> _Table:
    table = _tables.get(graph)
    if table is None:
        table = _tables[graph] = _Table()
    return table


def _captured_tensor(tensor: tf.Tensor) -> tf.Tensor | None:
    """Return the outer graph's tensor that a placeholder stands for; None for an argument of the function."""
    captures = getattr(tensor.graph, "captures", ())
    return next((outer for outer, inner in captures if inner is tensor), None)
