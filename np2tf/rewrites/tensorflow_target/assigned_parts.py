"""Splits an assignment with several targets into one assignment for each target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.edits import key_expression
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.values import Value
from np2tf.rewrites.tensorflow_target.model.world import Edit, Frame
from np2tf.tree.names import name_node
from np2tf.tree.templates import expression


@dataclass(frozen=True)
class Part:
    """One target of an assignment."""

    target: cst.BaseExpression
    place: tuple[int, int | None]
    """The number of the `=`, and the number in the tuple on its left."""


def taken_apart(node: cst.Assign) -> list[Part] | None:
    """Return the targets of an assignment that has several; None if a target has an unsupported form."""
    parts: list[Part] = []
    for number, target in enumerate(node.targets):
        place = target.target
        if not isinstance(place, (cst.Tuple, cst.List)):
            parts.append(Part(place, (number, None)))
            continue
        for position, element in enumerate(place.elements):
            if type(element) is cst.StarredElement or isinstance(element.value, (cst.Tuple, cst.List)):
                return None
            parts.append(Part(element.value, (number, position)))
    return parts if len(parts) > 1 else None


def part_of(value: Value, part: Part) -> Value:
    """Return the part of the assigned value that is bound to a target."""
    position = part.place[1]
    if position is None:
        return value
    if value.items is not None and position < len(value.items):
        return value.items[position]
    return element_of(value)


def assign_parts(node: cst.Assign, parts: Sequence[Part], frame: Frame, helper: str) -> Edit:
    """`x[0], x[1] = a, b` -> helper names bound to a and b, then one assignment for each target."""
    tuples = [part.place[1] for part in parts if part.place[1] is not None]
    count = max(tuples) + 1 if tuples else 0
    base_names = [f"value_{number}" for number in range(count)] or ["value"]
    names = [frame.world.name(base_name, node, frame) for base_name in base_names]

    def edit(updated_node: cst.SimpleStatementLine) -> cst.FlattenSentinel[cst.SimpleStatementLine]:
        assign = updated_node.body[0]
        assert type(assign) is cst.Assign
        first_target = _names(names) if count else cst.Name(names[0])
        lines = [_line(cst.Assign([cst.AssignTarget(first_target)], assign.value))]  # type: ignore[arg-type]
        for part in parts:
            target = assign.targets[part.place[0]].target
            position = part.place[1]
            if position is not None:
                assert isinstance(target, (cst.Tuple, cst.List))
                target = target.elements[position].value  # type: ignore[assignment]
            whole = _names(names) if count and position is None else None
            value = whole or cst.Name(names[position or 0])
            lines.append(_line(_assignment(target, value, helper)))
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    return edit


def _names(names: Sequence[str]) -> cst.Tuple:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    last = cst.Element(
        cst.Name(names[-1]), comma=cst.Comma() if len(names) == 1 else cst.MaybeSentinel.DEFAULT
    )
    return cst.Tuple(
        [*(cst.Element(cst.Name(name), comma=comma) for name in names[:-1]), last], lpar=[], rpar=[]
    )


def _line(small: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([small])


def _assignment(target: cst.CSTNode, value: cst.BaseExpression, helper: str) -> cst.Assign:
    if type(target) is not cst.Subscript or type(target.value) is not cst.Name:
        return cst.Assign([cst.AssignTarget(target)], value)  # type: ignore[arg-type]
    call = expression(
        "{f}({x}, {key}, {value})",
        f=name_node(helper),
        x=cst.Name(target.value.value),
        key=key_expression(target.slice),
        value=value,
    )
    return cst.Assign([cst.AssignTarget(cst.Name(target.value.value))], call)
