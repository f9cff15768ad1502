"""Questions about the graph that is being staged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tensorflow import get_static_value

WRITES = frozenset({"TensorScatterUpdate", "TensorStridedSliceUpdate", "XlaDynamicUpdateSlice"})
LOOPS = frozenset({"StatelessWhile", "While"})
#: The ops that XLA computes only once, whatever uses them.
KERNELS = frozenset({
    "All", "Any", "BatchMatMulV2", "Einsum", "If", "MatMul", "Max", "Mean", "Min", "Prod", "StatelessIf",
    "Sum", *LOOPS, *WRITES,
})  # fmt: skip
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

    Args:
        tensor: the tensor.
        base: an array with as many axes.
        starts: the place, which has the shape of `tensor`: its first element on every axis.
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
    if op.type != "StridedSlice" or op.outputs[0].shape.as_list() != shape.as_list():
        return False
    masks = (op.get_attr(f"{name}_mask") for name in ("shrink_axis", "new_axis", "ellipsis"))
    begin = get_static_value(op.inputs[1])
    if any(masks) or begin is None or len(begin) != len(starts) or len(starts) != shape.rank:
        return False
    open_begin = op.get_attr("begin_mask")
    return all(
        (0 if open_begin >> k & 1 else first) == start
        for k, (first, start) in enumerate(zip(begin, starts, strict=True))
    )


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
