"""Questions about the graph that is being staged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

#: How many ops to look back; what is further back is taken not to matter.
_HORIZON = 400


def depends(tensor: Any, base: Any) -> bool:
    """Whether `tensor` is computed from `base`, as far as can be seen in the graph of the loop's body."""
    if tensor is base or tensor.graph is not base.graph:
        return False
    pending, seen = [tensor.op], {tensor.op}
    while pending and len(seen) < _HORIZON:
        for used in pending.pop().inputs:
            if used is base:
                return True
            if used.op not in seen:
                seen.add(used.op)
                pending.append(used.op)
    return False


def has_elements(tensor: Any, least: int) -> bool:
    """Whether a tensor certainly has so many elements, or more."""
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() >= least


def ancestors(tensors: Iterable[Any]) -> set[Any]:
    """The operations that tensors are computed by."""
    found: set[Any] = set()
    pending = list(tensors)
    while pending:
        op = pending.pop().op
        if op not in found:
            found.add(op)
            pending += op.inputs
    return found
