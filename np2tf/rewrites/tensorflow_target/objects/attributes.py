"""Reads and sets the attributes of objects of the program's classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.classes import AttributeKey, attribute_root, attributes_in
from np2tf.rewrites.tensorflow_target.model.values import CONTAINERS, Value
from np2tf.rewrites.tensorflow_target.model.world import Frame


def key_of(base: Value, name: str, frame: Frame) -> AttributeKey | None:
    """Return the key of an attribute; None if the objects may be of classes without a common base."""
    root_class = frame.world.program.classes.root_class(base)
    return None if root_class is None else (root_class, name)


def read_attribute(node: cst.Attribute, base: Value, frame: Frame) -> Value:
    """Return the value of an attribute of an object or class."""
    world, name = frame.world, node.attr.value
    key = key_of(base, name, frame)
    if key is None or name.startswith("__"):
        return world.refuse(node, "NP2TF603", what=f"the attribute `{name}` of objects")
    if world.program.classes.methods(key[0], name):
        return world.refuse(node, "NP2TF603", what="a method as a value")
    return world.program.classes.read(key)


def set_attribute(key: AttributeKey, value: Value, frame: Frame) -> None:
    """Follow the binding of an attribute to a value."""
    classes, root = frame.world.program.classes, attribute_root(key)
    classes.learn(key, value)
    classes.keep(key, value.memory)
    if not value.memory:
        return
    for name, other_value in list(frame.env.items()):
        if not other_value.memory.isdisjoint(value.memory) and root not in other_value.memory:
            frame.bind(name, replace(other_value, memory=other_value.memory | {root}))


def exchange_attributes(keys: Sequence[AttributeKey], values: Sequence[Value], frame: Frame) -> None:
    """Follow `x.a, x.b = x.b, x.a`, after which each array still belongs to one attribute."""
    classes = frame.world.program.classes
    classes.unite(keys)
    for key, value in zip(keys, values):
        classes.learn(key, value)


def may_write_attribute(target: cst.Attribute, base: Value, statement: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an attribute can be bound to a new array in the place of a write to its array."""
    world = frame.world
    key = key_of(base, target.attr.value, frame)
    if key is None or world.program.classes.is_shared(key):
        world.refuse(target, "NP2TF604", name=world.facts.code(target), other="memory of others")
        return False
    holder = holder_of(key, statement, frame)
    if holder is not None:
        world.refuse(target, "NP2TF604", name=world.facts.code(target), other=f"`{holder}`")
        return False
    record_write(key, frame)
    return True


def holder_of(key: AttributeKey, statement: cst.CSTNode | None, frame: Frame) -> str | None:
    """Return a name that may hold the array of an attribute after a statement."""
    roots = {attribute_root(member) for member in frame.world.program.classes.group(key)}
    live = None
    if statement is not None and frame.function is not None and statement in frame.live:
        live = frame.live[statement] | frame.always_live
    for name, value in frame.env.items():
        if not roots.isdisjoint(value.memory) and (live is None or name in live or name.startswith("<")):
            return name if not name.startswith("<") else "what a loop goes over"
    return None


def record_write(key: AttributeKey, frame: Frame) -> None:
    """Record that a function writes to the array of an attribute."""
    summary = frame.summary
    if summary is not None and key not in summary.attribute_writes:
        summary.attribute_writes.add(key)
        frame.world.note_change()


def put_into_attributes(container: Value, element: Value, frame: Frame) -> None:
    """Put an item into a container that attributes may hold: the attributes may then hold the item."""
    classes = frame.world.program.classes
    for key in attributes_in(container.memory):
        if not classes.read(key).may(*CONTAINERS):
            continue  # An array of the attribute is in the container.
        container_with_item = replace(
            container, items=None, item=element, memory=container.memory | element.memory
        )
        set_attribute(key, container_with_item, frame)
        classes.share(key)
