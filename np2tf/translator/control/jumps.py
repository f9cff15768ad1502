"""Takes `break`, `continue` and `return` out of code that will be lowered, also inside `try`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

import libcst as cst

from np2tf.translator.control.layout import (
    Naming,
    block_of,
    code,
    else_of,
    footer_of,
    has_comment,
    line,
    statements_of,
)
from np2tf.translator.control.scope import CannotLower, Marks
from np2tf.translator.facts.dataflow import Jumps, Names, block, bound_after, live_before, live_when_left
from np2tf.translator.tree.nodes import children
from np2tf.translator.tree.templates import Statement, expression

# -- leaving -------------------------------------------------------------------------------------------------
# The ways in which control leaves a part of the code: its jumps, and whether control can reach its end.

LOOPS = (cst.For, cst.While)
_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def jumps_in(nodes: Sequence[cst.CSTNode], in_loop: bool = False) -> Iterator[cst.CSTNode]:
    """Yield the jumps that leave `nodes`: every return, and each break and continue of an outer loop."""
    for node in nodes:
        kind = type(node)
        if kind is cst.Return:
            yield node
        elif kind is cst.Break or kind is cst.Continue:
            if not in_loop:
                yield node
        elif kind in LOOPS:
            yield from jumps_in(block(node.body), True)  # type: ignore[attr-defined]
            yield from jumps_in(block(node.orelse), in_loop)  # type: ignore[attr-defined]
        elif not _holds_no_jump(kind):
            yield from jumps_in(children(node), in_loop)


@cache
def _holds_no_jump(kind: type[cst.CSTNode]) -> bool:
    """Return whether no jump inside nodes of this class leaves them. Cached by class: the test is slow."""
    return issubclass(kind, (*_SCOPES, cst.BaseExpression))


def reachable(body: Sequence[Statement]) -> list[Statement]:
    """Return `body` up to the first statement that control cannot pass."""
    for index, statement in enumerate(body):
        if leaves([statement]):
            return list(body[: index + 1])
    return list(body)


def leaves(body: Sequence[cst.CSTNode]) -> bool:
    """Return whether every path through `body` ends in a jump (or a raise)."""
    return bound_after(body, frozenset()) is None


def jump_of(statement: cst.CSTNode) -> cst.CSTNode | None:
    if type(statement) is cst.SimpleStatementLine and len(statement.body) == 1:
        only = statement.body[0]
        return only if type(only) in (cst.Break, cst.Continue, cst.Return) else None
    return None


def returns_like(behind: Sequence[Statement], body: Sequence[Statement]) -> bool:
    """Return whether a loop only returns the expression that the function returns right behind it.

    The return inside the loop then becomes a `break`.
    """
    next_jump = jump_of(behind[0]) if behind else None
    returns = [jump for jump in jumps_in(body) if type(jump) is cst.Return]
    if type(next_jump) is not cst.Return or not returns:
        return False
    return all(jump.deep_equals(next_jump) for jump in returns)


# -- flags ---------------------------------------------------------------------------------------------------
# Tests whose value a flag can take, and the line that sets the flag.

_TRUTHS = frozenset({"not_", "any", "all", "allclose", "array_equal", "isnan", "isfinite", "isinf"})


def is_true(test: cst.BaseExpression) -> bool:
    """Return whether a test is a literal that always holds: `while True`, `while 1`."""
    return code(test).strip("() ") in ("True", "1")


def is_bool(test: cst.BaseExpression) -> bool:
    """Return whether a test's value is a single truth value, so that a flag can take it."""
    if type(test) is cst.Call:
        name = test.func.attr.value if type(test.func) is cst.Attribute else ""
        if name in ("and_", "or_") and len(test.args) == 2:
            left, right = (arg.value for arg in test.args)
            return is_bool(left) and type(right) is cst.Lambda and is_bool(right.body)
        return name in _TRUTHS
    return type(test) is cst.Comparison and len(test.comparisons) == 1


def without_assignments(test: cst.BaseExpression) -> tuple[cst.BaseExpression, list[Statement]]:
    """Return a test that reads the names bound by its `:=`, and the lines that bind them."""
    assigns: list[Statement] = []

    class Hoist(cst.CSTTransformer):
        def leave_NamedExpr(
            self, original_node: cst.NamedExpr, updated_node: cst.NamedExpr
        ) -> cst.BaseExpression:
            assigns.append(line(f"{code(updated_node.target)} = {code(updated_node.value)}"))
            return updated_node.target

    new_test = test.visit(Hoist())
    assert isinstance(new_test, cst.BaseExpression)
    return new_test, assigns


def set_flag(text: str, node: cst.If, jump: Statement) -> Statement:
    """Return the line that replaces `if test: break`, with the comments of both lines."""
    statement = line(text, [*node.leading_lines, *jump.leading_lines])  # type: ignore[union-attr]
    for place in (getattr(node.body, "header", None), getattr(jump, "trailing_whitespace", None)):
        if place is not None and place.comment is not None:
            return statement.with_changes(trailing_whitespace=place)
    return statement


# -- tries ---------------------------------------------------------------------------------------------------
# Lowers `try`: each block is lowered by itself, and `except E` becomes `except np2tf.on_host(E)`.

Change = Callable[[list[Statement]], list[Statement]]


def on_host(updated_node: cst.CSTNode) -> cst.CSTNode:
    """Return `except np2tf.on_host(ValueError)` for `except ValueError`."""
    handler = cst.ensure_type(updated_node, cst.ExceptHandler)
    kinds = handler.type if handler.type is not None else cst.Name("BaseException")
    return handler.with_changes(
        type=expression("np2tf.on_host({kinds})", kinds=kinds),
        whitespace_after_except=cst.SimpleWhitespace(" "),
    )


def blocks(node: cst.Try) -> Iterator[cst.BaseSuite]:
    """Yield the blocks of a `try`, in order."""
    yield node.body
    yield from (handler.body for handler in node.handlers)
    if node.orelse is not None:
        yield node.orelse.body
    if node.finalbody is not None:
        yield node.finalbody.body


def map_blocks(node: cst.Try, change: Change, orelse: Change | None = None) -> cst.Try:
    """Return the `try` with each block changed by `change`; its `else` is changed by `orelse`, if given."""

    def part(body: cst.BaseSuite, by: Change = change) -> cst.BaseSuite:
        before = statements_of(body)
        after = by(before)
        if after == before:
            return body
        header = body.header if type(body) is cst.IndentedBlock else None
        footer = body.footer if type(body) is cst.IndentedBlock else ()
        return block_of(after, header).with_changes(footer=footer)

    statement = node.with_changes(
        body=part(node.body),
        handlers=[handler.with_changes(body=part(handler.body)) for handler in node.handlers],
    )
    if node.orelse is not None:
        statement = statement.with_changes(
            orelse=node.orelse.with_changes(body=part(node.orelse.body, orelse or change))
        )
    if node.finalbody is not None:
        statement = statement.with_changes(
            finalbody=node.finalbody.with_changes(body=part(node.finalbody.body))
        )
    return statement


def refuse_jumps_at_its_end(node: cst.Try) -> None:
    """Raise CannotLower if a jump in `finally` would swallow an exception."""
    if node.finalbody is not None and list(jumps_in(statements_of(node.finalbody.body))):
        raise CannotLower("NP2TF301", node, kind="try", reason="a jump out of its `finally`")


def needed_behind_body(node: cst.Try, after: Names, jumps: Jumps) -> Names:
    """Return the names that are needed behind the first block of a `try` on any path."""
    final = statements_of(node.finalbody.body) if node.finalbody is not None else []
    orelse = statements_of(node.orelse.body) if node.orelse is not None else []
    behind = live_before(final, after, jumps)
    return live_before(orelse, behind, jumps) | live_when_left(node, after, jumps)


# -- blocks --------------------------------------------------------------------------------------------------
# Changes the blocks inside compound statements; marked nodes stay marked.

_Block = TypeVar("_Block", bound=cst.For | cst.While | cst.With)


class Blocks:
    """Exchanges the blocks of statements of one function, in which `marks` are to be lowered."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks

    def _change_blocks(
        self, node: Statement, change: Callable[[Sequence[Statement]], list[Statement]]
    ) -> Statement:
        """Return a compound statement other than a loop with each of its blocks changed."""
        if type(node) is cst.If:
            return self._map_branches(node, change)
        if type(node) is cst.With:
            return self._with_body(node, change(statements_of(node.body)))
        if type(node) is cst.Try:
            return self._try(node, change)
        if type(node) is cst.Match:
            cases = [
                case.with_changes(body=block_of(change(statements_of(case.body)))) for case in node.cases
            ]
            return self._marks.carry(node, node.with_changes(cases=cases))  # type: ignore[return-value]
        return node

    def _try(self, node: cst.Try, change: Change, orelse: Change | None = None) -> cst.Try:
        return self._marks.carry(node, map_blocks(node, change, orelse))  # type: ignore[return-value]

    def _has_lowered_jump(self, node: cst.CSTNode, under: bool = False) -> bool:
        """Return whether a jump leaves `node` from under a lowered test."""
        if type(node) is cst.With:
            return any(self._has_lowered_jump(part, under) for part in statements_of(node.body))
        if type(node) is cst.Try:
            inside = [part for suite in blocks(node) for part in statements_of(suite)]
            return any(self._has_lowered_jump(part, under) for part in inside)
        if type(node) is cst.If:
            under = under or node in self._marks
            if under and list(jumps_in([node])):
                return True
            parts = [*statements_of(node), *else_of(node)]
            return any(self._has_lowered_jump(part, under) for part in parts)
        return False

    def _lowered_if(self, test: str, body: Sequence[Statement]) -> cst.If:
        statement = cst.If(test=cst.parse_expression(test), body=block_of(body))
        self._marks.lowered_nodes.add(statement)
        return statement

    def _if(self, node: cst.If, then_body: Sequence[Statement], other_body: Sequence[Statement]) -> cst.If:
        header = node.body.header if type(node.body) is cst.IndentedBlock else None
        body = block_of(then_body, header).with_changes(footer=footer_of(node))
        statement = node.with_changes(body=body, orelse=self._orelse(node.orelse, other_body))
        self._marks.carry(node, statement)
        return statement

    def _orelse(
        self, old: cst.If | cst.Else | None, other_body: Sequence[Statement]
    ) -> cst.If | cst.Else | None:
        if not other_body:
            return None
        if type(old) is cst.If and len(other_body) == 1 and type(other_body[0]) is cst.If:
            return other_body[0]
        if type(old) is cst.Else:
            header = old.body.header if type(old.body) is cst.IndentedBlock else None
            return old.with_changes(body=block_of(other_body, header).with_changes(footer=footer_of(old)))
        return cst.Else(body=block_of(other_body))

    def _map_branches(self, node: cst.If, change: Callable[[Sequence[Statement]], list[Statement]]) -> cst.If:
        then, other_body = statements_of(node), else_of(node)
        new_then, new_other = change(reachable(then)), change(reachable(other_body))
        if new_then == then and new_other == other_body:
            return node
        return self._if(node, new_then, new_other)

    def _with_body(self, loop: _Block, body: Sequence[Statement], keep_else: bool = True) -> _Block:
        if list(body) == statements_of(loop.body) and (keep_else or getattr(loop, "orelse", None) is None):
            return loop
        header = loop.body.header if type(loop.body) is cst.IndentedBlock else None
        statement = loop.with_changes(body=block_of(body, header).with_changes(footer=footer_of(loop)))
        if not keep_else:
            statement = statement.with_changes(orelse=None)
        self._marks.carry(loop, statement)
        return statement  # type: ignore[return-value]


# -- jumps ---------------------------------------------------------------------------------------------------
# Take `break`, `continue` and `return` out of code that will be lowered, without changing its meaning.
#
# `continue`: the rest of the body moves into the other branch. `break`: sets a flag that every iteration
# tests first. `return` under a lowered test: the rest of the function becomes the other branch, so that
# both branches end the function. `return` in a lowered loop: sets a flag and a result, which the function
# returns after the loop.

_SHORT = 60


@dataclass
class _Frame:
    """The targets of the jumps of one loop body (or one function-level statement)."""

    stop: str | None = None
    skip: str | None = None
    returns: list[cst.Return] = field(default_factory=list)
    plain: bool = False
    has_break: bool = False
    returns_break: bool = False


class JumpFree(Blocks):
    """Rewrites the statements of one function so that no lowered construct contains a jump."""

    def __init__(self, marks: Marks, naming: Naming) -> None:
        super().__init__(marks)
        self._naming = naming
        self._guards: set[cst.CSTNode] = set()
        """The `if returned: return result` behind loops."""

    def function(self, body: Sequence[Statement]) -> list[Statement]:
        """Return the body of a function, with every lowered return in tail position."""
        return self._tail(self._loops(body, 0))

    # -- loops, inside out ------------------------------------------------------------------------------

    def _loops(self, body: Sequence[Statement], depth: int) -> list[Statement]:
        out: list[Statement] = []
        for index, statement in enumerate(body):
            if isinstance(statement, LOOPS):
                try:
                    out += self._loop(statement, body[index + 1 :], depth)
                except CannotLower as error:
                    if error.loop is None and type(statement) is cst.For and statement in self._marks:
                        error.loop = self._marks.origin.get(statement, statement)  # type: ignore[assignment]
                    raise
                if out and jump_of(out[-1]) is not None:
                    return out
            else:
                out.append(self._change_blocks(statement, lambda part: self._loops(part, depth)))
        return out

    def _loop(self, loop: cst.For | cst.While, behind: Sequence[Statement], depth: int) -> list[Statement]:
        lowered = loop in self._marks
        assigns: list[Statement] = []
        if lowered and type(loop) is cst.While:
            test, assigns = without_assignments(loop.test)
            loop = self._marks.carry(loop, loop.with_changes(test=test)) if assigns else loop  # type: ignore[assignment]
        body = self._loops(reachable(statements_of(loop)), depth + lowered)
        if not lowered:
            new_body = self._plain_body(body)
            return [self._with_body(loop, new_body)]  # type: ignore[type-var]
        jumps = list(jumps_in(body))
        frame = _Frame(returns_break=returns_like(behind, body))
        if not frame.returns_break:
            frame.returns = [jump for jump in jumps if type(jump) is cst.Return]
        frame.has_break = len(frame.returns) < sum(type(jump) is not cst.Continue for jump in jumps)
        before: list[Statement] = []
        if frame.has_break or frame.returns:
            frame.stop = self._naming.flag(depth) if frame.has_break else self._naming.name("returned")
            # Deep inside, `returned` is False already: the loops around go on only while it is.
            flags = {frame.stop, self._naming.name("returned")} if frame.returns else {frame.stop}
            flags -= {self._naming.name("returned")} if frame.returns and depth else set()
            before += [line(f"{flag} = False") for flag in sorted(flags)]
        new_body = self._guard(body, frame)
        if frame.skip:
            new_body.insert(0, line(f"{frame.skip} = False"))
        if assigns:
            # The test's assignments: before the loop, and again before every further test.
            again = [part.deep_clone() for part in assigns]
            new_body += [self._lowered_if(f"np2tf.not_({frame.stop})", again)] if frame.stop else again
            before = [*assigns, *before]
        if before:
            before[0] = before[0].with_changes(leading_lines=loop.leading_lines)
            loop = self._marks.carry(loop, loop.with_changes(leading_lines=()))  # type: ignore[assignment]
        whole = self._with_body(loop, new_body, keep_else=False)  # type: ignore[type-var]
        new_loop = self._stoppable(whole, frame.stop)
        return [*before, new_loop, *self._behind(loop, frame, depth)]

    def _stoppable(self, loop: cst.For | cst.While, stop: str | None) -> cst.For | cst.While:
        if stop is None:
            return loop
        if isinstance(loop, cst.For):
            self._marks.stops[loop] = stop
            return loop
        test = f"np2tf.not_({stop})"
        if not is_true(loop.test):
            test = f"np2tf.and_({test}, lambda: {code(loop.test)})"
        # `while(test):` has no space that a name could do without.
        space = cst.SimpleWhitespace(" ")
        new_loop = loop.with_changes(test=cst.parse_expression(test), whitespace_after_while=space)
        self._marks.carry(loop, new_loop)
        return new_loop

    def _behind(self, loop: cst.For | cst.While, frame: _Frame, depth: int) -> list[Statement]:
        """Return the statements behind a lowered loop: the return that it found, then its `else`."""
        out: list[Statement] = []
        if frame.returns:
            guard = self._return_guard(frame)
            if type(loop) is cst.While and not frame.has_break and is_true(loop.test):
                return statements_of(guard)
            out.append(guard)
        orelse = self._loops(else_of(loop), depth)
        if orelse and frame.has_break:
            out.append(self._lowered_if(f"np2tf.not_({frame.stop})", orelse))
        else:
            out += orelse
        return out

    def _return_guard(self, frame: _Frame) -> cst.If:
        value_flags = {jump.value is not None for jump in frame.returns}
        if len(value_flags) > 1:
            raise CannotLower("NP2TF304", frame.returns[0])
        value = f" {self._naming.name('result')}" if value_flags == {True} else ""
        guard = self._lowered_if(self._naming.name("returned"), [line(f"return{value}")])
        self._guards.add(guard)
        return guard

    def _plain_body(self, body: Sequence[Statement]) -> list[Statement]:
        """Return the body of a Python loop, where only `continue` can be under a lowered test."""
        frame = _Frame(plain=True)
        for index, statement in enumerate(body):
            if type(statement) in (cst.If, cst.Try) and self._has_lowered_jump(statement):
                new_body = [*body[:index], *self._guard(body[index:], frame)]
                return [line(f"{frame.skip} = False"), *new_body] if frame.skip else new_body
        return list(body)

    # -- jumps to the end of a body ---------------------------------------------------------------------

    def _guard(self, body: Sequence[Statement], frame: _Frame) -> list[Statement]:
        out: list[Statement] = []
        for index, statement in enumerate(body):
            jump = jump_of(statement)
            if jump is not None:
                return [*out, *self._jump(statement, jump, frame)]
            if type(statement) is cst.With and list(jumps_in([statement])):
                return [*out, *self._guarded_with(statement, body[index + 1 :], frame)]
            if type(statement) is cst.Try and list(jumps_in([statement])):
                return [*out, *self._guarded_try(statement, body[index + 1 :], frame)]
            if type(statement) is not cst.If or not list(jumps_in([statement])):
                if list(jumps_in([statement])):
                    raise CannotLower("NP2TF303", statement)
                out.append(statement)
                continue
            if statement in self._guards:
                return [*out, *self._guarded_guard(statement, body[index + 1 :], frame)]
            return [*out, *self._guarded_if(statement, body[index + 1 :], frame)]
        return out

    def _guarded_guard(self, guard: cst.If, behind: Sequence[Statement], frame: _Frame) -> list[Statement]:
        """Return the guard behind an inner loop that may have set the flags and the result."""
        if frame.plain or frame.stop is None:
            raise CannotLower("NP2TF303", guard)
        flag = self._naming.name("returned")
        stop = [line(f"{frame.stop} = True")] if frame.stop != flag else []
        if not behind:
            return [self._lowered_if(flag, stop)] if stop else []
        new_guard = self._lowered_if(flag, stop) if stop else self._lowered_if(f"np2tf.not_({flag})", ())
        if stop:
            return [self._if(new_guard, stop, self._guard(behind, frame))]
        return [self._if(new_guard, self._guard(behind, frame), ())]

    def _guarded_if(self, node: cst.If, behind: Sequence[Statement], frame: _Frame) -> list[Statement]:
        then, other_body = statements_of(node), else_of(node)
        then_leaves, other_leaves = leaves(then), leaves(other_body)
        left = [*other_body, *([] if other_leaves else behind)]
        if self._only_leaves(node, then, frame) and all(
            type(jump) is cst.Continue for jump in jumps_in(left)
        ):
            return self._flag_first(node, then[0], left, frame)
        if not behind or then_leaves or other_leaves:
            # `behind` goes where control still flows; behind two jumps it is never reached.
            then += [] if then_leaves else behind
            other_body += [] if other_leaves else behind
            return [self._if(node, self._guard(then, frame), self._guard(other_body, frame))]
        flags = self._flags(node, frame)
        first = self._if(node, self._guard(then, frame), self._guard(other_body, frame))
        return [first, self._unless(flags, self._guard(behind, frame))]

    def _guarded_with(self, node: cst.With, behind: Sequence[Statement], frame: _Frame) -> list[Statement]:
        """Return a `with` block (of np.errstate) that jumps leave."""
        flags = self._flags(node, frame)
        first = self._with_body(node, self._guard(statements_of(node.body), frame))
        return [first, *([self._unless(flags, self._guard(behind, frame))] if behind else [])]

    def _guarded_try(self, node: cst.Try, behind: Sequence[Statement], frame: _Frame) -> list[Statement]:
        """Return a `try` with jumps out of it: each block sets the flags, and its `else` tests them."""
        refuse_jumps_at_its_end(node)
        flags = self._flags(node, frame)

        def unless_left(part: list[Statement]) -> list[Statement]:
            new_part = self._guard(part, frame)
            return [self._unless(flags, new_part)] if list(jumps_in(statements_of(node.body))) else new_part

        first = self._try(node, lambda part: self._guard(part, frame), unless_left)
        return [first, *([self._unless(flags, self._guard(behind, frame))] if behind else [])]

    def _flags(self, node: cst.CSTNode, frame: _Frame) -> list[str]:
        """Return the flags that the jumps in a statement set."""
        kinds = {type(jump) for jump in jumps_in([node])}
        flags = []
        if cst.Continue in kinds:
            frame.skip = self._naming.name("skipped")
            flags.append(frame.skip)
        if kinds - {cst.Continue}:
            if frame.stop is None:
                raise CannotLower("NP2TF303", node)
            flags.append(frame.stop)
        return flags

    def _unless(self, flags: Sequence[str], behind: Sequence[Statement]) -> cst.If:
        any_flag = flags[0] if len(flags) == 1 else f"np2tf.or_({flags[0]}, lambda: {flags[1]})"
        return self._lowered_if(f"np2tf.not_({any_flag})", behind)

    def _flag_first(
        self, node: cst.If, leave: Statement, behind: Sequence[Statement], frame: _Frame
    ) -> list[Statement]:
        """Return `done = test` for `if test: break`: nothing else has set the flag, so it equals the test."""
        assert frame.stop is not None
        flag = set_flag(f"{frame.stop} = {code(node.test)}", node, leave)
        jump = jump_of(leave)
        if type(jump) is cst.Return and jump.value is not None and not frame.returns_break:
            answer = line(f"{self._naming.name('result')} = {code(jump.value)}")
            guard = self._lowered_if(frame.stop, ())
            return [flag, self._if(guard, [answer], self._guard(behind, frame))]
        statements = [self._lowered_if(f"np2tf.not_({frame.stop})", self._guard(behind, frame))]
        return [flag, *(statements if behind else [])]

    def _only_leaves(self, node: cst.If, body: Sequence[Statement], frame: _Frame) -> bool:
        """Return whether an `if` only leaves the loop, and its test can be the flag."""
        if frame.stop is None or node not in self._marks or len(body) != 1 or not is_bool(node.test):
            return False
        if type(node.orelse) is cst.Else and (
            has_comment(node.orelse.body) or any(map(has_comment, node.orelse.leading_lines))
        ):
            return False
        only = jump_of(body[0])
        if type(only) is cst.Return:
            return frame.returns_break or frame.stop == self._naming.name("returned")
        return type(only) is cst.Break

    def _jump(self, statement: Statement, jump: cst.CSTNode, frame: _Frame) -> list[Statement]:
        leading_lines = statement.leading_lines  # type: ignore[union-attr]
        if type(jump) is cst.Continue:
            texts = [f"{frame.skip} = True"] if frame.skip else []
        elif frame.plain or frame.stop is None:
            raise CannotLower("NP2TF303", jump)
        elif type(jump) is cst.Break or frame.returns_break:
            texts = [f"{frame.stop} = True"]
        else:
            assert type(jump) is cst.Return
            flags = dict.fromkeys((self._naming.name("returned"), frame.stop))
            texts = [f"{flag} = True" for flag in flags]
            if jump.value is not None:
                texts.insert(0, f"{self._naming.name('result')} = {code(jump.value)}")
        return [line(text, () if number else leading_lines) for number, text in enumerate(texts)]

    # -- returns in tail position -----------------------------------------------------------------------

    def _tail(self, body: Sequence[Statement]) -> list[Statement]:
        body = reachable(body)
        for index, statement in enumerate(body):
            if type(statement) is cst.With and self._has_lowered_jump(statement):
                if index + 1 == len(body):
                    inside = self._tail(statements_of(statement.body))
                    return [*body[:index], self._with_body(statement, inside)]
                return [*body[:index], *self._tail_by_flag(statement, body[index + 1 :])]
            if type(statement) is cst.Try and self._has_lowered_jump(statement):
                refuse_jumps_at_its_end(statement)
                if index + 1 == len(body) and statement.orelse is None:
                    return [*body[:index], self._try(statement, self._tail)]
                return [*body[:index], *self._tail_by_flag(statement, body[index + 1 :])]
            if type(statement) is not cst.If or not self._has_lowered_jump(statement):
                if isinstance(statement, LOOPS) and statement in self._marks:
                    assert not list(jumps_in([statement]))
                continue
            return [*body[:index], *self._tail_if(statement, body[index + 1 :])]
        return list(body)

    def _tail_if(self, node: cst.If, behind: Sequence[Statement]) -> list[Statement]:
        then, other_body = statements_of(node), else_of(node)
        then_leaves, other_leaves = leaves(then), leaves(other_body)
        short = len(behind) == 1 and jump_of(behind[0]) is not None and len(code(behind[0]).strip()) <= _SHORT
        if behind and not then_leaves and not other_leaves and not short:
            return self._tail_by_flag(node, behind)
        if not then_leaves:
            then += behind
        if not other_leaves:
            other_body += [part.deep_clone() for part in behind] if not then_leaves else behind
        return [self._if(node, self._tail(then), self._tail(other_body))]

    def _tail_by_flag(
        self, node: cst.If | cst.With | cst.Try, behind: Sequence[Statement]
    ) -> list[Statement]:
        flag = self._naming.name("returned")
        returns = [jump for jump in jumps_in([node]) if type(jump) is cst.Return]
        frame = _Frame(stop=flag, returns=returns)
        start = line(f"{flag} = False", node.leading_lines)
        bare = self._marks.carry(node, node.with_changes(leading_lines=()))
        statements = self._guard([bare], frame)  # type: ignore[list-item]
        return [start, *statements, *self._tail_if(self._return_guard(frame), behind)]
