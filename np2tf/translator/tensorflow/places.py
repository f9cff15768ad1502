"""The places of arrays that can be bound to a new array in the place of a write: names and attributes."""

from __future__ import annotations

import libcst as cst

from np2tf.translator.facts.dataflow import bound_targets
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.objects import key_of, may_write_attribute
from np2tf.translator.tensorflow.values import ARRAYS, Value
from np2tf.translator.tree.nodes import dotted_name

#: The holder of memory that comes from outside of a function.
OUTSIDE = "an array from elsewhere"
#: The expressions that make new objects.
_NEW = (cst.Call, cst.BinaryOperation, cst.UnaryOperation)


def name_may_be_written(
    name: str, value: Value, place: cst.CSTNode, statement: cst.CSTNode, frame: Frame
) -> bool:
    """Return whether a name can be bound to a new array: no other name would show the write."""
    owner = _other_owner(name, value, statement, frame)
    if owner is None:
        return True
    frame.world.refuse(place, "NP2TF604", name=name, other=owner)
    return False


def _other_owner(name: str, value: Value, statement: cst.CSTNode, frame: Frame) -> str | None:
    """Return the other name or code that may see the memory of a name after a statement."""
    if name not in frame.env or (frame.function, name) in frame.world.shared_owners:
        return OUTSIDE
    if frame.is_returned:
        return "the returned value"
    live = (frame.live.get(statement, frozenset()) | frame.always_live) - bound_outright(statement, frame)
    for other_name, other_value in frame.env.items():
        is_needed = frame.function is None or other_name in live or other_name.startswith("<")
        if other_name != name and is_needed and not other_value.memory.isdisjoint(value.memory):
            return f"`{other_name}`" if not other_name.startswith("<") else "the iterable of a loop"
    outside = [root for root in value.memory if isinstance(root, tuple)]
    if not outside:
        return None
    own_root = ("param", frame.function, name)
    if frame.function is None and set(outside) == {("global", name, frame.world)}:
        return None
    if outside == [own_root] and len(value.memory) == 1 and isinstance(frame.function, cst.FunctionDef):
        summary = frame.world.summary(frame.function)
        if name not in summary.writes:
            summary.writes.add(name)
            frame.world.note_change()
        return None
    return OUTSIDE


def bound_outright(statement: cst.CSTNode, frame: Frame) -> frozenset[str]:
    """Return the names that an assignment binds to a new value in any case."""
    if not isinstance(statement, cst.Assign):
        return frozenset()
    names = {name for target in statement.targets for name in bound_targets(target.target)}
    return frozenset(names) - frame.always_live


def place_name(place: cst.BaseExpression, frame: Frame) -> str | None:
    """Return the text of a name, or of an attribute of a named object, that can be bound; None otherwise."""
    if isinstance(place, cst.Name):
        return place.value
    if isinstance(place, cst.Attribute) and dotted_name(place.value) is not None:
        base = frame.evaluate(place.value)
        if key_of(base, place.attr.value, frame) is not None and base.only("object"):
            return dotted_name(place)
    return None


def place_can_be_set(place: cst.BaseExpression, value: Value, frame: Frame) -> bool:
    return can_be_set(place.value, value, frame) if isinstance(place, cst.Name) else value.only(*ARRAYS)


def place_may_be_written(
    place: cst.BaseExpression, value: Value, node: cst.CSTNode, statement: cst.CSTNode, frame: Frame
) -> bool:
    """Return whether a name or attribute can be bound to a new array: nothing else would show the write."""
    if isinstance(place, cst.Name):
        return name_may_be_written(place.value, value, node, statement, frame)
    assert isinstance(place, cst.Attribute)
    return may_write_attribute(place, frame.evaluate(place.value), statement, frame)


def can_be_set(name: str, value: Value, frame: Frame) -> bool:
    """Return whether `x = _set_item(x, key, value)` does what `x[key] = value` does.

    It does for arrays, and for a parameter or a new object that may be anything: the helper writes to a list,
    dictionary or NumPy array itself.
    """
    is_parameter = value.memory == {("param", frame.function, name)}
    is_new = len(value.memory) == 1 and all(isinstance(root, _NEW) for root in value.memory)
    return value.only(*ARRAYS) or (value.may("any") and (is_parameter or (is_new and value.only("any"))))
