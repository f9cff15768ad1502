"""Questions about the graph that is being staged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
