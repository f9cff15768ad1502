"""Operations with unused results that NumPy would run: the graph must not drop their errors.

TensorFlow runs only operations that the results of a graph need. An array whose length depends on data may
not fit an operation, which is known only when the operation runs: NumPy raises even if the result is not
used.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

#: The types of operations that raise if the lengths of their inputs do not fit.
_CHECKS = {
    *("Reshape", "BroadcastTo", "ConcatV2", "Pack", "MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"),
    *("AddV2", "Sub", "Mul", "RealDiv", "FloorDiv", "FloorMod", "Pow", "Maximum", "Minimum", "Atan2"),
    *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "SelectV2"),
}


def unused_checks(graph: tf.Graph, outputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the results of operations that may raise for a length, and that no output needs.

    They must become outputs, because the optimiser drops operations that only control dependencies need.
    """
    checks = [op for op in graph.get_operations() if op.type in _CHECKS and _may_fail(op)]
    if not checks:
        return []
    live_ops = {output.op for output in outputs}
    stack = list(live_ops)
    while stack:
        op = stack.pop()
        new = {tensor.op for tensor in op.inputs} | set(op.control_inputs)
        stack += new - live_ops
        live_ops |= new
    return [op.outputs[0] for op in checks if op not in live_ops]


def _may_fail(op: tf.Operation) -> bool:
    return any(not tensor.shape.is_fully_defined() for tensor in op.inputs)
