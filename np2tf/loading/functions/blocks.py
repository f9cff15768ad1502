"""The source of a function or class as a text that can be translated by itself, and the names around it that
never change.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from np2tf.loading.findings import UntranslatableError, content_of
from np2tf.loading.translations import FileState
from np2tf.staging.host.originals import below_numpy
from np2tf.staging.host.watched_loops import LoopFunction
from np2tf.translator.sources import python_trees
from np2tf.translator.sources.python_trees import DEFINITIONS, numpy_imports

# -- stable names --------------------------------------------------------------------------------------------
# Tells the names around a function that always mean the same object.
#
# The translation of a single function puts np2tf's functions in the place of NumPy's. A name that another
# statement, a loop or another function can bind again must be looked up at each call instead.

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: Two bindings stand for more of them.
_TWICE = 2


def is_bound_once(tree: ast.Module, first: int, last: int, name: str) -> bool:
    """Return whether a name that a block of a file reads from its surroundings is bound only once there.

    A global variable counts only if an import binds it, because other modules may assign a variable.
    """
    for scope in _scopes_around(tree, first, last):
        count = sum(_bindings(scope, name))
        if count:
            return count == 1 and (scope is not tree or _is_imported(tree, name))
    return _is_imported(tree, "*")


def _is_imported(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.alias) and _binds(node, name) for node in ast.walk(tree))


def _scopes_around(tree: ast.Module, first: int, last: int) -> list[ast.AST]:
    """Return the functions around the lines, the innermost first, and the module."""
    around: list[ast.AST] = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
        and node.lineno <= first
        and (node.end_lineno or 0) >= last
        and (node.lineno, node.end_lineno) != (first, last)
    ]
    return [*reversed(around), tree]


def _bindings(scope: ast.AST, name: str) -> Iterator[int]:
    """Yield the number of times that each part of a scope binds the name."""
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments):
        yield sum(node.arg == name for node in ast.walk(arguments) if isinstance(node, ast.arg))
    body = getattr(scope, "body", [])
    for statement in body if isinstance(body, list) else [body]:
        yield from _inside(statement, name, False)


def _inside(node: ast.AST, name: str, repeats: bool) -> Iterator[int]:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield _TWICE if name in node.names else 0
        return
    if _binds(node, name):
        yield _TWICE if repeats else 1
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        # Its own names are not names of the scope, unless it says so.
        statements = [part for part in ast.walk(node) if isinstance(part, (ast.Global, ast.Nonlocal))]
        yield _TWICE * sum(name in statement.names for statement in statements)
        return
    for child in ast.iter_child_nodes(node):
        yield from _inside(child, name, repeats or isinstance(node, _LOOPS))


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    return getattr(node, "name", None) == name and not isinstance(node, ast.TypeIgnore)


# -- blocks --------------------------------------------------------------------------------------------------
# The source of a function or class, as a text that can be translated by itself.


class Block(NamedTuple):
    """A piece of a file: its lines, below imports that define NumPy's names in it."""

    text: str
    path: str
    down: int
    """The number to add to a line of the text to get the line of the file, …"""
    right: int
    """… and to a column."""
    definitions: dict[types.FunctionType, tuple[str, int]]
    """The name and the line of each function's `def` in the file."""
    names: dict[str, Any]
    """The values of the block's names outside of it."""
    lines: tuple[int, ...] = ()
    """The lines of the file for the lines of the text, if `down` is not enough."""

    def place(self, tree: ast.AST) -> None:
        """Give the nodes of a tree, which has the text's lines, the lines of the file."""
        for node in ast.walk(tree) if self.lines else ():
            if hasattr(node, "lineno"):
                node.lineno = self._line(node.lineno)
                node.end_lineno = self._line(node.end_lineno)  # type: ignore[attr-defined]

    def file_line(self, line: int) -> int:
        """Return the line of the file for a line of the text."""
        return self._line(line) if self.lines else max(line + self.down, 1)

    def _line(self, line: int) -> int:
        return self.lines[min(max(line, 1), len(self.lines)) - 1]


def block_of(functions: Sequence[types.FunctionType], may_share_line: bool = False) -> Block:
    """Return the block in which all of these functions are defined.

    Args:
        may_share_line: whether a lambda may have another lambda in its line, so that name and line are not
            enough to find its code.

    Raises:
        UntranslatableError: if there is no source, or it is not the functions' source.
    """
    first = functions[0]
    path = first.__code__.co_filename
    # The stored lines of a file may be older than the module, if it was reloaded.
    linecache.checkcache(path)
    if _has_changed(first, path):
        raise UntranslatableError(f"{path} has changed since it was imported")
    lines = linecache.getlines(path, first.__globals__)
    if not lines:
        raise UntranslatableError("its source is not available (it was made by exec, or typed at a prompt)")
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        raise UntranslatableError(f"{path} is not the source it was made from") from None
    definitions = {}
    nodes = []
    for function in functions:
        node = definition_of(tree, function, may_share_line)
        if node is not None:
            definitions[function] = (node.name if isinstance(node, DEFINITIONS) else "<lambda>", node.lineno)
            nodes.append(node)
    if not nodes:
        raise UntranslatableError(f"{path} is not the source it was made from")
    names = {**_numpys(tree), **_names(functions)}
    outer = _smallest_around(tree, nodes)
    first_line = python_trees.first_line(outer)
    body = lines[first_line - 1 : outer.end_lineno]
    _blank_own_decorators(outer, names, body, first_line)
    last_line = outer.end_lineno or first_line
    head = [
        "; ".join(imports_of(outer, names, lambda name: is_bound_once(tree, outer.lineno, last_line, name)))
    ]
    owner = None if isinstance(outer, ast.ClassDef) else _class_of(first)
    body, right = (body, 0) if owner else _dedent(body)
    if _first_of(body)[0].isspace():
        # Methods are translated as members of a class; other code that must stay indented, as a block.
        head.append(f"class {owner}:" if owner else "if True:")
    text = "\n".join(head) + "\n" + "".join(body)
    return Block(text, path, first_line - len(head) - 1, right, definitions, names)


def block_of_loop(plain: types.FunctionType, loop_function: LoopFunction) -> Block:
    """Return the block of a loop that was made into a function (`np2tf.loading.loops.loop_functions`)."""
    path = plain.__code__.co_filename
    tree = ast.parse("".join(linecache.getlines(path, plain.__globals__)))
    names = {**_numpys(tree), **plain.__globals__}
    for name in loop_function.parameters:
        names.pop(name, None)
    lines = loop_function.line, *loop_function.lines
    first, last = min(lines), max(lines)
    loop = ast.parse(loop_function.text)
    head = "; ".join(imports_of(loop, names, lambda name: is_bound_once(tree, first, last, name)))
    return Block(
        f"{head}\n{loop_function.text}",
        path,
        0,
        0,
        {plain: (loop_function.name, loop_function.line)},
        names,
        lines,
    )


def _has_changed(function: types.FunctionType, path: str) -> bool:
    """Return whether the file of a translated module has changed since it was imported."""
    spec = getattr(sys.modules.get(function.__module__), "__spec__", None)
    loader = getattr(spec, "loader", None)
    import_state, now = getattr(loader, "source_state", None), FileState.of(path)
    if not isinstance(import_state, FileState) or now is None or loader.path != path:  # type: ignore[union-attr]
        return False
    return (import_state.size, import_state.modification_time) != (now.size, now.modification_time)


def definition_of(tree: ast.Module, function: types.FunctionType, may_share_line: bool = False) -> Any:
    """Return the node that a function was made from; raise UntranslatableError if several fit."""
    code = function.__code__
    kinds: Any = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    definitions = []
    for node in ast.walk(tree):
        if isinstance(node, kinds):
            first = python_trees.first_line(node)
            if first == code.co_firstlineno and getattr(node, "name", "<lambda>") == code.co_name:
                definitions.append(node)
    if len(definitions) > 1 and may_share_line:
        definitions = [node for node in definitions if _has_body_of(code, node)]
    if len(definitions) > 1:
        raise UntranslatableError("its line defines several functions")
    return definitions[0] if definitions else None


def _has_body_of(code: types.CodeType, node: Any) -> bool:
    """Return whether the code of a lambda was made from this node: an instruction has its body's place."""
    if sys.version_info < (3, 11) or not isinstance(node, ast.Lambda):
        return True
    body = node.body
    place = body.lineno, body.end_lineno, body.col_offset, body.end_col_offset
    return place in list(code.co_positions())


def _smallest_around(tree: ast.Module, nodes: list[Any]) -> Any:
    """Return the smallest definition around all nodes: a single def itself, a class, or the statement of a
    lambda.
    """
    if len(nodes) == 1 and isinstance(nodes[0], DEFINITIONS):
        return nodes[0]
    kinds: Any = ast.ClassDef if len(nodes) > 1 else ast.stmt
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kinds) and all(_holds(node, inner) for inner in nodes)
    ]
    if not around:
        raise UntranslatableError("its functions are not all in one place")
    return around[-1]


def _holds(node: Any, inner: Any) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= (inner.lineno, inner.col_offset) and (inner.end_lineno, inner.end_col_offset) <= end


def _names(functions: Sequence[types.FunctionType]) -> dict[str, Any]:
    names = dict(functions[0].__globals__)
    for function in functions:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            names[name] = content_of(cell)
    return names


def _numpys(tree: ast.Module) -> dict[str, Any]:
    """Return the names that the file imports from NumPy at its top, because a translated module has lost
    them.
    """
    objects: dict[str, Any] = {}
    for node in ast.walk(tree):
        for name, path in numpy_imports(node):
            with suppress(ImportError):
                objects[name] = below_numpy(path)
    return objects


def _blank_own_decorators(outer: Any, names: dict[str, Any], body: list[str], first_line: int) -> None:
    """Remove `@np2tf.translate` itself from the text, so that it does not prevent a rewrite."""
    for node in ast.walk(outer):
        for decorator in getattr(node, "decorator_list", ()):
            func = decorator.func if isinstance(decorator, ast.Call) else decorator
            if getattr(_value(func, names), "is_removed_from_blocks", False):
                for line in range(decorator.lineno - first_line, decorator.end_lineno - first_line + 1):
                    body[line] = "\n"


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    """Return the value of a dotted name; None if it has none."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, names), node.attr, None)
    return None


def imports_of(
    outer: ast.AST, names: Mapping[str, Any], is_stable: Callable[[str], bool] = lambda name: True
) -> Iterator[str]:
    """Yield imports for the block's names that refer to NumPy or `math`, and stand-ins for all other names.

    Without stand-ins the translator would take a name for a builtin, whose value is known.

    Args:
        is_stable: tells whether a name of a function will always mean this function.
    """
    identifiers = dict.fromkeys(node.id for node in ast.walk(outer) if isinstance(node, ast.Name))
    targets = {node.id for node in ast.walk(outer) if isinstance(node, ast.Name) and not _is_read(node)}
    for name in identifiers:
        if name not in names:
            continue
        is_module = isinstance(names[name], types.ModuleType)
        lines = list(_import(name, names[name])) if is_module or is_stable(name) else []
        yield from lines
        if not lines and name not in targets:
            value = names[name]
            is_constant = callable(value) or isinstance(value, _CONSTANTS)
            yield f"from {_ELSEWHERE} import {name}" if is_constant else stand_in(name)


#: The name of the module, or the function, that a stand-in seems to come from.
_ELSEWHERE = "_np2tf_elsewhere"
#: Values that are constants of a trace.
_CONSTANTS = (types.ModuleType, str, bytes, int, float, complex, type(None))


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def stand_in(name: str) -> str:
    """Return a statement that binds a name to an unknown object."""
    return f"{name} = {_ELSEWHERE}()"


def is_stand_in(statement: ast.stmt) -> bool:
    """Return whether a statement of a block is a stand-in for a name that the block's surroundings bind."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == _ELSEWHERE
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == _ELSEWHERE


def _import(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, types.ModuleType):
        module = value.__name__
        if module == "math" or module.partition(".")[0] == "numpy":
            yield f"import {module} as {name}" if module != name else f"import {name}"
    elif callable(value) and id(value) in _public():
        module, public = _public()[id(value)]
        yield f"from {module} import {public} as {name}"


@lru_cache(maxsize=1)
def _public() -> dict[int, tuple[str, str]]:
    """Return NumPy's public functions and classes by identity."""
    import builtins

    import numpy as np

    qualified_names = {}
    for module in (np.random, np.fft, np.linalg, np):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and getattr(builtins, name, None) is not value:
                qualified_names[id(value)] = (module.__name__, name)
    return qualified_names


def _class_of(function: types.FunctionType) -> str | None:
    """Return the name of the class in which a method was defined."""
    outer = function.__qualname__.split(".")[:-1]
    return outer[-1] if outer and outer[-1] != "<locals>" else None


def _first_of(body: list[str]) -> str:
    return next(line for line in body if line.strip())


def _dedent(body: list[str]) -> tuple[list[str], int]:
    """Return the lines without their common indentation, unless that would change the text of a string."""
    first = _first_of(body)
    indentation = first[: len(first) - len(first.lstrip())]
    if not indentation:
        return body, 0
    lines = [line.removeprefix(indentation) for line in body]
    try:
        is_same_syntax = _syntax_of("if True:\n" + "".join(body)) == _syntax_of("".join(lines))
    except SyntaxError:
        return body, 0
    return (lines, len(indentation.encode())) if is_same_syntax else (body, 0)


def _syntax_of(text: str) -> str:
    """Return the dump of a definition without its places and its docstring."""
    outer = ast.parse(text).body[0]
    if isinstance(outer, ast.If):
        outer = outer.body[0]
    if isinstance(outer, DEFINITIONS) and ast.get_docstring(outer, clean=False) is not None:
        outer.body[0] = ast.Pass()
    return ast.dump(outer)
