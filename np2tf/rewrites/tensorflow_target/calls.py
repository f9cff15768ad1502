"""Calls: of NumPy's functions, of methods, of Python's own, and of the module's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import libcst as cst

from np2tf.rewrites.tensorflow_target import builtin_calls
from np2tf.rewrites.tensorflow_target.methods import method_call
from np2tf.rewrites.tensorflow_target.model.operations import element_of
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
from np2tf.rewrites.tensorflow_target.numpy_calls import numpy_call

Evaluate = Callable[[cst.CSTNode, Frame], Value]


def call(node: cst.Call, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call."""
    world, func = frame.world, node.func
    qualified_name = world.facts.imports.numpy_name(func)
    if qualified_name is not None:
        return numpy_call(node, qualified_name, frame, evaluate)
    if type(func) is cst.Attribute:
        return method_call(node, frame, evaluate)
    if type(func) is cst.Name and _is_builtin(func, frame):
        return builtin_calls.builtin_call(node, func.value, frame, evaluate)
    value = evaluate(func, frame)
    if value.functions and not value.may("any", "lambda"):
        return module_call(node, value, frame, evaluate)
    arguments = [evaluate(arg.value, frame) for arg in node.args]
    if value.is_undetermined:
        return NO_VALUE
    if all(value.is_plain for value in arguments) and value.only("function", "other"):
        return plain("other") if value.certain and "other" in value.kinds else unknown(node, certain=False)
    path = world.facts.imports.imported_name(func) or ""
    if path.split(".")[0] in ("math", "cmath"):
        return plain("int", "float", "bool")
    return world.refuse(node, "NP2TF607", name=world.facts.code(func))


def _is_builtin(func: cst.Name, frame: Frame) -> bool:
    unbound = frame.world.facts.scopes.of(func).owner_of(func.value) is None
    return unbound and func.value not in frame.env


def parameter_names(function: cst.FunctionDef | cst.Lambda) -> list[str]:
    """Return the names of the parameters, in order."""
    params = function.params
    return [param.name.value for param in (*params.posonly_params, *params.params, *params.kwonly_params)]


def bind_arguments(
    node: cst.Call, function: cst.FunctionDef, frame: Frame, evaluate: Evaluate
) -> Mapping[str, Value]:
    """Return the argument of a call for each parameter of a function of the module. Parameters without an
    argument have their defaults.
    """
    params = function.params
    positions = [param.name.value for param in (*params.posonly_params, *params.params)]
    arguments: dict[str, Value] = {}
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


def is_open(function: cst.FunctionDef | cst.Lambda, frame: Frame) -> bool:
    """Return whether code outside the module may call a function, with any arguments."""
    scope = frame.world.facts.scopes.of(function)
    is_hidden = type(function) is cst.FunctionDef and function.name.value.startswith("_")
    return scope.is_module and not is_hidden


def module_call(node: cst.Call, value: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of functions that the module defines."""
    world = frame.world
    results: list[Value | None] = []
    for function in value.functions:
        summary = world.summary(function)
        arguments = bind_arguments(node, function, frame, evaluate)
        learn_arguments(summary, arguments, frame)
        if summary.writes and frame.writing_call is not node:
            world.inline_writes(node, list(value.functions), frame)
        results.append(_for_caller(summary, arguments, node, frame))
    values = [value for value in results if value is not None]
    return union(values) if values else NO_VALUE


def learn_arguments(summary: Summary, arguments: Mapping[str, Value], frame: Frame) -> None:
    """Add the arguments of a call to the possible values of the function's parameters."""
    function = summary.node
    for name, value in arguments.items():
        root = ("param", function, name)
        memory = frozenset([root]) if value.memory or value.may_be_array else frozenset()
        in_own_memory = in_memory(replace(value, memory=memory), memory)
        certain = in_own_memory.certain and not is_open(function, frame)
        frame.world.learn(summary.parameters, name, replace(in_own_memory, certain=certain))


def _for_caller(summary: Summary, arguments: Mapping[str, Value], node: cst.Call, frame: Frame) -> Value:
    """Return a function's result with its memory expressed in the caller's roots. It is certain only if the
    arguments are.
    """
    certain = all(value.certain for value in arguments.values())

    def root_for_caller(root: object) -> frozenset[object]:
        if isinstance(root, tuple) and root[0] == "param" and root[1] is summary.node:
            return arguments[root[2]].memory if root[2] in arguments else frozenset([("global", root[2])])
        if isinstance(root, tuple):
            here = frame.function if root[0] == "global" else None
            is_own = here is None if root[0] == "global" else root[2] is frame.function
            value = frame.env.get(root[1]) if is_own and root[0] != "param" else None
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
