"""Writes to arrays: a write becomes an assignment if no other name shows the array afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from np2tf.rewrites.mutation.order import Effect, effect, may_swap
from np2tf.rewrites.tensorflow_target.assigned_parts import assign_parts, part_of, taken_apart
from np2tf.rewrites.tensorflow_target.calls.draws import shuffle_edit, shuffled_argument
from np2tf.rewrites.tensorflow_target.calls.methods import put_into
from np2tf.rewrites.tensorflow_target.expressions import evaluate, key_part
from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import choose, element_of, helper_of, result_of, unfit
from np2tf.rewrites.tensorflow_target.model.shared_names import is_shared, refuse_shared
from np2tf.rewrites.tensorflow_target.model.values import ARRAYS, NUMBERS, Value, join, promote
from np2tf.rewrites.tensorflow_target.model.world import Frame
from np2tf.rewrites.tensorflow_target.objects.attributes import key_of, may_write_attribute, set_attribute
from np2tf.rewrites.tensorflow_target.places import (
    OUTSIDE,
    name_may_be_written,
    place_can_be_set,
    place_may_be_written,
    place_name,
)
from np2tf.rewrites.tensorflow_target.returned_writes import return_with, return_writes_of_call

Bind = Callable[[cst.CSTNode, Value, Frame, cst.CSTNode], None]


def in_parts(node: cst.Assign, value: Value, frame: Frame, bind: Bind) -> bool:
    """Split `x[0], y = a, b` or `x[0] = x[1] = a` into several statements, if it writes to arrays. Return
    whether it was split.
    """
    parts = taken_apart(node)
    stores = [part for part in (parts or ()) if type(part.target) is cst.Subscript]
    if parts is None or not any(_is_array_store(part.target, frame) for part in stores):
        return False
    world = frame.world
    line = world.facts.parents[node]
    if type(line) is not cst.SimpleStatementLine or len(line.body) > 1:
        world.refuse(node, "NP2TF603", what="a write in a line of several statements")
        return True
    if not all(_is_array_store(part.target, frame) for part in stores):
        world.refuse(node, "NP2TF603", what="a statement that writes to an array and to a container")
        return True
    bases: set[object] = set()
    for part in parts:
        item = part_of(value, part)
        if type(part.target) is cst.Subscript:
            bases |= evaluate(part.target.value, frame).memory
            store(part.target, item, frame, node, is_part=True)
        else:
            bind(part.target, item, frame, node)
    views = any(part_of(value, part).may("array") for part in parts) and not value.memory.isdisjoint(bases)
    if views:  # The first write would show in the second value.
        name = world.facts.code(node.targets[0].target)
        world.refuse(node, "NP2TF604", name=name, other="what is assigned")
    world.edit(line, assign_parts(node, parts, frame, world.helper("_set_item")), "_set_item")
    return True


def _is_array_store(target: cst.BaseExpression, frame: Frame) -> bool:
    return type(target) is cst.Subscript and evaluate(target.value, frame).may(*ARRAYS)


def store(
    target: cst.Subscript, value: Value, frame: Frame, statement: cst.CSTNode, is_part: bool = False
) -> None:
    """Follow `x[key] = value`. `is_part`: the edit of the whole assignment writes this part."""
    world = frame.world
    world.forget(target)
    base = evaluate(target.value, frame)
    key = [key_part(element, frame) for element in target.slice]
    if not base.may(*ARRAYS):
        if base.may("list", "dict"):
            put_into(target, base, value, frame)
            if base.may("dict") and not all(value.is_plain for value in key):
                world.refuse(target, "NP2TF606", what="a dictionary's key")
        return
    name = place_name(target.value, frame)
    targets = statement.targets if isinstance(statement, cst.Assign) else []
    alone = len(targets) == 1 and targets[0].target is target
    if name is None or not (alone or is_part):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="the statement's other parts"
        )
        return
    if not place_can_be_set(target.value, base, frame):
        world.refuse(target, "NP2TF605", name=name)
        return
    wrong = _unwritable(base, value)
    if wrong is not None:
        world.refuse(target, "NP2TF602", name="`=`", why=wrong)
        return
    assert type(statement) is cst.Assign
    if not may_swap(world.facts, [target.value, *target.slice], statement.value) or (
        is_part and not _is_pure(target, frame)
    ):
        world.refuse(target, "NP2TF604", name=name, other="the statement's other parts")
        return
    if base.may("any"):
        _keep(value, base, frame)
    if place_may_be_written(target.value, base, target, statement, frame) and not is_part:
        world.edit(statement, edits.item_assignment(world.helper("_set_item")), "_set_item")


def _keep(value: Value, container: Value, frame: Frame) -> None:
    """Let the names of a value share the memory of an object that may be a container, and then holds it."""
    for name, other_value in list(frame.env.items()):
        if not other_value.memory.isdisjoint(value.memory) and other_value.memory.isdisjoint(
            container.memory
        ):
            frame.bind(name, replace(other_value, memory=other_value.memory | container.memory))


def _unwritable(base: Value, value: Value) -> str | None:
    if value.may("str", "dict", "none", "function") and not value.may("any"):
        return "the value is no array"
    if value.dtype == "complex128" and base.dtype not in (None, "complex128"):
        return "a complex value is written to a real array"
    return None


def augmented_assignment(node: cst.AugAssign, frame: Frame) -> None:
    """Follow `x += v` or `x[key] += v`."""
    world = frame.world
    world.forget(node)
    right = evaluate(node.value, frame)
    target = node.target
    if type(target) is cst.Name:
        _augmented_name(node, target, right, frame)
    elif isinstance(target, cst.Attribute) and place_name(target, frame) is not None:
        _augmented_attribute(node, target, right, frame)
    elif isinstance(target, cst.Subscript):
        _augmented_item(node, target, right, frame)
    else:
        world.refuse(target, "NP2TF603", what="an attribute that is written")


def _augmented_name(node: cst.AugAssign, target: cst.Name, right: Value, frame: Frame) -> None:
    world, name = frame.world, target.value
    old = evaluate(target, frame)
    if name not in frame.env and not is_shared(target, frame):
        world.refuse(node, "NP2TF604", name=name, other=OUTSIDE)
        return
    wrong = unfit(node.operator, old, right)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why=wrong)
        return
    if old.may("list") and not old.may(*ARRAYS):
        put_into(node, old, element_of(right), frame)
        return
    new = result_of(node.operator, old, right, node).doubtful(old, right)
    doubtful = old.may("any") and any(isinstance(root, tuple) for root in old.memory)
    if doubtful or (old.may("list", "dict") and not old.may("any") and old.may(*ARRAYS)):
        world.refuse(node, "NP2TF605", name=name)
        return
    helper = helper_of(node.operator, [old, right])
    operation = world.helper(helper) if helper is not None else None
    helpers = () if helper is None else (helper,)
    if not old.may("array"):
        if operation is not None:
            world.edit(node, edits.augment_with(None, operation), *helpers)
        refuse_shared(node, name, new, frame)
        frame.bind(name, new)
        return
    if not name_may_be_written(name, old, node, node, frame):
        return
    value = replace(old, certain=old.certain and right.certain)
    if old.only("array"):
        frame.bind(name, value)
        if operation is None and _keeps(node.operator, old, right):
            return
    else:
        frame.bind(name, join(value, new) or value)
    world.edit(node, edits.augment_with(world.helper("_updated"), operation), "_updated", *helpers)


def _augmented_attribute(node: cst.AugAssign, target: cst.Attribute, right: Value, frame: Frame) -> None:
    """Follow `x.name += v`."""
    world, name = frame.world, frame.world.facts.code(target)
    base, old = evaluate(target.value, frame), evaluate(target, frame)
    wrong = unfit(node.operator, old, right)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why=wrong)
        return
    if old.is_undetermined:
        return
    is_list = old.may("list", "dict") and not old.may("any", *ARRAYS)
    if old.may("any", "object", "class") or (old.may("list", "dict") and not is_list):
        world.refuse(node, "NP2TF605", name=name)
        return
    if is_list:
        put_into(node, old, element_of(right), frame)
        return
    key = key_of(base, target.attr.value, frame)
    assert key is not None
    helper = helper_of(node.operator, [old, right])
    operation = world.helper(helper) if helper is not None else None
    helpers = () if helper is None else (helper,)
    new = result_of(node.operator, old, right, node).doubtful(old, right)
    if not old.may("array"):
        if operation is not None:
            world.edit(node, edits.augment_with(None, operation), *helpers)
        set_attribute(key, new, frame)
        return
    if may_write_attribute(target, base, node, frame):
        if not old.only("array"):
            set_attribute(key, new, frame)
        world.edit(node, edits.augment_with(world.helper("_updated"), operation), "_updated", *helpers)


def _keeps(operator: cst.CSTNode, old: Value, right: Value) -> bool:
    """Return whether the result has the array's dtype and shape for all arguments of a caller."""
    if not old.certain or not right.certain or old.dtype is None or not right.only(*NUMBERS, "scalar"):
        return False
    divides = type(operator) is cst.DivideAssign and old.dtype in ("bool", "int32", "int64")
    return promote([old, right]) == old.dtype and not divides and type(operator) is not cst.PowerAssign


def _augmented_item(node: cst.AugAssign, target: cst.Subscript, right: Value, frame: Frame) -> None:
    world = frame.world
    world.forget(target)
    base = evaluate(target.value, frame)
    key = [key_part(element, frame) for element in target.slice]
    if not base.may(*ARRAYS):
        item = element_of(base)
        if item.may("array", "list", "any"):
            world.refuse(node, "NP2TF605", name=world.facts.code(target))
        elif helper_of(node.operator, [item, right]) is not None:
            world.refuse(
                node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why="it is not NumPy's"
            )
        else:
            put_into(target, base, result_of(node.operator, item, right, node), frame)
        return
    name = place_name(target.value, frame)
    if name is None or not _is_pure(target, frame):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="the statement's other parts"
        )
        return
    if not place_can_be_set(target.value, base, frame):
        world.refuse(target, "NP2TF605", name=name)
        return
    old = choose(base, target.slice, key, node)
    wrong = unfit(node.operator, old, right)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why=wrong)
        return
    if place_may_be_written(target.value, base, target, node, frame):
        helper = helper_of(node.operator, [old, right])
        operation = world.helper(helper) if helper is not None else None
        helpers = () if helper is None else (helper,)
        world.edit(
            node, edits.augmented_item(world.helper("_update_item"), operation), "_update_item", *helpers
        )


def _is_pure(node: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an expression may be computed twice, and at another time."""
    return effect(frame.world.facts, node) < Effect.CALLS


def writing_statement(node: cst.Expr, call: cst.Call, frame: Frame) -> bool:
    """Follow a statement if it calls a writing function or method of NumPy; return whether it does."""
    world, func = frame.world, call.func
    qualified_name = world.facts.imports.numpy_name(func)
    array_to_shuffle = shuffled_argument(call, frame, evaluate)
    if array_to_shuffle is not None and not evaluate(array_to_shuffle, frame).only("list"):
        _record_write(node, call, array_to_shuffle, "_shuffled", frame)
        return True
    if qualified_name is not None:
        helper = world.table.writes.get(qualified_name)
        place = call.args[0].value if call.args and not call.args[0].star else None
    elif type(func) is cst.Attribute:
        helper = world.table.writes.get(f".{func.attr.value}")
        place = func.value
        if helper is not None and not evaluate(place, frame).may(*ARRAYS):
            return False
    else:
        return False
    if helper is None or place is None:
        return False
    _record_write(node, call, place, helper, frame)
    return True


def _record_write(
    node: cst.Expr, call: cst.Call, place: cst.BaseExpression, helper: str, frame: Frame
) -> None:
    world = frame.world
    world.forget(call)
    world.forget(call.func)
    other_args = [arg for arg in call.args if arg.value is not place]
    for arg in other_args:
        evaluate(arg.value, frame)
    base, text = evaluate(place, frame), place_name(place, frame)
    if text is None:
        world.refuse(call, "NP2TF604", name=world.facts.code(place), other="the statement's other parts")
    elif not base.only("array"):
        world.refuse(call, "NP2TF605", name=text)
    elif any(arg.keyword is not None or arg.star for arg in call.args):
        world.refuse(
            call, "NP2TF602", name=world.facts.code(call.func), why="its keywords are not translated"
        )
    elif place_may_be_written(place, base, call, node, frame):
        name = world.helper(helper)
        if helper == "_shuffled":
            if world.facts.imports.numpy_name(call.func) is not None:
                world.keep(call.func)
            world.edit(call, shuffle_edit(name), helper)
        elif world.facts.imports.numpy_name(call.func) is not None:
            world.edit(call.func, edits.rename_to(name), helper)
        else:
            world.edit(call, edits.function_of(name), helper)
        world.edit(node, edits.assigned_to(text))


def value_of(statement: cst.CSTNode, node: cst.BaseExpression, frame: Frame) -> Value:
    """Return the value of a statement's expression; arguments that it writes to are bound again."""
    if type(node) is not cst.Call or not isinstance(statement, (cst.Assign, cst.Expr)):
        return evaluate(node, frame)
    if type(statement) is cst.Assign and len(statement.targets) > 1:
        return evaluate(node, frame)
    frame.writing_call = node
    value = evaluate(node, frame)
    frame.writing_call = None
    functions = frame.world.called_functions.get(node, [])
    writes = {(function, name) for function in functions for name in frame.world.summary(function).writes}
    if not writes:
        return value
    if len(functions) != 1:
        return frame.world.refuse(node, "NP2TF608", name=frame.world.facts.code(node.func))
    return_writes_of_call(statement, node, functions[0], frame)
    return value


def return_writes(node: cst.Return, frame: Frame) -> None:
    """Let a `return` also return the arrays that the function writes to."""
    summary = frame.summary
    if summary is not None and summary.writes and type(summary.node) is cst.FunctionDef:
        for name in summary.writes:
            value = frame.env.get(name)
            if value is None or value.memory != {("param", summary.node, name)}:
                frame.world.refuse(node, "NP2TF604", name=name, other=OUTSIDE)
        return_with(node, summary, frame)
