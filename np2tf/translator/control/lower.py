"""Lowers the statements of one function, outside in: each construct becomes helpers and one operator call."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.translator.control import jumps as tries
from np2tf.translator.control.constructs import SMALL, STATEMENTS
from np2tf.translator.control.jumps import JumpFree
from np2tf.translator.control.layout import Naming, blank, else_of, footer_of, line, statements_of, suite
from np2tf.translator.control.scope import Closures, Marks, Scope
from np2tf.translator.facts.dataflow import (
    Jumps,
    Names,
    bound_targets,
    counters,
    declared_names,
    function_locals,
    live_before,
    loop_head,
    parameters,
    writes,
)
from np2tf.translator.sources.options import LINE_LENGTH
from np2tf.translator.tree.nodes import walk
from np2tf.translator.tree.templates import Statement

_NO_JUMPS = Jumps()


def lower_function(function: cst.FunctionDef, marks: Marks, width: int = LINE_LENGTH) -> cst.FunctionDef:
    """Return the function with its marked nodes lowered; raise CannotLower if one cannot be.

    Calls that would be longer than `width` are broken; the function's own indentation does not count.
    """
    if not any(node in marks for node in walk(function)):
        return function
    names = {node.value for node in walk(function) if type(node) is cst.Name}
    return Lowering(marks, Naming(names), Closures(function), width).function(function, depth=0)


class Lowering:
    """The lowering of one function and of the functions inside it."""

    def __init__(self, marks: Marks, naming: Naming, closures: Closures, width: int) -> None:
        self.marks = marks
        self.naming = naming
        self.closures = closures
        self.width = width

    def function(self, function: cst.FunctionDef, depth: int) -> cst.FunctionDef:
        """Return a user's function with its body lowered."""
        if not any(node in self.marks for node in walk(function)):
            return function
        body = JumpFree(self.marks, self.naming).function(statements_of(function.body))
        whole = function.with_changes(body=cst.IndentedBlock(body=body))
        added_names = self.naming.given_names()
        parameter_names = frozenset(parameters(function.params))
        outer_names = declared_names(function, cst.Nonlocal)
        scope = Scope(
            function_locals(whole) | outer_names,
            parameter_names | outer_names,
            depth=depth + 1,
            width=self.width,
            added_names=added_names,
            counters=counters(function),
            outer_names=outer_names,
        )
        statements = self.scope_body(body, frozenset(), scope, tail=True)
        header = function.body.header if type(function.body) is cst.IndentedBlock else None
        return function.with_changes(body=suite(statements, header).with_changes(footer=footer_of(function)))

    def scope_body(
        self, body: Sequence[Statement], after: Names, scope: Scope, tail: bool
    ) -> list[Statement]:
        """Return the lowered statements of a whole scope, after the statements that preset names."""
        out = self.block(body, after, scope, tail=tail)
        presets = [line(f'{name} = np2tf.undefined("{name}")') for name in dict.fromkeys(scope.presets)]
        at = 1 if out and _is_docstring(out[0]) else 0
        return [*out[:at], *presets, *out[at:]]

    def block(
        self,
        body: Sequence[Statement],
        after: Names,
        scope: Scope,
        jumps: Jumps = _NO_JUMPS,
        tail: bool = False,
    ) -> list[Statement]:
        """Return the lowered statements of a block."""
        lives = [after]
        for statement in reversed(body):
            lives.append(live_before([statement], lives[-1], jumps))
        lives.reverse()
        out: list[Statement] = []
        for index, statement in enumerate(body):
            last = tail and index == len(body) - 1
            statements = self._statement(statement, lives[index + 1], scope, jumps, last)
            scope.record(statements)
            out += statements
        return out

    def _statement(
        self, node: Statement, live: Names, scope: Scope, jumps: Jumps, tail: bool
    ) -> list[Statement]:
        if type(node) in STATEMENTS and node in self.marks:
            return STATEMENTS[type(node)].lower(self, node, live, scope, tail)
        if type(node) is cst.If:
            return [self._plain_if(node, live, scope, jumps, tail)]
        if isinstance(node, (cst.While, cst.For)):
            return [self._plain_loop(node, live, scope, jumps)]
        if type(node) is cst.FunctionDef:
            return [self.function(node, scope.depth)]
        if type(node) is cst.SimpleStatementLine and any(small in self.marks for small in node.body):
            return self._line(node, scope)
        if type(node) is cst.Match and any(part in self.marks for part in walk(node)):
            return [self._plain_match(node, live, scope, jumps, tail)]
        if type(node) is cst.Try and any(part in self.marks for part in walk(node)):
            return [self._try(node, live, scope, jumps, tail)]
        if type(node) is cst.With and any(part in self.marks for part in walk(node)):
            inside = self.block(statements_of(node.body), live, scope.inner(), jumps, tail)
            return [node.with_changes(body=_like(node.body, inside))]
        return [node]

    def _line(self, node: cst.SimpleStatementLine, scope: Scope) -> list[Statement]:
        """Return the statements for a line of small statements, some of which are lowered."""
        out: list[Statement] = []
        for small in node.body:
            leading_lines = () if out else node.leading_lines
            if small in self.marks:
                out += SMALL[type(small)].lower(self, small, scope, leading_lines)
            else:
                alone = small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
                out.append(cst.SimpleStatementLine([alone], leading_lines=list(leading_lines)))
        out[-1] = out[-1].with_changes(trailing_whitespace=node.trailing_whitespace)
        return out

    def _plain_if(self, node: cst.If, live: Names, scope: Scope, jumps: Jumps, tail: bool) -> cst.If:
        if not any(part in self.marks for part in walk(node)):
            return node
        inner = scope.inner()
        then = self.block(statements_of(node), live, inner, jumps, tail)
        statement = node.with_changes(body=_like(node.body, then))
        if node.orelse is None:
            return statement
        other_body = self.block(else_of(node), live, scope.inner(), jumps, tail)
        if type(node.orelse) is cst.If and len(other_body) == 1 and type(other_body[0]) is cst.If:
            return statement.with_changes(orelse=other_body[0])
        old = node.orelse.body if type(node.orelse) is cst.Else else None
        return statement.with_changes(orelse=cst.Else(body=_like(old, other_body)))

    def _plain_match(self, node: cst.Match, live: Names, scope: Scope, jumps: Jumps, tail: bool) -> cst.Match:
        cases = []
        for case in node.cases:
            inner = scope.inner(writes([case.pattern]))
            inner.bound_names |= writes([case.pattern])
            statements = self.block(statements_of(case.body), live, inner, jumps, tail)
            cases.append(case.with_changes(body=_like(case.body, statements)))
        return node.with_changes(cases=cases)

    def _try(self, node: cst.Try, live: Names, scope: Scope, jumps: Jumps, tail: bool) -> cst.Try:
        live_names = tries.needed_behind_body(node, live, jumps)
        final = statements_of(node.finalbody.body) if node.finalbody is not None else []
        behind = live_before(final, live, jumps)
        tried_body = statements_of(node.body)
        first = self.block(tried_body, live_names, scope.inner(), jumps, tail and node.orelse is None)
        statement = node.with_changes(body=_like(node.body, first))

        def part(body: cst.BaseSuite, after: Names, last: bool) -> cst.IndentedBlock:
            inner = scope.inner(writes([node]))
            return _like(body, self.block(statements_of(body), after, inner, jumps, last))

        handlers = [handler.with_changes(body=part(handler.body, behind, tail)) for handler in node.handlers]
        statement = statement.with_changes(handlers=handlers)
        if node.orelse is not None:
            body = part(node.orelse.body, behind, tail)
            statement = statement.with_changes(orelse=node.orelse.with_changes(body=body))
        if node.finalbody is not None:
            body = part(node.finalbody.body, live, False)
            statement = statement.with_changes(finalbody=node.finalbody.with_changes(body=body))
        return statement

    def _plain_loop(self, node: cst.While | cst.For, live: Names, scope: Scope, jumps: Jumps) -> Statement:
        if not any(part in self.marks for part in walk(node)):
            return node
        head = loop_head(node, live, jumps)
        body = statements_of(node)
        inner = scope.inner(writes([node]))
        if type(node) is cst.For:
            inner.bound_names |= frozenset(bound_targets(node.target))
        loop = node.with_changes(body=_like(node.body, self.block(body, head, inner, Jumps(live, head))))
        if node.orelse is None:
            return loop
        other_body = self.block(else_of(node), live, scope.inner(), jumps)
        return loop.with_changes(orelse=node.orelse.with_changes(body=_like(node.orelse.body, other_body)))


def _like(old: cst.BaseSuite | None, body: Sequence[Statement]) -> cst.IndentedBlock:
    block = suite(body)
    if type(block.body[0]) is cst.FunctionDef:  # formatters want an empty line above it
        first = block.body[0].with_changes(leading_lines=blank(block.body[0].leading_lines))
        block = block.with_changes(body=[first, *block.body[1:]])
    if type(old) is cst.IndentedBlock:
        return block.with_changes(header=old.header, footer=old.footer)
    return block


def _is_docstring(statement: cst.CSTNode) -> bool:
    if type(statement) is not cst.SimpleStatementLine or len(statement.body) != 1:
        return False
    only = statement.body[0]
    return type(only) is cst.Expr and type(only.value) in (cst.SimpleString, cst.ConcatenatedString)
