"""Facts about the nodes of a tree, kept while a file is translated.

Nodes do not change, and are asked about again and again. A result is kept under the node's identity, together
with the node, so that no other node can get it; hashing a node takes longer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import libcst as cst

_Result = TypeVar("_Result")
#: So many results are kept of a function, if nobody says that they are not needed any more.
MAX_RESULTS = 400_000
_EVERY: list[dict[int, Any]] = []
_Results = TypeVar("_Results", bound=dict[int, Any])


def memoize(function: Callable[[cst.CSTNode], _Result]) -> Callable[[cst.CSTNode], _Result]:
    """The function of one node, which works each result out once."""
    results: dict[int, tuple[cst.CSTNode, Any]] = {}
    _EVERY.append(results)

    @wraps(function)
    def lookup(node: cst.CSTNode) -> _Result:
        entry = results.get(id(node))
        if entry is not None:
            result: _Result = entry[1]
            return result
        result = function(node)
        if len(results) >= MAX_RESULTS:
            results.clear()
        results[id(node)] = node, result
        return result

    return lookup


def forgettable(results: _Results) -> _Results:
    """Return a dict by identities of nodes, which `forget` empties."""
    _EVERY.append(results)
    return results


def forget() -> None:
    """Keep nothing: another file is worked on."""
    for results in _EVERY:
        results.clear()
