"""The places that can be written to: `x[i]` and `self.x[i]`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts import Facts
from np2tf.rewrites.mutation.rebinding import can_rebind
from np2tf.tree.names import name_node
from np2tf.tree.templates import expression

_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)


def is_place(facts: Facts, node: cst.CSTNode) -> bool:
    """Whether a target is a subscript whose base may be rebound."""
    return isinstance(node, cst.Subscript) and not _by_string(node) and can_rebind(facts, node.value)


def _by_string(node: cst.Subscript) -> bool:
    """`d["key"]`: a dict, a table or a record."""
    keys = [element.slice.value for element in node.slice if isinstance(element.slice, cst.Index)]
    return any(isinstance(key, _STRINGS) for key in keys)


def read_by(node: cst.Subscript) -> list[cst.CSTNode]:
    """What is computed to find the place: the base if it is more than a name, and the indices."""
    base: list[cst.CSTNode] = [] if isinstance(node.value, cst.Name) else [node.value]
    return [*base, *node.slice]


def at(place: cst.Subscript, tnp: str) -> cst.BaseExpression:
    """`x[i]` -> `tnp.at(x)[i]`."""
    base = expression("{tnp}.at({x})", tnp=name_node(tnp), x=place.value)
    return place.with_changes(value=base, lpar=(), rpar=())


def argument(value: cst.BaseExpression) -> cst.BaseExpression:
    """A value as the one argument of a call: bare tuples get parentheses, needless ones go."""
    bare = isinstance(value, (cst.Tuple, cst.Yield, cst.GeneratorExp, cst.NamedExpr))
    if bare and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    plain = cst.SimpleWhitespace("")
    if not bare and len(value.lpar) == 1:
        tight = value.lpar[0].whitespace_after.deep_equals(plain)
        if tight and value.rpar[0].whitespace_before.deep_equals(plain):
            return value.with_changes(lpar=[], rpar=[])
    return value
