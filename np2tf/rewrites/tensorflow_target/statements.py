"""Follows the statements of a function, and the values of its names from statement to statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from np2tf.facts.dataflow.reads_writes import block
from np2tf.rewrites.tensorflow_target import guarded_blocks, writes
from np2tf.rewrites.tensorflow_target.expressions import evaluate
from np2tf.rewrites.tensorflow_target.imported_names import follow_import
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.shared_names import refuse_shared
from np2tf.rewrites.tensorflow_target.model.turns import Turns
from np2tf.rewrites.tensorflow_target.model.values import Value, join, list_value, plain
from np2tf.rewrites.tensorflow_target.model.world import Frame, Passage, merge
from np2tf.rewrites.tensorflow_target.objects.attributes import exchange_attributes, key_of, set_attribute
from np2tf.rewrites.tensorflow_target.objects.definitions import follow_class
from np2tf.tree.names import dotted_name

Env = dict[str, Value]
#: The values of a loop's names settle in fewer rounds.
_ROUNDS = 12
_REFUSALS: dict[type[cst.CSTNode], str] = {
    cst.TryStar: "`except*`",
    cst.TypeAlias: "a type alias",
}


def run(statements: Sequence[cst.CSTNode], frame: Frame) -> bool:
    """Follow statements, and return whether their end can be reached."""
    is_reachable = True
    for statement in statements:
        if not is_reachable:
            # Unreachable statements are followed as well; otherwise they would stay untranslated.
            run_statement(statement, frame)
            continue
        is_reachable = run_statement(statement, frame)
    return is_reachable


def run_statement(node: cst.CSTNode, frame: Frame) -> bool:
    """Follow one statement."""
    frame.world.forget(node)
    if type(node) is cst.SimpleStatementLine:
        return run(node.body, frame)
    if isinstance(node, cst.BaseSmallStatement):
        frame.statement = node
        for states in frame.raise_states:
            states.append(dict(frame.env))
    refusal = _REFUSALS.get(type(node))
    if refusal is not None:
        frame.world.refuse(node, "NP2TF603", what=refusal)
        return True
    handler = _HANDLERS.get(type(node))
    if handler is None:
        frame.world.refuse(node, "NP2TF603", what=type(node).__name__)
        return True
    reached = handler(node, frame) is not False
    if isinstance(node, cst.BaseSmallStatement):
        for states in frame.raise_states:
            states.append(dict(frame.env))
    return reached


def _assign(node: cst.Assign, frame: Frame) -> None:
    if _exchange(node, frame):
        return
    value = writes.value_of(node, node.value, frame)
    if writes.in_parts(node, value, frame, bind):
        return
    for target in node.targets:
        bind(target.target, value, frame, node)


def _exchange(node: cst.Assign, frame: Frame) -> bool:
    """Follow an assignment that exchanges attributes; return whether it is one."""
    target, value = node.targets[0].target, node.value
    if not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple) or len(node.targets) > 1:
        return False
    places = [element.value for element in target.elements]
    if not all(isinstance(place, cst.Attribute) and dotted_name(place) is not None for place in places):
        return False
    names = [dotted_name(element.value) for element in value.elements]
    if sorted(map(str, names)) != sorted(str(dotted_name(place)) for place in places):
        return False
    bases = [evaluate(place.value, frame) for place in places]  # type: ignore[attr-defined]
    keys = [key_of(base, place.attr.value, frame) for base, place in zip(bases, places)]  # type: ignore[attr-defined]
    if not all(base.only("object") for base in bases) or len({*keys, None}) <= len(keys):
        return False
    values = [evaluate(element.value, frame) for element in value.elements]
    exchange_attributes([key for key in keys if key is not None], values, frame)
    return True


def _annotated_assignment(node: cst.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        bind(node.target, writes.value_of(node, node.value, frame), frame, node)


def bind(target: cst.CSTNode, value: Value, frame: Frame, statement: cst.CSTNode) -> None:
    """Bind an assignment target to a value."""
    if isinstance(target, cst.Name):
        owner = frame.world.facts.scopes.of(target).owner_of(target.value)
        is_shared = (frame.function, target.value) in frame.world.shared_owners
        is_own = owner is None or frame.function is None or owner.node is frame.function
        if not is_own and not is_shared:
            frame.world.refuse(target, "NP2TF603", what="a name of an outer scope that is bound")
        refuse_shared(target, target.value, value, frame)
        frame.bind(target.value, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        starred = any(isinstance(element, cst.StarredElement) for element in target.elements)
        for position, element in enumerate(target.elements):
            fits = value.items is not None and len(value.items) == len(target.elements) and not starred
            item = value.items[position] if fits and value.items is not None else element_of(value)
            if isinstance(element, cst.StarredElement):
                item = list_value(item, [element])
            bind(element.value, item, frame, statement)
    elif isinstance(target, cst.Subscript):
        writes.store(target, value, frame, statement)
    elif isinstance(target, cst.Attribute):
        base = evaluate(target.value, frame)
        key = key_of(base, target.attr.value, frame) if base.only("object") else None
        if key is not None and not frame.world.program.classes.methods(*key):
            set_attribute(key, value, frame)
        elif base.is_undetermined:
            return
        elif base.modules or not base.is_plain or not value.is_plain:
            frame.world.refuse(target, "NP2TF603", what="an attribute that is written")
    else:
        frame.world.refuse(target, "NP2TF603", what="such a target")


def _expression(node: cst.Expr, frame: Frame) -> None:
    if type(node.value) is cst.Call and writes.writing_statement(node, node.value, frame):
        return
    writes.value_of(node, node.value, frame)


def _return(node: cst.Return, frame: Frame) -> bool:
    value = plain("none") if node.value is None else writes.value_of(node, node.value, frame)
    summary = frame.summary
    if summary is not None:
        result = join(summary.result, value)
        frame.world.note_change(result != summary.result)
        summary.result = result
        summary.returns_value |= node.value is not None
        writes.return_writes(node, frame)
    return False


def _if(node: cst.If, frame: Frame) -> bool:
    test_value = evaluate(node.test, frame)
    before = dict(frame.env)
    frame.world.passages[node] = Passage(frame, before, test_value)
    first = run(block(node.body), frame)
    after_first: Env | None = frame.env if first else None
    frame.env = before
    second = run(block(node.orelse), frame)
    after = merge(after_first, frame.env if second else None)
    frame.env = after if after is not None else frame.env
    return first or second


def _loop(node: cst.While | cst.For, frame: Frame) -> bool:
    """Follow a loop: repeat its body until the values of the names do not change any more."""
    iterable = evaluate(node.iter, frame) if isinstance(node, cst.For) else None
    iterable_name = f"<iterated {id(node)}>"
    if iterable is not None:
        frame.env[iterable_name] = iterable
    endless = isinstance(node, cst.While) and isinstance(node.test, cst.Name) and node.test.value == "True"
    breaks: list[Env] = []
    entry: Env = dict(frame.env)
    head, turns, test_value = entry, Turns(node), plain("bool")
    for _ in range(_ROUNDS):
        frame.env = dict(head)
        if isinstance(node, cst.While):
            test_value = evaluate(node.test, frame)
        elif iterable is not None:
            bind(node.target, element_of(iterable), frame, node)
        outer = frame.breaks, frame.continues
        frame.breaks, frame.continues = [], []
        falls = run(block(node.body), frame)
        back = turns.head(entry, *([frame.env] if falls else []), *frame.continues)
        breaks = frame.breaks
        frame.breaks, frame.continues = outer
        if back == head:
            break
        head = back
    else:
        frame.world.refuse(node, "NP2TF603", what="a loop whose values do not settle")
    frame.world.passages[node] = Passage(frame, head, iterable if iterable is not None else test_value)
    frame.env = dict(head)
    is_reachable = not endless
    if node.orelse is not None and is_reachable:
        is_reachable = run(block(node.orelse), frame)
    after = merge(frame.env if is_reachable else None, *breaks)
    frame.env = after if after is not None else frame.env
    frame.env.pop(iterable_name, None)
    return after is not None


def _break(node: cst.Break, frame: Frame) -> bool:
    frame.breaks.append(dict(frame.env))
    return False


def _continue(node: cst.Continue, frame: Frame) -> bool:
    frame.continues.append(dict(frame.env))
    return False


def _raise(node: cst.Raise, frame: Frame) -> bool:
    if node.exc is not None:
        evaluate(node.exc, frame)
    if node.cause is not None and type(node.cause) is cst.From:
        evaluate(node.cause.item, frame)
    return False


def _assert(node: cst.Assert, frame: Frame) -> None:
    evaluate(node.test, frame)
    if node.msg is not None:
        evaluate(node.msg, frame)


def _delete(node: cst.Del, frame: Frame) -> None:
    if type(node.target) is not cst.Name:
        frame.world.refuse(node, "NP2TF603", what="`del` of a part")


def _function(node: cst.FunctionDef, frame: Frame) -> None:
    """Bind the name of a function definition; `functions` follows its statements."""
    world = frame.world
    if node.decorators or node.asynchronous is not None:
        world.refuse(node, "NP2TF603", what="a decorated or asynchronous function")
    learn_defaults(node, frame)
    if (frame.function, node.name.value) in world.shared_owners:
        world.refuse(node, "NP2TF603", what="`global` and `nonlocal` of what is no number")
    frame.bind(node.name.value, Value(frozenset(["function"]), functions=frozenset([node])))


def learn_defaults(node: cst.FunctionDef, frame: Frame) -> None:
    """Add the defaults of a function's parameters to their possible values."""
    world, summary, params = frame.world, frame.world.summary(node), node.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        if param.default is not None:
            default = evaluate(param.default, frame)
            if default.memory:
                world.refuse(param.default, "NP2TF603", what="an array or container as a default")
            value = Value(default.kinds, default.dtype, default.rank, items=default.items, certain=False)
            world.learn(summary.parameters, param.name.value, value)


def _pass(node: cst.CSTNode, frame: Frame) -> None:
    """Follow a statement that binds no name."""


_HANDLERS: dict[type[cst.CSTNode], Callable[[Any, Frame], bool | None]] = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated_assignment,
    cst.AugAssign: writes.augmented_assignment,
    cst.Expr: _expression,
    cst.Return: _return,
    cst.If: _if,
    cst.While: _loop,
    cst.For: _loop,
    cst.Break: _break,
    cst.Continue: _continue,
    cst.Raise: _raise,
    cst.Assert: _assert,
    cst.Del: _delete,
    cst.FunctionDef: _function,
    cst.ClassDef: lambda node, frame: follow_class(node, frame, evaluate, learn_defaults),
    cst.Import: follow_import,
    cst.ImportFrom: follow_import,
    cst.Pass: _pass,
    cst.Global: _pass,
    cst.Nonlocal: _pass,
    cst.Try: lambda node, frame: guarded_blocks.follow_try(node, frame, run, bind),
    cst.With: lambda node, frame: guarded_blocks.follow_with(node, frame, run, bind),
    cst.Match: lambda node, frame: guarded_blocks.follow_match(node, frame, run, bind),
}
