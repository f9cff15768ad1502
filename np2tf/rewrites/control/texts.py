"""Lowers `print` and strings of values: `np2tf.print(…)`, and `np2tf.text("{:.2f}", s)` for `f"{s:.2f}"`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.texts import Texts, is_call
from np2tf.rewrites.control.analysis.static import Static
from np2tf.rewrites.control.calls import is_text_for_exception, of_np2tf
from np2tf.rewrites.control.common.layout import code
from np2tf.tree.walk import walk

Edit = Callable[[cst.CSTNode], cst.CSTNode]


def edits(
    function: cst.FunctionDef,
    facts: Facts,
    static: Static,
    nodes: Iterable[cst.CSTNode],
    *,
    hidden: bool = False,
) -> Iterator[tuple[cst.CSTNode, Edit]]:
    """Yield the prints and strings of a function that need run-time values, each with its edit.

    Args:
        hidden: also yield the strings that the program does more with than to show them, which code that runs
            operation by operation can make.
    """
    texts = Texts(function, facts)
    for node in nodes:
        if is_text_for_exception(facts, node):
            continue
        if is_call(facts, node, ("print",)):
            yield cst.ensure_type(node, cst.Call).func, of_np2tf  # type: ignore[misc]
        elif texts.is_text(node) and not _is_known(node, static) and (hidden or texts.is_shown(node)):
            edit = _edit(node)
            if edit is not None:
                yield node, edit


def _is_known(node: cst.CSTNode, static: Static) -> bool:
    """Return whether a string is made only of values that are known while staging."""
    if type(node) is cst.Call:
        return all(static(arg.value) for arg in node.args)
    if type(node) is cst.BinaryOperation:
        return static(node.right)
    parts = [part for part in walk(node) if type(part) is cst.FormattedStringExpression]
    return all(static(part.expression) for part in parts)


def _edit(node: cst.CSTNode) -> Edit | None:
    if type(node) is cst.BinaryOperation:
        return lambda updated_node: _call("percent", [updated_node.left, updated_node.right])  # type: ignore[attr-defined]
    if type(node) is not cst.Call:
        template = _template(node)
        return None if template is None else lambda updated_node: _text(template, updated_node)
    if type(node.func) is cst.Name:
        return lambda updated_node: updated_node.with_changes(func=of_np2tf(updated_node.func))  # type: ignore[attr-defined]
    return _of_format


def _of_format(updated_node: cst.CSTNode) -> cst.CSTNode:
    """Return `np2tf.text("{}", x)` for `"{}".format(x)`."""
    call = cst.ensure_type(updated_node, cst.Call)
    first = cst.Arg(cst.ensure_type(call.func, cst.Attribute).value)
    return call.with_changes(func=_of_np2tf("text"), args=[first, *call.args])


def _text(template: str, updated_node: cst.CSTNode) -> cst.CSTNode:
    return _call("text", [cst.parse_expression(template), *_values(updated_node)])


def _call(name: str, values: Sequence[cst.BaseExpression]) -> cst.Call:
    return cst.Call(_of_np2tf(name), [cst.Arg(_parenthesize(value)) for value in values])


def _of_np2tf(name: str) -> cst.Attribute:
    return cst.Attribute(cst.Name("np2tf"), cst.Name(name))


def _parenthesize(value: cst.BaseExpression) -> cst.BaseExpression:
    if type(value) is cst.Tuple and not value.lpar:
        return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return value


def _values(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return the expressions in a formatted string, in the order in which `str.format` counts them."""
    if type(node) is cst.ConcatenatedString:
        return [*_values(node.left), *_values(node.right)]
    expressions: list[cst.BaseExpression] = []
    for part in node.parts if type(node) is cst.FormattedString else ():
        if type(part) is cst.FormattedStringExpression:
            expressions.append(part.expression)
            expressions += [
                inner_part.expression
                for inner_part in part.format_spec or ()
                if hasattr(inner_part, "expression")
            ]
    return expressions


def _template(node: cst.CSTNode) -> str | None:
    """Return the template of `str.format` for the same string, as source text; None if there is none."""
    if type(node) is cst.ConcatenatedString:
        left, right = _template(node.left), _template(node.right)
        return None if left is None or right is None else f"{left} {right}"
    if type(node) is cst.SimpleString:
        return code(node).replace("{", "{{").replace("}", "}}") if "\\N" not in node.value else None
    assert type(node) is cst.FormattedString
    fields = [_field(part) for part in node.parts]
    if None in fields or any("\\N" in code(part) for part in node.parts):
        return None
    prefix = node.start.rstrip("\"'").lower().replace("f", "")
    return f"{prefix}{node.start.lstrip('rRfF')}{''.join(map(str, fields))}{node.end}"


def _field(part: cst.BaseFormattedStringContent) -> str | None:
    """Return one part of a formatted string in the syntax of `str.format`."""
    if type(part) is cst.FormattedStringText:
        return part.value
    assert type(part) is cst.FormattedStringExpression
    if part.equal is not None:
        return None
    conversion = f"!{part.conversion}" if part.conversion is not None else ""
    if part.format_spec is None:
        return f"{{{conversion}}}"
    inner = [_field(inner_part) for inner_part in part.format_spec]
    return None if None in inner else f"{{{conversion}:{''.join(map(str, inner))}}}"
