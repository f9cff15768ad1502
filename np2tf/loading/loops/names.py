"""The names that a loop reads and binds, and the statements that keep it from becoming a function."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence

from np2tf.core.suppressions import switched_off
from np2tf.translator.sources.python_trees import DEFINITIONS, blocks_of, first_line, imports_in

#: Statements and expressions that a loop must not hold if it is to become a function.
REFUSED_NODES = (
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
#: Names that have another meaning in another function.
OF_THE_FRAME = frozenset({"locals", "vars", "dir", "eval", "exec", "super", "__class__", "warn", "_getframe"})
#: Names by which code gets at the variables of a module without naming them.
OF_THE_MODULE = frozenset({*OF_THE_FRAME - {"super", "__class__", "warn"}, "globals", "__main__", "modules"})
#: Nodes that may capture variables of the function around them.
CLOSURES = (ast.Lambda, ast.GeneratorExp, *DEFINITIONS)
Function = ast.FunctionDef | ast.AsyncFunctionDef
_PARTS = ("body", "orelse", "finalbody")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: The names in symbol tables of comprehensions that run at once.
_AT_ONCE = frozenset({"listcomp", "setcomp", "dictcomp"})


def functions_off(tree: ast.Module, text: str) -> dict[int, str]:
    """Return the lines of the `def`s of functions, and of classes' methods, that comments in the text keep as
    they are, and the functions' names.
    """
    lines = switched_off(text)
    nodes = (node for node in ast.walk(tree) if lines and isinstance(node, DEFINITIONS))
    return {
        inside.lineno: inside.name
        for node in nodes
        if first_line(node) in lines
        for inside in ast.walk(node)
        if isinstance(inside, DEFINITIONS)
    }


def walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield all nodes of statements."""
    for node in body:
        yield from ast.walk(node)


def parameters_of(arguments: ast.arguments) -> list[str]:
    """Return the names of a function's parameters, those of variable length last."""
    every = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return [parameter.arg for parameter in every if parameter is not None]


def stored_names(body: Sequence[ast.AST]) -> set[str]:
    """Return the variables that statements bind, without the variables of comprehensions."""
    names: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, DEFINITIONS):
            names.add(node.name)
            continue
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {name for name, _, _ in imports_in(node)}
        elif isinstance(node, ast.Lambda):
            continue
        if isinstance(node, _COMPREHENSIONS):
            walruses = (node for node in ast.walk(node) if isinstance(node, ast.NamedExpr))
            names |= {walrus.target.id for walrus in walruses}
            continue
        stack += ast.iter_child_nodes(node)
    return names


def count_loads(body: list[ast.stmt], returned: bool = True) -> dict[str, int]:
    """Return how often statements read each name. An augmented assignment reads its variable.

    Args:
        returned: whether to count reads in `return` statements.
    """
    counts: dict[str, int] = {}
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if returned or not isinstance(node, ast.Return):
            stack += ast.iter_child_nodes(node)
        name = None
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            name = node.id
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def is_bound_before_read(name: str, loop: ast.For | ast.While) -> bool:
    """Return whether each iteration binds a variable before it can read it."""
    if isinstance(loop, ast.For):
        if name in stored_names([loop.target]):
            return True
    elif any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(loop.test)):
        return False
    for statement in loop.body:
        if isinstance(statement, ast.Assign) and name not in count_loads([statement]):
            targets = [part for target in statement.targets for part in ast.walk(target)]
            if any(isinstance(part, ast.Name) and part.id == name for part in targets):
                return True
        mentions = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(statement))
        if mentions:
            return False
    return False


def is_bound_first(name: str, loop: ast.For | ast.While, end: int) -> bool:
    """Return whether each iteration binds a variable before it can read it, or jump, or come to the
    statement `end` of the body, so that nothing depends on the value that it has before the iteration.
    """
    if not is_bound_before_read(name, loop):
        return False
    for statement in loop.body[:end]:
        if name in stored_names([statement]):
            return True
        if any(isinstance(part, (ast.Break, ast.Continue, ast.Return)) for part in ast.walk(statement)):
            return False
    return isinstance(loop, ast.For) and name in stored_names([loop.target])


def is_private(name: str) -> bool:
    """Return whether Python changes a name inside a class (name mangling)."""
    return name.startswith("__") and not name.endswith("__")


def jumps(body: list[ast.stmt], kind: type[ast.Break]) -> bool:
    """Return whether statements contain a jump of this kind that leaves the loop whose body they are."""
    for node in body:
        if isinstance(node, kind):
            return True
        inside = ("orelse",) if isinstance(node, (ast.For, ast.While)) else ("body", "orelse", "finalbody")
        blocks = [getattr(node, part, []) for part in inside]
        blocks += [handler.body for handler in getattr(node, "handlers", ())]
        if any(isinstance(block, list) and jumps(block, kind) for block in blocks):
            return True
    return False


def globals_of_functions(text: str, path: str) -> set[str]:
    """Return the names of the module that its functions and classes read or bind."""
    names: set[str] = set()
    tables = symtable.symtable(text, path, "exec").get_children()
    at_once = [child for child in tables if child.get_name() in _AT_ONCE]
    tables = [child for child in tables if child.get_name() not in _AT_ONCE]
    while at_once:
        for inner in at_once.pop().get_children():
            (at_once if inner.get_name() in _AT_ONCE else tables).append(inner)
    while tables:
        table = tables.pop()
        of_class = table.get_type() == "class"  # names unbound there are the module's
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() or of_class}
        tables += table.get_children()
    return names


def functions_of(
    body: list[ast.stmt], in_class: bool = False, *, everywhere: bool = False
) -> Iterator[tuple[Function, bool]]:
    """Yield the functions that are inside no other function, and whether a class is around them.

    Args:
        in_class: whether a class is around them.
        everywhere: whether to look also into handlers of exceptions and cases of `match`.
    """
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, in_class
            continue
        blocks = blocks_of(node) if everywhere else (getattr(node, part, []) for part in _PARTS)
        for block in blocks:
            yield from functions_of(block, in_class or isinstance(node, ast.ClassDef), everywhere=everywhere)
