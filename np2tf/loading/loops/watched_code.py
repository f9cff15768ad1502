"""Code in which loops are watched, for on-stack replacement.

A jitted function has this code besides the source's code; other functions and modules have only this code.
The code runs a loop in parts. Between two parts, compiled code can take over the loop:

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

Work that compiled code cannot do, such as raising, is left to a last part. A `while` that is not watched, or
no longer, runs as in the source, so that its test costs no more than before.
"""

from __future__ import annotations

import ast
import copy
from itertools import pairwise

from np2tf.loading.loops.loop_functions import Loops, with_variants
from np2tf.loading.loops.names import functions_of, jumps, walk
from np2tf.staging.host.followed_loops import FOLLOW
from np2tf.staging.host.watched_loops import LoopFunction
from np2tf.translator.sources.python_trees import DEFINITIONS, blocks_of, first_line

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Loop = ast.For | ast.While
#: Decorators that do not change the code of a function.
_HARMLESS = frozenset({"staticmethod", "classmethod", "property"})

#: The beginning of a watched loop, whose compiled part comes as None.
_HEAD = """
{begin}{loop} = _np2tf_watch(%s, {key!r})
{find_regions}for {part} in {loop}:
    if {part} is None:
        {finish}
        if {loop}.is_over:
            break
        continue
"""
_FINISH = "{results}{loop}.finish()"
#: What a loop with side exits does there. Compiled code may leave an iteration at a statement, whose number
#: is the exit; the next part is then the rest of that iteration. Names that only the statements bind are no
#: results then, and may have no values yet.
_BEGIN = "{exit} = {acts} = 0\n"
_FINISH_OR_LEAVE = """\
if {loop}.has_exits:
            {exit_results}{loop}.finish()
            {exit} = {loop}.exit
        else:
            {results}{loop}.finish()"""
#: What a loop with regions does before its iterations, and instead of a region's statements.
_FIND_REGIONS = "{regions} = _np2tf_regions({loop})\n"
_REGION = """\
if {regions} and {regions}[{k}].enter():
    {results}{regions}[{k}].take()
else:
    if {regions}:
        {regions}[{k}].leave()
"""
_FOR = """\
    for TARGET in {part}:
        BODY
    else:
        {reset}continue
    break
{loop} = {part} = None
"""
_WHILE = """\
    for {part} in {part}:
        if not {exits_or}TEST:
            break
        BODY
    else:
        {reset}continue
    break
else:
    while TEST:
        BODY
{loop} = {part} = None
"""


def watch_functions(tree: ast.Module, path: str, loops: Loops, jitted_lines: set[int]) -> None:
    """Let the loops of a source's functions be watched, and append the loops' own functions to the module.

    Args:
        jitted_lines: the lines where jitted functions begin.
    """
    for function, _ in list(functions_of(tree.body)):
        _watch_function(function, path, loops, first_line(function) in jitted_lines)
    tree.body += map(_definition, with_variants(loops))


def watch_translation(
    tree: ast.Module,
    path: str,
    loops: Loops,
    jitted_lines: set[int],
    compiler_functions: frozenset[str],
) -> None:
    """Let the loops of a translation be watched, except the loops in jitted functions.

    Args:
        tree: the translation, with the source's places; it is changed.
        jitted_lines: the lines where jitted functions begin.
        compiler_functions: the names of functions that another compiler reads, which stay as they are.
    """
    tree.body = _Instrumenter(loops, path).block(tree.body)
    for function, _ in list(functions_of(tree.body)):
        if first_line(function) not in jitted_lines and function.name not in compiler_functions:
            _watch_function(function, path, loops, is_jitted=False)


def _watch_function(function: _Function, path: str, loops: Loops, is_jitted: bool) -> None:
    if not is_jitted:
        # The user has not asked for compilation here: functions with other decorators, generators,
        # coroutines, and loops without NumPy stay as they are.
        if not is_plain(function):
            return
        loops = {place: loop for place, loop in loops.items() if loop.says_numpy}
    function.body = _Instrumenter(loops, path).block(function.body)


def is_plain(function: _Function) -> bool:
    """Return whether a function is no generator or coroutine, and no decorator has changed it."""
    suspends = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in walk(function.body))
    is_coroutine = isinstance(function, ast.AsyncFunctionDef)
    return not is_coroutine and not suspends and set(map(ast.unparse, function.decorator_list)) <= _HARMLESS


def _definition(loop_function: LoopFunction) -> ast.stmt:
    definition = ast.parse(loop_function.text).body[0]
    for node in ast.walk(definition):
        if hasattr(node, "lineno"):
            node.lineno = loop_function.lines[node.lineno - 1]
            node.end_lineno = loop_function.lines[node.end_lineno - 1]  # type: ignore[attr-defined]
    return definition


class _Instrumenter:
    """Lets the loops of a source be watched.

    Args:
        loops: the loops that can become functions.
        path: the file of the source.
    """

    def __init__(self, loops: Loops, path: str) -> None:
        self._loops, self._path = loops, path

    def block(self, body: list[ast.stmt], is_inside: bool = False) -> list[ast.stmt]:
        """Return statements with their loops watched.

        Args:
            is_inside: whether a loop of the same function is around them.
        """
        return [new for statement in body for new in self._statement(statement, is_inside)]

    def _statement(self, node: ast.stmt, is_inside: bool) -> list[ast.stmt]:
        if isinstance(node, DEFINITIONS):
            return [node]
        is_loop = isinstance(node, (ast.For, ast.While))
        loop_function = self._function_of(node) if isinstance(node, (ast.For, ast.While)) else None
        for inner in blocks_of(node):
            inner[:] = self.block(inner, is_inside or is_loop)
        if isinstance(node, (ast.For, ast.While)) and loop_function is not None:
            return _instrument(node, loop_function)
        if isinstance(node, ast.For) and not is_inside:
            self._follow(node)
        return [node]

    def _function_of(self, loop: _Loop) -> LoopFunction | None:
        """Return the function of a loop, whose body is now one for watching; None if it has none."""
        loop_function = self._loops.get((loop.lineno, loop.col_offset))
        if loop_function is None or (loop_function.kind == "while") != isinstance(loop, ast.While):
            return None
        if loop_function.with_exits is not None:
            _count_acts(loop, loop_function.with_exits, loop_function.acts)
        loop.body = _body(loop.body, loop_function)
        return loop_function

    def _follow(self, loop: ast.For) -> None:
        """Let an outermost loop that cannot become a function, but calls, tell how long it takes."""
        if not any(isinstance(part, ast.Call) for part in walk(loop.body)):
            return
        key = f"{self._path}:{loop.lineno}:{loop.col_offset}"
        text = f"{FOLLOW}(ITERABLE, {key!r}, {jumps(loop.body, ast.Break)})"
        call = ast.parse(text, mode="eval").body
        for part in ast.walk(call):
            ast.copy_location(part, loop.iter)
        assert isinstance(call, ast.Call)
        call.args[0] = loop.iter
        loop.iter = call


def _exit_of(loop_function: LoopFunction) -> str:
    """Return the variable that holds the number of a loop's side exit."""
    return f"{loop_function.name}_exit"


def _regions_of(loop_function: LoopFunction) -> str:
    """Return the variable that holds a loop's regions."""
    return f"{loop_function.name}_regions"


def _instrument(loop: _Loop, loop_function: LoopFunction) -> list[ast.stmt]:
    variant, name, exit_name = loop_function.with_exits, loop_function.name, _exit_of(loop_function)
    texts = {
        "loop": f"{name}_watched",
        "part": f"{name}_part",
        "key": loop_function.key,
        "results": _targets(loop_function.results),
        "regions": _regions_of(loop_function),
    }
    texts["find_regions"] = _FIND_REGIONS.format(**texts) if loop_function.regions else ""
    if variant is None:
        texts |= {"begin": "", "finish": _FINISH.format(**texts), "reset": "", "exits_or": ""}
    else:
        texts |= {"exit": exit_name, "acts": loop_function.acts, "exit_results": _targets(variant.results)}
        texts |= {
            "begin": _BEGIN.format(**texts),
            "finish": _FINISH_OR_LEAVE.format(**texts),
            "reset": f"{exit_name} = 0; ",
            "exits_or": f"{exit_name} and not ",
        }
    head = _HEAD % ("NUMBERS" if isinstance(loop, ast.For) else "None")
    template = head + (_FOR if isinstance(loop, ast.For) else _WHILE)
    statements = ast.parse(template.format(**texts)).body
    for node in statements:
        for inner_node in ast.walk(node):
            ast.copy_location(inner_node, loop)
    filler = _TemplateFiller(loop)
    return [filler.visit(node) for node in statements]


def _targets(names: tuple[str, ...]) -> str:
    return f"({''.join(f'{name}, ' for name in names)}) = " if names else ""


def _count_acts(loop: _Loop, variant: LoopFunction, acts: str) -> None:
    """Count how often Python acts, so that what that takes is no part of the loop's own time."""
    for place in variant.exits:
        for node in ast.walk(loop.body[place]):
            for block in blocks_of(node) if isinstance(node, ast.If) else ():
                if block and block[0].lineno in variant.exit_lines:
                    count = ast.parse(f"{acts} += 1").body[0]
                    for part in ast.walk(count):
                        ast.copy_location(part, block[0])
                    block.insert(0, count)


def _body(body: list[ast.stmt], loop_function: LoopFunction) -> list[ast.stmt]:
    """Return a loop's body, which begins at an exit's statement if the exit is not 0."""
    exits = () if loop_function.with_exits is None else loop_function.with_exits.exits
    result: list[ast.stmt] = []
    for k, (first, last) in enumerate(pairwise((0, *exits, len(body))), 1):
        section = _with_regions(body[first:last], loop_function)
        if k <= len(exits) and section:
            guard = ast.parse(f"if {_exit_of(loop_function)} < {k}: pass").body[0]
            for node in ast.walk(guard):
                ast.copy_location(node, body[first])
            guard.body = section  # type: ignore[attr-defined]
            section = [guard]
        result += section
    return result


def _with_regions(body: list[ast.stmt], loop_function: LoopFunction) -> list[ast.stmt]:
    """Return statements of which compiled code may run the regions."""
    for k, region in enumerate(loop_function.regions):
        inside = [statement for statement in body if statement.lineno in region.lines]
        if inside:
            text = _REGION.format(regions=_regions_of(loop_function), k=k, results=_targets(region.results))
            choice = ast.parse(text).body[0]
            for node in ast.walk(choice):
                ast.copy_location(node, inside[0])
            choice.orelse[:0] = inside  # type: ignore[attr-defined]
            first = body.index(inside[0])
            body = [*body[:first], choice, *body[first + len(inside) :]]
    return body


class _TemplateFiller(ast.NodeTransformer):
    """Puts the parts of a loop into the holes of a template."""

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
            is_copy = self._used
            self._used = True
            return copy.deepcopy(self._loop.body) if is_copy else self._loop.body
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        result = self.generic_visit(node)
        outermost = isinstance(node.iter, ast.Name) and node.iter.id.endswith("_watched")
        if outermost and isinstance(self._loop, ast.For):
            node.orelse = self._loop.orelse
        return result
