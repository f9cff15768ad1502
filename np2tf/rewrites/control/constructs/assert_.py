"""Lowers `assert` to `np2tf.cond(test, lambda: None, otherwise)`, where `otherwise` raises."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.control.common.layout import blank, call, code, helper, line
from np2tf.rewrites.control.common.lowers import Lowers
from np2tf.rewrites.control.common.scope import Scope
from np2tf.tree.templates import Statement


def lower(lowering: Lowers, node: cst.SimpleStatementLine, scope: Scope) -> list[Statement]:
    """Return the statements for a line with asserts on arrays."""
    out: list[Statement] = []
    for small in node.body:
        leading = () if out else node.leading_lines
        if isinstance(small, cst.Assert) and small in lowering.marks:
            name = lowering.naming.name("otherwise")
            message = f"({code(small.msg)})" if small.msg is not None else ""
            out.append(helper(name, (), [line(f"raise AssertionError{message}")], leading))
            arguments = [code(small.test), "lambda: None", name]
            out.append(line(call("", "np2tf.cond", arguments, scope.depth, scope.width), blank()))
        else:
            alone = small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            out.append(cst.SimpleStatementLine([alone], leading_lines=list(leading)))
    out[-1] = out[-1].with_changes(trailing_whitespace=node.trailing_whitespace)
    return out
