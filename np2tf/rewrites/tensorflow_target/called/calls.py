"""Calls: of NumPy's functions, of methods, of Python's own, and of the module's functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import libcst as cst

from np2tf.rewrites.tensorflow_target.called import builtin_calls
from np2tf.rewrites.tensorflow_target.called.draws import is_random_name, random_call
from np2tf.rewrites.tensorflow_target.called.methods import method_call
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.classes import ClassFacts, decorator_names
from np2tf.rewrites.tensorflow_target.model.values import (
    CONTAINERS,
    NO_VALUE,
    CallMemory,
    Value,
    in_memory,
    plain,
    union,
    unknown,
)
from np2tf.rewrites.tensorflow_target.model.world import Frame, Summary
from np2tf.rewrites.tensorflow_target.called.numpy_calls import numpy_call
from np2tf.rewrites.tensorflow_target.objects.attributes import set_attribute
from np2tf.rewrites.tensorflow_target.objects.effects import follow_effects
from np2tf.tree.names import dotted_name

Evaluate = Callable[[cst.CSTNode, Frame], Value]


def call(node: cst.Call, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call."""
    world, func = frame.world, node.func
    qualified_name = world.facts.imports.numpy_name(func)
    if qualified_name is not None and is_random_name(qualified_name, frame):
        return random_call(node, qualified_name.rpartition(".")[2], frame, evaluate)
    if qualified_name is not None:
        return numpy_call(node, qualified_name, frame, evaluate)
    if isinstance(func, cst.Attribute) and is_super(func.value):
        return super_method(node, func.attr.value, frame, evaluate)
    if isinstance(func, cst.Attribute) and not is_member(func, frame, evaluate):
        base = evaluate(func.value, frame)
        if base.may("object", "class") and not base.may("any"):
            return object_method(node, base, func.attr.value, frame, evaluate)
        return method_call(node, base, frame, evaluate)
    if isinstance(func, cst.Name) and _is_builtin(func, frame):
        return builtin_calls.builtin_call(node, func.value, frame, evaluate)
    value = evaluate(func, frame)
    if value.functions and not value.may("any", "lambda"):
        return module_call(node, value.functions, frame, evaluate)
    if value.only("class"):
        return construct(node, value, frame, evaluate)
    if value.only("object"):
        return object_method(node, value, "__call__", frame, evaluate)
    arguments = [evaluate(arg.value, frame) for arg in node.args]
    if value.is_undetermined:
        return NO_VALUE
    if all(value.is_plain for value in arguments) and value.only("function", "other"):
        return plain("other") if value.certain and "other" in value.kinds else unknown(node, certain=False)
    path = world.facts.imports.imported_name(func) or ""
    if path.split(".")[0] in ("math", "cmath"):
        return plain("int", "float", "bool")
    return world.refuse(node, "NP2TF607", name=world.facts.code(func))


def is_member(func: cst.CSTNode, frame: Frame, evaluate: Evaluate) -> bool:
    """Return whether an expression is an attribute of a module of the program."""
    if not isinstance(func, cst.Attribute) or dotted_name(func.value) is None:
        return False
    return bool(evaluate(func.value, frame).modules)


def _is_builtin(func: cst.Name, frame: Frame) -> bool:
    unbound = frame.world.facts.scopes.of(func).owner_of(func.value) is None
    return unbound and func.value not in frame.env


def parameter_names(function: cst.FunctionDef | cst.Lambda) -> list[str]:
    """Return the names of the parameters, in order."""
    params = function.params
    return [param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)]


def bind_arguments(
    node: cst.Call,
    function: cst.FunctionDef,
    frame: Frame,
    evaluate: Evaluate,
    receiver: Value | None = None,
) -> Mapping[str, Value]:
    """Return the argument of a call for each parameter of a function of the program. Parameters without an
    argument have their defaults.

    Args:
        node: the call.
        function: the called function.
        frame: the state of the caller.
        evaluate: returns the value of an expression.
        receiver: the object or class whose method is called, if it is a method.
    """
    params = function.params
    positions = [param.name.value for param in (*params.posonly_params, *params.params)]
    arguments: dict[str, Value] = {}
    if receiver is not None and has_receiver(function):
        arguments[positions.pop(0)] = receiver
    positional_values: list[Value] = []
    for position, arg in enumerate(node.args):
        value = evaluate(arg.value, frame)
        if arg.star:
            every = element_of(value) if value.may(*CONTAINERS) else unknown(*value.memory, certain=False)
            for name in parameter_names(function):
                arguments[name] = union([arguments.get(name), every])
            positional_values.append(every)
        elif arg.keyword is not None:
            arguments[arg.keyword.value] = value
        elif position < len(positions):
            arguments[positions[position]] = value
        else:
            positional_values.append(value)
    if isinstance(params.star_arg, cst.Param):
        element = union(positional_values) if positional_values else None
        memory = frozenset() if element is None else element.memory
        arguments[params.star_arg.name.value] = Value(frozenset(["tuple"]), item=element, memory=memory)
    return arguments


def has_receiver(function: cst.FunctionDef) -> bool:
    """Return whether the first parameter of a method is the object or the class."""
    params = function.params
    return bool(params.posonly_params or params.params) and "staticmethod" not in decorator_names(function)


def is_open(summary: Summary) -> bool:
    """Return whether code outside the program may call a function, with any arguments."""
    function = summary.node
    if not isinstance(function, cst.FunctionDef):
        return False
    name = function.name.value
    is_hidden = name.startswith("_") and not name.endswith("__")
    outermost = summary.owner if summary.owner is not None else function
    return summary.world.facts.scopes.of(outermost).is_module and not is_hidden


def called_functions(node: cst.Call, frame: Frame, evaluate: Evaluate) -> list[cst.FunctionDef]:
    """Return the functions of the program, and the methods of its objects, that a call may run."""
    func = node.func
    if frame.world.facts.imports.numpy_name(func) is not None:
        return []
    if isinstance(func, cst.Name) or is_member(func, frame, evaluate):
        return list(evaluate(func, frame).functions)
    if not isinstance(func, cst.Attribute) or is_super(func.value):
        return []
    base = evaluate(func.value, frame)
    if not base.only("object") or len(base.classes) != 1:
        return []
    return frame.world.program.classes.methods(next(iter(base.classes)), func.attr.value)


def module_call(
    node: cst.Call,
    functions: Collection[cst.FunctionDef],
    frame: Frame,
    evaluate: Evaluate,
    receiver: Value | None = None,
) -> Value:
    """Return the value of a call of functions that the program defines."""
    results: list[Value | None] = []
    for function in functions:
        arguments = bind_arguments(node, function, frame, evaluate, receiver)
        results.append(run_function(node, function, arguments, frame))
        if frame.world.summary(function).writes and frame.writing_call is not node:
            frame.world.inline_writes(node, list(functions), frame)
    values = [value for value in results if value is not None]
    return union(values) if values else NO_VALUE


def run_function(
    node: cst.Call | cst.Attribute, function: cst.FunctionDef, arguments: Mapping[str, Value], frame: Frame
) -> Value:
    """Return the value of one run of a function of the program."""
    summary = frame.world.summary(function)
    learn_arguments(summary, arguments, frame)
    follow_effects(node, summary, arguments, frame)
    return _for_caller(summary, arguments, node, frame)


def construct(node: cst.Call, value: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the object that a call of a class of the program makes."""
    world, classes = frame.world, frame.world.program.classes
    families: set[cst.ClassDef] = set()
    for class_node in value.classes:
        facts = classes.facts(class_node)
        families.add(facts.family)
        made = Value(frozenset(["object"]), classes=frozenset([facts.family]))
        function = facts.find("__init__")
        if function is not None:
            module_call(node, [function], frame, evaluate, made)
        elif facts.is_dataclass:
            _set_fields(node, facts, frame, evaluate)
        elif node.args:
            return world.refuse(node, "NP2TF603", what="a class without `__init__` that gets arguments")
        after = facts.find("__post_init__") if facts.is_dataclass else None
        if after is not None:
            run_function(node, after, {parameter_names(after)[0]: made}, frame)
        if any(world.summary(each).writes for each in (function, after) if each is not None):
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
    world.method_runs.add(node)
    return Value(frozenset(["object"]), classes=frozenset(families))


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
            set_attribute((facts.family, name), values[name], frame)
        elif default is None or not evaluate(default, frame).is_plain:
            frame.world.refuse(node, "NP2TF603", what="such a field of a dataclass")


def object_method(node: cst.Call, base: Value, name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a method of an object of the program, or of a method of a class."""
    world, classes = frame.world, frame.world.program.classes
    world.forget(node.func)
    if len(base.classes) != 1 or not (base.only("object") or base.only("class")):
        return world.refuse(node, "NP2TF605", name=world.facts.code(node.func))
    world.method_runs.add(node)
    if base.only("class"):
        (class_node,) = base.classes
        function = classes.facts(class_node).find(name)
        if function is None or not {"staticmethod", "classmethod"}.intersection(decorator_names(function)):
            return world.refuse(node, "NP2TF603", what="a method of a class")
        return module_call(node, [function], frame, evaluate, base)
    (family,) = base.classes
    functions = classes.methods(family, name)
    if functions:
        return module_call(node, functions, frame, evaluate, base)
    value = classes.read((family, name))
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
    family = frame.world.program.classes.family(base)
    functions = frame.world.program.classes.methods(family, node.attr.value) if family is not None else []
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
    receiver = Value(frozenset(["object"]), classes=frozenset([facts.family]))
    return module_call(node, [function], frame, evaluate, receiver)


def learn_arguments(summary: Summary, arguments: Mapping[str, Value], frame: Frame) -> None:
    """Add the arguments of a call to the possible values of the function's parameters."""
    function = summary.node
    for name, value in arguments.items():
        root = ("param", function, name)
        memory = frozenset([root]) if value.memory or value.may_be_array else frozenset()
        in_own_memory = in_memory(replace(value, memory=memory), memory)
        certain = in_own_memory.certain and not is_open(summary)
        frame.world.learn(summary.parameters, name, replace(in_own_memory, certain=certain))


def _for_caller(summary: Summary, arguments: Mapping[str, Value], node: cst.CSTNode, frame: Frame) -> Value:
    """Return a function's result with its memory expressed in the caller's roots. It is certain only if the
    arguments are.
    """
    certain = all(value.certain for value in arguments.values())

    def root_for_caller(root: object) -> frozenset[object]:
        if isinstance(root, tuple) and root[0] == "param" and root[1] is summary.node:
            return (
                arguments[root[2]].memory if root[2] in arguments else frozenset([("global", root[2], None)])
            )
        if isinstance(root, tuple):
            by_module = root[0] == "global" and frame.function is None and root[2] is frame.world
            by_function = root[0] == "outer" and root[2] is frame.function
            value = frame.env.get(root[1]) if by_module or by_function else None
            return frozenset([root]) | (value.memory if value is not None else frozenset())
        return frozenset([CallMemory(node, root.place if isinstance(root, CallMemory) else root)])

    def translate(value: Value) -> Value:
        memory = frozenset(root_there for root in value.memory for root_there in root_for_caller(root))
        return replace(
            value,
            memory=memory,
            certain=certain,
            items=value.items and tuple(translate(item) for item in value.items),
            item=value.item and translate(value.item),
        )

    return translate(summary.result) if summary.result is not None else NO_VALUE
