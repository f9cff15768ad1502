"""Functions that write to their parameters: they return the written arrays, and their calls bind them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.facts.dataflow.reads_writes import block
from np2tf.rewrites.tensorflow_target.calls.program_calls import has_receiver, parameter_names
from np2tf.rewrites.tensorflow_target.expressions import evaluate
from np2tf.rewrites.tensorflow_target.model.edits import assigned_to
from np2tf.rewrites.tensorflow_target.model.world import Edit, Frame, Summary
from np2tf.rewrites.tensorflow_target.places import can_be_set, name_may_be_written
from np2tf.tree.names import target_names
from np2tf.tree.templates import expression
from np2tf.tree.walk import walk


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
        if type(value) is cst.Tuple and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        values: list[cst.BaseExpression] = [value] if summary.returns_value else []
        values += [cst.Name(name) for name in names]
        new_value = _bare_tuple(values)
        return updated_node.with_changes(value=new_value, whitespace_after_return=cst.SimpleWhitespace(" "))

    frame.world.edit(node, edit)


def _bare_tuple(values: list[cst.BaseExpression]) -> cst.BaseExpression:
    if len(values) == 1:
        return values[0]
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    elements = [cst.Element(element, comma=comma) for element in values[:-1]] + [cst.Element(values[-1])]
    return cst.Tuple(elements, lpar=[], rpar=[])


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
            if other_parameter != parameter and not evaluate(argument, frame).memory.isdisjoint(value.memory):
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
    value = evaluate(place, frame)
    other_values = [evaluate(argument, frame) for argument in arguments.values() if argument is not place]
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
            first: list[cst.BaseExpression] = [_parenthesize(updated_node.targets[0].target)]
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


def _parenthesize(target: cst.BaseExpression) -> cst.BaseExpression:
    if type(target) is cst.Tuple and not target.lpar:
        return target.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return target


def _arguments(
    node: cst.Call, function: cst.FunctionDef, is_method: bool
) -> dict[str, cst.BaseExpression] | None:
    """Return the argument of each parameter; None if `*` hides the arguments."""
    params = function.params
    positions = [param.name.value for param in (*params.posonly_params, *params.params)]
    if is_method and has_receiver(function):
        positions = positions[1:]
    arguments: dict[str, cst.BaseExpression] = {}
    for position, arg in enumerate(node.args):
        if arg.star or (arg.keyword is None and position >= len(positions)):
            return None
        arguments[arg.keyword.value if arg.keyword is not None else positions[position]] = arg.value
    return arguments
