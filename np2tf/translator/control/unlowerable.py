"""What a lowered construct may not contain, and the lists and names that make exceptions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import libcst as cst

from np2tf.translator.control.jumps import blocks, jumps_in
from np2tf.translator.control.layout import statements_of
from np2tf.translator.control.scope import CannotLower, Closures, Marks
from np2tf.translator.control.static import Static
from np2tf.translator.facts.dataflow import (
    GROWS,
    Jumps,
    Names,
    assigned_first,
    block,
    free_names,
    inner_blocks,
    live_before,
    live_when_left,
    parameters,
    rebound,
    writes,
)
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.tree.nodes import children, memoize, walk

# -- private lists -------------------------------------------------------------------------------------------
# Finds lists that only one name of a function refers to: a loop can carry such a list as a variable.
#
# A staged list is a new object after every loop and branch. So no second name may refer to the list, no
# container may hold it, and no inner function may read it.

#: The methods that a list has while it grows in staged code.
STAGED_METHODS = frozenset({"append", "extend", "pop", "clear", "copy"})


class PrivateLists:
    """The private lists of one function, as a container of their names."""

    def __init__(self, function: cst.FunctionDef, facts: Facts) -> None:
        self._facts = facts
        self._uses: dict[str, list[cst.Name]] = {}
        self._inner: set[str] = set()
        for node in walk(function):
            if type(node) is cst.Name:
                self._uses.setdefault(node.value, []).append(node)
            elif (type(node) is cst.FunctionDef or type(node) is cst.Lambda) and node is not function:
                self._inner |= free_names(node)
        self._params = frozenset(parameters(function.params))
        self._judgements: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        if name not in self._judgements:
            self._judgements[name] = self._judge(name)
        return self._judgements[name]

    def _judge(self, name: str) -> bool:
        if name in self._params or name in self._inner or name not in self._uses:
            return False
        return all(self._is_harmless(use) for use in self._uses[name])

    def _is_harmless(self, use: cst.Name) -> bool:
        up = self._facts.parents[use]
        if type(up) is cst.AssignTarget:
            assign = self._facts.parents[up]
            return type(assign) is cst.Assign and len(assign.targets) == 1 and self._is_new(assign.value)
        if type(up) is cst.AnnAssign:
            return up.value is not None and self._is_new(up.value)
        if type(up) is cst.Attribute:
            call = self._facts.parents[up]
            return up.attr is use or (type(call) is cst.Call and up.attr.value in STAGED_METHODS)
        if type(up) is cst.Subscript:
            return up.value is use
        if type(up) is cst.Index:
            return True
        if type(up) is cst.Arg:
            return self._only_reads(up)
        if type(up) in (cst.Return, cst.Element):
            return self._is_taken_apart(up)
        return type(up) in (cst.For, cst.CompFor, cst.While, cst.If, cst.UnaryOperation, cst.AugAssign)

    def _is_new(self, value: cst.BaseExpression) -> bool:
        """Return whether an expression certainly makes a new list."""
        if type(value) in (cst.List, cst.ListComp):
            return True
        if type(value) is cst.BinaryOperation and type(value.operator) is cst.Multiply:
            return type(value.left) is cst.List or type(value.right) is cst.List
        return type(value) is cst.Call and type(value.func) is cst.Name and value.func.value == "list"

    def _only_reads(self, arg: cst.Arg) -> bool:
        """Return whether a call with the list as argument certainly does not keep the list."""
        call = self._facts.parents[arg]
        if type(call) is not cst.Call or arg.star:
            return False
        if self._facts.imports.numpy_name(call.func) is not None:
            return True
        if type(call.func) is cst.Attribute:
            return call.func.attr.value == "append" and self._is_finished(arg)
        if type(call.func) is not cst.Name:
            return False
        return self._facts.scopes.owner(call.func) is None

    def _is_finished(self, arg: cst.Arg) -> bool:
        """Return whether `rows.append(row)` gets a list that nothing changes before it is bound anew."""
        use = arg.value
        if type(use) is not cst.Name:  # a tuple that holds it: who takes that apart is not followed
            return False
        other_uses = [other_use for other_use in self._uses[use.value] if other_use is not use]
        bindings = [
            other_use for other_use in other_uses if type(self._facts.parents[other_use]) is cst.AssignTarget
        ]
        here = self._facts.position(use)
        changes = [
            other_use for other_use in other_uses if other_use not in bindings and self._changes(other_use)
        ]
        return any(self._loop(binding) is self._loop(use) for binding in bindings) and all(
            self._facts.position(change) < here for change in changes
        )

    def _changes(self, use: cst.Name) -> bool:
        up = self._facts.parents[use]
        if type(up) is cst.Subscript:
            return type(self._facts.parents[up]) in (cst.AssignTarget, cst.AugAssign)
        return type(up) in (cst.Attribute, cst.AugAssign)

    def _loop(self, node: cst.CSTNode | None) -> cst.CSTNode | None:
        """Return the innermost loop around a node."""
        while node is not None and type(node) not in (cst.For, cst.While):
            node = self._facts.parents[node]
        return node

    def _is_taken_apart(self, node: cst.CSTNode | None) -> bool:
        """Return whether the list, alone or in a tuple or list, leaves the function or becomes an array."""
        while isinstance(node, (cst.Element, cst.Tuple, cst.List)):
            node = self._facts.parents[node]
        return type(node) is cst.Return or (type(node) is cst.Arg and self._only_reads(node))

    def is_list(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is the name of a private list."""
        return (
            type(node) is cst.Name and self._facts.kinds.kind(node) is Kind.CONTAINER and node.value in self
        )


# -- refusals ------------------------------------------------------------------------------------------------
# Statements and calls that a lowered construct may not contain, because running it as a graph would change
# its meaning.

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

    The effects of `unknown` callees are reported while staging; `methods` may be named like a list's.
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
        """Raise CannotLower if `node` contains a part that cannot be lowered."""
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
            return "an assignment in its test that runs only sometimes"
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
                    return f"a write to `{self._facts.code(target.value)}`, a Python container"
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
        """Raise CannotLower if an expression in a lambda calls an inner function that rebinds names."""
        for node in expressions:
            caller = self._closures.rebinding_function(node)
            if caller is not None:
                raise CannotLower(
                    "NP2TF301", node, kind="expression", reason=f"`{caller}`, which rebinds names around it"
                )

    def check_walrus(self, expressions: Iterable[cst.CSTNode]) -> None:
        """Raise CannotLower if an assignment would end up inside a lambda."""
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


# -- partially rebound ---------------------------------------------------------------------------------------
# Refuses constructs under `try` whose variables are needed after an exception has left the construct.
#
# A lowered construct becomes a helper function. The names that it binds before an exception are lost with
# the helper, whereas Python would keep them. The analysis uses the user's own text.

_NO_NAMES: Names = frozenset()
_NO_JUMPS = Jumps()


def refuse_half_changed(body: Sequence[cst.CSTNode], marks: Marks) -> None:
    """Raise CannotLower if a name that a lowered construct binds is needed after an exception."""
    _look(body, _NO_NAMES, _NO_JUMPS, marks)


def _look(body: Sequence[cst.CSTNode], after: Names, jumps: Jumps, marks: Marks) -> None:
    live = after
    for statement in reversed(body):
        if any(type(part) is cst.Try for part in walk(statement)):
            _statement(statement, live, jumps, marks)
        live = live_before([statement], live, jumps)


def _statement(node: cst.CSTNode, after: Names, jumps: Jumps, marks: Marks) -> None:
    if type(node) is cst.Try:
        _check(node, after, jumps, marks)
        # The checks of inner constructs concern the code behind the whole `try`.
        for suite in blocks(node):
            _look(statements_of(suite), after | live_when_left(node, after, jumps), jumps, marks)
    elif type(node) is cst.FunctionDef:
        _look(statements_of(node.body), _NO_NAMES, _NO_JUMPS, marks)
    for statements, behind, inner_jumps in inner_blocks(node, after, jumps):
        _look(statements, behind, inner_jumps, marks)


def _check(node: cst.Try, after: Names, jumps: Jumps, marks: Marks) -> None:
    body = statements_of(node.body)
    constructs = [
        part for part in walk(node.body) if part in marks and type(part) in (cst.If, cst.For, cst.While)
    ]
    # The code behind a jump becomes the other branch.
    helpers = body if any(list(jumps_in([part])) for part in constructs) else constructs
    names = sorted(rebound(helpers) & live_when_left(node, after, jumps))
    if names:
        reason = f"`{names[0]}`, which is needed after an exception has left a loop or branch"
        raise CannotLower("NP2TF301", node, kind="try", reason=reason)
