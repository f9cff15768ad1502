"""Makes the edits: calls of functions by another name or of helpers, and assignments in place of writes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.translator.tensorflow.model import Edit
from np2tf.translator.tree.nodes import name_node
from np2tf.translator.tree.templates import expression, parenthesize


def rename_to(path: str) -> Edit:
    """Return an edit that replaces a name or attribute by a dotted path or another short expression."""

    def edit(updated_node: cst.Name | cst.Attribute) -> cst.BaseExpression:
        new = name_node(path) if path.replace(".", "").isidentifier() else expression(path)
        return new.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    return edit


def function_of(path: str) -> Edit:
    """`x.sum(axis=0)` -> `path(x, axis=0)`."""

    def edit(updated_node: cst.Call) -> cst.Call:
        assert type(updated_node.func) is cst.Attribute
        args = [cst.Arg(updated_node.func.value), *updated_node.args]
        return updated_node.with_changes(func=name_node(path), args=args)

    return edit


def passed_to(path: str) -> Edit:
    """`f(x)` -> `path(f, x)`."""

    def edit(updated_node: cst.Call) -> cst.Call:
        return updated_node.with_changes(
            func=name_node(path), args=[cst.Arg(updated_node.func), *updated_node.args]
        )

    return edit


def bare(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return an operation without parentheses around it, which an argument of a call does not need."""
    if not isinstance(node, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BooleanOperation)):
        return node
    spaces = [*(one.whitespace_after for one in node.lpar), *(one.whitespace_before for one in node.rpar)]
    is_plain = all(isinstance(space, cst.SimpleWhitespace) for space in spaces)
    return node.with_changes(lpar=[], rpar=[]) if is_plain else node


def wrap_in(path: str) -> Edit:
    """Return an edit that makes an expression the argument of a call."""

    def edit(updated_node: cst.BaseExpression) -> cst.BaseExpression:
        return expression("{f}({x})", f=name_node(path), x=bare(updated_node))

    return edit


def operator_call(path: str) -> Edit:
    """`a // b` -> `path(a, b)`."""

    def edit(updated_node: cst.BinaryOperation) -> cst.BaseExpression:
        return expression("{f}({a}, {b})", f=name_node(path), a=updated_node.left, b=updated_node.right)

    return edit


def tail(path: str) -> Edit:
    """`f(x).name` -> `path(f(x))`."""

    def edit(updated_node: cst.Attribute) -> cst.BaseExpression:
        call = expression("{f}({x})", f=name_node(path), x=updated_node.value)
        return call.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    return edit


def key_expression(elements: Sequence[cst.SubscriptElement]) -> cst.BaseExpression:
    """Return a key as an expression: `1:, i` is `(slice(1, None), i)`."""
    parts = [_part(element.slice) for element in elements]
    trailing = type(elements[-1].comma) is cst.Comma
    if len(parts) == 1 and not trailing:
        return parts[0]
    return cst.Tuple([cst.Element(part) for part in parts])


def _part(part: cst.BaseSlice) -> cst.BaseExpression:
    if type(part) is cst.Index:
        return part.value
    assert type(part) is cst.Slice
    ends = {"a": part.lower, "b": part.upper, "c": part.step}
    arguments = {name: end if end is not None else cst.Name("None") for name, end in ends.items()}
    return expression("slice({a}, {b}, {c})" if part.step is not None else "slice({a}, {b})", **arguments)


def tuple_of(names: Sequence[str]) -> cst.Tuple:
    """Return names as a tuple without parentheses."""
    return cst.Tuple([cst.Element(cst.Name(name)) for name in names], lpar=[], rpar=[])


def argument(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return an expression as an argument of a call, where a tuple needs its parentheses."""
    return parenthesize(value, (cst.Tuple, cst.GeneratorExp))


def item_assignment(helper: str) -> Edit:
    """`x[key] = value` -> `x = helper(x, key, value)`."""

    def edit(updated_node: cst.Assign) -> cst.Assign:
        (target,) = updated_node.targets
        place = target.target
        assert isinstance(place, cst.Subscript)
        assert isinstance(place.value, (cst.Name, cst.Attribute))
        call = expression(
            "{f}({x}, {key}, {value})",
            f=name_node(helper),
            x=place.value.deep_clone(),
            key=key_expression(place.slice),
            value=argument(updated_node.value),
        )
        return updated_node.with_changes(targets=[target.with_changes(target=place.value)], value=call)

    return edit


#: The operators of augmented assignments -> their symbols.
SYMBOLS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**", cst.MatrixMultiplyAssign: "@",
    cst.BitAndAssign: "&", cst.BitOrAssign: "|", cst.BitXorAssign: "^", cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}  # fmt: skip


_NEED_PARENTHESES = (
    *(cst.BinaryOperation, cst.UnaryOperation, cst.IfExp, cst.Comparison),
    *(cst.BooleanOperation, cst.Lambda, cst.Tuple),
)


def to_numpy(updated_node: cst.BaseExpression) -> cst.BaseExpression:
    """`x + y` -> `(x + y).numpy()`."""
    owner = parenthesize(updated_node, (*_NEED_PARENTHESES, cst.BaseNumber))
    return cst.Call(cst.Attribute(owner, cst.Name("numpy")))


def combine(
    updated_node: cst.AugAssign, place: cst.BaseExpression, operation: str | None
) -> cst.BaseExpression:
    """`place + value`, or `operation(place, value)`."""
    value = argument(updated_node.value)
    if operation is not None:
        return expression("{f}({a}, {b})", f=name_node(operation), a=place, b=value)
    value = parenthesize(value, _NEED_PARENTHESES)
    return expression("{a} " + SYMBOLS[type(updated_node.operator)] + " {b}", a=place, b=value)


def augment_with(helper: str | None, operation: str | None) -> Edit:
    """`x += v` -> `x = helper(x, x + v)`, or `x = x + v` without a helper."""

    def edit(updated_node: cst.AugAssign) -> cst.Assign:
        assert isinstance(updated_node.target, (cst.Name, cst.Attribute))
        new = combine(updated_node, updated_node.target.deep_clone(), operation)
        if helper is not None:
            old = updated_node.target.deep_clone()
            new = expression("{f}({x}, {new})", f=name_node(helper), x=old, new=new)
        return cst.Assign([cst.AssignTarget(updated_node.target)], new, semicolon=updated_node.semicolon)

    return edit


def augmented_item(helper: str, operation: str | None) -> Edit:
    """`x[key] += v` -> `x = helper(x, key, x[key] + v)`."""

    def edit(updated_node: cst.AugAssign) -> cst.Assign:
        place = updated_node.target
        assert isinstance(place, cst.Subscript)
        assert isinstance(place.value, (cst.Name, cst.Attribute))
        call = expression(
            "{f}({x}, {key}, {new})",
            f=name_node(helper),
            x=place.value.deep_clone(),
            key=key_expression(place.slice),
            new=combine(updated_node, place.deep_clone(), operation),
        )
        target = cst.AssignTarget(place.value)
        return cst.Assign([target], call, semicolon=updated_node.semicolon)

    return edit


def assigned_to(place: str) -> Edit:
    """Return an edit that makes an expression statement an assignment to a name or attribute."""

    def edit(updated_node: cst.Expr) -> cst.Assign:
        target = cst.AssignTarget(name_node(place))  # type: ignore[arg-type]
        return cst.Assign([target], updated_node.value, semicolon=updated_node.semicolon)

    return edit
