"""Calls: the kind of the called object decides which module of this folder follows the call."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.tensorflow_target.calls.builtin_calls import builtin_call
from np2tf.rewrites.tensorflow_target.calls.draws import is_random_name, random_call
from np2tf.rewrites.tensorflow_target.calls.methods import method_call
from np2tf.rewrites.tensorflow_target.calls.numpy_calls import numpy_call
from np2tf.rewrites.tensorflow_target.calls.object_calls import (
    construct,
    is_super,
    object_method,
    super_method,
)
from np2tf.rewrites.tensorflow_target.calls.program_calls import module_call
from np2tf.rewrites.tensorflow_target.model.values import NO_VALUE, Value, plain, unknown
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame
from np2tf.tree.names import dotted_name


def call(node: cst.Call, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call."""
    world, func = frame.world, node.func
    world.called_functions.pop(node, None)
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
        return builtin_call(node, func.value, frame, evaluate)
    value = evaluate(func, frame)
    if value.functions and not value.may("any", "lambda"):
        return module_call(node, value.functions, frame, evaluate)
    if value.only("class"):
        return construct(node, value, frame, evaluate)
    if value.only("object", "none") and value.may("object"):
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
