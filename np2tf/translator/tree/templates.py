"""Builds code by quoting it: `statements("{x} = f({x})", x=node)`.

A template is ordinary source with `{name}` holes for expressions. In `statements`, a hole that is a whole
line takes statements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias, cast

import libcst as cst

from np2tf.translator.tree.nodes import code_fields

Statement: TypeAlias = cst.SimpleStatementLine | cst.BaseCompoundStatement
Hole: TypeAlias = cst.BaseExpression | str | Sequence[Statement]

_HOLE = "__hole_{}__"


class _Holes(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _HOLE.format(key)


@lru_cache(maxsize=512)
def _parse(text: str) -> cst.Module:
    return cst.parse_module(text.format_map(_Holes()))


class _Fill:
    """Puts nodes into the holes; every other name is copied, as no node may stand in two places."""

    def __init__(self, nodes: Mapping[str, Hole]) -> None:
        self._nodes = {_HOLE.format(name): node for name, node in nodes.items()}

    def lines(self, body: Sequence[Statement]) -> list[Statement]:
        """Return the statements, with statement holes replaced by their statements."""
        statements: list[Statement] = []
        for line in body:
            hole = self._statement_hole(line)
            statements.extend([cast(Statement, self.node(line))] if hole is None else hole)
        return statements

    def _statement_hole(self, line: Statement) -> Sequence[Statement] | None:
        only = line.body[0] if type(line) is cst.SimpleStatementLine and len(line.body) == 1 else None
        if type(only) is not cst.Expr or type(only.value) is not cst.Name:
            return None
        hole = self._nodes.get(only.value.value)
        return None if isinstance(hole, (str, cst.CSTNode, type(None))) else hole

    def node(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return one node with its holes filled."""
        if type(node) is cst.Name:
            hole = self._nodes.get(node.value, node.value)
            return hole if isinstance(hole, cst.CSTNode) else node.with_changes(value=hole)
        if type(node) is cst.IndentedBlock:
            return node.with_changes(body=self.lines(cast("Sequence[Statement]", node.body)))
        changes: dict[str, object] = {}
        for name in code_fields(type(node)):
            value = getattr(node, name)
            if isinstance(value, cst.CSTNode):
                changes[name] = self.node(value)
            elif isinstance(value, (list, tuple)):
                changes[name] = [self.node(item) for item in value]
        return node.with_changes(**changes)


def statements(template: str, **nodes: Hole) -> list[Statement]:
    """Return the statements of a template, its holes filled with `nodes`."""
    return _Fill(nodes).lines(_parse(template).body)


def statement(template: str, **nodes: Hole) -> Statement:
    """Return the only statement of a template."""
    (only,) = statements(template, **nodes)
    return only


def small_statement(template: str, **nodes: Hole) -> cst.BaseSmallStatement:
    """Return the only simple statement of a template, without its line."""
    line = statement(template, **nodes)
    assert type(line) is cst.SimpleStatementLine, template
    (only,) = line.body
    return only


def expression(template: str, **nodes: Hole) -> cst.BaseExpression:
    """Return the expression of a template."""
    statement = small_statement(template, **nodes)
    assert type(statement) is cst.Expr, template
    return statement.value


def parenthesize(
    node: cst.BaseExpression, kinds: tuple[type[cst.CSTNode], ...] = (cst.BaseExpression,)
) -> cst.BaseExpression:
    """Return an expression of one of these classes in parentheses; any other unchanged."""
    if node.lpar or not isinstance(node, kinds):
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
