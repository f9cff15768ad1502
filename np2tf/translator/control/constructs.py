"""The table of the constructs that are lowered, by the class of their nodes.

A new construct is written in a file of this folder, and gets a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import libcst as cst

from np2tf.translator.control.branches import ASSERT, IF
from np2tf.translator.control.conditions import BOOLEAN, TERNARY
from np2tf.translator.control.construct import ExpressionConstruct, SmallConstruct, StatementConstruct
from np2tf.translator.control.loops import FOR, WHILE

_Construct = TypeVar("_Construct", StatementConstruct, SmallConstruct, ExpressionConstruct)

_ROWS: Mapping[Any, Any] = {
    **ASSERT,
    **IF,
    **WHILE,
    **FOR,
    **TERNARY,
    **BOOLEAN,
}


def _of_kind(kind: type[_Construct]) -> dict[type[cst.CSTNode], _Construct]:
    """Return the constructs of one kind, by the kind of node."""
    return {node: construct for node, construct in _ROWS.items() if isinstance(construct, kind)}


STATEMENTS = _of_kind(StatementConstruct)
SMALL = _of_kind(SmallConstruct)
EXPRESSIONS = _of_kind(ExpressionConstruct)
