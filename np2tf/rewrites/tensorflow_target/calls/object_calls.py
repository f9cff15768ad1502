"""Calls of the program's classes, and of the methods and properties of their objects."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.tensorflow_target.calls.program_calls import (
    module_call,
    parameter_names,
    run_function,
)
from np2tf.rewrites.tensorflow_target.model.classes import ClassFacts, decorator_names
from np2tf.rewrites.tensorflow_target.model.values import NO_VALUE, Value, plain
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame
from np2tf.rewrites.tensorflow_target.objects.attributes import set_attribute


def construct(node: cst.Call, value: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the object that a call of a class of the program makes."""
    world, classes = frame.world, frame.world.program.classes
    root_classes: set[cst.ClassDef] = set()
    for class_node in value.classes:
        facts = classes.facts(class_node)
        root_classes.add(facts.root_class)
        new_object = Value(frozenset(["object"]), classes=frozenset([facts.root_class]))
        function = facts.find("__init__")
        if function is not None:
            module_call(node, [function], frame, evaluate, new_object)
        elif facts.is_dataclass:
            _set_fields(node, facts, frame, evaluate)
        elif node.args:
            return world.refuse(node, "NP2TF603", what="a class without `__init__` that gets arguments")
        after = facts.find("__post_init__") if facts.is_dataclass else None
        if after is not None:
            run_function(node, after, {parameter_names(after)[0]: new_object}, frame)
        if any(world.summary(method).writes for method in (function, after) if method is not None):
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
    world.method_runs.add(node)
    return Value(frozenset(["object"]), classes=frozenset(root_classes))


def _set_fields(node: cst.Call, facts: ClassFacts, frame: Frame, evaluate: Evaluate) -> None:
    """Set the attributes of a new object of a dataclass."""
    fields = facts.every_field()
    names = list(fields)
    values: dict[str, Value] = {}
    for position, arg in enumerate(node.args):
        name = (
            arg.keyword.value if arg.keyword is not None else names[position] if position < len(names) else ""
        )
        if arg.star or name not in fields:
            frame.world.refuse(node, "NP2TF603", what="such arguments of a dataclass")
            return
        values[name] = evaluate(arg.value, frame)
    for name, default in fields.items():
        if name in values:
            set_attribute((facts.root_class, name), values[name], frame)
        elif default is None or not evaluate(default, frame).is_plain:
            frame.world.refuse(node, "NP2TF603", what="such a field of a dataclass")


def object_method(node: cst.Call, base: Value, name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a method of an object of the program, or of a method of a class."""
    world, classes = frame.world, frame.world.program.classes
    world.forget(node.func)
    if classes.root_class(base) is None:
        return world.refuse(node, "NP2TF605", name=world.facts.code(node.func))
    world.method_runs.add(node)
    if base.only("class"):
        (class_node,) = base.classes
        function = classes.facts(class_node).find(name)
        if function is None or not {"staticmethod", "classmethod"}.intersection(decorator_names(function)):
            return world.refuse(node, "NP2TF603", what="a method of a class")
        return module_call(node, [function], frame, evaluate, base)
    (root_class,) = base.classes
    functions = classes.methods(root_class, name)
    if functions:
        return module_call(node, functions, frame, evaluate, base)
    value = classes.read((root_class, name))
    if value.functions and not value.may("any", "lambda"):
        return module_call(node, value.functions, frame, evaluate)
    arguments = [evaluate(arg.value, frame) for arg in node.args]
    if value.is_undetermined:
        return NO_VALUE
    if value.only("function", "other") and all(argument.is_plain for argument in arguments):
        return plain("other")
    return world.refuse(node, "NP2TF607", name=world.facts.code(node.func))


def property_functions(node: cst.Attribute, base: Value, frame: Frame) -> list[cst.FunctionDef]:
    """Return the properties that an attribute of an object runs."""
    root_class = frame.world.program.classes.root_class(base)
    functions = (
        frame.world.program.classes.methods(root_class, node.attr.value) if root_class is not None else []
    )
    return [function for function in functions if "property" in decorator_names(function)]


def run_property(node: cst.Attribute, function: cst.FunctionDef, base: Value, frame: Frame) -> Value:
    """Return the value of a property of an object."""
    frame.world.method_runs.add(node)
    if frame.world.summary(function).writes:
        return frame.world.refuse(node, "NP2TF603", what="a property that writes")
    return run_function(node, function, {parameter_names(function)[0]: base}, frame)


def is_super(node: cst.CSTNode) -> bool:
    """Return whether an expression is `super()`."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "super"


def super_method(node: cst.Call, name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a method of the base class, `super().name(…)`."""
    world = frame.world
    owner = frame.summary.owner if frame.summary is not None else None
    facts = world.program.classes.facts(owner) if owner is not None else None
    function = facts.base.find(name) if facts is not None and facts.base is not None else None
    world.method_runs.add(node)
    if facts is not None and function is None and name == "__init__" and not node.args:
        return plain("none")
    if facts is None or function is None or world.summary(function).writes:
        return world.refuse(node, "NP2TF603", what="`super`")
    receiver = Value(frozenset(["object"]), classes=frozenset([facts.root_class]))
    return module_call(node, [function], frame, evaluate, receiver)
