"""Build code by quoting it: `statements("{x} = f({x})", x=node)`.

A template is ordinary source with `{name}` holes for expressions (in `statements`, a hole that is a whole line takes
statements).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Union, cast

import libcst as cst

Statement = Union[cst.SimpleStatementLine, cst.BaseCompoundStatement]
Hole = Union[cst.BaseExpression, str, Sequence[Statement]]

_HOLE = "__hole_{}__"


class _Holes(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _HOLE.format(key)


@lru_cache(maxsize=512)
def _parsed(text: str) -> cst.Module:
    return cst.parse_module(text.format_map(_Holes()))


class _Fill(cst.CSTTransformer):
    """Puts the given nodes where the holes are."""

    def __init__(self, nodes: Mapping[str, Hole]) -> None:
        super().__init__()
        self._nodes = {_HOLE.format(name): node for name, node in nodes.items()}

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        node = self._nodes.get(original_node.value)
        if node is None:
            # A fresh node each time: one object at two places would break maps keyed by identity.
            return updated_node.deep_clone()
        if isinstance(node, str):
            return updated_node.with_changes(value=node)
        return cast(cst.BaseExpression, node)

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[Statement]:
        only = original_node.body[0] if len(original_node.body) == 1 else None
        if isinstance(only, cst.Expr) and isinstance(only.value, cst.Name):
            node = self._nodes.get(only.value.value)
            if isinstance(node, Sequence) and not isinstance(node, str):
                return cst.FlattenSentinel(node)
        return updated_node

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Expr) and isinstance(node.value, cst.Name):
            hole = self._nodes.get(node.value.value)
            return not (isinstance(hole, Sequence) and not isinstance(hole, str))
        return True


def statements(template: str, **nodes: Hole) -> list[Statement]:
    """The statements that a template spells, its holes filled with `nodes`."""
    module = _parsed(template).visit(_Fill(nodes))
    return list(module.body)


def statement(template: str, **nodes: Hole) -> Statement:
    """The one statement that a template spells."""
    (only,) = statements(template, **nodes)
    return only


def small_statement(template: str, **nodes: Hole) -> cst.BaseSmallStatement:
    """The one simple statement that a template spells, without its line."""
    line = statement(template, **nodes)
    assert isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1, template
    return line.body[0]


def expression(template: str, **nodes: Hole) -> cst.BaseExpression:
    """The expression that a template spells."""
    quoted = small_statement(template, **nodes)
    assert isinstance(quoted, cst.Expr), template
    return quoted.value
