"""Changes the blocks inside compound statements; marked nodes stay marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import libcst as cst

from np2tf.rewrites.control.common.layout import block_of, else_of, footer_of, statements_of
from np2tf.rewrites.control.common.leaving import jumps_in, reachable
from np2tf.rewrites.control.common.marks import Marks
from np2tf.rewrites.control.constructs import tries
from np2tf.tree.templates import Statement

_Block = TypeVar("_Block", bound=cst.For | cst.While | cst.With)


class Blocks:
    """Exchanges the blocks of statements of one function.

    Args:
        marks: the nodes to lower in the function.
    """

    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    def _change_blocks(
        self, node: Statement, change: Callable[[Sequence[Statement]], list[Statement]]
    ) -> Statement:
        """Return a compound statement other than a loop with each of its blocks changed."""
        if type(node) is cst.If:
            return self._map_branches(node, change)
        if type(node) is cst.With:
            return self._with_body(node, change(statements_of(node.body)))
        if type(node) is cst.Try:
            return self._try(node, change)
        if type(node) is cst.Match:
            cases = [
                case.with_changes(body=block_of(change(statements_of(case.body)))) for case in node.cases
            ]
            return self._marks.carry(node, node.with_changes(cases=cases))  # type: ignore[return-value]
        return node

    def _try(self, node: cst.Try, change: tries.Change, orelse: tries.Change | None = None) -> cst.Try:
        return self._marks.carry(node, tries.map_blocks(node, change, orelse))  # type: ignore[return-value]

    def _has_lowered_jump(self, node: cst.CSTNode, under: bool = False) -> bool:
        """Return whether a jump leaves `node` from under a lowered test."""
        if type(node) is cst.With:
            return any(self._has_lowered_jump(part, under) for part in statements_of(node.body))
        if type(node) is cst.Try:
            inside = [part for suite in tries.blocks(node) for part in statements_of(suite)]
            return any(self._has_lowered_jump(part, under) for part in inside)
        if type(node) is cst.If:
            under = under or node in self._marks
            if under and list(jumps_in([node])):
                return True
            parts = [*statements_of(node), *else_of(node)]
            return any(self._has_lowered_jump(part, under) for part in parts)
        return False

    def _lowered_if(self, test: str, body: Sequence[Statement]) -> cst.If:
        statement = cst.If(test=cst.parse_expression(test), body=block_of(body))
        self._marks.lowered_nodes.add(statement)
        return statement

    def _if(self, node: cst.If, then_body: Sequence[Statement], other_body: Sequence[Statement]) -> cst.If:
        header = node.body.header if type(node.body) is cst.IndentedBlock else None
        body = block_of(then_body, header).with_changes(footer=footer_of(node))
        statement = node.with_changes(body=body, orelse=self._orelse(node.orelse, other_body))
        self._marks.carry(node, statement)
        return statement

    def _orelse(
        self, old: cst.If | cst.Else | None, other_body: Sequence[Statement]
    ) -> cst.If | cst.Else | None:
        if not other_body:
            return None
        if type(old) is cst.If and len(other_body) == 1 and type(other_body[0]) is cst.If:
            return other_body[0]
        if type(old) is cst.Else:
            header = old.body.header if type(old.body) is cst.IndentedBlock else None
            return old.with_changes(body=block_of(other_body, header).with_changes(footer=footer_of(old)))
        return cst.Else(body=block_of(other_body))

    def _map_branches(self, node: cst.If, change: Callable[[Sequence[Statement]], list[Statement]]) -> cst.If:
        then, other_body = statements_of(node), else_of(node)
        new_then, new_other = change(reachable(then)), change(reachable(other_body))
        if new_then == then and new_other == other_body:
            return node
        return self._if(node, new_then, new_other)

    def _with_body(self, loop: _Block, body: Sequence[Statement], keep_else: bool = True) -> _Block:
        if list(body) == statements_of(loop.body) and (keep_else or getattr(loop, "orelse", None) is None):
            return loop
        header = loop.body.header if type(loop.body) is cst.IndentedBlock else None
        statement = loop.with_changes(body=block_of(body, header).with_changes(footer=footer_of(loop)))
        if not keep_else:
            statement = statement.with_changes(orelse=None)
        self._marks.carry(loop, statement)
        return statement  # type: ignore[return-value]
