"""Follows statements, imports, `try`, `with` and `match`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

import libcst as cst

from np2tf.translator.facts.dataflow import block
from np2tf.translator.notebooks import SUFFIX
from np2tf.translator.tensorflow import array_writes
from np2tf.translator.tensorflow.hosts import (
    as_host,
    converted,
    host,
    is_for_types,
    module_below,
    module_name_of,
    stay,
    to_host,
    writes_of,
)
from np2tf.translator.tensorflow.model import Frame, Passage, Turns, merge, refuse_shared
from np2tf.translator.tensorflow.objects import (
    exchange_attributes,
    follow_class,
    key_of,
    learn_defaults,
    set_attribute,
)
from np2tf.translator.tensorflow.operations import element_of, show_in_text
from np2tf.translator.tensorflow.returned_writes import return_writes, value_of
from np2tf.translator.tensorflow.values import ARRAYS, HOST, Value, join, list_value, plain
from np2tf.translator.tree.nodes import bound_name, dotted_name, walk, words
from np2tf.translator.tree.templates import Statement
from np2tf.translator.tree.templates import statement as made_statement

# -- imported names ------------------------------------------------------------------------------------------
# Follows imports: names from the modules of the program, and from the standard library.
#
# What a library returns is a host value. Names that `from … import *` may bind are host values, too.

_NUMBERS = frozenset({"pi", "e", "inf", "tau", "nan"})


def follow_import(node: cst.Import | cst.ImportFrom, frame: Frame) -> None:
    """Bind the names that a statement imports."""
    world = frame.world
    if isinstance(node.names, cst.ImportStar):
        if world.program.module(module_name_of(node), world.file) is not None:
            world.refuse(node, "NP2TF607", name="*")
        return
    of_numpy = {alias for statement in world.facts.imports.statements for alias in statement.aliases}
    for alias in node.names:
        if alias in of_numpy:
            _record_origin(node, alias, frame)
            continue
        world.forget(alias)
        value = _plain_import(alias, frame) if isinstance(node, cst.Import) else _member(node, alias, frame)
        if value is None and isinstance(node, cst.ImportFrom) and module_name_of(node) == "scipy.constants":
            value = plain("float")
        if value is None:
            module = alias.evaluated_name if isinstance(node, cst.Import) else module_name_of(node)
            value = host(libraries=frozenset([module.lstrip(".").split(".")[0]]))
        frame.bind(bound_name(alias), value)


def _plain_import(alias: cst.ImportAlias, frame: Frame) -> Value | None:
    """`import a.b` binds `a`, and `import a.b as c` binds `a.b`. None if the module is not known."""
    world, name = frame.world, alias.evaluated_name
    module = world.program.module(name, world.file)
    if module is not None:
        world.program.record_import(world.file, module, alias)
    if module is not None and alias.asname is None and "." in name:
        return world.program.module(name.split(".")[0], world.file)
    if module is not None:
        return module
    return plain("module") if _is_standard(name) else None


def _member(node: cst.ImportFrom, alias: cst.ImportAlias, frame: Frame) -> Value | None:
    """`from module import name`. None if the module or the name is not known."""
    world, name = frame.world, alias.evaluated_name
    module_name = module_name_of(node)
    submodule = world.program.module(module_below(module_name, name), world.file)
    module = world.program.module(module_name, world.file)
    if module is not None:
        member = world.program.member(module, name)
        is_module = member is not None and bool(member.modules)
        world.program.record_import(world.file, member if member is not None and is_module else module, alias)
        return member
    if submodule is not None:  # from a folder without an `__init__.py`
        world.program.record_import(world.file, submodule, alias)
        return submodule
    if not _is_standard(module_name):
        return None
    is_number = module_name in ("math", "cmath") and name in _NUMBERS
    return plain("float") if is_number else plain("function", HOST)


def _record_origin(node: cst.Import | cst.ImportFrom, alias: cst.ImportAlias, frame: Frame) -> None:
    """Record the module of the program from which a file imports a name of NumPy's."""
    world = frame.world
    if isinstance(node, cst.ImportFrom) and alias in world.facts.imports.of_other_files:
        module = world.program.module(module_name_of(node), world.file)
        if module is not None:
            world.program.record_import(world.file, module, alias)


def _is_standard(module: str) -> bool:
    return module.split(".")[0] in sys.stdlib_module_names


# -- guarded blocks ------------------------------------------------------------------------------------------
# Follows `try`, `with` and `match`, which decide whether the statements inside run, and to their end.

#: Exceptions that no operation of TensorFlow raises: their handlers catch the same exceptions as on NumPy.
_NEVER_OF_TENSORFLOW = words(
    """
    AssertionError EOFError FileExistsError FileNotFoundError ImportError IsADirectoryError KeyError
    KeyboardInterrupt ModuleNotFoundError NameError NotADirectoryError OSError IOError PermissionError
    StopIteration TimeoutError UnicodeDecodeError UnicodeEncodeError ZeroDivisionError
    """
)
#: NumPy's error that handlers may catch: NumPy computes what may raise it.
_LINALG_ERROR = "numpy.linalg.LinAlgError"
#: Context managers that drop exceptions.
_DROPPING = words("suppress raises assertRaises assertRaisesRegex errstate")
#: Context managers that pass on every exception.
_MANAGERS = words(
    """
    contextlib.nullcontext contextlib.redirect_stdout contextlib.redirect_stderr io.StringIO io.BytesIO
    gzip.open tempfile.TemporaryDirectory tempfile.TemporaryFile tempfile.NamedTemporaryFile zipfile.ZipFile
    """
)


def _try(node: cst.Try, frame: Frame) -> bool:
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
        _handler(handler, block(node.body), frame)
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
    return _finally(node, (after, merge(*every, *jumps[0], *jumps[1]) or left), jumps, frame)


def _finally(
    node: cst.Try,
    states: tuple[dict[str, Value] | None, dict[str, Value]],
    jumps: tuple[list[dict[str, Value]], list[dict[str, Value]]],
    frame: Frame,
) -> bool:
    """Follow the `finally` block of a `try`, which runs however the other blocks end."""
    assert node.finalbody is not None
    body = block(node.finalbody)
    leaves = (cst.Return, cst.Break, cst.Continue)
    if any(isinstance(inner_node, leaves) for statement in body for inner_node in walk(statement)):
        frame.world.refuse(node, "NP2TF603", what="a `finally` that drops an exception")
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


def _handler(handler: cst.ExceptHandler, body: Sequence[cst.CSTNode], frame: Frame) -> None:
    """Bind a handler's name. If the handler could catch an error of TensorFlow, let it check the error."""
    world = frame.world
    world.forget(handler)
    if handler.type is not None:
        frame.evaluate(handler.type)
    if handler.name is not None:
        bind(handler.name.name, plain(HOST), frame, handler)
    if _catches_only_its_own(handler.type, frame):
        return
    names = map(world.facts.imports.numpy_name, walk(handler.type) if handler.type is not None else ())
    if not {None, "numpy", "numpy.linalg", _LINALG_ERROR}.issuperset(names):
        world.refuse(handler, "NP2TF603", what="a handler of NumPy's own errors")
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
        type(inner_node) is cst.Subscript and frame.evaluate(inner_node.value).may(*ARRAYS)
        for statement in body
        for inner_node in walk(statement)
    )


def _catches_only_its_own(node: cst.BaseExpression | None, frame: Frame) -> bool:
    """Return whether TensorFlow raises none of the exceptions that a handler names."""
    if type(node) is cst.Tuple:
        return all(_catches_only_its_own(element.value, frame) for element in node.elements)
    if node is not None and frame.world.facts.imports.numpy_name(node) == _LINALG_ERROR:
        return True
    return type(node) is cst.Name and node.value in _NEVER_OF_TENSORFLOW


def _with(node: cst.With, frame: Frame) -> bool:
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
    before = dict(frame.env)
    may_drop = False
    for item in node.items:
        manager = frame.evaluate(item.item)
        func = item.item.func if type(item.item) is cst.Call else None
        name = world.facts.imports.imported_name(func) if func is not None else None
        is_open = type(func) is cst.Name and func.value == "open"
        if (name or "") not in _MANAGERS and not (is_open and name is None):
            manager_name = dotted_name(func) if func is not None else None
            last = (manager_name or "").rpartition(".")[2]
            if not manager.is_host or manager.is_mixed or last in _DROPPING:
                world.refuse(item.item, "NP2TF603", what=f"`with {manager_name or '…'}`")
            may_drop = True
        if item.asname is not None:
            bind(item.asname.name, host(manager.memory, manager.libraries), frame, node)
    if not may_drop:
        return run(block(node.body), frame)
    states: list[dict[str, Value]] = [before]
    frame.raise_states.append(states)
    falls = run(block(node.body), frame)
    frame.raise_states.pop()
    frame.env = merge(*states, *([frame.env] if falls else [])) or frame.env
    return True


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


def _match(node: cst.Match, frame: Frame) -> bool:
    """Follow a `match` of a value that contains no array."""
    subject = frame.evaluate(node.subject)
    if not subject.is_plain:
        frame.world.refuse(node.subject, "NP2TF603", what="`match` on something that may be an array")
    before, ends, is_complete = dict(frame.env), [], False
    for case in node.cases:
        frame.env = dict(before)
        for part in walk(case.pattern):
            if isinstance(part, cst.MatchValue):
                frame.evaluate(part.value)
            elif isinstance(part, (cst.MatchAs, cst.MatchStar)) and part.name is not None:
                bind(part.name, plain(HOST, "int", "float", "str"), frame, node)
            elif isinstance(part, (cst.MatchClass, cst.MatchMapping)):
                frame.world.refuse(part, "NP2TF603", what="`match` with a class or a mapping")
        if case.guard is not None:
            frame.evaluate(case.guard)
        is_default = isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None
        is_complete |= is_default and case.guard is None
        if run(block(case.body), frame):
            ends.append(dict(frame.env))
    after = merge(*ends, *([] if is_complete else [before]))
    frame.env = after if after is not None else before
    return after is not None


# -- statements ----------------------------------------------------------------------------------------------
# Follows the statements of a function, and the values of its names from statement to statement.

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
    if frame.world.program.borders.has("statement", node):
        return _kept(node, frame)
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


def _kept(node: cst.CSTNode, frame: Frame) -> bool:
    """Follow a statement that stays as it is."""
    for name in stay(node, frame):
        frame.bind(name, host())
    return type(node) is not cst.Raise


def _assign(node: cst.Assign, frame: Frame) -> None:
    if _exchange(node, frame):
        return
    value = value_of(node, node.value, frame)
    if _in_parts(node, value, frame):
        return
    for target in node.targets:
        bind(target.target, value, frame, node)


def _in_parts(node: cst.Assign, value: Value, frame: Frame) -> bool:
    """Split `x[0], y = a, b` or `x[0] = x[1] = a` if it writes to arrays; return whether it was split."""
    parts = array_writes.taken_apart(node)
    stores = [part for part in (parts or ()) if type(part.target) is cst.Subscript]
    if parts is None or not any(array_writes.is_array_store(part.target, frame) for part in stores):
        return False
    world = frame.world
    line = world.facts.parents[node]
    if type(line) is not cst.SimpleStatementLine or len(line.body) > 1:
        world.refuse(node, "NP2TF603", what="a write in a line of several statements")
        return True
    if not all(array_writes.is_array_store(part.target, frame) for part in stores):
        world.refuse(node, "NP2TF603", what="a statement that writes to an array and to a container")
        return True
    bases: set[object] = set()
    writers: list[tuple[str, ...]] = []
    for part in parts:
        item = array_writes.part_of(value, part)
        if type(part.target) is cst.Subscript:
            bases |= frame.evaluate(part.target.value).memory
            writers.append(array_writes.store(part.target, item, frame, node, is_part=True))
        else:
            writers.append(())
            bind(part.target, item, frame, node)
    is_view = any(array_writes.part_of(value, part).may("array") for part in parts)
    if is_view and not value.memory.isdisjoint(bases):  # The first write would show in the second value.
        name = world.facts.code(node.targets[0].target)
        world.refuse(node, "NP2TF604", name=name, other="what is assigned")
    helpers = [helper for needed in writers for helper in needed]
    world.edit(line, array_writes.assign_parts(node, parts, writers, frame), *helpers)
    return True


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
    bases = [frame.evaluate(place.value) for place in places]  # type: ignore[attr-defined]
    keys = [key_of(base, place.attr.value, frame) for base, place in zip(bases, places)]  # type: ignore[attr-defined]
    if not all(base.only("object") for base in bases) or len({*keys, None}) <= len(keys):
        return False
    values = [frame.evaluate(element.value) for element in value.elements]
    exchange_attributes([key for key in keys if key is not None], values, frame)
    return True


def _annotated_assignment(node: cst.AnnAssign, frame: Frame) -> None:
    if node.value is not None:
        bind(node.target, value_of(node, node.value, frame), frame, node)


def bind(target: cst.CSTNode, value: Value, frame: Frame, statement: cst.CSTNode) -> None:
    """Bind an assignment target to a value."""
    if isinstance(target, cst.Name):
        owner = frame.world.facts.scopes.owner(target)
        is_shared = (frame.function, target.value) in frame.world.shared_owners
        is_own = owner is None or frame.function is None or owner.node is frame.function
        if not is_own and not is_shared:
            frame.world.refuse(target, "NP2TF603", what="an assignment to a name of an outer scope")
        if frame.holds_host(target.value):
            value = converted(target, value, frame, statement)
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
        array_writes.store(target, value, frame, statement)
    elif isinstance(target, cst.Attribute):
        _bind_attribute(target, value, frame, statement)
    else:
        frame.world.refuse(target, "NP2TF603", what="such a target")


def _bind_attribute(target: cst.Attribute, value: Value, frame: Frame, statement: cst.CSTNode) -> None:
    world = frame.world
    base = frame.evaluate(target.value)
    key = key_of(base, target.attr.value, frame) if base.only("object") else None
    if key is not None and not world.program.classes.methods(*key):
        if world.program.borders.has("attribute", *key):
            value = converted(target, value, frame, statement)
        set_attribute(key, value, frame)
    elif base.is_undetermined:
        return
    elif base.is_host and not base.is_mixed and not base.modules:
        converted(target, value, frame, statement)
        world.program.borders.want_memory(base.memory)
    elif base.modules or not base.is_plain or not value.is_plain:
        world.refuse(target, "NP2TF603", what="an attribute that is written to")


def _expression(node: cst.Expr, frame: Frame) -> None:
    if type(node.value) is cst.Call and array_writes.writing_statement(node, node.value, frame):
        return
    value = value_of(node, node.value, frame)
    if frame.function is None and frame.world.file.endswith(SUFFIX) and not writes_of(node.value, frame):
        show_in_text(node.value, value, frame)  # what a notebook shows below the cell


def _return(node: cst.Return, frame: Frame) -> bool:
    value = plain("none") if node.value is None else value_of(node, node.value, frame)
    summary = frame.summary
    if summary is not None:
        borders = frame.world.program.borders
        if summary.result is not None and (join(summary.result, value) or value).is_mixed:
            borders.want("result", summary.node)
        if node.value is not None and borders.has("result", summary.node):
            to_host(node.value, value, frame)
            value = as_host(value)
        result = join(summary.result, value)
        frame.world.note_change(result != summary.result)
        summary.result = result
        summary.returns_value |= node.value is not None
        return_writes(node, frame)
    return False


def _if(node: cst.If, frame: Frame) -> bool:
    test_value = frame.evaluate(node.test)
    before = dict(frame.env)
    frame.world.passages[node] = Passage(frame, before, test_value)
    first = not is_for_types(node) and run(block(node.body), frame)
    after_first: Env | None = frame.env if first else None
    frame.env = before
    second = run(block(node.orelse), frame)
    after = merge(after_first, frame.env if second else None)
    frame.env = after if after is not None else frame.env
    return first or second


def _loop(node: cst.While | cst.For, frame: Frame) -> bool:
    """Follow a loop: repeat its body until the values of the names do not change any more."""
    iterable = frame.evaluate(node.iter) if isinstance(node, cst.For) else None
    iterable_name = f"<iterated {id(node)}>"
    if iterable is not None:
        frame.env[iterable_name] = iterable
    endless = isinstance(node, cst.While) and isinstance(node.test, cst.Name) and node.test.value == "True"
    breaks: list[Env] = []
    entry: Env = dict(frame.env)
    head, turns, test_value = entry, Turns(node, frame.scope), plain("bool")
    for _ in range(_ROUNDS):
        frame.env = dict(head)
        if isinstance(node, cst.While):
            test_value = frame.evaluate(node.test)
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
        frame.world.refuse(node, "NP2TF603", what="a loop whose values keep changing")
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
        frame.evaluate(node.exc)
    if node.cause is not None and type(node.cause) is cst.From:
        frame.evaluate(node.cause.item)
    return False


def _assert(node: cst.Assert, frame: Frame) -> None:
    frame.evaluate(node.test)
    if node.msg is not None:
        frame.evaluate(node.msg)


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
        world.refuse(node, "NP2TF603", what="`global` or `nonlocal` for something other than a number")
    frame.bind(node.name.value, Value(frozenset(["function"]), functions=frozenset([node])))


def _pass(node: cst.CSTNode, frame: Frame) -> None:
    """Follow a statement that binds no name."""


_HANDLERS: dict[type[cst.CSTNode], Callable[[Any, Frame], bool | None]] = {
    cst.Assign: _assign,
    cst.AnnAssign: _annotated_assignment,
    cst.AugAssign: array_writes.augmented_assignment,
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
    cst.ClassDef: follow_class,
    cst.Import: follow_import,
    cst.ImportFrom: follow_import,
    cst.Pass: _pass,
    cst.Global: _pass,
    cst.Nonlocal: _pass,
    cst.Try: _try,
    cst.With: _with,
    cst.Match: _match,
}
