"""Follows `try`, `with` and `match`, which decide whether the statements inside run, and to their end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import libcst as cst

from np2tf.facts.dataflow.reads_writes import block
from np2tf.rewrites.tensorflow_target.expressions import evaluate
from np2tf.rewrites.tensorflow_target.model.values import ARRAYS, Value, plain
from np2tf.rewrites.tensorflow_target.model.world import Frame, merge
from np2tf.tree.names import dotted_name, words
from np2tf.tree.templates import Statement
from np2tf.tree.templates import statement as made_statement
from np2tf.tree.walk import walk

Run = Callable[[Sequence[cst.CSTNode], Frame], bool]
Bind = Callable[[cst.CSTNode, Value, Frame, cst.CSTNode], None]

#: Exceptions that no operation of TensorFlow raises: their handlers catch the same exceptions as on NumPy.
_NEVER_OF_TENSORFLOW = words(
    """
    AssertionError EOFError FileExistsError FileNotFoundError ImportError IsADirectoryError KeyError
    KeyboardInterrupt ModuleNotFoundError NameError NotADirectoryError OSError IOError PermissionError
    StopIteration TimeoutError UnicodeDecodeError UnicodeEncodeError ZeroDivisionError
    """
)
#: Context managers that pass on every exception.
_MANAGERS = words(
    """
    contextlib.nullcontext contextlib.redirect_stdout contextlib.redirect_stderr io.StringIO io.BytesIO
    gzip.open tempfile.TemporaryDirectory tempfile.TemporaryFile tempfile.NamedTemporaryFile zipfile.ZipFile
    """
)


def follow_try(node: cst.Try, frame: Frame, run: Run, bind: Bind) -> bool:
    """Follow a `try`: a handler may begin after any statement of the body."""
    outer = frame.breaks, frame.continues
    states: list[dict[str, Value]] = [dict(frame.env)]
    frame.breaks, frame.continues = [], []
    frame.raise_states.append(states)
    falls = run(block(node.body), frame)
    frame.raise_states.pop()
    left = merge(*states) or {}
    every: list[dict[str, Value]] = [*states]
    if falls and node.orelse is not None:
        falls = run(block(node.orelse), frame)
        every.append(dict(frame.env))
    ends = [dict(frame.env)] if falls else []
    for handler in node.handlers:
        frame.env = dict(left)
        _handler(handler, block(node.body), frame, bind)
        if run(block(handler.body), frame):
            ends.append(dict(frame.env))
        every.append(dict(frame.env))
    ends, jumps = [*ends], (frame.breaks, frame.continues)
    frame.breaks, frame.continues = outer
    after = merge(*ends)
    if node.finalbody is None:
        outer[0].extend(jumps[0])
        outer[1].extend(jumps[1])
        frame.env = after if after is not None else left
        return after is not None
    return _finally(node, (after, merge(*every, *jumps[0], *jumps[1]) or left), jumps, frame, run)


def _finally(
    node: cst.Try,
    states: tuple[dict[str, Value] | None, dict[str, Value]],
    jumps: tuple[list[dict[str, Value]], list[dict[str, Value]]],
    frame: Frame,
    run: Run,
) -> bool:
    """Follow the `finally` block of a `try`, which runs however the other blocks end."""
    assert node.finalbody is not None
    body = block(node.finalbody)
    leaves = (cst.Return, cst.Break, cst.Continue)
    if any(isinstance(inner_node, leaves) for statement in body for inner_node in walk(statement)):
        frame.world.refuse(node, "NP2TF603", what="`finally` that drops an exception")
        return True
    returns = any(type(inner_node) is cst.Return for inner_node in walk(node))
    after, state_of_all_ways = states
    was_returned = frame.is_returned
    frame.is_returned = was_returned or returns
    for envs, target in zip(jumps, (frame.breaks, frame.continues)):
        for env in envs:
            frame.env = dict(env)
            run(body, frame)
            target.append(dict(frame.env))
    is_reachable = True
    if after is not None:
        frame.env = dict(after)
        is_reachable = run(body, frame)
    behind = frame.env
    frame.env = dict(state_of_all_ways)  # The last run decides, so it starts from the names of all paths.
    run(body, frame)
    frame.env = behind
    frame.is_returned = was_returned
    return is_reachable and after is not None


def _handler(handler: cst.ExceptHandler, body: Sequence[cst.CSTNode], frame: Frame, bind: Bind) -> None:
    """Bind a handler's name. If the handler could catch an error of TensorFlow, let it check the error."""
    world = frame.world
    world.forget(handler)
    if handler.type is not None:
        evaluate(handler.type, frame)
    if handler.name is not None:
        bind(handler.name.name, plain("other"), frame, handler)
    if _catches_only_its_own(handler.type):
        return
    if _names_index_error(handler.type) and _chooses_of_arrays(body, frame):
        world.refuse(handler, "NP2TF603", what="a handler of indices out of bounds")
    if type(handler.body) is not cst.IndentedBlock:
        world.refuse(handler, "NP2TF603", what="a handler on one line")
        return
    asname = handler.name.name if handler.name is not None else None
    name = asname.value if type(asname) is cst.Name else world.name("error", handler, frame)
    look = made_statement(world.helper("_own_error") + "({error})", error=name)

    def edit(updated_node: cst.ExceptHandler) -> cst.ExceptHandler:
        body = updated_node.body.with_changes(body=[look, *updated_node.body.body])
        kind = updated_node.type if updated_node.type is not None else cst.Name("BaseException")
        return updated_node.with_changes(
            body=body,
            type=kind,
            name=cst.AsName(cst.Name(name)),
            whitespace_after_except=cst.SimpleWhitespace(" "),
        )

    world.edit(handler, edit, "_own_error")


def _names_index_error(node: cst.BaseExpression | None) -> bool:
    parts = [element.value for element in node.elements] if type(node) is cst.Tuple else [node]
    return any(type(part) is cst.Name and part.value in ("IndexError", "LookupError") for part in parts)


def _chooses_of_arrays(body: Sequence[cst.CSTNode], frame: Frame) -> bool:
    """Return whether statements index a value that may be an array."""
    return any(
        type(inner_node) is cst.Subscript and evaluate(inner_node.value, frame).may(*ARRAYS)
        for statement in body
        for inner_node in walk(statement)
    )


def _catches_only_its_own(node: cst.BaseExpression | None) -> bool:
    """Return whether TensorFlow raises none of the exceptions that a handler names."""
    if type(node) is cst.Tuple:
        return all(_catches_only_its_own(element.value) for element in node.elements)
    return type(node) is cst.Name and node.value in _NEVER_OF_TENSORFLOW


def follow_with(node: cst.With, frame: Frame, run: Run, bind: Bind) -> bool:
    """Follow a `with` whose managers pass on every exception. `np.errstate` has no meaning for TensorFlow."""
    world = frame.world
    if node.asynchronous is not None:
        world.refuse(node, "NP2TF603", what="`async with`")
        return True
    quiet = [_is_quiet(item, frame) for item in node.items]
    if all(quiet) and type(node.body) is cst.IndentedBlock:
        for item in node.items:
            world.edit(item.item.func, lambda updated_node: updated_node)  # type: ignore[attr-defined]
        world.edit(node, _body_alone)
        return run(block(node.body), frame)
    for item in node.items:
        evaluate(item.item, frame)
        func = item.item.func if type(item.item) is cst.Call else None
        name = world.facts.imports.imported_name(func) if func is not None else None
        is_open = type(func) is cst.Name and func.value == "open"
        if (name or "") not in _MANAGERS and not (is_open and name is None):
            manager_name = dotted_name(func) if func is not None else None
            world.refuse(item.item, "NP2TF603", what=f"`with {manager_name or '…'}`")
        if item.asname is not None:
            bind(item.asname.name, plain("other"), frame, node)
    return run(block(node.body), frame)


def _is_quiet(item: cst.WithItem, frame: Frame) -> bool:
    """Return whether a manager is `np.errstate` that only says which warnings are shown."""
    call = item.item
    if type(call) is not cst.Call or item.asname is not None:
        return False
    if frame.world.facts.imports.numpy_name(call.func) != "numpy.errstate":
        return False
    return all(
        arg.keyword is not None
        and type(arg.value) is cst.SimpleString
        and arg.value.evaluated_value in ("ignore", "warn")
        for arg in call.args
    )


def _body_alone(updated_node: cst.With) -> cst.FlattenSentinel[Statement]:
    """Replace a `with` by its statements."""
    first, *statements_behind = cast("Sequence[Statement]", updated_node.body.body)
    return cst.FlattenSentinel(
        [
            first.with_changes(leading_lines=[*updated_node.leading_lines, *first.leading_lines]),
            *statements_behind,
        ]
    )


def follow_match(node: cst.Match, frame: Frame, run: Run, bind: Bind) -> bool:
    """Follow a `match` of a value that contains no array."""
    subject = evaluate(node.subject, frame)
    if not subject.is_plain:
        frame.world.refuse(node.subject, "NP2TF603", what="`match` of what may be an array")
    before, ends, is_complete = dict(frame.env), [], False
    for case in node.cases:
        frame.env = dict(before)
        for part in walk(case.pattern):
            if isinstance(part, cst.MatchValue):
                evaluate(part.value, frame)
            elif isinstance(part, (cst.MatchAs, cst.MatchStar)) and part.name is not None:
                bind(part.name, plain("other", "int", "float", "str"), frame, node)
            elif isinstance(part, (cst.MatchClass, cst.MatchMapping)):
                frame.world.refuse(part, "NP2TF603", what="`match` with a class or a mapping")
        if case.guard is not None:
            evaluate(case.guard, frame)
        is_default = isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None
        is_complete |= is_default and case.guard is None
        if run(block(case.body), frame):
            ends.append(dict(frame.env))
    after = merge(*ends, *([] if is_complete else [before]))
    frame.env = after if after is not None else before
    return after is not None
