"""The expressions that every call of a function evaluates, and so the calls and reads that are certain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.dataflow.reads_writes import block
from np2tf.tree.walk import children

#: Nodes that run at other times, if at all: inner definitions when they are called, handlers only on the
#: host.
_LATER = frozenset(
    {cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.ExceptHandler, cst.ExceptStarHandler, cst.Raise}
)
_TESTS = frozenset({cst.If, cst.IfExp, cst.Assert})
_SUITES = frozenset({cst.IndentedBlock, cst.SimpleStatementSuite})


class Certain:
    """Analyses the functions of one module."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._exits: set[cst.CSTNode] = set()
        for node in facts.nodes(cst.Return):
            for up in facts.parents.above(node):
                if type(up) is cst.FunctionDef or up in self._exits:
                    break
                self._exits.add(up)

    def nodes(self, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
        """Yield the nodes of a function that are evaluated in every call; a loop is assumed to have
        iterations.

        A statement behind a `return` under a test is not certain. The body of an inner function is certain if
        a certain call calls that function.
        """
        functions: set[cst.CSTNode] = {function}
        stack: list[cst.CSTNode] = [function.body]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(self._parts(node)))
            if type(node) is cst.Call and type(node.func) is cst.Name:
                inner = self._inner(node.func)
                if inner is not None and inner not in functions:
                    functions.add(inner)
                    stack.append(inner.body)

    def _parts(self, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """Return the children of a node that are evaluated whenever the node is."""
        kind = type(node)
        if kind in _LATER:
            return ()
        if kind in _TESTS:
            return (node.test,)  # type: ignore[attr-defined]
        if kind in _SUITES:
            return self._until_a_return(node)
        if kind is cst.BooleanOperation:
            return (node.left,)  # type: ignore[attr-defined]
        return (node.subject,) if kind is cst.Match else children(node)  # type: ignore[attr-defined]

    def _until_a_return(self, body: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """Return the statements of a block up to the first statement that may leave the function."""
        statements = block(body)
        for place, statement in enumerate(statements):
            if statement in self._exits:
                return statements[: place + 1]
        return statements

    def _inner(self, name: cst.Name) -> cst.FunctionDef | cst.Lambda | None:
        """Return the inner function that a name refers to."""
        owner = self._facts.scopes.of(name).owner_of(name.value)
        if owner is None or owner.is_module or len(owner.bindings[name.value]) != 1:
            return None
        binding = owner.bindings[name.value][0]
        if type(binding) is cst.FunctionDef:
            return binding
        target = self._facts.parents[binding]
        assign = self._facts.parents[target] if type(target) is cst.AssignTarget else None
        value = assign.value if type(assign) is cst.Assign else None
        return value if type(value) is cst.Lambda else None
