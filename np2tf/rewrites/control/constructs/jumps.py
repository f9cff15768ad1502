"""Take `break`, `continue` and `return` out of code that will be lowered, without changing its meaning.

`continue`: the rest of the body moves into the other branch. `break`: sets a flag that every iteration tests
first. `return` under a lowered test: the rest of the function becomes the other branch, so that both branches
end the function. `return` in a lowered loop: sets a flag and a result, which the function returns after the
loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from np2tf.rewrites.control.common.flags import is_bool, is_true, set_flag, without_assignments
from np2tf.rewrites.control.common.layout import (
    code,
    else_of,
    has_comment,
    line,
    statements_of,
)
from np2tf.rewrites.control.common.leaving import LOOPS, jump_of, jumps_in, leaves, reachable, returns_like
from np2tf.rewrites.control.common.marks import CannotLower, Marks
from np2tf.rewrites.control.common.naming import Naming
from np2tf.rewrites.control.constructs import tries
from np2tf.rewrites.control.constructs.blocks import Blocks
from np2tf.tree.templates import Statement

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
        new_loop = loop.with_changes(test=cst.parse_expression(test))
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
        tries.refuse_jumps_at_its_end(node)
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
                tries.refuse_jumps_at_its_end(statement)
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
