"""Lowers `try`: each block is lowered by itself, and `except E` becomes `except np2tf.on_host(E)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import libcst as cst

from np2tf.facts.dataflow.liveness import Jumps, live_before, live_when_left
from np2tf.facts.dataflow.reads_writes import Names
from np2tf.rewrites.control.common.layout import block_of, statements_of
from np2tf.rewrites.control.common.leaving import jumps_in
from np2tf.rewrites.control.common.marks import CannotLower
from np2tf.tree.templates import Statement, expression

Change = Callable[[list[Statement]], list[Statement]]


def on_host(updated_node: cst.CSTNode) -> cst.CSTNode:
    """Return `except np2tf.on_host(ValueError)` for `except ValueError`."""
    handler = cst.ensure_type(updated_node, cst.ExceptHandler)
    kinds = handler.type if handler.type is not None else cst.Name("BaseException")
    return handler.with_changes(
        type=expression("np2tf.on_host({kinds})", kinds=kinds),
        whitespace_after_except=cst.SimpleWhitespace(" "),
    )


def blocks(node: cst.Try) -> Iterator[cst.BaseSuite]:
    """Yield the blocks of a `try`, in order."""
    yield node.body
    yield from (handler.body for handler in node.handlers)
    if node.orelse is not None:
        yield node.orelse.body
    if node.finalbody is not None:
        yield node.finalbody.body


def map_blocks(node: cst.Try, change: Change, orelse: Change | None = None) -> cst.Try:
    """Return the `try` with each block changed by `change`; its `else` is changed by `orelse`, if given."""

    def part(body: cst.BaseSuite, by: Change = change) -> cst.BaseSuite:
        before = statements_of(body)
        after = by(before)
        if after == before:
            return body
        header = body.header if type(body) is cst.IndentedBlock else None
        footer = body.footer if type(body) is cst.IndentedBlock else ()
        return block_of(after, header).with_changes(footer=footer)

    statement = node.with_changes(
        body=part(node.body),
        handlers=[handler.with_changes(body=part(handler.body)) for handler in node.handlers],
    )
    if node.orelse is not None:
        statement = statement.with_changes(
            orelse=node.orelse.with_changes(body=part(node.orelse.body, orelse or change))
        )
    if node.finalbody is not None:
        statement = statement.with_changes(
            finalbody=node.finalbody.with_changes(body=part(node.finalbody.body))
        )
    return statement


def refuse_jumps_at_its_end(node: cst.Try) -> None:
    """Check that no jump in `finally` would swallow an exception.

    Raises:
        CannotLower: if a jump would.
    """
    if node.finalbody is not None and list(jumps_in(statements_of(node.finalbody.body))):
        raise CannotLower("NP2TF301", node, kind="try", reason="a jump out of its `finally`")


def needed_behind_body(node: cst.Try, after: Names, jumps: Jumps) -> Names:
    """Return the names that are needed behind the first block of a `try` on any path."""
    final = statements_of(node.finalbody.body) if node.finalbody is not None else []
    orelse = statements_of(node.orelse.body) if node.orelse is not None else []
    behind = live_before(final, after, jumps)
    return live_before(orelse, behind, jumps) | live_when_left(node, after, jumps)
