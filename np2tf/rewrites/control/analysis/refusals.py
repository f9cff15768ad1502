"""Statements and calls that a lowered construct may not contain, because running it as a graph would change
its meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.dataflow.reads_writes import GROWS, assigned_first, block, parameters, writes
from np2tf.rewrites.control.analysis.private_lists import STAGED_METHODS, PrivateLists
from np2tf.rewrites.control.analysis.static import Static
from np2tf.rewrites.control.common.closures import Closures
from np2tf.rewrites.control.common.marks import CannotLower
from np2tf.tree.memo import memoize
from np2tf.tree.walk import children, walk

_STATEMENTS: dict[type[cst.CSTNode], str] = {
    cst.TryStar: "a try block",
    cst.Yield: "a yield",
    cst.Del: "a del",
    cst.ClassDef: "a class",
    cst.Import: "an import",
    cst.ImportFrom: "an import",
    cst.Global: "a global statement",
    cst.Nonlocal: "a nonlocal statement",
}


class Refusals:
    """Checks the constructs of one function.

    Args:
        unknown: the calls whose callees the text does not show; their effects are reported while staging.
        methods: the calls of methods of the module's classes, which may be named like a list's methods.
    """

    def __init__(
        self,
        function: cst.FunctionDef,
        facts: Facts,
        static: Static,
        unknown: Collection[cst.Call],
        methods: Collection[cst.Call],
        lowered_kinds: Collection[type[cst.CSTNode]] = (),
    ) -> None:
        self._statements = {kind: why for kind, why in _STATEMENTS.items() if kind not in lowered_kinds}
        self._unknown = frozenset(unknown)
        self._methods = frozenset(methods)
        self._facts = facts
        self._static = static
        self._reasons: dict[cst.CSTNode, str | None] = {}
        self.lists = PrivateLists(function, facts)
        self._params = frozenset(parameters(function.params))
        self._closures = Closures(function)

    def check(self, node: cst.If | cst.While | cst.For) -> None:
        """Check that `node` can be lowered.

        Raises:
            CannotLower: if `node` contains a part that cannot be lowered.
        """
        kind = type(node).__name__.lower()
        call = self._growing_call(node)
        if call is not None:
            raise CannotLower("NP2TF307", node, kind=kind, call=self._facts.code(call.func))
        reason = self.reason(node)
        if reason is not None:
            raise CannotLower("NP2TF301", node, kind=kind, reason=reason)

    def reason(self, node: cst.If | cst.While | cst.For) -> str | None:
        """Return the reason against lowering `node`, in words; None if there is none."""
        if node not in self._reasons:
            self._reasons[node] = self._find(node)
        return self._reasons[node]

    def _growing_call(self, node: cst.If | cst.While | cst.For) -> cst.Call | None:
        """Return the first call in `node` that makes a list longer."""
        calls = (part for top in _inside(node) for part in _walk_here(top) if type(part) is cst.Call)
        for call in calls:
            name = call.func.attr.value if type(call.func) is cst.Attribute else ""
            is_growing = name in ("append", "extend", "insert") and call not in self._methods
            if is_growing and not self._changes_nothing(call.func):
                return call
        return None

    def _find(self, node: cst.If | cst.While | cst.For) -> str | None:
        for part in (inner_node for top in _inside(node) for inner_node in _walk_here(top)):
            reason = self._statement(part) or self._container(part)
            if reason is not None:
                return reason
        if type(node) is cst.While and not _hoistable(node.test):
            return "an assignment in its test that is made only sometimes"
        late = sorted(self._closures.loose & writes([node]))
        return f"`{late[0]}`, which an inner function reads" if late else None

    def _statement(self, node: cst.CSTNode) -> str | None:
        return self._statements.get(type(node))

    def _container(self, node: cst.CSTNode) -> str | None:
        if (
            type(node) is cst.Call
            and type(node.func) is cst.Attribute
            and node.func.attr.value in GROWS
            and node not in self._unknown
            and node not in self._methods
            and not self._changes_nothing(node.func)
        ):
            return f"`{self._facts.code(node.func)}(...)`, which changes a Python container"
        if type(node) is cst.AssignTarget or type(node) is cst.AugAssign:
            target = node.target
            if type(target) is cst.Subscript:
                index = target.slice[0].slice
                text = type(index) is cst.Index and type(index.value) is cst.SimpleString
                if (text or self._static.is_container(target.value)) and not self._is_own(target.value):
                    return f"a write into `{self._facts.code(target.value)}`, a Python container"
        return None

    def _changes_nothing(self, func: cst.CSTNode) -> bool:
        """Return whether a call changes no container that the loop cannot carry, in spite of its name."""
        return self._is_carried(func) or self._facts.imports.numpy_name(func) is not None

    def _is_carried(self, func: cst.CSTNode) -> bool:
        """Return whether a method belongs to a list that the loop can carry."""
        return (
            type(func) is cst.Attribute
            and func.attr.value in STAGED_METHODS
            and self.lists.is_list(func.value)
        )

    def _is_own(self, node: cst.CSTNode) -> bool:
        """Return whether a container has a local name that is no parameter, so that a variable carries it."""
        return type(node) is cst.Name and node.value not in self._params

    def check_rebinding(self, expressions: Iterable[cst.CSTNode]) -> None:
        """Check that no expression in a lambda calls an inner function that rebinds names.

        Raises:
            CannotLower: if an expression does.
        """
        for node in expressions:
            caller = self._closures.rebinding_function(node)
            if caller is not None:
                raise CannotLower(
                    "NP2TF301", node, kind="expression", reason=f"`{caller}`, which rebinds names around it"
                )

    def check_walrus(self, expressions: Iterable[cst.CSTNode]) -> None:
        """Check that no assignment would end up inside a lambda.

        Raises:
            CannotLower: if an assignment would.
        """
        for node in expressions:
            late: list[cst.CSTNode] = []
            if type(node) is cst.IfExp:
                late = [node.body, node.orelse]
            elif type(node) is cst.BooleanOperation:
                late = [node.right]
            elif type(node) is cst.Comparison:
                late = [part.comparator for part in node.comparisons[1:]]
            if any(type(part) is cst.NamedExpr for top in late for part in walk(top)):
                raise CannotLower("NP2TF302", node)


def _hoistable(test: cst.BaseExpression) -> bool:
    """Return whether a test always evaluates each `:=` in it, and before it reads the name."""
    targets = {part.target.value for part in walk(test) if type(part) is cst.NamedExpr}  # type: ignore[attr-defined]
    return targets <= assigned_first(test)


def _inside(node: cst.If | cst.While | cst.For) -> list[cst.CSTNode]:
    return [*block(node.body), *block(node.orelse)]


@memoize
def _walk_here(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    """Return `node` and the nodes below it, without function bodies and exception handlers."""
    nodes: list[cst.CSTNode] = []
    stack = [node]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is not cst.ExceptHandler or top is node:
            nodes.append(top)
            if kind is not cst.FunctionDef and kind is not cst.Lambda:
                stack.extend(children(top)[::-1])
    return nodes
