"""Makes the loops of functions and modules into functions, for on-stack replacement.

A loop that takes long on the host continues as compiled code (`np2tf.runtime.replacement.replacement`). The
names that the loop reads and carries are the parameters of its function; the names that are read behind it
are the results. `np2tf.imports.loops.watched_code` makes the code in which the loop is watched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from np2tf.imports.loops.items import items_of
from np2tf.imports.loops.names import (
    CLOSURES,
    OF_THE_FRAME,
    OF_THE_MODULE,
    REFUSED_NODES,
    blocks_of,
    count_loads,
    functions_of,
    globals_of_functions,
    is_bound_before_read,
    is_private,
    parameters_of,
    stored_names,
    walk,
)
from np2tf.imports.loops.text import OTHER_ENDS, binds, can_be_moved, function_of
from np2tf.runtime.replacement.loop_function import SHORT, LoopFunction

_Loop = ast.For | ast.While
#: Statements that bind names which are no variables.
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
#: The place of a loop -> its function.
Loops = dict[tuple[int, int], LoopFunction]


def loops_of(source: ast.Module, text: str, path: str) -> Loops:
    """Return the loops of a module that can become functions.

    Args:
        source: the tree of the module.
        text: the text of the module.
        path: the path of the file.
    """
    loops: Loops = {}
    if any(end in text for end in OTHER_ENDS):
        return loops
    lines = [f"{line}\n" for line in text.split("\n")]
    numpy = _numpy_names(source)
    for function, in_class in functions_of(source.body):
        if isinstance(function, ast.FunctionDef):
            loops |= _FunctionLoopFinder(function, in_class, lines, path, len(loops), numpy).loops()
    if not _names_in(source) & OF_THE_MODULE:
        loops |= _ModuleLoopFinder(source, text, lines, path, len(loops), numpy).loops()
    return loops


def _numpy_names(source: ast.Module) -> set[str]:
    """Return the names that are imported from NumPy."""
    aliases = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            names = [alias for alias in node.names if alias.name.partition(".")[0] == "numpy"]
            aliases |= {alias.asname or "numpy" for alias in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numpy":
            aliases |= {alias.asname or alias.name for alias in node.names}
    return aliases


class _LoopFinder:
    """Finds the loops of a body that can become functions."""

    def __init__(
        self,
        body: list[ast.stmt],
        of: str,
        lines: list[str],
        path: str,
        number: int,
        numpy: set[str],
    ) -> None:
        self._body, self._of, self._lines, self._path, self._number = body, of, lines, path, number
        self._numpy = numpy
        self._loads = count_loads(body)

    def loops(self) -> Loops:
        """Return the loops' functions, by the places of the loops."""
        loop_functions: Loops = {}
        for loop in self._loops_within(self._body):
            if _is_plain(loop) and self._may_be_taken_out(loop):
                loop_functions[loop.lineno, loop.col_offset] = self._make_function(
                    loop, self._number + len(loop_functions)
                )
        return loop_functions

    def _loops_within(self, body: list[ast.stmt]) -> Iterator[_Loop]:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(node, (ast.For, ast.While)):
                yield node
            for inner in blocks_of(node):
                yield from self._loops_within(inner)

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        """Return whether the loop keeps its meaning as a function."""
        raise NotImplementedError

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        """Return the names that the loop's function takes, and the names that it returns."""
        raise NotImplementedError

    def _make_function(self, loop: _Loop, number: int) -> LoopFunction:
        name = f"_np2tf_loop_{number}"
        inputs, outputs = self._names(loop)
        parameters, results = sorted(inputs | outputs), sorted(outputs)
        items = None if isinstance(loop, ast.While) or _is_over_range(loop) else items_of(loop)
        text, lines, kind, tells = function_of(self._lines, loop, items, name, parameters, results)
        key = f"{self._path}:{loop.lineno}:{loop.col_offset}"
        names = tuple(parameters), tuple(results)
        says_numpy = _works_on_arrays(loop, self._numpy)
        in_module = self._of == "<module>"
        count = items.arrays if items is not None else 0
        return LoopFunction(
            key, name, self._of, text, lines, *names, kind, tells, count, says_numpy, in_module
        )


class _FunctionLoopFinder(_LoopFinder):
    def __init__(
        self,
        function: ast.FunctionDef,
        in_class: bool,
        lines: list[str],
        path: str,
        number: int,
        numpy: set[str],
    ) -> None:
        super().__init__(function.body, function.name, lines, path, number, numpy)
        self._in_class = in_class
        self._locals = parameters_of(function.args) | stored_names(function.body)
        self._shared_names = {
            name.id
            for node in walk(function.body)
            if isinstance(node, CLOSURES)
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        declarations = (node for node in walk(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)))
        self._outer_names = {name for node in declarations for name in node.names}
        self._asks = not OF_THE_FRAME.isdisjoint(_names_in(function))

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        if self._asks or "range" in self._locals:
            return False
        if self._in_class and any(map(is_private, _names_in(loop))):
            return False
        return not stored_names([loop]) & (self._shared_names | self._outer_names)

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        inside = count_loads([loop], returned=False)
        if isinstance(loop, ast.For):
            of_body = count_loads(loop.body, returned=False)
        else:
            of_body = inside
        inputs = {name for name in of_body if name in self._locals and not is_bound_before_read(name, loop)}
        outside = {name for name, count in self._loads.items() if count > inside.get(name, 0)}
        outputs = stored_names([loop]) & (outside | inputs)
        if not outputs and isinstance(loop, ast.For):
            outputs = stored_names([loop.target])
        return inputs, outputs


class _ModuleLoopFinder(_LoopFinder):
    def __init__(
        self,
        source: ast.Module,
        text: str,
        lines: list[str],
        path: str,
        number: int,
        numpy: set[str],
    ) -> None:
        super().__init__(source.body, "<module>", lines, path, number, numpy)
        self._of_functions = globals_of_functions(text, path)
        self._module_names = stored_names(
            [statement for statement in source.body if not isinstance(statement, _DEFINITIONS)]
        )

    def _may_be_taken_out(self, loop: _Loop) -> bool:
        if "range" in self._module_names or not can_be_moved(loop):
            return False
        if any(isinstance(node, ast.AnnAssign) for node in ast.walk(loop)):
            return False
        return not stored_names([loop]) & self._of_functions

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        # Later code may read every name that the loop binds. The loop may also change the objects that it
        # reads.
        return set(count_loads([loop])) & self._module_names, stored_names([loop])


def _is_plain(loop: _Loop) -> bool:
    """Return whether a loop is of a kind that is watched, and holds no refused statement."""
    nodes = list(ast.walk(loop))
    if any(isinstance(node, REFUSED_NODES) for node in nodes):
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
    if _is_over_range(loop):
        return isinstance(loop.target, ast.Name) and not _is_tiny(loop.iter)
    return items_of(loop) is not None


def _is_over_range(loop: ast.For) -> bool:
    call = loop.iter
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "range"
        and not call.keywords
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
        and 1 <= len(call.args) <= 3
    )


def _is_tiny(call: ast.expr) -> bool:
    """Return whether a range certainly has so few numbers that watching would cost more."""
    try:
        values = [ast.literal_eval(argument) for argument in call.args]  # type: ignore[attr-defined]
        return len(range(*values)) < SHORT
    except (ValueError, TypeError, OverflowError):
        return False


def _works_on_arrays(loop: _Loop, numpy: set[str]) -> bool:
    """Return whether a loop's text shows work on arrays, for which an iteration takes longer than watching.

    The signs are NumPy's name, slices, and an inner loop over elements.
    """
    nodes = list(walk(loop.body))
    if any(isinstance(node, ast.Name) and node.id in numpy for node in nodes):
        return True
    parts = [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    parts += [axis for part in parts if isinstance(part, ast.Tuple) for axis in part.elts]
    if any(isinstance(part, ast.Slice) for part in parts):
        return True
    has_loop = any(isinstance(node, (ast.For, ast.While)) for node in nodes)
    return has_loop and any(isinstance(part, ast.Tuple) for part in parts)


def _names_in(node: ast.AST) -> set[str]:
    """Return the names and attributes in a node."""
    nodes = list(ast.walk(node))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
