"""Writes loops and branches as functions of their state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.world import Edit
from np2tf.tree.blanks import is_blank_line
from np2tf.tree.templates import Statement, expression, statement

_BLANK = cst.EmptyLine(indent=False)


def loop_as_function(
    names: Sequence[str], state: Sequence[str], lists: Sequence[str], helper: str, is_first: bool
) -> Edit:
    """`for i in range(n): …` -> `def step(i, x): …` and `(x,) = _for_loop(range(n), step, (x,))`."""
    step, keep_going = names

    def edit(updated_node: cst.For | cst.While) -> cst.FlattenSentinel[Statement]:
        statements: list[Statement] = []
        state_tuple = _tuple(state)
        if isinstance(updated_node, cst.For):
            assert isinstance(updated_node.target, cst.Name)
            parameters = [updated_node.target.value, *state, *lists]
            further = ", {lists}" if lists else ""
            call = expression(
                f"{helper}({{numbers}}, {step}, {{state}}{further})",
                numbers=updated_node.iter,
                state=state_tuple,
                lists=_tuple(lists),
            )
        else:
            parameters = [*state]
            body = [statement("return {value}", value=updated_node.test)]
            statements.append(_function(keep_going, parameters, body, None))
            call = expression(f"{helper}({keep_going}, {step}, {{state}})", state=state_tuple)
        assert isinstance(updated_node.body, cst.IndentedBlock)
        lines = cast("Sequence[Statement]", updated_node.body.body)
        statements.append(_function(step, parameters, [*lines, _return_of(state)], updated_node.body))
        return _laid_out([*statements, _assignment(state, call)], updated_node.leading_lines, is_first)

    return edit


def branch_as_functions(names: Sequence[str], state: Sequence[str], helper: str, is_first: bool) -> Edit:
    """`if test: …` -> `def then(x): …`, `def otherwise(x): …`, `(x,) = _cond(test, …)`."""
    then, otherwise = names

    def edit(updated_node: cst.If) -> cst.FlattenSentinel[Statement]:
        statements: list[Statement] = []
        for name, owner in ((then, updated_node), (otherwise, updated_node.orelse)):
            body = owner.body if owner is not None else None
            assert body is None or type(body) is cst.IndentedBlock
            lines = [*body.body] if body is not None else []
            statements.append(_function(name, state, [*lines, _return_of(state)], body))  # type: ignore[list-item]
        call = expression(
            f"{helper}({{test}}, {then}, {otherwise}, {{state}})", test=updated_node.test, state=_tuple(state)
        )
        return _laid_out([*statements, _assignment(state, call)], updated_node.leading_lines, is_first)

    return edit


def _tuple(names: Sequence[str]) -> cst.BaseExpression:
    return expression("(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")")


def _return_of(state: Sequence[str]) -> Statement:
    return statement("return {value}", value=_tuple(state) if len(state) == 1 else _bare(state))


def _bare(names: Sequence[str]) -> cst.BaseExpression:
    tuple_node = _tuple(names)
    return tuple_node.with_changes(lpar=[], rpar=[])


def _assignment(state: Sequence[str], call: cst.BaseExpression) -> Statement:
    target = _tuple(state) if len(state) == 1 else _bare(state)
    return cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], call)])  # type: ignore[arg-type]


def _function(
    name: str, parameters: Sequence[str], body: Sequence[Statement], old: cst.IndentedBlock | None
) -> cst.FunctionDef:
    """Return a function definition; its block keeps the comments and the indentation of the old block."""
    block = old.with_changes(body=body) if old is not None else cst.IndentedBlock(body)
    return cst.FunctionDef(
        cst.Name(name), cst.Parameters([cst.Param(cst.Name(parameter)) for parameter in parameters]), block
    )


def _laid_out(
    statements: Sequence[Statement], leading_lines: Sequence[cst.EmptyLine], is_first: bool
) -> cst.FlattenSentinel[Statement]:
    """Return function definitions with an empty line around each. The lines above the statement stand above
    the first function.
    """
    first, *statements_behind = statements
    begins = (
        [*leading_lines]
        if is_first or (leading_lines and is_blank_line(leading_lines[0]))
        else [_BLANK, *leading_lines]
    )
    return cst.FlattenSentinel(
        [
            first.with_changes(leading_lines=begins),
            *(statement.with_changes(leading_lines=[_BLANK]) for statement in statements_behind),
        ]
    )
