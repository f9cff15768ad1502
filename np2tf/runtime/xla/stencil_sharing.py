"""Keeps XLA from computing the values of a large stencil once for each of their uses.

XLA fuses elementwise operations into each kernel that needs them, and computes them there again, because it
counts slices, sums and products as free. A value of many such operations that two kernels need (the next
state of a loop, and the norm of its change) is therefore computed once for both kernels (measured: 56 µs
instead of 81 for an iteration of conjugate gradients on 128 × 128 cells).

XLA also fuses a value into a reader that reads it at several neighbouring places (`np.roll`, slices of a
stencil), and computes the value there once for each place, one element at a time. The value is kept in memory
if computing it again costs more (measured: 2.9 ms instead of 11.9 for 60 sweeps of an Ising model of 96 × 96
spins).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import tensorflow as tf

from np2tf.runtime.xla.materialize import materialize
from np2tf.tnp._tensor.graph_queries import has_elements

#: Elementwise operations that XLA computes again instead of keeping their values.
_CHEAP = frozenset({
    "Abs", "Add", "AddV2", "Cast", "Equal", "Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd",
    "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mul", "Neg", "NotEqual", "SelectV2", "Square", "Sub",
})  # fmt: skip
_VIEWS = frozenset({
    "BroadcastTo", "ConcatV2", "ExpandDims", "Identity", "Pack", "Pad", "PadV2", "Reshape", "Slice",
    "Squeeze", "StridedSlice", "Transpose", "Unpack", "XlaDynamicSlice",
})  # fmt: skip
_FUSED_OPS = _CHEAP | _VIEWS
#: The nanoseconds that an element takes if XLA does not vectorise the computation.
_NANOSECONDS = {
    **dict.fromkeys(_CHEAP, 0.3),
    **dict.fromkeys(("RealDiv", "Sqrt", "Rsqrt", "Reciprocal", "Rint", "Round", "Floor", "Ceil"), 2.0),
    **dict.fromkeys(("Exp", "Expm1", "Tanh", "Sigmoid", "FloorDiv"), 5.0),
    **dict.fromkeys(("Log", "Log1p", "Sin", "Cos", "Atan", "Asin", "Acos", "Erf", "FloorMod"), 8.0),
    **dict.fromkeys(("Pow", "Tan", "Atan2", "Sinh", "Cosh"), 10.0),
}
#: The nanoseconds that it costs to keep a value: for a kernel of its own, and for each element in memory.
_KERNEL_COST, _STORE_COST = 1000.0, 1.0
#: Operations that read a part of a value.
_PARTS = frozenset({"Slice", "StridedSlice", "XlaDynamicSlice"})
#: Computing smaller arrays, or values of fewer operations, twice is faster than keeping them.
_LARGE = 4096
_DEAR = 5


def compute_once(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the `results` of a loop's body in which costly values with several uses are materialized.

    Args:
        counter: the loop's counter, an integer that is never negative.
        results: the results of the body.
    """
    outputs = _keep_neighbours(counter, results)
    graph = counter.graph
    ops = [
        op
        for op in graph.get_operations()
        if op.type in _FUSED_OPS and any(has_elements(output, _LARGE) for output in op.outputs)
    ]
    kernels = _kernels(ops, outputs)
    costs: dict[int, int] = {}
    for op in ops:
        tensor = op.outputs[0]
        costs[id(op)] = (op.type in _CHEAP) + sum(
            costs.get(id(operand.op), 0) for operand in distinct_tensors(op.inputs)
        )
        if costs[id(op)] >= _DEAR and op.type in _CHEAP and _forks(op, kernels):
            outputs = materialize(counter, [tensor], outputs)
            costs[id(op)] = 0
    return outputs


def _keep_neighbours(counter: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the `results` of a loop's body in which costly values that are read at several places are
    materialized.
    """
    outputs = list(results)
    costs: dict[int, float] = {}
    for op in counter.graph.get_operations():
        nanoseconds = 0.0 if op.type in _VIEWS else _NANOSECONDS.get(op.type)
        if nanoseconds is None:
            continue
        tensor = op.outputs[0]
        cost = nanoseconds + sum(costs.get(id(operand.op), 0.0) for operand in distinct_tensors(op.inputs))
        size = tensor.shape.num_elements() if tensor.shape.is_fully_defined() else None
        again = max(0, _places(tensor) - 1)
        if nanoseconds and size is not None and again * cost * size > _KERNEL_COST + _STORE_COST * size:
            outputs = materialize(counter, [tensor], outputs)
            cost = 0.0
        costs[id(op)] = cost
    return outputs


def _places(tensor: tf.Tensor) -> int:
    """Return the number of neighbouring places at which the elements of a value are read."""
    consumers = list(tensor.consumers())
    parts = [consumer for consumer in consumers if consumer.type in _PARTS]
    # Parts that are joined again, as by np.roll, count as one place.
    concat_ids = {
        id(user) for part in parts for user in part.outputs[0].consumers() if user.type == "ConcatV2"
    }
    alone = [
        part for part in parts if not any(user.type == "ConcatV2" for user in part.outputs[0].consumers())
    ]
    return len(concat_ids) + len(alone) + (len(parts) < len(consumers))


def distinct_tensors(tensors: Iterable[tf.Tensor]) -> list[tf.Tensor]:
    """Return the tensors, each once (tensors cannot be hashed)."""
    return list({id(tensor): tensor for tensor in tensors}.values())


def _kernels(ops: Sequence[tf.Operation], results: Sequence[tf.Tensor]) -> dict[int, frozenset[object]]:
    """Return the ends of the fusions that each op is computed in: operations that are not fused, and
    results.
    """
    result_numbers: dict[int, set[object]] = {}
    for k, result in enumerate(results):
        result_numbers.setdefault(id(result), set()).add(k)
    kernels: dict[int, frozenset[object]] = {}
    for op in reversed(ops):
        ends: set[object] = set()
        for tensor in op.outputs:
            ends |= {("result", id(tensor))} if id(tensor) in result_numbers else set()
            for consumer in tensor.consumers():
                ends |= kernels.get(id(consumer), frozenset({id(consumer)}))
        kernels[id(op)] = frozenset(ends)
    return kernels


def _forks(op: tf.Operation, kernels: dict[int, frozenset[object]]) -> bool:
    """Return whether `op` computes the last values that several kernels have in common."""
    own_kernels = kernels[id(op)]
    return len(own_kernels) > 1 and not any(
        kernels.get(id(consumer)) == own_kernels for tensor in op.outputs for consumer in tensor.consumers()
    )
