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
    begin = begin_of(op)
    return begin is not None and begin == list(starts) and op.outputs[0].shape.as_list() == shape.as_list()


def begin_of(op: Any) -> list[int] | None:
    """Return the place of the first element that a slice takes.

    Args:
        op: an operation.

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
