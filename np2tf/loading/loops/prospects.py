"""What the loops of a file become if they get hot: which continue as compiled code, with which side exits,
and why the others stay on NumPy.

This is what the run time would find (`np2tf.loading.loops.loop_functions` and the translator), found from the
text alone. A call whose callee the text does not show is decided at run time.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from np2tf.core.errors import CalleeError
from np2tf.loading.loops.array_work import ArrayWork
from np2tf.loading.loops.loop_functions import Loops, loops_of, obstacles_of, with_variants
from np2tf.loading.loops.names import functions_of
from np2tf.loading.loops.watched_code import is_plain
from np2tf.staging.host.watched_loops import LoopFunction
from np2tf.translator.control.fitness import Fitness, Unfit
from np2tf.translator.facts.facts import Facts
from np2tf.translator.pipeline import translate
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import imports_in, own_statements, parse_quietly
from np2tf.translator.tree.source import Source, SourceError

MODULE = "<module>"
#: Modules whose functions compiled code can have, or which are decided at run time.
_FOLLOWED = frozenset(
    {"numpy", "scipy", "math", "np2tf", "tensorflow", "itertools", "functools", "operator", "collections"}
    | {"dataclasses", "typing", "builtins", "warnings", "logging"}
)
_OPTIONS = Options(everything=True)


class LoopProspect(NamedTuple):
    """What a loop becomes if it gets hot.

    Attributes:
        of: the name of the function that contains it; "<module>" outside of functions.
        line, last: its first and last line.
        exits: the lines of the statements at which compiled code leaves it, for Python to run them.
        code, reason, reason_line: why it stays on NumPy, as the rest of "it …"; empty if it is compiled.
    """

    of: str
    line: int
    last: int
    exits: tuple[int, ...] = ()
    code: str = ""
    reason: str = ""
    reason_line: int = 0

    @property
    def is_compiled(self) -> bool:
        """True if it continues as compiled code."""
        return not self.reason


def loop_prospects(data: bytes, path: str) -> list[LoopProspect]:
    """Return what becomes of the loops of a source, in their order; nothing for what is no Python."""
    try:
        text = importlib.util.decode_source(data)
        tree = parse_quietly(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    work = ArrayWork(tree, path)
    loops, obstacles = loops_of(tree, text, path, work), obstacles_of(tree, text, path, work)
    judge = _Judge(tree, text, path, loops)
    prospects = []
    for of, body, is_watched in _bodies(tree):
        for loop in own_statements(body):
            if not isinstance(loop, (ast.For, ast.While)):
                continue
            place = loop.lineno, loop.col_offset
            prospect = LoopProspect(of, loop.lineno, loop.end_lineno or loop.lineno)
            if place not in loops:
                reason, line = obstacles.get(
                    place, ("is in a module that asks for its variables", loop.lineno)
                )
                prospects.append(prospect._replace(reason=reason, reason_line=line))
            elif not is_watched:
                reason = "is in a generator, a coroutine, or a function whose decorator may change it"
                prospects.append(prospect._replace(reason=reason, reason_line=loop.lineno))
            elif not loops[place].says_numpy:
                reason = "shows no work on arrays"
                prospects.append(prospect._replace(reason=reason, reason_line=loop.lineno))
            else:
                prospects.append(judge.judge(prospect, loops[place], _lists_in(body)))
    return sorted(prospects, key=lambda prospect: prospect.line)


def _bodies(tree: ast.Module) -> Iterator[tuple[str, list[ast.stmt], bool]]:
    """Yield the bodies of functions and the module: the name, the statements, whether loops are watched."""
    for function, _ in functions_of(tree.body):
        yield function.name, function.body, is_plain(function)
    yield MODULE, tree.body, True


class _Judge:
    """Judges loops as the functions that they would become, in one translation of the file with them."""

    def __init__(self, tree: ast.Module, text: str, path: str, loops: Loops) -> None:
        self._lines: dict[str, tuple[int, ...]] = {}
        self._libraries = _libraries(tree, path)
        parts, count = [text.rstrip("\n") + "\n"], len(text.rstrip("\n").split("\n"))
        for loop_function in with_variants(loops):
            self._lines[loop_function.name] = (count + 1, *loop_function.lines)
            parts.append(loop_function.text)
            count += loop_function.text.count("\n")
        self._text, self._path = "".join(parts), path

    @functools.cached_property
    def _facts(self) -> Facts | None:
        """The facts of the file with the loops' functions; None if it cannot be translated."""
        try:
            return translate(Source.of(self._text, self._path), _OPTIONS).facts
        except (SourceError, RecursionError):
            return None

    @functools.cached_property
    def _unfit(self) -> dict[str, Unfit]:
        """The functions that cannot be compiled, by their names."""
        unfit = {} if self._facts is None else self._facts.get(Fitness, _OPTIONS).every_unfit
        return {function.name.value: why for function, why in unfit.items()}

    def judge(self, prospect: LoopProspect, loop_function: LoopFunction, lists: set[str]) -> LoopProspect:
        """Return the prospect of a loop: compiled as a whole, with side exits, or not at all.

        Args:
            lists: the variables of the function that contains the loop which are lists.
        """
        whole = self._refusal(prospect, loop_function, lists)
        variant = loop_function.with_exits
        if variant is None:
            return whole
        refusal = self._refusal(prospect, variant, lists)
        if refusal.reason:
            return whole if whole.is_compiled else refusal
        # Python acts at side exits seldom; as a whole, such a loop is compiled only if that fails.
        firsts = [line for line in variant.exit_lines if line - 1 not in variant.exit_lines]
        return prospect._replace(exits=tuple(firsts))

    def _refusal(self, prospect: LoopProspect, loop_function: LoopFunction, lists: set[str]) -> LoopProspect:
        """Return the prospect with the reason why a function made of the loop cannot be compiled, if any."""
        why = self._unfit.get(loop_function.name)
        if why is not None:
            line = self._line_of(why.node, loop_function.name)
            return prospect._replace(code=why.code, reason=why.reason, reason_line=line)
        for line, call in _growing(loop_function, lists):
            reason = f"`{call}` grows a list in the loop"
            return prospect._replace(code="NP2TF307", reason=reason, reason_line=line)
        for line, callee in _calls_of(loop_function, self._libraries):
            reason = f"calls `{callee}`, which compiled code cannot run"
            return prospect._replace(code=CalleeError.code, reason=reason, reason_line=line)
        return prospect

    def _line_of(self, node: cst.CSTNode, name: str) -> int:
        """Return the line of the file for a node in the text of a loop's function."""
        assert self._facts is not None
        line = int(self._facts.position(node)[0])
        first, *lines = self._lines[name]
        return lines[line - first] if 0 <= line - first < len(lines) else lines[0]


def _lists_in(body: list[ast.stmt]) -> set[str]:
    """Return the variables that statements bind to new lists."""
    assignments = [node for node in own_statements(body) if isinstance(node, ast.Assign)]
    return {
        target.id
        for node in assignments
        if isinstance(node.value, (ast.List, ast.ListComp))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _growing(loop_function: LoopFunction, lists: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the calls that make lists longer in a loop: the line of the file, and the method."""
    for node in ast.walk(ast.parse(loop_function.text)):
        method = node.func if isinstance(node, ast.Call) else None
        if (
            isinstance(method, ast.Attribute)
            and method.attr in ("append", "extend", "insert")
            and isinstance(method.value, ast.Name)
            and method.value.id in lists & {*loop_function.parameters}
        ):
            yield loop_function.lines[method.lineno - 1], ast.unparse(method)


def _libraries(tree: ast.Module, path: str) -> set[str]:
    """Return the names that a source imports from libraries which compiled code does not follow."""
    folder = os.path.dirname(path)
    names = set()
    for node in ast.walk(tree):
        for name, module, _ in imports_in(node):
            top = module.partition(".")[0]
            beside = os.path.exists(os.path.join(folder, f"{top}.py")) or os.path.isdir(
                os.path.join(folder, top)
            )
            if top and top not in _FOLLOWED and not beside:
                names.add(name)
    return names


def _calls_of(loop_function: LoopFunction, libraries: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the calls of libraries' functions in a loop: the line of the file, and the function."""
    for node in ast.walk(ast.parse(loop_function.text)):
        if isinstance(node, ast.Call):
            root: ast.expr = node.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in libraries:
                yield loop_function.lines[node.lineno - 1], ast.unparse(node.func)
