"""Finds the text of a function that was converted by `np2tf convert`, and makes its code for the host."""

from __future__ import annotations

import ast
import linecache
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from np2tf.core.faults import note_fault
from np2tf.staging.host.raising.blocks import raise_function
from np2tf.staging.host.raising.meanings import Meanings
from np2tf.staging.host.raising.names import SCOPES, KnownNames
from np2tf.staging.host.raising.roles import Roles, suspends
from np2tf.staging.host.raising.scope import numbers
from np2tf.staging.host.raising.trees import locate, walk
from np2tf.staging.objects.code_names import codes_within

#: Functions that see the names of their caller, or run text.
_SEE_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"})
#: The flags of code that `compile` takes: the features of `__future__`.
_FUTURE = 0x1FE0000
#: id of the code of converted functions -> the code, which keeps the id valid, its globals, and its raised
#: code; None for functions that stay as they are.
_raised: dict[int, tuple[types.CodeType, dict[str, Any], types.CodeType | None]] = {}


def raised_code(function: types.FunctionType) -> types.CodeType | None:
    """Return the code of a function with Python's loops and branches for np2tf's operators.

    None if the function's text is not known, if its code is not made from this text, or if nothing in it can
    be raised.
    """
    code, names = function.__code__, function.__globals__
    known = _raised.get(id(code))
    if known is None or known[1] is not names:
        try:
            new = _raise(code, names)
        except (SyntaxError, RecursionError):
            new = None  # the text is no longer that of the code, or is too deep
        except Exception as error:
            note_fault(error, code)
            new = None
        known = _raised[id(code)] = code, names, new
    return known[2]


def _raise(code: types.CodeType, names: dict[str, Any]) -> types.CodeType | None:
    lines = linecache.getlines(code.co_filename, names)
    if len(lines) < code.co_firstlineno:
        return None
    for text in _texts(lines, code.co_firstlineno):
        try:
            is_known = code in set(codes_within(_compiled(text, code)))
        except SyntaxError:
            continue  # a part of the file that is no text of its own
        module = ast.parse(text) if is_known else ast.Module([], [])
        nodes = [node for node in walk(module) if _is_of(node, code)]
        if len(nodes) == 1:
            return _raised_node(nodes[0], module, code, names)  # type: ignore[arg-type]
    return None


def _raised_node(
    node: ast.FunctionDef, module: ast.Module, code: types.CodeType, names: dict[str, Any]
) -> types.CodeType | None:
    """Return the code of a function that is raised in its module's tree."""
    meanings = _raise_node(node, names)
    if meanings is None:
        return None
    candidates = [
        inner
        for inner in codes_within(_compiled(module, code))
        if inner.co_name == code.co_name and inner.co_firstlineno == code.co_firstlineno
    ]
    new = candidates[0] if len(candidates) == 1 else code
    if new == code or new.co_freevars != code.co_freevars:
        return None
    return meanings.objects.put_into(new)


def _texts(lines: Sequence[str], first_line: int) -> Iterator[str]:
    """Yield the part of a module that a line is in, with the imports that Python compiles it by, and then the
    whole module, which takes longer.
    """
    start, end = first_line - 1, first_line
    while start > 0 and (_goes_on(lines[start]) or lines[start - 1].startswith("@")):
        start -= 1
    is_decorated = lines[start].startswith("@")
    while end < len(lines) and (is_decorated or _goes_on(lines[end])):
        is_decorated = is_decorated and not lines[end].startswith(("def ", "class ", "async "))
        end += 1
    above = "".join(line if line.startswith(("import ", "from ")) else "\n" for line in lines[:start])
    yield above + "".join(lines[start:end])
    yield "".join(lines)


def _goes_on(line: str) -> bool:
    """Return whether a line seems to belong to the statement at the top of the file that began above."""
    return not line.strip() or line[0] in " \t#)]}"


def _is_of(node: ast.AST, code: types.CodeType) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *(part.lineno for part in node.decorator_list)]) == code.co_firstlineno


def _compiled(module: str | ast.Module, code: types.CodeType) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python has given these when the file was imported
        return compile(module, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True)


def _raise_node(node: ast.FunctionDef, names: Mapping[str, Any]) -> Meanings | None:
    """Raise a function in its place, and return what its names mean; None if it must stay as it is."""
    parts = list(walk(node))
    if suspends(node) or getattr(node, "type_params", None):
        return None
    mentioned = {part.id for part in parts if isinstance(part, ast.Name)}
    mentioned |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
    if not mentioned.isdisjoint(_SEE_NAMES):
        return None
    known = KnownNames()
    own = set().union(*(known.of(part).bindings for part in parts if isinstance(part, SCOPES)))
    meanings = Meanings(names, own)
    raise_function(node, meanings, Roles(node, meanings, known), numbers())
    locate(node, node)
    return meanings
