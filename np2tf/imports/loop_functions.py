"""The loops of functions and modules as functions of their own, for on-stack replacement.

A loop that takes long on the host goes on as compiled code (`np2tf.runtime.replacement`). It is watched, and
there is a function that is the loop: what it reads and carries are its parameters, what is read behind it its
results. A jitted function has such code besides the source's. It runs the loop in parts, between which it may
be taken over:

    for i in range(n):                 loop = _np2tf_watch(range(n), KEY)
        x = step(x, i)                 for part in loop:
                                           if part is None:
                                               x, i = loop.finish()
                                               if loop.is_over:
                                                   break
                                               continue
                                           for i in part:
                                               x = step(x, i)
                                           else:
                                               continue
                                           break
                                       loop = part = None

What compiled code cannot do, such as raise, is left to a last part. A `while` that is not watched, or not any
more, is the source's: a test costs no more there than it did.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from np2tf.imports.loop_names import (
    CLOSURES,
    OF_THE_FRAME,
    OF_THE_MODULE,
    REFUSED,
    count_loads,
    globals_of_functions,
    is_made_first,
    is_private,
    parameters_of,
    stored,
    walk,
    written_to,
)
from np2tf.imports.loop_text import OTHER_ENDS, binds, can_be_moved, function_of
from np2tf.runtime.loop_function import LoopFunction

#: The name that instrumented code reads.
WATCH = "_np2tf_watch"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loop = ast.For | ast.While
#: Where a loop stands -> its function.
Loops = dict[tuple[int, int], LoopFunction]

_FOR = """
{loop} = _np2tf_watch(NUMBERS, {key!r})
for {part} in {loop}:
    if {part} is None:
        {results}{loop}.finish()
        if {loop}.is_over:
            break
        continue
    for TARGET in {part}:
        BODY
    else:
        continue
    break
{loop} = {part} = None
"""
_WHILE = """
{loop} = _np2tf_watch(None, {key!r})
for {part} in {loop}:
    if {part} is None:
        {results}{loop}.finish()
        if {loop}.is_over:
            break
        continue
    for {part} in {part}:
        if not TEST:
            break
        BODY
    else:
        continue
    break
else:
    while TEST:
        BODY
{loop} = {part} = None
"""


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
    if not jitted or any(end in text for end in OTHER_ENDS):
        return source, found
    tree = copy.deepcopy(source)
    lines = [f"{line}\n" for line in text.split("\n")]
    for function, in_class in list(_functions(tree.body)):
        first = min(function.lineno, *(one.lineno for one in function.decorator_list), function.lineno)
        if first in jitted and isinstance(function, ast.FunctionDef):
            loops = _OfFunction(function, in_class, lines, path, len(found)).loops()
            function.body = watched(function.body, loops)
            found += loops.values()
    tree.body += [_definition(one) for one in found]
    return tree, found


def loops_of_module(source: ast.Module, text: str, path: str) -> Loops:
    """The loops of a module outside of functions.

    Args:
        source: the module.
        text: that it was parsed from.
        path: of the file.
    """
    if _names_in(source) & OF_THE_MODULE or any(end in text for end in OTHER_ENDS):
        return {}
    lines = [f"{line}\n" for line in text.split("\n")]
    return _OfModule(source, text, lines, path).loops()


def definitions(loops: Loops) -> list[ast.stmt]:
    """The functions of loops."""
    return [_definition(one) for one in loops.values()]


def _definition(known: LoopFunction) -> ast.stmt:
    made = ast.parse(known.text).body[0]
    for node in ast.walk(made):
        if hasattr(node, "lineno"):
            node.lineno = known.lines[node.lineno - 1]
            node.end_lineno = known.lines[node.end_lineno - 1]  # type: ignore[attr-defined]
    return made


def _functions(body: list[ast.stmt], in_class: bool = False) -> Iterator[tuple[_Function, bool]]:
    """The functions that are in no other."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, in_class
        else:
            inside = in_class or isinstance(node, ast.ClassDef)
            for part in ("body", "orelse", "finalbody"):
                yield from _functions(getattr(node, part, []), inside)


# -- which loops ---------------------------------------------------------------------------------------------


class _Finding:
    """Finds the loops of a body that may be taken out of it.

    Attributes:
        prefix: of the names of their functions.
    """

    prefix = "_np2tf_loop_function"

    def __init__(self, body: list[ast.stmt], of: str, lines: list[str], path: str, number: int) -> None:
        self._body, self._of, self._lines, self._path, self._number = body, of, lines, path, number
        self._loads = count_loads(body)

    def loops(self) -> Loops:
        """Their functions, by where they stand."""
        found: Loops = {}
        for loop in self._inside(self._body):
            if _is_plain(loop) and self._may_be_taken_out(loop):
                found[loop.lineno, loop.col_offset] = self._made(loop, self._number + len(found))
        return found

    def _inside(self, body: list[ast.stmt]) -> Iterator[_Loop]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(node, (ast.For, ast.While)):
                yield node
            for inner in _blocks(node):
                yield from self._inside(inner)

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        """Whether the loop means the same as a function."""
        raise NotImplementedError

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        """What the loop's function takes, and gives."""
        raise NotImplementedError

    def _made(self, loop: _Loop, number: int) -> LoopFunction:
        name = f"{self.prefix}_{number}"
        taken, given = self._names(loop)
        parameters, results = sorted(taken | given), sorted(given)
        text, lines, kind, tells = function_of(self._lines, loop, name, parameters, results)
        key = f"{self._path}:{loop.lineno}:{loop.col_offset}"
        names = tuple(parameters), tuple(results)
        return LoopFunction(key, name, self._of, text, lines, *names, kind, tells, self._of == "<module>")


class _OfFunction(_Finding):
    def __init__(
        self, function: ast.FunctionDef, in_class: bool, lines: list[str], path: str, number: int
    ) -> None:
        super().__init__(function.body, function.name, lines, path, number)
        self._in_class = in_class
        self._locals = parameters_of(function.args) | stored(function.body)
        self._kept = {
            name.id
            for node in walk(function.body)
            if isinstance(node, CLOSURES)
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        declared = (node for node in walk(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)))
        self._declared = {name for node in declared for name in node.names}
        self._asks = not OF_THE_FRAME.isdisjoint(_names_in(function))

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        if self._asks or "range" in self._locals:
            return False
        if self._in_class and any(map(is_private, _names_in(loop))):
            return False
        return not stored([loop]) & (self._kept | self._declared)

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        inside = count_loads([loop], returned=False)
        if isinstance(loop, ast.For):
            of_body = count_loads(loop.body, returned=False)
        else:
            of_body = inside
        carried = {name for name in of_body if name in self._locals and not is_made_first(name, loop)}
        outside = {name for name, count in self._loads.items() if count > inside.get(name, 0)}
        given = stored([loop]) & (outside | carried)
        if not given and isinstance(loop.target if isinstance(loop, ast.For) else None, ast.Name):
            given = stored([loop.target])  # type: ignore[union-attr,list-item]
        return carried, given


class _OfModule(_Finding):
    prefix = "_np2tf_loop_of_module"

    def __init__(self, source: ast.Module, text: str, lines: list[str], path: str) -> None:
        super().__init__(source.body, "<module>", lines, path, 0)
        self._of_functions = globals_of_functions(text, path)
        self._bound = stored(source.body)

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        if "range" in self._bound or not can_be_moved(loop):
            return False
        if any(isinstance(node, ast.AnnAssign) for node in ast.walk(loop)):
            return False
        return not stored([loop]) & self._of_functions

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        # Whoever comes later may read them.
        return written_to([loop]) & self._bound, stored([loop])


def _is_plain(loop: _Loop) -> bool:
    """Whether it is of a kind that is watched, and holds nothing that is refused."""
    nodes = list(ast.walk(loop))
    if any(isinstance(node, REFUSED) for node in nodes):
        return False
    if any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes):
        return False
    returns = any(isinstance(node, ast.Return) for node in nodes)
    if returns and any(isinstance(node, (ast.Try, ast.With)) for node in nodes):
        return False
    if isinstance(loop, ast.While):
        in_a_line = loop.test.end_lineno == loop.test.lineno
        return (
            not loop.orelse
            and loop.body[0].lineno > (loop.test.end_lineno or 0)
            and (in_a_line or not binds(loop.test))
        )
    return isinstance(loop.target, ast.Name) and _is_over_range(loop)


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


def _names_in(node: ast.AST) -> set[str]:
    """Names and attributes."""
    nodes = list(ast.walk(node))
    names = {one.id for one in nodes if isinstance(one, ast.Name)}
    return names | {one.attr for one in nodes if isinstance(one, ast.Attribute)}


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block
    for part in ("handlers", "cases"):
        for one in getattr(node, part, ()):
            yield one.body


# -- watching them -------------------------------------------------------------------------------------------


def watched(body: list[ast.stmt], loops: Loops) -> list[ast.stmt]:
    """The statements, those loops watched."""
    return [new for one in body for new in _statement(one, loops)]


def _statement(node: ast.stmt, loops: Loops) -> list[ast.stmt]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node]
    for inner in _blocks(node):
        inner[:] = watched(inner, loops)
    if isinstance(node, (ast.For, ast.While)):
        known = loops.get((node.lineno, node.col_offset))
        if known is not None and (known.kind == "while") == isinstance(node, ast.While):
            return _watched(node, known)
    return [node]


def _watched(loop: _Loop, known: LoopFunction) -> list[ast.stmt]:
    results = f"({''.join(f'{one}, ' for one in known.results)}) = " if known.results else ""
    names = {"loop": f"{known.name}_loop", "part": f"{known.name}_part"}
    template = _FOR if isinstance(loop, ast.For) else _WHILE
    made = ast.parse(template.format(**names, key=known.key, results=results)).body
    for node in made:
        for one in ast.walk(node):
            ast.copy_location(one, loop)
    filled = _Filled(loop)
    return [filled.visit(node) for node in made]


class _Filled(ast.NodeTransformer):
    """Puts the parts of a loop into the places of a template."""

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self._used = False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        loop = self._loop
        if node.id == "TEST" and isinstance(loop, ast.While):
            return copy.deepcopy(loop.test)
        if isinstance(loop, ast.For) and node.id in ("NUMBERS", "TARGET"):
            return loop.iter if node.id == "NUMBERS" else loop.target
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if isinstance(node.value, ast.Name) and node.value.id == "BODY":
            copied = self._used
            self._used = True
            return copy.deepcopy(self._loop.body) if copied else self._loop.body
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        made = self.generic_visit(node)
        outermost = isinstance(node.iter, ast.Name) and node.iter.id.endswith("_loop")
        if outermost and isinstance(self._loop, ast.For):
            node.orelse = self._loop.orelse
        return made
