"""Calls of the program's functions: arguments become possible values of parameters, results come back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.classes import decorator_names
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.values import (
    CONTAINERS,
    NO_VALUE,
    CallMemory,
    Value,
    in_memory,
    union,
    unknown,
)
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame, Summary
from np2tf.rewrites.tensorflow_target.objects.effects import follow_effects


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
    if type(params.star_arg) is cst.Param:
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


def module_call(
    node: cst.Call,
    functions: Collection[cst.FunctionDef],
    frame: Frame,
    evaluate: Evaluate,
    receiver: Value | None = None,
) -> Value:
    """Return the value of a call of functions that the program defines."""
    frame.world.called_functions[node] = list(functions)
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
