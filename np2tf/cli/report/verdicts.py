"""What the run time makes of the functions of a project, as far as the text shows it.

A function that can be compiled is compiled by itself only if it is called often; one that is called once is
compiled inside a compiled caller, or its loops are (`np2tf.loading.loops.prospects`); and what NumPy's
libraries compute is left to them (`np2tf.staging.tiers.library_work`). Which code takes long enough to be
compiled at all, only a run shows.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from np2tf.loading.loops.prospects import MODULE, LoopProspect, loop_prospects
from np2tf.staging.tiers.library_work import library_calls
from np2tf.translator.control.fates import CALLED, HOST, PLAIN, STAGED, Fate
from np2tf.translator.sources.python_trees import DEFINITIONS, python_tree

#: The fate of a function of which only loops are compiled.
LOOPS = "only its loops are compiled"
#: The reason of a compiled function whose text shows little work.
IF_LONG = "if its calls are long"
_REPEATS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Call(NamedTuple):
    """A place where a function is called, or read as a value, which may mean many calls."""

    path: Path
    caller: str
    line: int
    is_often: bool


@dataclass
class _File:
    """A file: its tree, the fates, last lines and code of its functions, and its loops."""

    fates: dict[str, Fate]
    tree: ast.Module | None = None
    loops: list[LoopProspect] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    codes: dict[str, types.CodeType] = field(default_factory=dict)


def verdicts(files: Mapping[Path, tuple[str, list[Fate]]]) -> dict[Path, list[Fate]]:
    """Return the fates of functions as the run time would have it, and one for each module with hot loops.

    Args:
        files: the text of each file, and the fates that the translator finds.
    """
    return _Project(files).verdicts()


def told(fate: Fate) -> str:
    """Return a verdict in words."""
    reason = fate.reason
    if fate.at and f"line {fate.at}" not in reason:
        reason = f"{reason} (line {fate.at})"
    words = {STAGED: "compiled", CALLED: "compiled only inside", LOOPS: "compiled:", HOST: "NumPy:"}
    return f"{words.get(fate.fate, fate.fate)} {reason}".rstrip(" :")


class _Project:
    def __init__(self, files: Mapping[Path, tuple[str, list[Fate]]]) -> None:
        self._files: dict[Path, _File] = {}
        self._calls: dict[str, list[_Call]] = {}
        self._names: dict[str, Any] = {"__name__": "project"}
        for path, (text, fates) in files.items():
            tree = python_tree(text)
            module = None if tree is None else _module_code(tree, str(path))
            file = self._files[path] = _File({fate.name: fate for fate in fates}, tree)
            if tree is None or module is None:
                continue
            file.loops = loop_prospects(text.encode(), str(path))
            file.ends = dict(_ends(tree, ""))
            file.codes = self._codes_of(module)
            for name, call in _calls_in(tree, path):
                self._calls.setdefault(name, []).append(call)

    def _codes_of(self, module: types.CodeType) -> dict[str, types.CodeType]:
        """Return the code of functions and methods, and add functions that are never called to the names."""
        codes: dict[str, types.CodeType] = {}
        for code in _codes_in(module):
            methods = {}
            for method in _codes_in(code):
                codes[f"{code.co_name}.{method.co_name}"] = method
                methods[method.co_name] = method
            codes[code.co_name] = code
            if not code.co_freevars and code.co_flags & _CO_OPTIMIZED:
                self._names[code.co_name] = types.FunctionType(code, self._names)
            else:
                members: dict[str, Any] = {
                    name: types.FunctionType(method, self._names)
                    for name, method in methods.items()
                    if not method.co_freevars
                }
                self._names[code.co_name] = type(code.co_name, (), {**members, "__module__": "project"})
        return codes

    # -- facts -----------------------------------------------------------------------------------------------

    def _is_called_often(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a function may be called more than once."""
        calls = self._calls.get(name.rpartition(".")[2], [])
        if len(calls) != 1:
            return True  # of a function that nothing here calls, other programs do
        (call,) = calls
        if call.is_often:
            return True
        return (
            call.caller != MODULE
            and call.caller not in seen
            and self._is_called_often(call.caller, seen | {name})
        )

    def _library(self, path: Path, name: str) -> frozenset[str]:
        """Return the functions of NumPy's libraries that take a function's time."""
        code = self._files[path].codes.get(name)
        return frozenset() if code is None else library_calls(code, self._names)

    def _loops(self, path: Path, name: str) -> list[LoopProspect]:
        """Return the outermost loops of a function that continue as compiled code."""
        compiled: list[LoopProspect] = []
        for loop in self._loops_of(path, name):
            inside = any(outer.line < loop.line <= outer.last for outer in compiled)
            if loop.is_compiled and not inside:
                compiled.append(loop)
        return compiled

    def _loops_of(self, path: Path, name: str) -> list[LoopProspect]:
        file = self._files[path]
        if name == MODULE:
            return [loop for loop in file.loops if loop.of == MODULE]
        fate = file.fates.get(name)
        first, last = (0, 0) if fate is None else (fate.line, file.ends.get(name, 0))
        return [loop for loop in file.loops if first <= loop.line <= last and loop.of != MODULE]

    # -- verdicts --------------------------------------------------------------------------------------------

    def verdicts(self) -> dict[Path, list[Fate]]:
        """Return the fates of every file."""
        # What is compiled by itself, what these call, directly or not, and what is too small to be translated
        # for its own sake, but may be compiled where it is hot.
        compiled = set(self._often_called(STAGED))
        inside = self._inside(compiled)
        small = {key for key in self._often_called(CALLED) if key not in inside}
        inside |= self._inside(compiled | small)
        verdicts = {}
        for path, file in self._files.items():
            fates = [self._verdict(path, fate, compiled, small, inside) for fate in file.fates.values()]
            verdicts[path] = [*fates, *self._of_module(path)]
        return verdicts

    def _often_called(self, kind: str) -> Iterator[tuple[Path, str]]:
        """Yield the functions with a fate that may be called often, and do their work in compiled code."""
        for path, file in self._files.items():
            for name, fate in file.fates.items():
                if fate.fate == kind and self._is_called_often(name) and not self._library(path, name):
                    yield path, name

    def _inside(self, compiled: set[tuple[Path, str]]) -> dict[tuple[Path, str], str]:
        """Return the other functions that compiled code calls, directly or not, each with such a caller."""
        inside: dict[tuple[Path, str], str] = {}
        while True:
            found = {
                (path, name): caller
                for path, file in self._files.items()
                for name, fate in file.fates.items()
                if fate.fate in (STAGED, CALLED)
                and (path, name) not in compiled
                and (path, name) not in inside
                and (caller := self._compiled_caller(name, compiled | inside.keys()))
            }
            if not found:
                return inside
            inside |= found

    def _compiled_caller(self, name: str, compiled: set[tuple[Path, str]]) -> str:
        """Return what is compiled and calls a function, in words; an empty text if nothing is."""
        for call in self._calls.get(name.rpartition(".")[2], []):
            if (call.path, call.caller) in compiled:
                return f"`{call.caller}`"
            for loop in self._loops(call.path, call.caller):
                if loop.line <= call.line <= loop.last and not self._library(call.path, call.caller):
                    of = "the module" if call.caller == MODULE else f"`{call.caller}`"
                    return f"the loop at line {loop.line} of {of}"
        return ""

    def _verdict(
        self,
        path: Path,
        fate: Fate,
        compiled: set[tuple[Path, str]],
        small: set[tuple[Path, str]],
        inside: Mapping[tuple[Path, str], str],
    ) -> Fate:
        key = path, fate.name
        if fate.fate == PLAIN:
            return fate
        if key in compiled:
            return replace(fate, fate=STAGED)
        if key in small:
            return replace(fate, fate=STAGED, reason=IF_LONG)
        if key in inside:
            return replace(fate, fate=CALLED, reason=inside[key])
        library = self._library(path, fate.name)
        if not library and (loops := self._loops(path, fate.name)):
            return replace(fate, fate=LOOPS, reason=_loops_in_words(loops), at=0)
        if fate.fate == HOST and not library:
            return fate
        reason, line = self._why_not(path, fate, library)
        return replace(fate, fate=HOST, reason=reason, at=line)

    def _why_not(self, path: Path, fate: Fate, library: frozenset[str]) -> tuple[str, int]:
        """Return why a function that could be compiled is not, and the line of the reason."""
        is_often = self._is_called_often(fate.name)
        for loop in self._loops_of(path, fate.name):
            if not is_often and loop.reason and (loop.code or not library):
                return f"it is called once; its loop at line {loop.line}: {loop.reason}", loop.reason_line
        if library:
            tree, last = self._files[path].tree, self._files[path].ends.get(fate.name, 0)
            return f"{in_library(library, tree, fate.line, last)}", 0
        if not is_often:
            return "it is called once, and has no loop", 0
        return "nothing that is compiled calls it", 0

    def _of_module(self, path: Path) -> Iterator[Fate]:
        """Yield the fate of the loops outside of functions, if some work on arrays."""
        loops = [loop for loop in self._loops_of(path, MODULE) if "no work on arrays" not in loop.reason]
        if not loops:
            return
        line = loops[0].line
        if compiled := self._loops(path, MODULE):
            yield Fate(MODULE, line, True, LOOPS, reason=_loops_in_words(compiled))
        else:
            why = loops[0]
            reason = f"its loop at line {why.line}: {why.reason}"
            yield Fate(MODULE, line, True, HOST, reason=reason, at=why.reason_line)


#: A flag that the code of functions has, and the code of classes has not.
_CO_OPTIMIZED = 0x1


def _module_code(tree: ast.Module, path: str) -> types.CodeType | None:
    """Return the code of a module; None if it does not compile, as with a `return` outside of functions."""
    try:
        return compile(tree, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _codes_in(code: types.CodeType) -> list[types.CodeType]:
    """Return the code of the functions and classes in code."""
    codes = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return [inner for inner in codes if not inner.co_name.startswith("<")]


def in_library(names: Iterable[str], tree: ast.Module | None, first: int, last: int) -> str:
    """Return a sentence about functions of NumPy's libraries that take the time of the code in some lines.

    Args:
        tree: the source, in which the functions are as they are spelled there, with their lines.
    """
    spelled: dict[str, str] = {}
    for node in ast.walk(tree) if tree is not None else ():
        method = node.func if isinstance(node, ast.Call) else None
        if not isinstance(method, ast.Attribute) or method.attr not in names:
            continue
        if method.attr not in spelled or first <= method.lineno <= last:
            spelled[method.attr] = f"`{ast.unparse(method)}` at line {method.lineno}"
    listed = ", ".join(spelled.get(name, f"`{name}`") for name in sorted(names))
    return f"the time is in {listed}, which XLA computes no faster"


def _loops_in_words(loops: list[LoopProspect]) -> str:
    return ", ".join(
        f"the loop at line {loop.line}"
        + (f" (with side exits at {_lines(loop.exits)})" if loop.exits else "")
        for loop in loops
    )


def _lines(lines: tuple[int, ...]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


def _ends(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
    """Yield the functions and methods below a node, and their last lines."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _ends(child, f"{prefix}{child.name}.")
        elif isinstance(child, DEFINITIONS):
            yield prefix + child.name, child.end_lineno or child.lineno
        else:
            yield from _ends(child, prefix)


def _calls_in(tree: ast.Module, path: Path) -> Iterator[tuple[str, _Call]]:
    """Yield the uses of names and attributes as functions, with the functions around them."""

    def visit(node: ast.AST, caller: str, repeats: bool) -> Iterator[tuple[str, _Call]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, DEFINITIONS):
                is_class = isinstance(child, ast.ClassDef)
                if is_class:
                    name = child.name
                elif isinstance(node, ast.ClassDef):
                    name = f"{node.name}.{child.name}"
                else:
                    name = child.name if caller == MODULE else caller
                yield from visit(child, MODULE if is_class else name, False)
                continue
            if isinstance(child, (ast.Name, ast.Attribute)) and not isinstance(node, ast.Attribute):
                used_name = child.attr if isinstance(child, ast.Attribute) else child.id
                is_called = isinstance(node, ast.Call) and node.func is child
                if isinstance(child.ctx, ast.Load):
                    yield used_name, _Call(path, caller, child.lineno, repeats or not is_called)
            yield from visit(child, caller, repeats or isinstance(child, _REPEATS))

    yield from visit(tree, MODULE, False)
