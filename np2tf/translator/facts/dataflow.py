"""Reads, writes, definite assignment, liveness and counters within one function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from np2tf.translator.tree.nodes import children, memoize, target_names, walk

# -- declarations --------------------------------------------------------------------------------------------
# The names that a function itself declares `global` or `nonlocal`, without the functions inside it.

Declaration = type[cst.Global] | type[cst.Nonlocal]
#: Nodes with statements in them; declarations of the function itself are in no others.
_BLOCKS = frozenset({
    cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.If, cst.Else, cst.For,
    cst.While, cst.With, cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally,
    cst.Match, cst.MatchCase,
})  # fmt: skip


def declared_names(function: cst.FunctionDef, *kinds: Declaration) -> frozenset[str]:
    """Return the names in the function's own declarations of these kinds."""
    return frozenset(name for kind, name in _declarations(function) if kind in kinds)


@memoize
def _declarations(function: cst.CSTNode) -> list[tuple[type[cst.CSTNode], str]]:
    names: list[tuple[type[cst.CSTNode], str]] = []
    stack: list[cst.CSTNode] = [function.body]  # type: ignore[attr-defined]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is cst.Global or kind is cst.Nonlocal:
            names += [(kind, item.name.value) for item in top.names]  # type: ignore[attr-defined]
        elif kind in _BLOCKS:
            stack.extend(children(top))
    return names


# -- reads writes --------------------------------------------------------------------------------------------
# Reads, writes, liveness and definite assignment, statement by statement, within one function.
#
# These functions work on plain libcst nodes, so that they serve the user's tree and a tree that other
# rewrites have already edited. Only names are followed. A store through a name (`x[i] = v`) both reads and
# writes that name, because after translation it is a rebinding.

Names = frozenset[str]
NO_NAMES: Names = frozenset()
#: Methods that change the list, dict or set that they are called on.
GROWS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "update",
        "setdefault",
        "popitem",
        "discard",
        "reverse",
    ]
)
#: Attributes of an array that are views of it.
VIEWS = frozenset({"T", "real", "imag", "flat"})
_COMPREHENSIONS = frozenset({cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp})
_SCOPES = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def block(node: cst.CSTNode | None) -> Sequence[cst.CSTNode]:
    """Return the statements of a body, an `else`, or an `elif` (a single `if` statement)."""
    if type(node) is cst.IndentedBlock or type(node) is cst.SimpleStatementSuite:
        return node.body
    if node is None:
        return ()
    if type(node) is cst.If:
        return (node,)
    if type(node) is cst.Else or type(node) is cst.Finally:
        return block(node.body)
    raise TypeError(type(node).__name__)


def parameters(params: cst.Parameters) -> list[str]:
    """Return the names a function's parameters bind."""
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    every += [star for star in (params.star_arg, params.star_kwarg) if type(star) is cst.Param]
    return [param.name.value for param in every]


def bound_targets(target: cst.CSTNode) -> list[str]:
    """Return the names an assignment target binds outright (not those it stores through), in order."""
    if type(target) is cst.Name:
        return [target.value]
    if type(target) is cst.Tuple or type(target) is cst.List:
        return [name for element in target.elements for name in bound_targets(element.value)]
    return []


def stored_through(target: cst.CSTNode) -> list[str]:
    """Return the base names of the subscripts and attributes that an assignment target stores into.

    A store into an attribute of an object gives no name: it changes the object, not the binding of its name.
    """
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in stored_through(element.value)]
    base = target
    while isinstance(base, (cst.Subscript, cst.Attribute)):
        if isinstance(base, cst.Attribute) and base.attr.value not in VIEWS:
            return []
        base = base.value
    return [base.value] if isinstance(base, cst.Name) and base is not target else []


def target_reads(target: cst.CSTNode) -> Names:
    if type(target) is cst.Name:
        return NO_NAMES
    if isinstance(target, (cst.Tuple, cst.List)):
        return union_of(target_reads(element.value) for element in target.elements)
    return reads(target)


def union_of(sets: Iterable[Names]) -> Names:
    return NO_NAMES.union(*sets)


#: The nodes that `binds_here` may find names in. Most nodes are of other classes.
_BINDING = frozenset({
    cst.AssignTarget, cst.AugAssign, cst.For, cst.CompFor, cst.AnnAssign, cst.NamedExpr, cst.Call, cst.Del,
    cst.FunctionDef, cst.ClassDef, cst.AsName, cst.ImportAlias, cst.MatchAs, cst.MatchStar, cst.MatchMapping,
})  # fmt: skip

_WITH_TARGET = frozenset({cst.AssignTarget, cst.AugAssign, cst.For, cst.AnnAssign, cst.Del})


def binds_here(node: cst.CSTNode) -> list[str]:
    """Return the names that this one node binds or stores through, without looking below it."""
    if type(node) not in _BINDING:
        return []
    if isinstance(node, (cst.AugAssign, cst.For, cst.CompFor, cst.AnnAssign)):
        if isinstance(node, cst.AnnAssign) and node.value is None:
            return []
        return bound_targets(node.target) + stored_through(node.target)
    if isinstance(node, cst.NamedExpr):
        return bound_targets(node.target)
    if isinstance(node, cst.Call):
        return _changed_names(node)
    if isinstance(node, (cst.AssignTarget, cst.Del)):
        return bound_targets(node.target) + stored_through(node.target)
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return [node.name.value]
    if isinstance(node, cst.AsName):
        return bound_targets(node.name)
    if isinstance(node, cst.ImportAlias):
        name = node.name
        while isinstance(name, cst.Attribute):
            name = name.value  # type: ignore[assignment]
        return [] if node.asname else [name.value]
    if isinstance(node, (cst.MatchAs, cst.MatchStar)):
        return [node.name.value] if node.name else []
    if isinstance(node, cst.MatchMapping):
        return [node.rest.value] if node.rest else []
    return []


def _changed_names(call: cst.Call) -> list[str]:
    """Return the name of the list, dict or set that a method call changes, if it is a plain name."""
    func = call.func
    if type(func) is not cst.Attribute or func.attr.value not in GROWS:
        return []
    return [func.value.value] if type(func.value) is cst.Name else []


def ordered_writes(nodes: Iterable[cst.CSTNode]) -> list[str]:
    """The names possibly written by `nodes` in this scope, in order of first writing."""
    return list(dict.fromkeys(name for node in nodes for name in _writes(node)))


@memoize
def _writes(top: cst.CSTNode) -> tuple[str, ...]:
    """Return what `ordered_writes` finds in one node."""
    names: dict[str, None] = {}

    def visit(node: cst.CSTNode, in_comprehension: bool) -> None:
        kind = type(node)
        comprehension = in_comprehension or kind in _COMPREHENSIONS
        if kind in _BINDING and not (in_comprehension and kind is cst.CompFor):
            names.update(dict.fromkeys(binds_here(node)))
        if kind in _SCOPES:
            return
        for child in children(node):
            visit(child, comprehension)

    visit(top, False)
    return tuple(names)


def writes(nodes: Iterable[cst.CSTNode]) -> Names:
    """Return the names possibly written by `nodes` in this scope."""
    return frozenset(ordered_writes(nodes))


def function_locals(function: cst.FunctionDef) -> Names:
    """Return the names local to a function: its parameters, and the names that its body binds outright."""
    return _function_locals(function)


@memoize
def _function_locals(function: cst.CSTNode) -> Names:
    assert type(function) is cst.FunctionDef
    names = frozenset(parameters(function.params)) | rebound(block(function.body))
    return names - declared_names(function, cst.Global, cst.Nonlocal)


def rebound(body: Iterable[cst.CSTNode]) -> Names:
    """Return the names that statements bind outright. A store through a name is not included."""
    names: set[str] = set()

    def visit(node: cst.CSTNode, in_comprehension: bool) -> None:
        kind = type(node)
        if kind in _BINDING and not (in_comprehension and kind is cst.CompFor):
            if kind in _WITH_TARGET:
                names.update(bound_targets(node.target))  # type: ignore[attr-defined]
            elif kind is not cst.Call:
                names.update(binds_here(node))
        if kind in _SCOPES:
            return
        comprehension = in_comprehension or kind in _COMPREHENSIONS
        for child in children(node):
            visit(child, comprehension)

    for node in body:
        visit(node, False)
    return frozenset(names)


#: The nodes that read what one part of them reads …
_READ_THROUGH = frozenset({cst.Attribute, cst.Arg, cst.NamedExpr})
#: … and nodes that do not read all their parts.
_READ_OTHERWISE = frozenset({
    cst.AugAssign, cst.AssignTarget, cst.AnnAssign, cst.For, cst.Lambda, cst.FunctionDef, *_COMPREHENSIONS,
    cst.AsName, cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal,
    cst.MatchAs, cst.MatchStar, cst.MatchMapping, cst.ClassDef,
})  # fmt: skip


def reads(node: cst.CSTNode | None) -> Names:
    """Return the names that `node`, with its nested scopes, may read from the scope around it."""
    if node is None:
        return NO_NAMES
    kind = type(node)
    if kind is cst.Name:
        return frozenset((node.value,))  # type: ignore[attr-defined]
    if kind in _READ_THROUGH:
        return reads(node.value)  # type: ignore[attr-defined]
    return _reads(node)


@memoize
def _reads(node: cst.CSTNode) -> Names:
    """Return what `reads` finds in a node with several parts, in a node that binds names, or in a scope."""
    if type(node) not in _READ_OTHERWISE:
        return NO_NAMES.union(*map(reads, children(node)))
    if type(node) is cst.AugAssign:
        return reads(node.target) | reads(node.value)
    if type(node) is cst.AssignTarget:
        return target_reads(node.target)
    if type(node) is cst.AnnAssign:
        return target_reads(node.target) | reads(node.value)
    if type(node) is cst.For:
        parts = (reads(part) for part in (node.iter, *block(node.body), *block(node.orelse)))
        return target_reads(node.target) | union_of(parts)
    if isinstance(node, (cst.Lambda, cst.FunctionDef, *_COMPREHENSIONS)):
        return _nested_reads(node)
    if type(node) in (cst.AsName, cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal):
        return NO_NAMES
    if type(node) in (cst.MatchAs, cst.MatchStar, cst.MatchMapping):
        return union_of(reads(child) for child in children(node) if type(child) is not cst.Name)
    if type(node) is cst.ClassDef:
        return union_of(reads(child) for child in children(node) if child is not node.name)
    raise TypeError(node)


def _nested_reads(node: cst.CSTNode) -> Names:
    if type(node) is cst.Lambda:
        inner = reads(node.body) - frozenset(parameters(node.params))
        return inner | _default_reads(node.params)
    if type(node) is cst.FunctionDef:
        body = union_of(reads(statement) for statement in block(node.body)) - function_locals(node)
        return (
            body | _default_reads(node.params) | union_of(reads(item.decorator) for item in node.decorators)
        )
    element = (node.key, node.value) if type(node) is cst.DictComp else (node.elt,)  # type: ignore[attr-defined]
    loop: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
    names, targets = union_of(reads(part) for part in element), set[str]()
    while loop is not None:
        names |= union_of(reads(part) for part in (loop.iter, *loop.ifs))
        targets.update(bound_targets(loop.target))
        loop = loop.inner_for_in
    return (names - targets) | reads(node.for_in.iter)  # type: ignore[attr-defined]


def _default_reads(params: cst.Parameters) -> Names:
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    return union_of(reads(param.default) for param in every)


def free_names(function: cst.FunctionDef | cst.Lambda) -> Names:
    """Return the names that a nested function or lambda reads from the scopes around it when it is called."""
    if isinstance(function, cst.Lambda):
        return reads(function.body) - frozenset(parameters(function.params))
    return union_of(reads(statement) for statement in block(function.body)) - function_locals(function)


@memoize
def assigned_first(node: cst.CSTNode) -> Names:
    """Return the names that an expression's `:=` certainly assigns before anything in it reads them."""
    if not any(type(part) is cst.NamedExpr for part in walk(node)):
        return NO_NAMES
    names: set[str] = set()
    certain: set[str] = set()

    def visit(part: cst.CSTNode, sure: bool) -> None:
        if isinstance(part, cst.NamedExpr):
            visit(part.value, sure)
            name = part.target.value if isinstance(part.target, cst.Name) else ""
            if sure and name not in names:
                certain.add(name)
            names.add(name)
        elif isinstance(part, cst.Name):
            names.add(part.value)
        elif isinstance(part, (cst.BooleanOperation, cst.IfExp)):
            first, *later = (part.left, part.right) if isinstance(part, cst.BooleanOperation) else (
                part.test, part.body, part.orelse)  # fmt: skip
            visit(first, sure)
            for node_behind in later:
                visit(node_behind, False)
        else:
            nested = isinstance(part, (cst.Lambda, *_COMPREHENSIONS))
            for child in children(part):
                visit(child, sure and not nested)

    visit(node, True)
    return frozenset(certain)


# -- binding -------------------------------------------------------------------------------------------------
# Definite assignment: the names that are certainly bound behind statements, within one function.


def bound_after(statements: Sequence[cst.CSTNode], before: Names) -> Names | None:
    """Return the names certainly bound behind `statements`; None where control never gets there."""
    names: Names | None = before
    for statement in statements:
        if names is None:
            return None
        names = _bound_out(statement, names)
    return names


def _bound_out(node: cst.CSTNode, before: Names) -> Names | None:
    if type(node) is cst.SimpleStatementLine:
        return bound_after(node.body, before)
    if type(node) in (cst.Return, cst.Raise, cst.Break, cst.Continue):
        return None
    if type(node) is cst.If:
        bound_in_body, bound_otherwise = (
            bound_after(block(node.body), before),
            bound_after(block(node.orelse), before),
        )
        if bound_in_body is None or bound_otherwise is None:
            return bound_otherwise if bound_in_body is None else bound_in_body
        return bound_in_body & bound_otherwise
    if type(node) is cst.With:
        return bound_after(block(node.body), before | writes(node.items))
    if type(node) is cst.Match and _takes_all(node.cases[-1]):
        ends = [bound_after(block(case.body), before | writes((case.pattern,))) for case in node.cases]
        reachable_ends = [end for end in ends if end is not None]
        return reachable_ends[0].intersection(*reachable_ends) if reachable_ends else None
    if type(node) is cst.Try:
        return _bound_behind_try(node, before)
    if type(node) in (cst.While, cst.For, cst.TryStar, cst.Match):
        return before
    if type(node) is cst.Del:
        return before - writes((node,))
    if type(node) in (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.FunctionDef, cst.ClassDef):
        return before | writes((node,))
    if type(node) in (cst.Import, cst.ImportFrom):
        return before | writes((node,))
    return before


def _bound_behind_try(node: cst.Try, before: Names) -> Names | None:
    ends = [bound_after([*block(node.body), *block(node.orelse)], before)]
    ends += [bound_after(block(handler.body), before) for handler in node.handlers]
    reachable_ends = [end for end in ends if end is not None]
    final = bound_after(
        block(node.finalbody), reachable_ends[0].intersection(*reachable_ends) if reachable_ends else before
    )
    return final if reachable_ends else None


def _takes_all(case: cst.MatchCase) -> bool:
    """Return whether a case matches every subject: `case _` or `case name` without a guard."""
    return type(case.pattern) is cst.MatchAs and case.pattern.pattern is None and case.guard is None


# -- liveness ------------------------------------------------------------------------------------------------
# Liveness: the names whose values are still needed at a statement, within one function.


@dataclass(frozen=True)
class Jumps:
    """The names that are live at the targets of `break` and `continue`."""

    at_break: Names = NO_NAMES
    at_continue: Names = NO_NAMES


def live_before(statements: Sequence[cst.CSTNode], after: Names, jumps: Jumps = Jumps()) -> Names:
    """Return the names whose value is needed before `statements`, when `after` is needed behind them."""
    live = after
    for statement in reversed(statements):
        live = _live_in(statement, live, jumps)
    return live


#: The most usual statements without blocks.
_SMALL = frozenset({cst.Assign, cst.AugAssign, cst.Expr, cst.Return, cst.Raise})


def _live_in(node: cst.CSTNode, after: Names, jumps: Jumps) -> Names:
    if type(node) is cst.SimpleStatementLine:
        return live_before(node.body, after, jumps)
    if type(node) in _SMALL:
        return _live_small(node, after, jumps)
    if isinstance(node, cst.If):
        branches = live_before(block(node.body), after, jumps) | live_before(block(node.orelse), after, jumps)
        return (branches | reads(node.test)) - assigned_first(node.test)
    if isinstance(node, (cst.While, cst.For)):
        return _live_loop(node, after, jumps)
    if isinstance(node, (cst.Try, cst.TryStar)):
        live_names = live_when_left(node, after, jumps)
        behind = live_before(block(node.finalbody), after, jumps)
        # The handlers may be entered from anywhere in the body, its `else` only from its end.
        at_end = live_names | live_before(block(node.orelse), behind, jumps)
        return live_names | live_before(block(node.body), at_end, jumps)
    if isinstance(node, cst.With):
        live = live_before(block(node.body), after, jumps)
        for item in reversed(node.items):
            target = item.asname.name if item.asname is not None else None
            targets = NO_NAMES if target is None else frozenset(name.value for name in target_names(target))
            live = (live - targets) | (reads(target) - targets) | reads(item.item)
        return live
    if isinstance(node, cst.Match):
        cases = [live_before(block(case.body), after, jumps) | reads(case.guard) for case in node.cases]
        return union_of([after, reads(node.subject), *cases])
    return _live_small(node, after, jumps)


def inner_blocks(
    node: cst.CSTNode, after: Names, jumps: Jumps
) -> Iterator[tuple[Sequence[cst.CSTNode], Names, Jumps]]:
    """Yield the statements of each inner block, the names needed behind it, and its jumps.

    A `try` yields nothing, because an exception may leave its blocks after any statement.
    """
    if isinstance(node, cst.If):
        yield block(node.body), after, jumps
        yield block(node.orelse), after, jumps
    elif isinstance(node, (cst.While, cst.For)):
        head = loop_head(node, after, jumps)
        yield block(node.body), head, Jumps(after, head)
        yield block(node.orelse), after, jumps
    elif isinstance(node, cst.With):
        yield block(node.body), after, jumps
    elif isinstance(node, cst.Match):
        for case in node.cases:
            yield block(case.body), after, jumps


def live_when_left(node: cst.Try | cst.TryStar, after: Names, jumps: Jumps) -> Names:
    """Return the names that are needed when an exception has left the body of a `try`."""
    behind = live_before(block(node.finalbody), after, jumps)
    live_names = live_before(block(node.finalbody), NO_NAMES, jumps)
    for handler in node.handlers:
        handler_name = writes([handler.name]) if handler.name is not None else NO_NAMES
        live_names |= (live_before(block(handler.body), behind, jumps) - handler_name) | reads(handler.type)
    return live_names


def _live_small(node: cst.CSTNode, after: Names, jumps: Jumps) -> Names:
    if type(node) is cst.Break:
        return jumps.at_break
    if type(node) is cst.Continue:
        return jumps.at_continue
    if type(node) is cst.Return or type(node) is cst.Raise:
        return reads(node)
    bound_names, read_names, assigned_names = _names_of_small(node)
    return ((after - bound_names) | read_names) - assigned_names


@memoize
def _names_of_small(node: cst.CSTNode) -> tuple[Names, Names, Names]:
    """Return the names that a simple statement binds, reads, and assigns by `:=` before reading them."""
    if type(node) is cst.Assign:
        targets = frozenset(name for target in node.targets for name in bound_targets(target.target))
        return targets, reads(node), assigned_first(node.value)
    if type(node) is cst.AnnAssign:
        return frozenset(bound_targets(node.target) if node.value else ()), reads(node), NO_NAMES
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return frozenset((node.name.value,)), reads(node), NO_NAMES
    return NO_NAMES, reads(node), assigned_first(node)


def _live_loop(node: cst.While | cst.For, after: Names, jumps: Jumps) -> Names:
    head = loop_head(node, after, jumps)
    return head | reads(node.iter) if type(node) is cst.For else head


def loop_head(node: cst.While | cst.For, after: Names, jumps: Jumps = Jumps()) -> Names:
    """Return the names live where a loop decides on another iteration; a `for` target is not yet bound."""
    leave = live_before(block(node.orelse), after, jumps)
    head = leave
    while True:
        body = live_before(block(node.body), head, Jumps(after, head))
        if isinstance(node, cst.For):
            new_head = leave | (body - set(bound_targets(node.target))) | target_reads(node.target)
        else:
            new_head = (leave | body | reads(node.test)) - assigned_first(node.test)
        if new_head <= head:
            return head
        head |= new_head


# -- counters ------------------------------------------------------------------------------------------------
# Names that are plain numbers wherever a function binds them: counters such as ``n = 0`` and ``n += 1``.
#
# For any other name, ``n += 1`` may write into an array that other names refer to as well.


def counters(function: cst.FunctionDef) -> Names:
    """Return the local names bound only to number literals, and changed only by adding them."""
    candidates: set[str] = set()
    other_names = {*parameters(function.params), *declared_names(function, cst.Global, cst.Nonlocal)}
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        kind = type(node)
        name = (
            _start_target(node)
            if kind is cst.Assign
            else _step_target(node)
            if kind is cst.AugAssign
            else None
        )
        if name is not None:
            candidates.add(name)
            continue
        other_names.update(binds_here(node))
        if kind in _SCOPES:
            inner = [part for part in walk(node) if isinstance(part, (cst.Nonlocal, cst.Global))]
            other_names.update(item.name.value for part in inner for item in part.names)
        else:
            stack += children(node)
    return frozenset(candidates - other_names)


def step_of(node: cst.CSTNode) -> str | None:
    """Return ``n + 1`` for a statement ``n += 1`` whose right side is a number literal."""
    name = _step_target(node)
    if name is None or type(node) is not cst.AugAssign:
        return None
    sign = "+" if type(node.operator) is cst.AddAssign else "-"
    return f"{name} {sign} {cst.Module([]).code_for_node(node.value)}"


def _step_target(node: cst.CSTNode) -> str | None:
    if type(node) is not cst.AugAssign or type(node.operator) not in (cst.AddAssign, cst.SubtractAssign):
        return None
    number = type(node.value) in (cst.Integer, cst.Float)
    return node.target.value if number and type(node.target) is cst.Name else None


def _start_target(node: cst.CSTNode) -> str | None:
    if type(node) is not cst.Assign or len(node.targets) != 1:
        return None
    target, value = node.targets[0].target, node.value
    if type(value) is cst.UnaryOperation and type(value.operator) is cst.Minus:
        value = value.expression
    number = type(value) in (cst.Integer, cst.Float)
    return target.value if number and type(target) is cst.Name else None
