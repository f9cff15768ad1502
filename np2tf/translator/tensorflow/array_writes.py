"""Writes become assignments if no other name shows the array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from np2tf.translator.facts.dataflow import block, bound_targets
from np2tf.translator.rewrites.evaluation_order import Effect, effect, may_swap
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.edits import assigned_to, key_expression
from np2tf.translator.tensorflow.hosts import augment_host, convert_key, store_in_host, writes_of
from np2tf.translator.tensorflow.model import Edit, Frame, Summary, is_shared, refuse_shared
from np2tf.translator.tensorflow.numpy_calls import shuffle_edit, shuffled_argument
from np2tf.translator.tensorflow.objects import (
    has_receiver,
    key_of,
    may_write_attribute,
    parameter_names,
    put_into,
    set_attribute,
)
from np2tf.translator.tensorflow.operations import choose, element_of, helper_of, key_part, result_of, unfit
from np2tf.translator.tensorflow.values import ARRAYS, HOST, NUMBERS, Value, join, promote
from np2tf.translator.tree.nodes import dotted_name, name_node, positional_parameters, target_names, walk
from np2tf.translator.tree.templates import expression, parenthesize

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


def assign_parts(node: cst.Assign, parts: Sequence[Part], frame: Frame, helper: str) -> Edit:
    """`x[0], x[1] = a, b` -> helper names bound to a and b, then one assignment for each target."""
    tuples = [part.place[1] for part in parts if part.place[1] is not None]
    count = max(tuples) + 1 if tuples else 0
    base_names = [f"value_{number}" for number in range(count)] or ["value"]
    names = [frame.world.name(base_name, node, frame) for base_name in base_names]

    def edit(updated_node: cst.SimpleStatementLine) -> cst.FlattenSentinel[cst.SimpleStatementLine]:
        assign = updated_node.body[0]
        assert type(assign) is cst.Assign
        first_target = _names(names) if count else cst.Name(names[0])
        lines = [_line(cst.Assign([cst.AssignTarget(first_target)], assign.value))]  # type: ignore[arg-type]
        for part in parts:
            target = assign.targets[part.place[0]].target
            position = part.place[1]
            if position is not None:
                assert isinstance(target, (cst.Tuple, cst.List))
                target = target.elements[position].value  # type: ignore[assignment]
            whole = _names(names) if count and position is None else None
            value = whole or cst.Name(names[position or 0])
            lines.append(_line(_assignment(target, value, helper)))
        lines[0] = lines[0].with_changes(leading_lines=updated_node.leading_lines)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated_node.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    return edit


def _names(names: Sequence[str]) -> cst.Tuple:
    return cst.Tuple([cst.Element(cst.Name(name)) for name in names], lpar=[], rpar=[])


def _line(small: cst.BaseSmallStatement) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([small])


def _assignment(target: cst.CSTNode, value: cst.BaseExpression, helper: str) -> cst.Assign:
    if type(target) is not cst.Subscript or type(target.value) is not cst.Name:
        return cst.Assign([cst.AssignTarget(target)], value)  # type: ignore[arg-type]
    call = expression(
        "{f}({x}, {key}, {value})",
        f=name_node(helper),
        x=cst.Name(target.value.value),
        key=key_expression(target.slice),
        value=value,
    )
    return cst.Assign([cst.AssignTarget(cst.Name(target.value.value))], call)


# -- places --------------------------------------------------------------------------------------------------
# The places of arrays that can be bound to a new array in the place of a write: names and attributes.
#
# That is right only if no other name, object or container shows the write.

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
    live = (frame.live.get(statement, frozenset()) | frame.always_live) - _bound_outright(statement, frame)
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


def _bound_outright(statement: cst.CSTNode, frame: Frame) -> frozenset[str]:
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
    return can_be_set(place.value, value, frame) if isinstance(place, cst.Name) else value.only("array")


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
    return value.only("array") or (value.may("any") and (is_parameter or (is_new and value.only("any"))))


# -- returned writes -----------------------------------------------------------------------------------------
# Functions that write to their parameters: they return the written arrays, and their calls bind them.


def written_in_order(summary: Summary) -> list[str]:
    """Return the parameters that a function writes to, in the order of its parameters."""
    return [name for name in parameter_names(summary.node) if name in summary.writes]


def returns_written(summary: Summary) -> bool:
    """Return whether each `return` of a function gives the one array that the function writes to."""
    function = summary.node
    if len(summary.writes) != 1 or not isinstance(function, cst.FunctionDef):
        return False
    (name,) = summary.writes
    body = block(function.body)
    last = body[-1].body[-1] if isinstance(body[-1], cst.SimpleStatementLine) else None
    returns = [node for statement in body for node in walk(statement) if isinstance(node, cst.Return)]
    of_name = all(isinstance(node.value, cst.Name) and node.value.value == name for node in returns)
    return isinstance(last, cst.Return) and of_name


def return_with(node: cst.Return, summary: Summary, frame: Frame) -> None:
    """`return v` -> `return v, x`, or `return x` in a function that returns no value."""
    if returns_written(summary):
        return
    names = written_in_order(summary)

    def edit(updated_node: cst.Return) -> cst.Return:
        value = updated_node.value if updated_node.value is not None else cst.Name("None")
        values = [parenthesize(value, (cst.Tuple,))] if summary.returns_value else []
        values += [cst.Name(name) for name in names]
        new_value = _bare_tuple(values)
        return updated_node.with_changes(value=new_value, whitespace_after_return=cst.SimpleWhitespace(" "))

    frame.world.edit(node, edit)


def _bare_tuple(values: Sequence[cst.BaseExpression]) -> cst.BaseExpression:
    elements = [cst.Element(value) for value in values]
    return cst.Tuple(elements, lpar=[], rpar=[]) if len(values) > 1 else values[0]


def end_with_return(summary: Summary, frame: Frame) -> None:
    """Let a function whose end is reached return the written arrays there."""
    node = summary.node
    assert type(node) is cst.FunctionDef
    names = written_in_order(summary)
    values: list[cst.BaseExpression] = [cst.Name("None")] if summary.returns_value else []
    line = cst.SimpleStatementLine([cst.Return(_bare_tuple([*values, *map(cst.Name, names)]))])
    body = node.body
    if type(body) is not cst.IndentedBlock:
        frame.world.refuse(node, "NP2TF603", what="a function on one line that writes to a parameter")
        return
    frame.world.edit(body, lambda updated_node: updated_node.with_changes(body=[*updated_node.body, line]))


def return_writes_of_call(
    statement: cst.Assign | cst.Expr,
    node: cst.Call,
    function: cst.FunctionDef,
    frame: Frame,
) -> None:
    """`r = f(x)` -> `r, x = f(x)`, where f writes to x."""
    world = frame.world
    summary = world.summary(function)
    arguments = _arguments(node, function, summary.owner is not None)
    # A handler would see the elements that the function wrote before it raised an exception.
    if arguments is None or frame.raise_states:
        world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
        return
    names: list[str] = []
    for parameter in written_in_order(summary):
        place = arguments.get(parameter)
        if type(place) is not cst.Name or place.value not in frame.env:
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
            return
        value = frame.env[place.value]
        for other_parameter, argument in arguments.items():
            if other_parameter != parameter and not frame.evaluate(argument).memory.isdisjoint(value.memory):
                world.refuse(node, "NP2TF604", name=place.value, other=f"`{world.facts.code(argument)}`")
                return
        if not can_be_set(place.value, value, frame):
            world.refuse(node, "NP2TF605", name=place.value)
            return
        if not name_may_be_written(place.value, value, node, statement, frame):
            return
        names.append(place.value)
    _bind_again(statement, names, summary, frame)


def inline_call(node: cst.Call, functions: Sequence[cst.FunctionDef], frame: Frame) -> None:
    """`f(x)` in an expression -> `f(x)[0]`, where nobody needs the array afterwards that f writes to."""
    world, statement = frame.world, frame.statement
    summary = world.summary(functions[0])
    arguments = _arguments(node, functions[0], summary.owner is not None)
    if (
        len(functions) != 1
        or frame.raise_states
        or arguments is None
        or statement is None
        or not summary.returns_value
    ):
        world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
        return
    for parameter in written_in_order(summary):
        place = arguments.get(parameter)
        if place is None or not _is_left_behind(place, arguments, statement, frame):
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
            return
    if not returns_written(summary):
        world.edit(node, lambda updated_node: expression("{call}[0]", call=updated_node))


def _is_left_behind(
    place: cst.BaseExpression,
    arguments: dict[str, cst.BaseExpression],
    statement: cst.CSTNode,
    frame: Frame,
) -> bool:
    """Return whether no code can see an argument's array after the statement."""
    value = frame.evaluate(place)
    other_values = [frame.evaluate(argument) for argument in arguments.values() if argument is not place]
    if not value.only("array") or any(
        not other_value.memory.isdisjoint(value.memory) for other_value in other_values
    ):
        return False
    if any(isinstance(root, tuple) for root in value.memory):
        return False
    names = [inner_node.value for inner_node in walk(statement) if type(inner_node) is cst.Name]
    live = frame.live.get(statement, frozenset()) | frame.always_live
    for name, variable_value in frame.env.items():
        if not variable_value.memory.isdisjoint(value.memory):
            itself = type(place) is cst.Name and place.value == name
            if frame.function is None or name in live or names.count(name) > (1 if itself else 0):
                return False
    return True


def _bind_again(statement: cst.Assign | cst.Expr, names: list[str], summary: Summary, frame: Frame) -> None:
    targets = {place.value for t in getattr(statement, "targets", ()) for place in target_names(t.target)}
    # If the statement binds the name to another value, the name does not show the written array any more.
    fresh = {
        name: frame.world.name(f"{name}_written", statement, frame) if name in targets else name
        for name in names
    }

    if returns_written(summary):
        if isinstance(statement, cst.Expr):
            frame.world.edit(statement, assigned_to(names[0]))
        elif names[0] not in targets:
            frame.world.edit(statement, _also_assigned_to(names[0]))
        return

    def edit(updated_node: cst.Assign | cst.Expr) -> cst.Assign:
        if type(updated_node) is cst.Assign and len(updated_node.targets) == 1:
            first: list[cst.BaseExpression] = [parenthesize(updated_node.targets[0].target, (cst.Tuple,))]
        else:
            first = [cst.Name("_")] if summary.returns_value else []
        place = _bare_tuple([*first, *(cst.Name(fresh[name]) for name in names)])
        target = cst.AssignTarget(place)  # type: ignore[arg-type]
        return cst.Assign([target], updated_node.value, semicolon=updated_node.semicolon)

    if type(statement) is cst.Assign and len(statement.targets) != 1:
        frame.world.refuse(statement, "NP2TF608", name="a function")
        return
    if type(statement) is cst.Assign and not summary.returns_value:
        frame.world.refuse(statement, "NP2TF608", name="a function without a result")
        return
    frame.world.edit(statement, edit)


def _also_assigned_to(name: str) -> Edit:
    """`y = f(x)` -> `y = x = f(x)`."""

    def edit(updated_node: cst.Assign) -> cst.Assign:
        return updated_node.with_changes(targets=[*updated_node.targets, cst.AssignTarget(cst.Name(name))])

    return edit


def _arguments(
    node: cst.Call, function: cst.FunctionDef, is_method: bool
) -> dict[str, cst.BaseExpression] | None:
    """Return the argument of each parameter; None if `*` hides the arguments."""
    positions = [param.name.value for param in positional_parameters(function)]
    if is_method and has_receiver(function):
        positions = positions[1:]
    arguments: dict[str, cst.BaseExpression] = {}
    for position, arg in enumerate(node.args):
        if arg.star or (arg.keyword is None and position >= len(positions)):
            return None
        arguments[arg.keyword.value if arg.keyword is not None else positions[position]] = arg.value
    return arguments


# -- writes --------------------------------------------------------------------------------------------------
# Writes to arrays: a write becomes an assignment if no other name shows the array afterwards.


def is_array_store(target: cst.BaseExpression, frame: Frame) -> bool:
    return type(target) is cst.Subscript and frame.evaluate(target.value).may(*ARRAYS)


def store(
    target: cst.Subscript, value: Value, frame: Frame, statement: cst.CSTNode, is_part: bool = False
) -> None:
    """Follow `x[key] = value`. `is_part`: the edit of the whole assignment writes this part."""
    world = frame.world
    world.forget(target)
    base = frame.evaluate(target.value)
    for element in target.slice:
        key_part(element, frame)
    if isinstance(statement, cst.Assign) and writes_of(statement.value, frame) and not base.may(*ARRAYS):
        # The names of the key would be bound again only after the key.
        world.refuse(statement.value, "NP2TF608", name=world.facts.code(statement.value))
        return
    if base.is_host and not base.is_mixed:
        store_in_host(target, base, value, frame, statement)
        return
    if not base.may(*ARRAYS):
        if base.may("list", "dict"):
            put_into(target, base, value, frame)
            if base.may("dict"):
                convert_key(target, frame)
        return
    name = place_name(target.value, frame)
    targets = statement.targets if isinstance(statement, cst.Assign) else []
    alone = len(targets) == 1 and targets[0].target is target
    if name is None or not (alone or is_part):
        world.refuse(
            target, "NP2TF604", name=world.facts.code(target.value), other="another part of the statement"
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
        world.refuse(target, "NP2TF604", name=name, other="another part of the statement")
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
    doubtful = old.may("any") and any(isinstance(root, tuple) for root in old.memory)
    if doubtful or (old.may("list", "dict") and not old.may("any") and old.may(*ARRAYS)):
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
    if old.only("array"):
        frame.bind(name, value)
        if operation is None and _keeps(node.operator, old, right):
            return
    else:
        frame.bind(name, join(value, new) or value)
    world.edit(node, edits.augment_with(world.helper("_updated"), operation), "_updated", *helpers)


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
    array_to_shuffle = shuffled_argument(call, frame)
    if array_to_shuffle is not None and not frame.evaluate(array_to_shuffle).only("list", HOST):
        _record_write(node, call, array_to_shuffle, "_shuffled", frame)
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
        return frame.evaluate(node)
    if type(statement) is cst.Assign and len(statement.targets) > 1:
        return frame.evaluate(node)
    frame.writing_call = node
    value = frame.evaluate(node)
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
