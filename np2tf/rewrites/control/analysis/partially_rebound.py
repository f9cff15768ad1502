"""Refuses constructs under `try` whose variables are needed after an exception has left the construct.

A lowered construct becomes a helper function. The names that it binds before an exception are lost with the
helper, whereas Python would keep them. The analysis uses the user's own text.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.facts.dataflow.liveness import Jumps, inner_blocks, live_before, live_when_left
from np2tf.facts.dataflow.reads_writes import Names, rebound
from np2tf.rewrites.control.common.layout import statements_of
from np2tf.rewrites.control.common.leaving import jumps_in
from np2tf.rewrites.control.common.marks import CannotLower, Marks
from np2tf.rewrites.control.constructs.tries import blocks
from np2tf.tree.walk import walk

_NO_NAMES: Names = frozenset()
_NO_JUMPS = Jumps()


def refuse_half_changed(body: Sequence[cst.CSTNode], marks: Marks) -> None:
    """Refuse a function's body in which a name is lost that is needed after an exception.

    Raises:
        CannotLower: if a name that a lowered construct binds is needed after an exception.
    """
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
        reason = f"`{names[0]}`, which is needed when an exception has left a loop or branch in it"
        raise CannotLower("NP2TF301", node, kind="try", reason=reason)
