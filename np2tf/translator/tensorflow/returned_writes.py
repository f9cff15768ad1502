"""Functions that write to their parameters: they return the written arrays, and their calls bind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from np2tf.translator.facts.dataflow import block
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.model import Edit, Frame, Summary
from np2tf.translator.tensorflow.objects import has_receiver, parameter_names
from np2tf.translator.tensorflow.places import OUTSIDE, bound_outright, can_be_set, name_may_be_written
from np2tf.translator.tensorflow.values import ARRAYS, Value
from np2tf.translator.tree.nodes import positional_parameters, target_names, walk
from np2tf.translator.tree.templates import expression, parenthesize


def written_in_order(summary: Summary) -> list[str]:
    """Return the parameters that a function writes to, in the order of its parameters."""
    return [name for name in parameter_names(summary.node) if name in summary.writes]


@dataclass(frozen=True)
class Returned:
    """The result of a function whose every `return` gives the arrays that the function writes to."""

    names: tuple[str, ...]
    """The parameter at each place; "" for another value."""
    is_tuple: bool


def returned_writes(summary: Summary) -> Returned | None:
    """Return where the written arrays are in a function's own result; None if some result lacks one."""
    function = summary.node
    if not summary.writes or not isinstance(function, cst.FunctionDef):
        return None
    body = block(function.body)
    last = body[-1].body[-1] if isinstance(body[-1], cst.SimpleStatementLine) else None
    results = {
        _returned(node.value, summary.writes)
        for statement in body
        for node in walk(statement)
        if isinstance(node, cst.Return)
    }
    result = results.pop() if len(results) == 1 and isinstance(last, cst.Return) else None
    if result is None or sorted(filter(None, result.names)) != sorted(summary.writes):
        return None
    return result


def _returned(value: cst.BaseExpression | None, writes: set[str]) -> Returned | None:
    is_tuple = isinstance(value, cst.Tuple)
    parts = value.elements if isinstance(value, cst.Tuple) else [value]
    if any(isinstance(part, cst.StarredElement) for part in parts):
        return None
    nodes = [part.value if isinstance(part, cst.Element) else part for part in parts]
    names = [node.value if isinstance(node, cst.Name) and node.value in writes else "" for node in nodes]
    return Returned(tuple(names), is_tuple)


def return_with(node: cst.Return, summary: Summary, frame: Frame) -> None:
    """`return v` -> `return v, x`, or `return x` in a function that returns no value."""
    if returned_writes(summary) is not None:
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
        if place is not None and _is_left_behind(place, arguments, statement, frame):
            names.append("_")
            continue
        if type(place) is not cst.Name or place.value not in frame.env:
            world.refuse(node, "NP2TF608", name=world.facts.code(node.func))
            return
        value = frame.env[place.value]
        for other_parameter, argument in arguments.items():
            if other_parameter != parameter and not frame.evaluate(argument).memory.isdisjoint(value.memory):
                world.refuse(node, "NP2TF604", name=place.value, other=f"`{world.facts.code(argument)}`")
                return
        may_be_number = parameter in summary.doubtful_writes and not value.only("array")
        if may_be_number or not can_be_set(place.value, value, frame):
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
    if returned_writes(summary) is None:
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
    if not value.only(*ARRAYS) or any(
        not other_value.memory.isdisjoint(value.memory) for other_value in other_values
    ):
        return False
    if any(isinstance(root, tuple) for root in value.memory):
        return False
    read = statement.value if isinstance(statement, cst.Assign) else statement
    names = [inner_node.value for inner_node in walk(read) if type(inner_node) is cst.Name]
    live = (frame.live.get(statement, frozenset()) | frame.always_live) - bound_outright(statement, frame)
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

    returned = returned_writes(summary)
    if returned is not None:
        bound = dict(zip(written_in_order(summary), names))
        places = [bound.get(name, "_") for name in returned.names]
        places = ["_" if name in targets else name for name in places]
        if any(name != "_" for name in places):
            frame.world.edit(statement, _also_assigned_to(places, returned.is_tuple))
        return

    def edit(updated_node: cst.Assign | cst.Expr) -> cst.Assign:
        if type(updated_node) is cst.Assign and len(updated_node.targets) == 1:
            first: list[cst.BaseExpression] = [parenthesize(updated_node.targets[0].target, (cst.Tuple,))]
        else:
            first = [cst.Name("_")] if summary.returns_value else []
        place = _bare_tuple([*first, *(cst.Name(fresh[name]) for name in names)])
        target = cst.AssignTarget(place)  # type: ignore[arg-type]
        return cst.Assign([target], updated_node.value, semicolon=updated_node.semicolon)

    if set(names) == {"_"} and type(statement) is cst.Expr:
        return
    if type(statement) is cst.Assign and len(statement.targets) != 1:
        frame.world.refuse(statement, "NP2TF608", name="a function")
        return
    if type(statement) is cst.Assign and not summary.returns_value:
        frame.world.refuse(statement, "NP2TF608", name="a function without a result")
        return
    frame.world.edit(statement, edit)


def _also_assigned_to(names: Sequence[str], is_tuple: bool) -> Edit:
    """`y = f(x)` -> `y = x = f(x)`, and `f(x)` -> `x = f(x)`."""
    place = edits.tuple_of(names) if is_tuple else cst.Name(names[0])

    def edit(updated_node: cst.Assign | cst.Expr) -> cst.Assign:
        targets = updated_node.targets if isinstance(updated_node, cst.Assign) else []
        target = cst.AssignTarget(place.deep_clone())  # type: ignore[arg-type]
        return cst.Assign([*targets, target], updated_node.value, semicolon=updated_node.semicolon)

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
