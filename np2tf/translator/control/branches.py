"""Lowers `if` and `assert` to `np2tf.cond`, and chains of `elif` to `np2tf.case`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING, TypeGuard

import libcst as cst

from np2tf.translator.control.conditions import bare
from np2tf.translator.control.construct import SmallConstruct, StatementConstruct
from np2tf.translator.control.jumps import is_bool, jumps_in, leaves
from np2tf.translator.control.layout import (
    assignment_target,
    blank,
    call,
    code,
    comment_of,
    else_of,
    footer_of,
    has_comment,
    helper,
    line,
    rebind_parameters,
    rename_parameters,
    return_statement,
    statements_of,
    with_footer,
)
from np2tf.translator.control.scope import CannotLower, Scope
from np2tf.translator.facts.dataflow import NO_NAMES, Names, live_before, reads, step_of, writes
from np2tf.translator.tree.blanks import is_blank_line
from np2tf.translator.tree.nodes import walk
from np2tf.translator.tree.templates import Statement

if TYPE_CHECKING:
    from np2tf.translator.control.decide import Decider
    from np2tf.translator.control.lower import Lowering

# -- assert  -------------------------------------------------------------------------------------------------
# `assert` becomes `np2tf.cond(test, lambda: None, otherwise)`, where `otherwise` raises.


def is_assert_lowered(judge: Decider, node: cst.Assert) -> bool:
    """Return whether the test may be an array's value."""
    return not judge.static.probably(node.test)


def lower_assert(
    lowering: Lowering, node: cst.Assert, scope: Scope, leading_lines: Sequence[cst.EmptyLine]
) -> list[Statement]:
    """Return the helper that raises, and the call of `np2tf.cond`."""
    name = lowering.naming.name("otherwise")
    message = f"({code(node.msg)})" if node.msg is not None else ""
    arguments = [code(node.test), "lambda: None", name]
    return [
        helper(name, (), [line(f"raise AssertionError{message}")], leading_lines),
        line(call("", "np2tf.cond", arguments, scope.depth, scope.width), blank()),
    ]


#: The row of `constructs.py`.
ASSERT = {cst.Assert: SmallConstruct(is_assert_lowered, lower_assert)}


# -- chain ---------------------------------------------------------------------------------------------------
# The tests of an `if` with its `elif`s, in order, and their branches.
#
# A test that is written as a value is evaluated before the others are decided, so only tests that surely
# evaluate are; every other test becomes a lambda.

_NOT_IN_LAMBDA = (cst.NamedExpr, cst.Await, cst.Yield)
_ORDERINGS = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual)


@dataclass
class _Chain:
    """The links of a chain: each test, the `if` or `else` of each branch, and the statements of each."""

    tests: list[str]
    owners: list[cst.If | cst.Else | None]
    sources: list[list[Statement]]


def _chain_of(lowering: Lowering, node: cst.If, scope: Scope) -> _Chain:
    links = [node]
    while (next_link := _next_link(links[-1])) is not None and _follows(lowering, node, next_link):
        links.append(next_link)
    last = links[-1]
    tests = [code(bare(link.test)) for link in links]
    if len(links) > 1:
        is_plain = is_bool(node.test) or getattr(node.test, "value", None) in scope.added_names
        tests = [
            text if (is_plain if link is node else _is_safe(link.test, node.test)) else f"lambda: {text}"
            for link, text in zip(links, tests)
        ]
    sources = [_without_pass(statements_of(link)) for link in links]
    default = last.orelse if type(last.orelse) is cst.Else else None
    return _Chain(tests, [*links, default], [*sources, _without_pass(else_of(last))])


def _next_link(link: cst.If) -> cst.If | None:
    """Return the `if` that is all of an `elif` or `else`, if nothing would lose a comment."""
    orelse = link.orelse
    if type(orelse) is not cst.Else:
        return orelse  # type: ignore[return-value]
    body = statements_of(orelse)
    comments = [comment_of(orelse.body), *footer_of(orelse), *orelse.leading_lines]
    is_bare = not any(part is not None and has_comment(part) for part in comments)
    return body[0] if is_bare and len(body) == 1 and type(body[0]) is cst.If else None


def _follows(lowering: Lowering, first: cst.If, link: cst.If) -> bool:
    """Return whether an `if` can be a link of a chain: its test may be a lambda, and rebinds nothing."""
    if link not in lowering.marks or lowering.closures.rebinding_function(link.test) is not None:
        return False
    parts = [*walk(link.test), *(() if is_bool(first.test) else walk(first.test))]
    return not any(isinstance(part, _NOT_IN_LAMBDA) for part in parts)


def _is_safe(test: cst.BaseExpression, first: cst.BaseExpression) -> bool:
    """Return whether a test can be evaluated wherever the first test of its chain has been.

    It is a comparison of numbers and of names with which the first test computes. What it orders can be
    ordered: the first test does so, with numbers if this one has numbers.
    """
    if not _is_one_comparison(test) or not _is_one_comparison(first):
        return False
    if not all(map(_is_simple, _sides(test))) or not all(map(_is_arithmetic, _sides(first))):
        return False
    if not reads(test) <= reads(first):
        return False
    return not _orders(test) or (_orders(first) and _has_number(test) <= _has_number(first))


def _is_one_comparison(test: cst.BaseExpression) -> TypeGuard[cst.Comparison]:
    is_one = type(test) is cst.Comparison and len(test.comparisons) == 1
    return is_one and isinstance(test.comparisons[0].operator, (cst.Equal, cst.NotEqual, *_ORDERINGS))  # type: ignore[attr-defined]


def _orders(test: cst.Comparison) -> bool:
    return isinstance(test.comparisons[0].operator, _ORDERINGS)


def _sides(test: cst.Comparison) -> tuple[cst.BaseExpression, cst.BaseExpression]:
    return test.left, test.comparisons[0].comparator


def _is_simple(side: cst.BaseExpression) -> bool:
    """Return whether an expression is a name or a number."""
    if type(side) is cst.UnaryOperation and type(side.operator) is cst.Minus:
        return isinstance(side.expression, cst.BaseNumber)
    return isinstance(side, (cst.Name, cst.BaseNumber))


def _is_arithmetic(side: cst.BaseExpression) -> bool:
    """Return whether an expression only computes with names and numbers."""
    if type(side) is cst.BinaryOperation:
        return _is_arithmetic(side.left) and _is_arithmetic(side.right)
    return _is_simple(side)


def _has_number(node: cst.CSTNode) -> bool:
    return any(isinstance(part, cst.BaseNumber) for part in walk(node))


# -- branch --------------------------------------------------------------------------------------------------
# Lowers `if` to `names = np2tf.cond(test, then, otherwise, *operands)`, and a chain to
# `names = np2tf.case([(test, branch), …], default, *operands)`; a branch with one expression is a lambda.

_SHORT = 40


@dataclass
class _Branch:
    """One branch of an `if` while it is made into an argument of `np2tf.cond` or `np2tf.case`."""

    owner: cst.CSTNode | None
    source: list[Statement]
    statements: list[Statement]
    own_names: Names
    counters: Names
    """The names that are plain numbers, for which `n += 1` is the same as `n = n + 1`."""
    shared_names: list[str]
    """The names that inner functions see when this branch calls them."""
    leading_comments: Sequence[cst.EmptyLine] = ()
    """The comments above an `elif` or `else`."""

    @property
    def header(self) -> cst.TrailingWhitespace | None:
        """The comment behind the colon."""
        return comment_of(self.owner.body) if isinstance(self.owner, (cst.If, cst.Else)) else None

    @property
    def has_comment(self) -> bool:
        """True if the branch has a comment that a lambda would lose."""
        inside = [*self.statements, *self.leading_comments, *footer_of(self.owner)]
        return self.header is not None or any(has_comment(part) for part in inside)


def is_if_lowered(judge: Decider, node: cst.If) -> bool:
    """Return whether the test may be an array's value; CannotLower if the `if` must be lowered and cannot."""
    if judge.static(node.test):
        return False
    if _stays(judge, node) and judge.static.probably(node.test):
        return False  # a number from the caller: usually known while staging
    if judge.reason(node) is not None and judge.is_setting(node.test):
        return False  # if the test turns out to depend on an array, staging fails there
    judge.check(node)
    return True


def _stays(judge: Decider, node: cst.If) -> bool:
    """Return whether an `if` should stay Python: it cannot be lowered, ends a recursion, or may raise."""
    if judge.reason(node) is not None or reads(node.test) & judge.counters:
        return True
    return any(type(part) is cst.Raise for part in walk(node))


def lower_if(lowering: Lowering, node: cst.If, live: Names, scope: Scope, tail: bool) -> list[Statement]:
    """Return the helpers and the call for an `if` with its `elif`s."""
    chain = _chain_of(lowering, node, scope)
    sources = chain.sources
    returns = bool(list(jumps_in([node])))
    statements = [*sources[0], *_without_pass(else_of(node))]
    variables = lowering.closures.written_names(node, statements, scope)
    if returns:
        if not tail:
            raise CannotLower("NP2TF303", node)  # it leaves a `with` block
        late = sorted(scope.outer_names & set(variables))
        if late:
            reason = f"a return after a write to `{late[0]}`, which is nonlocal"
            raise CannotLower("NP2TF301", node, kind="if", reason=reason)
        _same_kind_of_return(node, sources)
    shared_names = lowering.closures.shared_names(node, statements, variables, scope)
    live |= lowering.closures.kept_names(statements, scope) | frozenset(shared_names)
    after: Names = frozenset() if returns else live
    goes_on = writes([part for source in sources if not _raises(source) for part in source])
    outputs = (
        []
        if returns
        else [name for name in variables if name in live and (name in goes_on or name in shared_names)]
    )
    lowering.closures.check_leaving(node, variables, outputs)
    needed_names = NO_NAMES.union(*(_needed_names(source, variables, outputs, after) for source in sources))
    operands = [name for name in variables if name in shared_names or name in needed_names]

    branches = []
    for owner, source in zip(chain.owners, sources):
        inner = scope.helper(source, operands)
        body = _add_return(lowering.scope_body(source, after, inner, tail=returns), outputs)
        closure_names = lowering.closures.shared_names(node, source, shared_names, scope)
        comments = owner.leading_lines if owner is not None and owner is not node else ()
        branches.append(_Branch(owner, source, body, writes(source), scope.counters, closure_names, comments))
    values = [scope.value(name) for name in operands]
    head = "return " if returns else assignment_target(outputs)
    if returns and not any(_returns_value(jump) for jump in jumps_in([node])):
        head = ""
    lowered = _Lowered(chain.tests, branches, outputs, operands, values, head)
    text = None if shared_names else _with_lambdas(lowered, scope)
    return _with_helpers(lowering, node, lowered, scope) if text is None else [line(text, node.leading_lines)]


@dataclass
class _Lowered:
    """A lowered `if` before its branches become lambdas or helpers."""

    tests: list[str]
    branches: list[_Branch]
    outputs: list[str]
    operands: list[str]
    values: list[str]
    """The operands' values where the `if` stands."""
    head: str
    """The text before the call."""

    def call(self, callees: Sequence[str], values: Sequence[str], scope: Scope) -> str:
        """Return the statement that calls the operator."""
        if len(self.tests) == 1:
            operator, arguments = "np2tf.cond", [self.tests[0], *callees, *values]
        else:
            pairs = ", ".join(f"({test}, {callee})" for test, callee in zip(self.tests, callees))
            default = callees[-1] if values else f"default={callees[-1]}"
            operator, arguments = "np2tf.case", [f"[{pairs}]", default, *values]
        return call(self.head, operator, arguments, scope.depth, scope.width)


def _with_lambdas(lowered: _Lowered, scope: Scope) -> str | None:
    """Return the call with a lambda for each branch; None if some branch is no short expression."""
    bindings = dict(zip(lowered.operands, lowered.values))
    texts = [_as_lambda(branch, lowered.outputs, bindings) for branch in lowered.branches]
    lambdas = [text for text in texts if text is not None]
    depth = scope.depth + (1 if len(lowered.tests) == 1 else 3)
    if len(lambdas) < len(texts) or any(len(text) + 4 * depth >= scope.width for text in lambdas):
        return None
    text = lowered.call(lambdas, (), scope)
    is_nested = any(operator in text for text in lambdas for operator in ("np2tf.cond", "np2tf.case"))
    return None if is_nested and "\n" in text else text


def _add_return(body: list[Statement], outputs: Sequence[str]) -> list[Statement]:
    """Return a branch's body, with `return value` instead of a final assignment to its outputs."""
    last = body[-1] if body else None
    if not outputs or type(last) is not cst.SimpleStatementLine or len(last.body) != 1:
        return body
    only = last.body[0]
    if type(only) is not cst.Assign or len(only.targets) != 1:
        return body
    if code(only.targets[0].target) != ", ".join(outputs):
        return body
    return [*body[:-1], last.with_changes(body=[cst.Return(only.value)])]


def _ends_itself(branch: _Branch) -> bool:
    """Return whether a branch's lowered body already ends in a return, or the branch raises."""
    last = branch.statements[-1] if branch.statements else None
    returns = type(last) is cst.SimpleStatementLine and type(last.body[-1]) is cst.Return
    return returns or _raises(branch.source)


def _raises(source: Sequence[Statement]) -> bool:
    """Return whether every path through a branch ends in an exception."""
    return leaves(source) and not list(jumps_in(source))


def _needed_names(
    source: Sequence[Statement], variables: Sequence[str], outputs: Sequence[str], after: Names
) -> Names:
    """Return the variables whose values before the `if` a branch needs."""
    written_names = writes(source)
    handed_on = NO_NAMES if _raises(source) else frozenset(outputs) - written_names
    if written_names.isdisjoint(variables):
        return handed_on
    return handed_on | (written_names & live_before(source, after))


def _returns_value(jump: cst.CSTNode) -> bool:
    return type(jump) is cst.Return and jump.value is not None and code(jump.value) != "None"


def _same_kind_of_return(node: cst.If, sources: Sequence[list[Statement]]) -> None:
    """Raise CannotLower if only some branches return a value: an array and None are not one staged value."""
    value_flags = set()
    for jump in jumps_in([node]):
        value_flags.add(_returns_value(jump))
    if not all(leaves(source) for source in sources):
        value_flags.add(False)
    if len(value_flags) > 1:
        raise CannotLower("NP2TF304", node)


def _as_lambda(branch: _Branch, outputs: Sequence[str], bindings: dict[str, str]) -> str | None:
    """Return the branch as a lambda that reads the names around it; None if it is no single expression."""
    if branch.has_comment:
        return None
    if not branch.source:
        values = [bindings.get(name, name) for name in outputs]
        text = f"({', '.join(values)})" if len(values) > 1 else values[0] if values else "None"
        return f"lambda: {text}"
    if len(branch.statements) != 1:
        return _several_values(branch, outputs, bindings)
    if type(branch.statements[0]) is not cst.SimpleStatementLine or len(branch.statements[0].body) != 1:
        return None
    only = branch.statements[0].body[0]
    if type(only) is cst.Expr and not outputs and code(only.value).startswith(("np2tf.print(", "print(")):
        return f"lambda: {code(only.value)}"
    if type(only) is cst.Return:
        return f"lambda: {_parenthesize(only.value)}" if only.value is not None else "lambda: None"
    name, value = _assignment(only, branch.counters, bindings)
    return _values({name: value}, outputs, bindings) if name in outputs else None


def _assignment(statement: cst.CSTNode, counters: Names, bindings: dict[str, str]) -> tuple[str, str]:
    """Return the name and the value of an assignment; two empty strings for other statements."""
    step = step_of(statement)
    if step is not None and type(statement) is cst.AugAssign:
        name = code(statement.target)
        return (name, step) if name in counters and bindings.get(name, name) == name else ("", "")
    if type(statement) is cst.Assign and len(statement.targets) == 1:
        target = statement.targets[0].target
        if type(target) is cst.Name:
            return target.value, _parenthesize(statement.value)
    return "", ""


def _several_values(branch: _Branch, outputs: Sequence[str], bindings: dict[str, str]) -> str | None:
    """Return a few assignments of short, independent values as one expression."""
    values: dict[str, str] = {}
    for statement in branch.statements:
        if type(statement) is not cst.SimpleStatementLine or len(statement.body) != 1:
            return None
        only = statement.body[0]
        name, value = _assignment(only, branch.counters, bindings)
        if name not in outputs or name in values or reads(only) & values.keys() or _may_have_effects(only):
            return None
        values[name] = value
    text = _values(values, outputs, bindings)
    return text if len(text) <= _SHORT else None


def _may_have_effects(node: cst.CSTNode) -> bool:
    return any(type(part) in (cst.Call, cst.NamedExpr, cst.Await, cst.Yield) for part in walk(node))


def _values(new_values: dict[str, str], outputs: Sequence[str], bindings: dict[str, str]) -> str:
    values = [new_values.get(output) or bindings.get(output, output) for output in outputs]
    return f"lambda: ({', '.join(values)})" if len(values) > 1 else f"lambda: {values[0]}"


def _without_pass(body: list[Statement]) -> list[Statement]:
    """Return a block's statements; none if the block is only `pass`."""
    if len(body) == 1 and code(body[0]).strip() == "pass":
        return []
    return body


def _parenthesize(value: cst.BaseExpression) -> str:
    text = code(value)
    bare = type(value) is cst.Tuple and not value.lpar
    return f"({text})" if bare or (type(value) in (cst.NamedExpr, cst.Yield) and not value.lpar) else text


def _with_helpers(lowering: Lowering, node: cst.If, lowered: _Lowered, scope: Scope) -> list[Statement]:
    """Return the call with helper functions for branches that are no short lambdas."""
    branches, outputs, operands = lowered.branches, lowered.outputs, lowered.operands
    out: list[Statement] = []
    callees = []
    inside = [statement for branch in branches for statement in branch.statements]
    purposes = [f"case_{number}" for number in range(1, len(branches))] if len(branches) > 2 else ["then"]
    for name, branch in zip(lowering.naming.around([*purposes, "otherwise"], inside), branches):
        short = None if branch.shared_names else _short_lambda(branch, outputs, operands)
        if short is not None:
            callees.append(short)
            continue
        callees.append(name)
        footer = footer_of(branch.owner)
        tail = [] if _ends_itself(branch) else return_statement(outputs, footer)
        above = branch.leading_comments if out else _joined(node.leading_lines, branch.leading_comments)
        params = rename_parameters(operands, branch.shared_names, lowering.naming)
        first = rebind_parameters(operands, branch.shared_names, lowering.naming)
        function = helper(name, params, [*first, *branch.statements, *tail], above, branch.header, scope.room)
        out.append(function if tail else with_footer(function, footer))
    top_lines = blank() if out else node.leading_lines
    return [*out, line(lowered.call(callees, lowered.values, scope), top_lines)]


def _joined(lines: Sequence[cst.EmptyLine], others: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Return lines above a statement and above another one behind it, with one blank line between them."""
    if lines and is_blank_line(lines[-1]):
        others = list(dropwhile(is_blank_line, others))
    return [*lines, *others]


def _short_lambda(branch: _Branch, outputs: Sequence[str], operands: Sequence[str]) -> str | None:
    """Return a lambda for use beside a helper function: it takes the same operands, and must be short."""
    text = _as_lambda(branch, outputs, {})
    if text is None or len(text) > _SHORT or "np2tf." in text:
        return None
    params = ", ".join(operands)
    return f"lambda {params}: {text.removeprefix('lambda: ')}" if params else text


#: The row of `constructs.py`.
IF = {cst.If: StatementConstruct(is_if_lowered, lower_if)}
