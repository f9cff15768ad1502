"""Writes to arrays: a write becomes an assignment if no other name shows the array afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from np2tf.facts.dataflow.reads_writes import bound_targets
from np2tf.rewrites.mutation.order import Effect, effect, may_swap
from np2tf.rewrites.tensorflow_target.assigned_parts import assign_parts, part_of, taken_apart
from np2tf.rewrites.tensorflow_target.expressions import evaluate, key_part
from np2tf.rewrites.tensorflow_target.methods import put_into
from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import choose, element_of, helper_of, result_of, unfit
from np2tf.rewrites.tensorflow_target.model.shared_names import is_shared, refuse_shared
from np2tf.rewrites.tensorflow_target.model.values import ARRAYS, NUMBERS, Value, join, promote
from np2tf.rewrites.tensorflow_target.model.world import Frame
from np2tf.rewrites.tensorflow_target.returned_writes import return_with, return_writes_of_call

Bind = Callable[[cst.CSTNode, Value, Frame, cst.CSTNode], None]
_OUTSIDE = "memory of others"


def may_write(name: str, value: Value, place: cst.CSTNode, statement: cst.CSTNode, frame: Frame) -> bool:
    """Return whether a name can be bound to a new array, because no other name would show the write."""
    owner = _other_owner(name, value, statement, frame)
    if owner is None:
        return True
    frame.world.refuse(place, "NP2TF604", name=name, other=owner)
    return False


def _other_owner(name: str, value: Value, statement: cst.CSTNode, frame: Frame) -> str | None:
    """Return the other name or code that may see the memory of a name after a statement."""
    if name not in frame.env or (frame.function, name) in frame.world.shared_owners:
        return _OUTSIDE
    if frame.is_returned:
        return "the result that is returned"
    live = (frame.live.get(statement, frozenset()) | frame.always_live) - _bound_outright(statement, frame)
    for other_name, other_value in frame.env.items():
        is_needed = frame.function is None or other_name in live or other_name.startswith("<")
        if other_name != name and is_needed and not other_value.memory.isdisjoint(value.memory):
            return f"`{other_name}`" if not other_name.startswith("<") else "what a loop goes over"
    outside = [root for root in value.memory if isinstance(root, tuple)]
    if not outside:
        return None
    own_root = ("param", frame.function, name)
    if frame.function is None and set(outside) == {("global", name)}:
        return None
    if outside == [own_root] and len(value.memory) == 1 and type(frame.function) is cst.FunctionDef:
        summary = frame.world.summary(frame.function)
        if name not in summary.writes:
            summary.writes.add(name)
            frame.world.changed = True
        return None
    return _OUTSIDE


def _bound_outright(statement: cst.CSTNode, frame: Frame) -> frozenset[str]:
    """Return the names that an assignment binds to a new value in any case."""
    if type(statement) is not cst.Assign:
        return frozenset()
    names = {name for target in statement.targets for name in bound_targets(target.target)}
    return frozenset(names) - frame.always_live


def _is_array_for_sure(value: Value) -> bool:
    """Return whether a helper may get a value. (At run time the helper refuses other values from outside,
    with an error.)
    """
    return value.only("array")


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
    name = target.value.value if type(target.value) is cst.Name else None
    targets = statement.targets if type(statement) is cst.Assign else []
    alone = len(targets) == 1 and targets[0].target is target
    if name is None or not (alone or is_part):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="the statement's other parts"
        )
        return
    if not _is_array_for_sure(base):
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
    if may_write(name, base, target, statement, frame) and not is_part:
        world.edit(statement, edits.item_assignment(world.helper("_set_item")), "_set_item")


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
    elif type(target) is cst.Subscript:
        _augmented_item(node, target, right, frame)
    else:
        world.refuse(target, "NP2TF603", what="an attribute that is written")


def _augmented_name(node: cst.AugAssign, target: cst.Name, right: Value, frame: Frame) -> None:
    world, name = frame.world, target.value
    old = evaluate(target, frame)
    if name not in frame.env and not is_shared(target, frame):
        world.refuse(node, "NP2TF604", name=name, other=_OUTSIDE)
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
    if not may_write(name, old, node, node, frame):
        return
    value = replace(old, certain=old.certain and right.certain)
    if old.only("array"):
        frame.bind(name, value)
        if operation is None and _keeps(node.operator, old, right):
            return
    else:
        frame.bind(name, join(value, new) or value)
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
    if type(target.value) is not cst.Name or not _is_pure(target, frame):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="the statement's other parts"
        )
        return
    name = target.value.value
    if not _is_array_for_sure(base):
        world.refuse(target, "NP2TF605", name=name)
        return
    old = choose(base, target.slice, key, node)
    wrong = unfit(node.operator, old, right)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why=wrong)
        return
    if may_write(name, base, target, node, frame):
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
    base = evaluate(place, frame)
    if type(place) is not cst.Name:
        world.refuse(call, "NP2TF604", name=world.facts.code(place), other="the statement's other parts")
    elif not _is_array_for_sure(base):
        world.refuse(call, "NP2TF605", name=place.value)
    elif any(arg.keyword is not None or arg.star for arg in call.args):
        world.refuse(
            call, "NP2TF602", name=world.facts.code(call.func), why="its keywords are not translated"
        )
    elif may_write(place.value, base, call, node, frame):
        name = world.helper(helper)
        if world.facts.imports.numpy_name(call.func) is not None:
            world.edit(call.func, edits.rename_to(name), helper)
        else:
            world.edit(call, edits.function_of(name), helper)
        world.edit(node, edits.assigned_to(place.value))


def value_of(statement: cst.CSTNode, node: cst.BaseExpression, frame: Frame) -> Value:
    """Return the value of a statement's expression; arguments that it writes to are bound again."""
    if type(node) is not cst.Call or not isinstance(statement, (cst.Assign, cst.Expr)):
        return evaluate(node, frame)
    if type(statement) is cst.Assign and len(statement.targets) > 1:
        return evaluate(node, frame)
    frame.writing_call = node
    value = evaluate(node, frame)
    frame.writing_call = None
    functions = _callees(node, frame)
    writes = {(function, name) for function in functions for name in frame.world.summary(function).writes}
    if not writes:
        return value
    if len(functions) != 1:
        return frame.world.refuse(node, "NP2TF608", name=frame.world.facts.code(node.func))
    return_writes_of_call(statement, node, functions[0], frame, may_write)
    return value


def _callees(node: cst.Call, frame: Frame) -> list[cst.FunctionDef]:
    """Return the functions of the module that a call may run."""
    if frame.world.facts.imports.numpy_name(node.func) is not None or type(node.func) is not cst.Name:
        return []
    return list(evaluate(node.func, frame).functions)


def return_writes(node: cst.Return, frame: Frame) -> None:
    """Let a `return` also return the arrays that the function writes to."""
    summary = frame.summary
    if summary is not None and summary.writes and type(summary.node) is cst.FunctionDef:
        for name in summary.writes:
            value = frame.env.get(name)
            if value is None or value.memory != {("param", summary.node, name)}:
                frame.world.refuse(node, "NP2TF604", name=name, other=_OUTSIDE)
        return_with(node, summary, frame)
