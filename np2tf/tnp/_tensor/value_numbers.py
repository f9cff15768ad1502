"""Value numbers: which tensors of a graph are certainly equal, although they are computed twice.

Two tensors have the same number if operations of the same type and attributes compute them from inputs of
the same numbers, and if the operations have no effects and draw no random numbers. (This is the global
value numbering of optimising compilers.) An array that has been written to in between is another tensor, so
that a value computed from it has another number.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

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
