"""Writes become assignments if no other name shows the array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from np2tf.translator.rewrites.evaluation_order import Effect, effect, may_swap
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.edits import assigned_to, key_expression
from np2tf.translator.tensorflow.hosts import augment_host, convert_key, store_in_host, writes_of
from np2tf.translator.tensorflow.model import Edit, Frame, is_shared, refuse_shared
from np2tf.translator.tensorflow.numpy_calls import shuffled_argument, write_result
from np2tf.translator.tensorflow.objects import key_of, may_write_attribute, put_into, set_attribute
from np2tf.translator.tensorflow.operations import choose, element_of, helper_of, key_part, result_of, unfit
from np2tf.translator.tensorflow.places import (
    OUTSIDE,
    name_may_be_written,
    place_can_be_set,
    place_may_be_written,
    place_name,
)
from np2tf.translator.tensorflow.setters import needs, setter, updater
from np2tf.translator.tensorflow.values import ARRAYS, HOST, NUMBERS, Value, join, promote
from np2tf.translator.tree.nodes import name_node, target_names
from np2tf.translator.tree.templates import expression

# -- assigned parts ------------------------------------------------------------------------------------------
# Splits an assignment with several targets into one assignment for each target.


@dataclass(frozen=True)
class Part:
    """One target of an assignment."""

    target: cst.BaseExpression
    place: tuple[int, int | None]
    """The number of the `=`, and the number in the tuple on its left."""


def taken_apart(node: cst.Assign) -> list[Part] | None:
    """Return the targets of an assignment that has several; None if a target has an unsupported form."""
    parts: list[Part] = []
    for number, target in enumerate(node.targets):
        place = target.target
        if not isinstance(place, (cst.Tuple, cst.List)):
            parts.append(Part(place, (number, None)))
            continue
        for position, element in enumerate(place.elements):
            if type(element) is cst.StarredElement or isinstance(element.value, (cst.Tuple, cst.List)):
                return None
            parts.append(Part(element.value, (number, position)))
    return parts if len(parts) > 1 else None


def part_of(value: Value, part: Part) -> Value:
    """Return the part of the assigned value that is bound to a target."""
    position = part.place[1]
    if position is None:
        return value
    if value.items is not None and position < len(value.items):
        return value.items[position]
    return element_of(value)


def assign_parts(
    node: cst.Assign, parts: Sequence[Part], writers: Sequence[tuple[str, ...]], frame: Frame
) -> Edit:
    """`x[0], x[1] = a, b` -> helper names bound to a and b, then one assignment for each target."""
    tuples = [part.place[1] for part in parts if part.place[1] is not None]
    count = max(tuples) + 1 if tuples else 0
    base_names = [f"value_{number}" for number in range(count)] or ["value"]
    names = [frame.world.name(base_name, node, frame) for base_name in base_names]
    helpers = [frame.world.helper(one[0]) if one else "" for one in writers]
    written = {name.value for target in node.targets for name in target_names(target.target)}
    is_simple = not count and isinstance(node.value, (cst.Name, cst.Integer, cst.Float))
    is_simple = is_simple and not (isinstance(node.value, cst.Name) and node.value.value in written)

    def edit(updated_node: cst.SimpleStatementLine) -> cst.FlattenSentinel[cst.SimpleStatementLine]:
        assign = updated_node.body[0]
        assert type(assign) is cst.Assign
        first_target = edits.tuple_of(names) if count else cst.Name(names[0])
        lines = [] if is_simple else [_line(cst.Assign([cst.AssignTarget(first_target)], assign.value))]  # type: ignore[arg-type]
        for part, helper in zip(parts, helpers):
            target = assign.targets[part.place[0]].target
            position = part.place[1]
            if position is not None:
                assert isinstance(target, (cst.Tuple, cst.List))
                target = target.elements[position].value  # type: ignore[assignment]
            whole = edits.tuple_of(names) if count and position is None else None
            value = whole or (assign.value.deep_clone() if is_simple else cst.Name(names[position or 0]))
            lines.append(_line(_assignment(target, value, helper)))
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    return edit


def _line(small: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([small])


def _assignment(target: cst.CSTNode, value: cst.BaseExpression, helper: str) -> cst.Assign:
    if type(target) is not cst.Subscript:
        return cst.Assign([cst.AssignTarget(target)], value)  # type: ignore[arg-type]
    assert isinstance(target.value, (cst.Name, cst.Attribute))
    call = expression(
        "{f}({x}, {key}, {value})",
        f=name_node(helper),
        x=target.value.deep_clone(),
        key=key_expression(target.slice),
        value=value,
    )
    return cst.Assign([cst.AssignTarget(target.value)], call)


# -- writes --------------------------------------------------------------------------------------------------
# Writes to arrays: a write becomes an assignment if no other name shows the array afterwards.


def is_array_store(target: cst.BaseExpression, frame: Frame) -> bool:
    return type(target) is cst.Subscript and frame.evaluate(target.value).may(*ARRAYS)


def store(
    target: cst.Subscript, value: Value, frame: Frame, statement: cst.CSTNode, is_part: bool = False
) -> tuple[str, ...]:
    """Follow `x[key] = value`, and return the helper that writes, with what it needs.

    `is_part`: the edit of the whole assignment writes this part.
    """
    world = frame.world
    world.forget(target)
    base = frame.evaluate(target.value)
    key = [key_part(element, frame) for element in target.slice]
    if isinstance(statement, cst.Assign) and writes_of(statement.value, frame) and not base.may(*ARRAYS):
        # The names of the key would be bound again only after the key.
        world.refuse(statement.value, "NP2TF608", name=world.facts.code(statement.value))
        return ()
    if base.is_host and not base.is_mixed:
        store_in_host(target, base, value, frame, statement)
        return ()
    if not base.may(*ARRAYS):
        if base.may("list", "dict"):
            put_into(target, base, value, frame)
            if base.may("dict"):
                convert_key(target, frame)
        return ()
    name = place_name(target.value, frame)
    targets = statement.targets if isinstance(statement, cst.Assign) else []
    alone = len(targets) == 1 and targets[0].target is target
    if name is None or not (alone or is_part):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="another part of the statement"
        )
        return ()
    if not place_can_be_set(target.value, base, frame):
        world.refuse(target, "NP2TF605", name=name)
        return ()
    wrong = _unwritable(base, value)
    if wrong is not None:
        world.refuse(target, "NP2TF602", name="`=`", why=wrong)
        return ()
    assert type(statement) is cst.Assign
    if not may_swap(world.facts, [target.value, *target.slice], statement.value) or (
        is_part and not _is_pure(target, frame)
    ):
        world.refuse(target, "NP2TF604", name=name, other="another part of the statement")
        return ()
    if base.may("any"):
        _keep(value, base, frame)
    helpers = setter(base, target.slice, key, value, frame)
    if place_may_be_written(target.value, base, target, statement, frame) and not is_part:
        world.edit(statement, edits.item_assignment(world.helper(helpers[0])), *helpers)
    return helpers


def _keep(value: Value, container: Value, frame: Frame) -> None:
    """Let the names of a value share the memory of an object that may be a container, and then holds it."""
    for name, other_value in list(frame.env.items()):
        if not other_value.memory.isdisjoint(value.memory) and other_value.memory.isdisjoint(
            container.memory
        ):
            frame.bind(name, replace(other_value, memory=other_value.memory | container.memory))


def _unwritable(base: Value, value: Value) -> str | None:
    if value.may("str", "dict", "none", "function") and not value.may("any"):
        return "the value is not an array"
    if value.dtype == "complex128" and base.dtype not in (None, "complex128"):
        return "a complex value is written to a real array"
    return None


def augmented_assignment(node: cst.AugAssign, frame: Frame) -> None:
    """Follow `x += v` or `x[key] += v`."""
    world = frame.world
    world.forget(node)
    right = frame.evaluate(node.value)
    target = node.target
    if type(target) is cst.Name:
        _augmented_name(node, target, right, frame)
    elif isinstance(target, cst.Attribute) and place_name(target, frame) is not None:
        _augmented_attribute(node, target, right, frame)
    elif isinstance(target, cst.Subscript):
        _augmented_item(node, target, right, frame)
    elif isinstance(target, cst.Attribute) and frame.evaluate(target.value).is_host:
        augment_host(node, frame.evaluate(target), right, frame)
    else:
        world.refuse(target, "NP2TF603", what="an attribute that is written to")


def _augmented_name(node: cst.AugAssign, target: cst.Name, right: Value, frame: Frame) -> None:
    world, name = frame.world, target.value
    old = frame.evaluate(target)
    if name not in frame.env and not is_shared(target, frame):
        world.refuse(node, "NP2TF604", name=name, other=OUTSIDE)
        return
    if (old.is_host or right.is_host) and not old.is_mixed and not old.may("list", "dict"):
        if not old.is_host and old.may_be_tensor:
            world.program.borders.want("name", _scope_of(target, frame), name)
        new = augment_host(node, old, right, frame)
        refuse_shared(node, name, new, frame)
        frame.bind(name, new)
        return
    wrong = unfit(node.operator, old, right)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"`{edits.SYMBOLS[type(node.operator)]}=`", why=wrong)
        return
    if old.may("list") and not old.may(*ARRAYS):
        put_into(node, old, element_of(right), frame)
        return
    new = result_of(node.operator, old, right, node).doubtful(old, right)
    is_unknown = old.may("any") and any(isinstance(root, tuple) for root in old.memory)
    is_parameter = old.only("any") and old.memory == {("param", frame.function, name)}
    is_list = old.may("list", "dict") and not old.may("any") and old.may(*ARRAYS)
    if is_list or (is_unknown and not is_parameter):
        world.refuse(node, "NP2TF605", name=name)
        return
    operation, helpers = _operation(node, old, right, frame)
    if not old.may("array"):
        if operation is not None:
            world.edit(node, edits.augment_with(None, operation), *helpers)
        refuse_shared(node, name, new, frame)
        frame.bind(name, new)
        return
    if not name_may_be_written(name, old, node, node, frame):
        return
    value = replace(old, certain=old.certain and right.certain)
    if old.only("array") or is_unknown:
        frame.bind(name, value)
        if operation is None and _keeps(node.operator, old, right):
            return
    else:
        either = join(value, new) or value
        # A number becomes another number, and an array stays the same.
        frame.bind(name, replace(either, memory=old.memory) if right.only(*NUMBERS, "scalar") else either)
    if not old.only("array") and frame.summary is not None and name in frame.summary.writes:
        frame.summary.doubtful_writes.add(name)
    writer = ("_updated", *needs(old))
    world.edit(node, edits.augment_with(world.helper("_updated"), operation), *writer, *helpers)


def _scope_of(node: cst.Name, frame: Frame) -> object:
    owner = frame.world.facts.scopes.owner(node)
    return frame.world.file if owner is None or owner.is_module else owner.node


def _operation(
    node: cst.AugAssign, old: Value, right: Value, frame: Frame
) -> tuple[str | None, tuple[str, ...]]:
    """Return the function that replaces an operator, if it does not stay, and the helpers that this needs."""
    helper = helper_of(node.operator, [old, right])
    return (None, ()) if helper is None else (frame.world.helper(helper), (helper,))


def _augmented_attribute(node: cst.AugAssign, target: cst.Attribute, right: Value, frame: Frame) -> None:
    """Follow `x.name += v`."""
    world, name = frame.world, frame.world.facts.code(target)
    base, old = frame.evaluate(target.value), frame.evaluate(target)
    if (old.is_host or right.is_host) and not old.is_mixed and not old.may("list", "dict"):
        key = key_of(base, target.attr.value, frame)
        assert key is not None
        if not old.is_host and old.may_be_tensor:
            world.program.borders.want("attribute", *key)
        set_attribute(key, augment_host(node, old, right, frame), frame)
        return
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
    operation, helpers = _operation(node, old, right, frame)
    new = result_of(node.operator, old, right, node).doubtful(old, right)
    if not old.may("array"):
        if operation is not None:
            world.edit(node, edits.augment_with(None, operation), *helpers)
        set_attribute(key, new, frame)
        return
    if may_write_attribute(target, base, node, frame):
        if not old.only("array"):
            set_attribute(key, new, frame)
        writer = ("_updated", *needs(old))
        world.edit(node, edits.augment_with(world.helper("_updated"), operation), *writer, *helpers)


def _keeps(operator: cst.CSTNode, old: Value, right: Value) -> bool:
    """Return whether the result has the array's dtype and shape for all arguments of a caller."""
    if not old.certain or not right.certain or old.dtype is None or not right.only(*NUMBERS, "scalar"):
        return False
    divides = type(operator) is cst.DivideAssign and old.dtype in ("bool", "int32", "int64")
    return promote([old, right]) == old.dtype and not divides and type(operator) is not cst.PowerAssign


def _augmented_item(node: cst.AugAssign, target: cst.Subscript, right: Value, frame: Frame) -> None:
    world = frame.world
    world.forget(target)
    base = frame.evaluate(target.value)
    key = [key_part(element, frame) for element in target.slice]
    if base.is_host and not base.is_mixed:
        convert_key(target, frame)
        augment_host(node, base, right, frame)
        return
    if right.is_host:  # The sum is NumPy's, and so is the array from the next time on.
        world.program.borders.want_memory(base.memory)
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
            target, "NP2TF604", name=world.facts.code(target.value), other="another part of the statement"
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
        operation, helpers = _operation(node, old, right, frame)
        writers = updater(base, target.slice, key, frame)
        if _stays_in_kind(node.operator, base, old, right):
            writers = setter(base, target.slice, key, old, frame)
        world.edit(node, edits.augmented_item(world.helper(writers[0]), operation), *writers, *helpers)


def _stays_in_kind(operator: cst.CSTNode, base: Value, old: Value, right: Value) -> bool:
    """Return whether `x[key] += v` certainly gives values that NumPy writes to the array."""
    if not (base.certain and base.only("array") and right.certain and base.dtype is not None):
        return False
    new = result_of(operator, old, right, operator)
    return new.only(*ARRAYS) and new.dtype == base.dtype


def _is_pure(node: cst.CSTNode, frame: Frame) -> bool:
    """Return whether an expression may be computed twice, and at another time."""
    return effect(frame.world.facts, node) < Effect.CALLS


def writing_statement(node: cst.Expr, call: cst.Call, frame: Frame) -> bool:
    """Follow a statement if it calls a writing function or method of NumPy; return whether it does."""
    world, func = frame.world, call.func
    qualified_name = world.facts.imports.numpy_name(func)
    array_to_shuffle = shuffled_argument(call, frame)
    if array_to_shuffle is not None and not frame.evaluate(array_to_shuffle).only("list", HOST):
        _record_write(node, call, array_to_shuffle, "_shuffled", frame)
        return True
    out = _out_argument(call, frame)
    if out is not None:
        _write_result(node, call, out, frame)
        return True
    if qualified_name is not None:
        helper = world.table.writes.get(qualified_name)
        place = call.args[0].value if call.args and not call.args[0].star else None
    elif type(func) is cst.Attribute:
        helper = world.table.writes.get(f".{func.attr.value}")
        place = func.value
        if helper is not None and not frame.evaluate(place).may(*ARRAYS):
            return False
    else:
        return False
    if helper is None or place is None or frame.evaluate(place).is_host:
        return False
    _record_write(node, call, place, helper, frame)
    return True


def _out_argument(call: cst.Call, frame: Frame) -> cst.Arg | None:
    """Return the argument `out=` of a call of a function of NumPy's that writes its result to a place."""
    name = (frame.world.facts.imports.numpy_name(call.func) or "").removeprefix("numpy.")
    table = frame.world.table
    if name not in table.functions and name not in table.host:
        return None
    out = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == "out"), None)
    return out if out is not None and isinstance(out.value, (cst.Name, cst.Attribute)) else None


def _write_result(node: cst.Expr, call: cst.Call, out: cst.Arg, frame: Frame) -> None:
    """Follow `np.f(a, out=x)`: `x = _updated(x, tnp.f(a))`, or `x = _on_host(np.f, a, out=x)`."""
    world = frame.world
    world.forget(call)
    base, text = frame.evaluate(out.value), place_name(out.value, frame)
    if text is None or not base.only(*ARRAYS):
        world.refuse(call, "NP2TF605", name=world.facts.code(out.value))
        return
    if not place_may_be_written(out.value, base, call, node, frame):
        return
    if not write_result(call, out, frame):
        world.edit(node, assigned_to(text))
        return
    helper = world.helper("_updated")

    def edit(updated_node: cst.Expr) -> cst.Assign:
        new = expression("{f}({x}, {new})", f=name_node(helper), x=name_node(text), new=updated_node.value)
        return cst.Assign([cst.AssignTarget(name_node(text))], new, semicolon=updated_node.semicolon)  # type: ignore[arg-type]

    world.edit(node, edit, "_updated")


def _record_write(
    node: cst.Expr, call: cst.Call, place: cst.BaseExpression, helper: str, frame: Frame
) -> None:
    world = frame.world
    world.forget(call)
    world.forget(call.func)
    other_args = [arg for arg in call.args if arg.value is not place]
    for arg in other_args:
        frame.evaluate(arg.value)
    base, text = frame.evaluate(place), place_name(place, frame)
    if text is None:
        world.refuse(call, "NP2TF604", name=world.facts.code(place), other="another part of the statement")
    elif not base.only(*ARRAYS):
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
            world.edit(call, edits.passed_to(name), helper)
        elif world.facts.imports.numpy_name(call.func) is not None:
            world.edit(call.func, edits.rename_to(name), helper)
        else:
            world.edit(call, edits.function_of(name), helper)
        world.edit(node, edits.assigned_to(text))
