"""The loops of functions as functions of their own, for on-stack replacement.

A loop that takes long on the host goes on as compiled code (`np2tf.runtime.replacement`). Beside the source's
code of a jitted function there is a second one, which has its loops watched, and for each such loop a
function that is the loop: what it reads and carries are its parameters, what is read behind it its results.

    for i in range(n):                 loop = _np2tf_watch(range(n), KEY)
        x = step(x, i)                 for i in loop:
                                           x = step(x, i)
                                       if _np2tf_is_hot(loop):
                                           x, i = _np2tf_finish(loop)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from np2tf.runtime.loop_function import LoopFunction

#: The names that instrumented code reads, and those that the loops' functions take besides their own.
WATCH, IS_HOT, FINISH = "_np2tf_watch", "_np2tf_is_hot", "_np2tf_finish"
START, STOP, STEP = "_np2tf_start", "_np2tf_stop", "_np2tf_step"

#: Ends of lines that would have to be counted in another way, and a mark that is no text.
_OTHER_ENDS = ("\r", "\f", "\ufeff")
_Function = ast.FunctionDef | ast.AsyncFunctionDef
#: What a loop must not hold that becomes a function of its own.
_REFUSED = (
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Match,
)
#: Names that mean something else in another function.
_OF_THE_FRAME = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "super", "__class__", "warn", "_getframe"}
)
#: What keeps variables of the function around it.
_CLOSURES = (ast.Lambda, ast.GeneratorExp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def instrumented(
    source: ast.Module, text: str, jitted: set[int], path: str
) -> tuple[ast.Module, list[LoopFunction]]:
    """A copy of a module in which the loops of jitted functions are watched, and their functions, which stand
    at its end.

    Args:
        source: the module.
        text: that it was parsed from.
        jitted: the lines where jitted functions begin.
        path: of the file.
    """
    found: list[LoopFunction] = []
    if not jitted or any(end in text for end in _OTHER_ENDS):
        return source, found
    tree = copy.deepcopy(source)
    lines = [f"{line}\n" for line in text.split("\n")]
    for function, in_class in list(_functions(tree.body)):
        first = min(function.lineno, *(one.lineno for one in function.decorator_list), function.lineno)
        if first in jitted and isinstance(function, ast.FunctionDef):
            watching = _Watching(function, in_class, lines, path, len(found))
            function.body = watching.block(function.body)
            tree.body += watching.definitions
            found += watching.found
    return tree, found


def _functions(body: list[ast.stmt], in_class: bool = False) -> Iterator[tuple[_Function, bool]]:
    """The functions that are in no other."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, in_class
        else:
            inside = in_class or isinstance(node, ast.ClassDef)
            for part in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, part, []), inside)


class _Watching:
    """Has the loops of one function watched."""

    def __init__(
        self, function: ast.FunctionDef, in_class: bool, lines: list[str], path: str, number: int
    ) -> None:
        self.definitions: list[ast.stmt] = []
        self.found: list[LoopFunction] = []
        self._function, self._in_class, self._lines, self._path = function, in_class, lines, path
        self._number = number
        self._locals = _parameters(function.args) | _stored(function.body)
        self._kept = {
            name.id
            for node in _walk(function.body)
            if isinstance(node, _CLOSURES)
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        declared = (node for node in _walk(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)))
        self._declared = {name for node in declared for name in node.names}
        self._loads = _count_loads(function.body)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, loops watched."""
        return [new for one in body for new in self._statement(one)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [node]
        made = self._taken_out(node) if isinstance(node, ast.For) else None
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                setattr(node, part, self.block(inner))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.block(handler.body)
        return [node] if made is None else self._watched(node, made)  # type: ignore[arg-type]

    def _watched(self, loop: ast.For, made: LoopFunction) -> list[ast.stmt]:
        variable = f"{made.name}_rounds"
        watch = ast.Call(_name(WATCH), [loop.iter, ast.Constant(made.key)], [])
        begin = ast.Assign([ast.Name(variable, ast.Store())], watch)
        loop.iter = _name(variable)
        results = ast.Tuple([ast.Name(one, ast.Store()) for one in made.results], ast.Store())
        finish = ast.Assign([results], ast.Call(_name(FINISH), [_name(variable)], []))
        end = ast.If(ast.Call(_name(IS_HOT), [_name(variable)], []), [finish], [])
        for new in (begin, end):
            for part in ast.walk(new):
                if not hasattr(part, "lineno"):
                    ast.copy_location(part, loop)
        ast.copy_location(loop.iter, loop)
        return [begin, loop, end]

    def _taken_out(self, loop: ast.For) -> LoopFunction | None:
        """The loop as a function; None where that would mean something else."""
        if not _is_over_range(loop) or loop.orelse or not isinstance(loop.target, ast.Name):
            return None
        nodes = list(ast.walk(loop))
        if any(isinstance(node, _REFUSED) for node in nodes):
            return None
        if any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes):
            return None
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        if names & _OF_THE_FRAME or (self._in_class and any(map(_is_private, names))):
            return None
        stored = _stored([loop])
        if stored & (self._kept | self._declared) or "range" in self._locals:
            return None
        inside = _count_loads(loop.body)
        carried = {name for name in inside if name in self._locals and not _is_made_first(name, loop)}
        outside = {name for name, count in self._loads.items() if count > _count_loads([loop]).get(name, 0)}
        results = sorted(stored & (outside | carried)) or [loop.target.id]
        parameters = sorted(carried | set(results))
        return self._made(loop, tuple(parameters), tuple(results))

    def _made(self, loop: ast.For, parameters: tuple[str, ...], results: tuple[str, ...]) -> LoopFunction:
        assert isinstance(loop.iter, ast.Call)
        has_step = len(loop.iter.args) == 3
        name = f"_np2tf_loop_function_{self._number + len(self.found)}"
        given = [START, STOP, STEP] if has_step else [START, STOP]
        head = f"def {name}({', '.join([*parameters, *given])}):\n"
        prefix = self._lines[loop.lineno - 1].encode()[: loop.col_offset].decode()
        body = _with_range(self._lines, loop, given)
        text = f"{head}{body}\n{prefix}return ({', '.join(results)},)\n"
        key = f"{self._path}:{loop.lineno}:{loop.col_offset}"
        breaks = any(isinstance(node, ast.Break) for node in ast.walk(loop))
        made = LoopFunction(
            key, name, self._function.name, text, loop.lineno - 2, parameters, results, has_step, breaks
        )
        definition = ast.parse(text).body[0]
        ast.increment_lineno(definition, loop.lineno - 2)
        self.definitions.append(definition)
        self.found.append(made)
        return made


def _with_range(lines: list[str], loop: ast.For, given: list[str]) -> str:
    """The text of a loop over the numbers that are given, in as many lines."""
    iterable = loop.iter
    assert iterable.end_lineno is not None
    assert iterable.end_col_offset is not None
    assert loop.end_lineno is not None
    raw = [line.encode() for line in lines[loop.lineno - 1 : loop.end_lineno]]
    first, last = iterable.lineno - loop.lineno, iterable.end_lineno - loop.lineno
    before, behind = raw[first][: iterable.col_offset], raw[last][iterable.end_col_offset :]
    line_ends = "\n" * (last - first)
    raw[first : last + 1] = [before + f"range({', '.join(given)}{line_ends})".encode() + behind]
    return b"".join(raw).decode().rstrip("\n")


def _is_over_range(loop: ast.For) -> bool:
    called = loop.iter
    return (
        isinstance(called, ast.Call)
        and isinstance(called.func, ast.Name)
        and called.func.id == "range"
        and not called.keywords
        and not any(isinstance(one, ast.Starred) for one in called.args)
        and 1 <= len(called.args) <= 3
    )


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        yield from ast.walk(node)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _parameters(given: ast.arguments) -> set[str]:
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {one.arg for one in every if one is not None}


def _stored(body: list[ast.stmt]) -> set[str]:
    """The variables that statements bind, those of comprehensions left out."""
    found: set[str] = set()
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):
            walruses = (one for one in ast.walk(node) if isinstance(one, ast.NamedExpr))
            found |= {one.target.id for one in walruses}
            continue
        pending += ast.iter_child_nodes(node)
    return found


def _count_loads(body: list[ast.stmt]) -> dict[str, int]:
    """How often statements read each name; to add to a variable is to read it."""
    found: dict[str, int] = {}
    for node in _walk(body):
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            name = node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if name is not None:
            found[name] = found.get(name, 0) + 1
    return found


def _is_made_first(name: str, loop: ast.For) -> bool:
    """Whether each round binds a variable before it can read it."""
    if isinstance(loop.target, ast.Name) and loop.target.id == name:
        return True
    for one in loop.body:
        if isinstance(one, ast.Assign) and name not in _count_loads([one]):
            targets = [part for target in one.targets for part in ast.walk(target)]
            if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                return True
        mentions = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(one))
        if mentions:
            return False
    return False
