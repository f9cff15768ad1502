"""`assert` becomes `np2tf.cond(test, lambda: None, otherwise)`, where `otherwise` raises."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.rewrites.control.common.construct import Judge, SmallConstruct
from np2tf.rewrites.control.common.layout import blank, call, code, helper, line
from np2tf.rewrites.control.common.lowers import Lowers
from np2tf.rewrites.control.common.scope import Scope
from np2tf.tree.templates import Statement


def is_lowered(judge: Judge, node: cst.Assert) -> bool:
    """Return whether the test may be an array's value."""
    return not judge.static.probably(node.test)


def lower(
    lowering: Lowers, node: cst.Assert, scope: Scope, leading_lines: Sequence[cst.EmptyLine]
) -> list[Statement]:
    """Return the helper that raises, and the call of `np2tf.cond`."""
    name = lowering.naming.name("otherwise")
    message = f"({code(node.msg)})" if node.msg is not None else ""
    arguments = [code(node.test), "lambda: None", name]
    return [
        helper(name, (), [line(f"raise AssertionError{message}")], leading_lines),
        line(call("", "np2tf.cond", arguments, scope.depth, scope.width), blank()),
    ]


#: The row of `table.py`.
CONSTRUCTS = {cst.Assert: SmallConstruct(is_lowered, lower)}
