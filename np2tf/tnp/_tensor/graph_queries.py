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
    """Return whether a tensor certainly has at least `least` elements."""
    return tensor.shape.is_fully_defined() and tensor.shape.num_elements() >= least


def ancestors(tensors: Iterable[Any]) -> set[Any]:
    """Return the operations that compute tensors."""
    found: set[Any] = set()
    pending = list(tensors)
    while pending:
        op = pending.pop().op
        if op not in found:
            found.add(op)
            pending += op.inputs
    return found
