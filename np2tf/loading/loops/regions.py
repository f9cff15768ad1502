"""The numerical statements between the statements of a loop that only Python can run.

A loop that plots or writes in every iteration cannot be one compiled function. Each run of numerical
statements of its body is a function by itself, a region; the loop stays, and calls it.

    for k in range(n):             def …(u, v, dt):
        v = v + dt * force(u)          v = v + dt * force(u)
        u = step(u, v)                 u = step(u, v)
        plt.plot(u)                    return (u, v,)

What a region calls is compiled with it. Everything that is not known to be numerical is left to Python, so a
region that is too small is the worst that an unknown name can do.
"""

from __future__ import annotations

import ast
import builtins
import functools
import os
import re
from collections.abc import Iterator

import numpy as np

from np2tf.loading.loops.array_work import ArrayWork, is_beside
from np2tf.loading.loops.names import Function, count_loads, functions_of, jumps, stored_names, walk
from np2tf.translator.sources.python_trees import imports_in

_Loop = ast.For | ast.While
#: A region has at least so many operations on what may be arrays, or a loop, or a call of a function of the
#: program: how long it takes is measured while the program runs.
_LEAST_OPERATIONS = 3

#: Modules whose functions compute, besides those of the program.
_OF_NUMBERS = frozenset({"numpy", "scipy", "math", "cmath", "__future__", "typing"})
#: Builtins that compute.
_PURE = frozenset(
    {"abs", "all", "any", "bool", "complex", "divmod", "enumerate", "float", "int", "isinstance", "len"}
    | {"max", "min", "pow", "range", "reversed", "round", "slice", "sum", "tuple", "zip"}
)
_BUILTINS = frozenset(dir(builtins))
#: Methods of arrays and generators that read or write files, or make Python's objects.
_NO_METHODS = frozenset({"tofile", "dump", "dumps", "tolist", "tobytes", "spawn", "setflags"})
_METHODS = frozenset({*dir(np.ndarray), *dir(np.random.Generator)}) - _NO_METHODS
#: Functions of NumPy that read or write files, or settings.
_NO_FUNCTIONS = frozenset(
    {"save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "genfromtxt", "fromfile", "memmap"}
    | {"set_printoptions", "printoptions", "array2string", "array_repr", "array_str", "info", "show_config"}
    | {"seterr", "seterrcall", "errstate", "setbufsize", "seed", "set_state", "get_state", "open_memmap"}
)
#: Statements and expressions of which a region consists.
_STATEMENTS = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Pass)
_REFUSED = (ast.Lambda, ast.GeneratorExp, ast.JoinedStr, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


class Statements:
    """Tells the numerical statements of a source from those that only Python can run.

    Args:
        source: the tree of the source.
        path: its file, beside which the modules of the program are.
        work: what works on arrays in the source, an attribute.
    """

    def __init__(self, source: ast.Module, path: str, work: ArrayWork) -> None:
        self.work = work
        folder = os.path.dirname(path)
        imports = [pair[:2] for node in ast.walk(source) for pair in imports_in(node)]
        self._foreign = {
            name
            for name, module in imports
            if module.partition(".")[0] not in _OF_NUMBERS and not is_beside(folder, module)
        }
        self._modules = {name for name, _ in imports} - self._foreign
        functions = list(functions_of(source.body))
        self._methods = {function.name for function, in_class in functions if in_class}
        self._functions = [function for function, _ in functions]

    @functools.cached_property
    def _acting(self) -> set[str]:
        """The names of functions that are known to do more than compute where they are called."""
        mentioned = [(function.name, _names_in(function)) for function in self._functions]
        acting = {function.name for function in self._functions if self._acts_itself(function)}
        acting |= {name for name, names in mentioned if names & self._foreign}
        found = 0
        while found != len(acting):  # a function that calls such a function acts, too
            found = len(acting)
            acting |= {name for name, names in mentioned if names & acting}
        return acting

    def is_numerical(self, statement: ast.stmt) -> bool:
        """Return whether a statement is known to compute, and to do nothing else."""
        if jumps([statement], ast.Break) or jumps([statement], ast.Continue):  # type: ignore[arg-type]
            return False
        return all(self._computes(node) for node in ast.walk(statement))

    def _computes(self, node: ast.AST) -> bool:
        if isinstance(node, ast.stmt) and not isinstance(node, (*_STATEMENTS, ast.Break, ast.Continue)):
            return False
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Call) and self._changes_arrays(node.value)
        if isinstance(node, ast.Name):
            return node.id not in self._foreign and node.id not in self._acting
        if isinstance(node, ast.Call):
            return self._is_of_numbers(node.func)
        return not isinstance(node, _REFUSED)

    def _changes_arrays(self, call: ast.Call) -> bool:
        """Return whether a call that is a statement is known to do nothing but change arrays."""
        function = call.func
        name = _name(function)
        if name in (self._methods if isinstance(function, ast.Attribute) else self.work.own):
            return name not in self._acting
        return _root(function) in self.work.numpy or name in _OF_ARRAYS

    def _is_of_numbers(self, function: ast.expr) -> bool:
        """Return whether what an expression calls may be compiled."""
        if isinstance(function, ast.Name):
            name = function.id
            if name in self.work.own or name in self.work.numpy:
                return name not in self._acting and self.work.numpy.get(name, ("",))[-1] not in _NO_FUNCTIONS
            return name in _PURE or name not in _BUILTINS
        if not isinstance(function, ast.Attribute):
            return False
        if function.attr in self._methods:
            return function.attr not in self._acting
        if _root(function) in self._modules:
            return function.attr not in _NO_FUNCTIONS
        return function.attr in _METHODS

    def _acts_itself(self, function: Function) -> bool:
        for node in walk(function.body):
            if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)):
                return True
            if isinstance(node, ast.Call) and _name(node.func) in _ACTING - self.work.own:
                return True
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                name = _name(node.value.func)
                of_numbers = name in self.work.own or name in _CHANGES or name in _OF_ARRAYS
                if not of_numbers and _root(node.value.func) not in self._modules:
                    return True
        return False

    def is_worth(self, region: list[ast.stmt]) -> bool:
        """Return whether a region may take long enough."""
        nodes = list(walk(region))
        if any(isinstance(node, (ast.For, ast.While)) for node in nodes):
            return True
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        if any(_name(function) in self.work.own for function in calls):
            return True
        kinds = (ast.BinOp, ast.AugAssign, ast.Call, ast.Slice)
        return sum(isinstance(node, kinds) for node in nodes) >= _LEAST_OPERATIONS


#: Methods that are statements, and change an array.
_OF_ARRAYS = frozenset({"fill", "sort", "put", "partition", "shuffle"})
#: Methods that are statements, and change a list or dict.
_CHANGES = frozenset({"append", "extend", "update", "setdefault"})
#: Builtins that act.
_ACTING = frozenset({"print", "input", "open", "exec", "eval", "exit", "quit", "breakpoint", "next"})


def _names_in(function: Function) -> set[str]:
    """Return the names and attributes that a function mentions."""
    nodes = walk(function.body)
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, (ast.Name, ast.Attribute))
    }


def _name(function: ast.expr) -> str:
    """Return the name of a function or method that is called; empty if it has none."""
    return getattr(function, "attr", getattr(function, "id", ""))


def _root(node: ast.expr) -> str:
    """Return the name in which a chain of attributes begins; empty if it begins in another expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def regions_in(loop: _Loop, statements: Statements, lines: list[str]) -> list[list[ast.stmt]]:
    """Return the runs of numerical statements of a loop's body that are worth a function, if the loop has
    other statements.
    """
    runs: list[list[ast.stmt]] = [[]]
    others: list[ast.stmt] = []
    for statement in loop.body:
        if statements.is_numerical(statement):
            runs[-1].append(statement)
        else:
            others.append(statement)
            runs.append([])
    if not others:
        return []
    outside = {line for statement in others for line in (statement.lineno, statement.end_lineno)}
    return [run for run in runs if run and statements.is_worth(run) and _has_lines(run, outside, lines)]


def _has_lines(region: list[ast.stmt], others: set[int | None], lines: list[str]) -> bool:
    """Return whether no other statement is on a region's lines."""
    first, last = region[0], region[-1]
    before = lines[first.lineno - 1].encode()[: first.col_offset]
    return not before.strip() and not {first.lineno, last.end_lineno} & others


def acts_always(loop: _Loop, statements: Statements) -> bool:
    """Return whether Python acts in every iteration of a loop, not only under a condition."""
    return any(
        not isinstance(statement, (ast.If, ast.Break, ast.Continue, ast.Return, ast.Raise, ast.Assert))
        and not statements.is_numerical(statement)
        for statement in loop.body
    )


def text_of_region(
    lines: list[str], region: list[ast.stmt], name: str, parameters: list[str], results: list[str]
) -> tuple[str, tuple[int, ...]]:
    """Return a region's text as a function, and the file's lines for its lines."""
    first, last = region[0].lineno, region[-1].end_lineno or region[-1].lineno
    indentation = lines[first - 1].encode()[: region[0].col_offset].decode()
    rows = [(f"def {name}({', '.join(parameters)}):", first)]
    rows += [(lines[k - 1].rstrip("\n"), k) for k in range(first, last + 1)]
    rows += [(f"{indentation}return ({''.join(f'{result}, ' for result in results)})", last)]
    return "\n".join(text for text, _ in rows) + "\n", tuple(number for _, number in rows)


def names_in_order(region: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """Return the names that a region may read before it binds them, and those that it binds in any case."""
    read: set[str] = set()
    bound: set[str] = set()
    for statement in region:
        read |= count_loads([statement]).keys() - bound
        if isinstance(statement, ast.Assign):
            bound |= stored_names(statement.targets)
    return read, bound


def names_in_texts(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the words of a body's strings: `numexpr.evaluate("a * b")` reads variables by a string."""
    for node in walk(body):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"[^\W\d]\w*", node.value)
