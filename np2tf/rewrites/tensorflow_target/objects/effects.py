"""The effects of calls on the arrays of attributes: no name may hold an array that a callee writes to."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.classes import AttributeKey, attribute_root
from np2tf.rewrites.tensorflow_target.model.values import Value
from np2tf.rewrites.tensorflow_target.model.world import Frame, Summary
from np2tf.rewrites.tensorflow_target.objects.attributes import holder_of, record_write
from np2tf.tree.walk import walk


def follow_effects(node: cst.CSTNode, summary: Summary, arguments: Mapping[str, Value], frame: Frame) -> None:
    """Record the attributes that a call writes to, and refuse the call if a name still shows the old array.

    Args:
        node: the call, or the attribute that runs a property.
        summary: the facts about the called function.
        arguments: the values of its parameters.
        frame: the state of the caller.
    """
    world = frame.world
    for key in summary.attribute_writes:
        record_write(key, frame)
        root = attribute_root(key)
        statement, expression = _surroundings(node, frame)
        shown = any(root in value.memory for value in arguments.values())
        if statement is None or shown or _is_read_beside(node, expression, key, frame):
            world.refuse(node, "NP2TF604", name=key[1], other="the statement's other parts")
            continue
        is_simple = isinstance(statement, cst.BaseSmallStatement)
        holder = holder_of(key, statement if is_simple else None, frame)
        if holder is not None:
            world.refuse(node, "NP2TF604", name=key[1], other=f"`{holder}`")


def _surroundings(node: cst.CSTNode, frame: Frame) -> tuple[cst.CSTNode | None, cst.CSTNode]:
    """Return the statement around a call, and the whole expression or simple statement that has the call.

    The statement is None if the call runs later: in a lambda or generator.
    """
    below = node
    for up in frame.world.facts.parents.above(node):
        if isinstance(up, (cst.Lambda, cst.GeneratorExp)):
            return None, node
        if isinstance(up, cst.BaseSmallStatement):
            return up, up
        if isinstance(up, cst.BaseCompoundStatement):
            return up, below
        below = up
    return None, node


def _is_read_beside(node: cst.CSTNode, expression: cst.CSTNode, key: AttributeKey, frame: Frame) -> bool:
    """Return whether an expression reads the attribute, or a name that holds its array, beside the call."""
    inside, root = set(walk(node)), attribute_root(key)
    for inner_node in walk(expression):
        if inner_node in inside:
            continue
        if isinstance(inner_node, cst.Attribute) and inner_node.attr.value == key[1]:
            return True
        value = frame.env.get(inner_node.value) if isinstance(inner_node, cst.Name) else None
        if value is not None and root in value.memory:
            return True
    return False
