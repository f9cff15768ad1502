"""The places that a rewrite can write to: `x[i]` and `self.x[i]`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts import Facts
from np2tf.rewrites.mutation.rebinding import can_rebind
from np2tf.tree.names import name_node
from np2tf.tree.templates import expression

_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)


def is_place(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a target is a subscript whose base may be rebound."""
    return type(node) is cst.Subscript and not _by_string(node) and can_rebind(facts, node.value)


def _by_string(node: cst.Subscript) -> bool:
    """Return whether a subscript has a string key, `d["key"]`: its base is a dict, a table or a record."""
    keys = [element.slice.value for element in node.slice if type(element.slice) is cst.Index]
    return any(isinstance(key, _STRINGS) for key in keys)


def read_by(node: cst.Subscript) -> list[cst.CSTNode]:
    """Return the expressions that find the place: the base, if it is more than a name, and the indices."""
    base: list[cst.CSTNode] = [] if type(node.value) is cst.Name else [node.value]
    return [*base, *node.slice]


def at(place: cst.Subscript, tnp: str) -> cst.BaseExpression:
    """Return `tnp.at(x)[i]` for `x[i]`."""
    base = expression("{tnp}.at({x})", tnp=name_node(tnp), x=place.value)
    return place.with_changes(value=base, lpar=(), rpar=())


def write(place: cst.BaseExpression, method: str, value: cst.BaseExpression) -> cst.Call:
    """Return `tnp.at(x)[i].set(value)` for `tnp.at(x)[i]`.

    The call's own parentheses replace the parentheses around a value that went over several lines, and keep
    the line breaks and comments inside them. Bare tuples get parentheses.
    """
    method_node = cst.Attribute(place, cst.Name(method))
    kept = type(value) in (cst.Tuple, cst.Yield, cst.GeneratorExp, cst.NamedExpr)
    if kept and not value.lpar:
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    if kept or not value.lpar:
        return cst.Call(method_node, [cst.Arg(value)])
    before, behind = value.lpar[0].whitespace_after, value.rpar[-1].whitespace_before
    arg = cst.Arg(value.with_changes(lpar=value.lpar[1:], rpar=value.rpar[:-1]), whitespace_after_arg=behind)
    return cst.Call(method_node, [arg], whitespace_before_args=before)
