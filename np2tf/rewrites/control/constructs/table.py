"""The constructs that are lowered: for each kind of node, when and to what. A new one has a row here."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.control.common.construct import ExpressionConstruct, SmallConstruct, StatementConstruct
from np2tf.rewrites.control.constructs import assert_, boolean, branch, for_, ternary, while_

STATEMENTS: dict[type[cst.CSTNode], StatementConstruct] = {
    cst.If: StatementConstruct(branch.is_lowered, branch.lower),
    cst.While: StatementConstruct(while_.is_lowered, while_.lower),
    cst.For: StatementConstruct(for_.is_lowered, for_.lower),
}
SMALL: dict[type[cst.CSTNode], SmallConstruct] = {
    cst.Assert: SmallConstruct(assert_.is_lowered, assert_.lower),
}
EXPRESSIONS: dict[type[cst.CSTNode], ExpressionConstruct] = {
    cst.IfExp: ExpressionConstruct(ternary.is_lowered, ternary.edit),
    cst.BooleanOperation: ExpressionConstruct(boolean.is_operation_lowered, boolean.edit),
    cst.UnaryOperation: ExpressionConstruct(boolean.is_not_lowered, boolean.edit),
    cst.Comparison: ExpressionConstruct(boolean.is_chain_lowered, boolean.edit),
}
