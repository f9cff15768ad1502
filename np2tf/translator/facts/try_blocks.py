"""Safety of `try` blocks: a graph must show every exception that NumPy raises in their bodies.

While a function is staged no handler ever runs: an exception discards the call, and the host repeats it. So a
`try` can be staged only if the graph cannot miss an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import children, memoize, walk

#: The nodes that `except` clauses stand directly below.
_WITH_HANDLERS = frozenset({cst.Try})

Callees = Callable[[cst.CSTNode], Iterator[cst.FunctionDef]]
#: Returns whether the text does not show the callee of a call in a function.
Unknown = Callable[[cst.Call, cst.FunctionDef], bool]


@memoize
def staged_parts(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Return `node` and the nodes below it, without the handlers of exceptions: these run on the host."""
    parts, stack = [], [node]
    while stack:
        top = stack.pop()
        parts.append(top)
        below = children(top)
        if type(top) in _WITH_HANDLERS:
            below = tuple(child for child in below if type(child) is not cst.ExceptHandler)
        stack.extend(below[::-1])
    return parts


def hidden_exception(
    node: cst.Try, function: cst.FunctionDef, facts: Facts, callees: Callees, unknown: Unknown
) -> tuple[cst.CSTNode, str] | None:
    """Return the node in a `try` that may raise what a graph would not show, with the reason."""
    if not node.handlers:
        return None
    return _find_hidden_exception(node.body, function, facts, callees, unknown, {function})


def _find_hidden_exception(
    top: cst.CSTNode,
    function: cst.FunctionDef,
    facts: Facts,
    callees: Callees,
    unknown: Unknown,
    seen_functions: set[cst.FunctionDef],
) -> tuple[cst.CSTNode, str] | None:
    for node in walk(top):
        if type(node) is cst.Call:
            name = facts.code(node.func) if unknown(node, function) else _unsafe(node, facts)
            if name is not None:
                return node, f"has a try block around `{name}`, whose exceptions a graph may miss"
            local = type(node.func) is cst.Name and _is_inner(node.func, facts)
            if local and top is not function.body:
                return _find_hidden_exception(
                    function.body, function, facts, callees, unknown, seen_functions
                )
        for callee in callees(node):
            if callee not in seen_functions:
                seen_functions.add(callee)
                problem = _find_hidden_exception(callee.body, callee, facts, callees, unknown, seen_functions)
                if problem is not None:
                    return node, problem[1]
    return None


def _is_inner(name: cst.Name, facts: Facts) -> bool:
    owner = facts.scopes.owner(name)
    return owner is not None and not owner.is_module


def _unsafe(call: cst.Call, facts: Facts) -> str | None:
    """Return the name of the called function if a graph may miss an exception of it; None if it is safe."""
    full_name = facts.imports.numpy_name(call.func)
    if full_name is not None:
        rule = rules.find(full_name)
        is_safe = rule is not None and rule.shows_errors
        if full_name == "numpy.linalg.norm" and any(
            arg.keyword is None or arg.keyword.value == "ord" for arg in call.args[1:]
        ):
            is_safe = False  # singular values may not converge
        return None if is_safe else full_name
    if type(call.func) is cst.Attribute:
        method = call.func.attr.value
        rule = rules.find(f"numpy.ndarray.{method}")
        return f".{method}" if rule is not None and not rule.shows_errors else None
    return None
