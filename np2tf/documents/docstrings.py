"""Translates doctests in docstrings together with their module, whose names for NumPy they know."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from np2tf.diagnostics import Diagnostic
from np2tf.documents.blocks import Block, is_python, sessions
from np2tf.documents.page import UnsafeError, translated_blocks
from np2tf.options import Options
from np2tf.tree.source import SourceError

_OWNERS = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def with_doctests(before: str, after: str, path: str, options: Options) -> tuple[str, list[Diagnostic]]:
    """Return a module's translation with its doctests translated as well, and the findings in the doctests.

    Args:
        before: the module's text.
        after: its translation.

    Raises:
        UnsafeError: other text than docstrings would change.
    """
    if ">>>" not in before:
        return after, []
    lines = before.splitlines(keepends=True)
    bare = [line.rstrip("\r\n") for line in lines]
    tree, new_tree = ast.parse(before), ast.parse(after)
    head, imports = _numpys(tree), _of_np2tf(new_tree)
    result, at, diagnostics = after, 0, []
    for node in _docstrings(tree):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        old = "".join(lines[first:last])
        blocks = [session for session in sessions(bare, first, last) if is_python(session.text)]
        # In other literals the value differs from the source text.
        is_plain = "\\" not in old or old.lstrip().lower().startswith(("r'", 'r"'))
        place = result.find(old, at)
        if not blocks or not is_plain or place < 0 or "numpy" not in f"{head}{old}":
            continue
        new, findings = _translate(lines, blocks, (first, last), head, imports, path, options)
        diagnostics += findings
        result = f"{result[:place]}{new}{result[place + len(old) :]}"
        at = place + len(new)
    if result != after and _without_docstrings(result) != _without_docstrings(after):
        raise UnsafeError("more than docstrings would change")
    return result, diagnostics


def _translate(
    lines: list[str],
    blocks: list[Block],
    place: tuple[int, int],
    head: str,
    known_imports: set[str],
    path: str,
    options: Options,
) -> tuple[str, list[Diagnostic]]:
    """Return the lines of a docstring with its examples translated."""
    first, last = place
    old = "".join(lines[first:last])
    imports_numpy = any("import numpy" in block.text or "from numpy" in block.text for block in blocks)
    beside = [] if imports_numpy or not known_imports else [Block(first, tuple(head.splitlines()), "")]
    try:
        program = translated_blocks([*beside, *blocks], path, options)
    except SourceError:
        return old, []
    findings = [finding for finding in program.diagnostics if not beside or finding.line > first + 1]
    if program.texts is None:
        return old, findings
    texts = program.texts[len(beside) :]
    if not all(texts) or (beside and not _of_np2tf(ast.parse(program.texts[0])) <= known_imports):
        return old, findings  # an example would be empty, or the module lacks a name that the examples need
    result, at = [], first
    for block, text in zip(blocks, texts):
        result += [*lines[at : block.first], *block.replace_code(lines, text)]
        at = block.first + len(block.lines)
    return "".join([*result, *lines[at:last]]), findings


def _docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """Yield the docstrings of a module, its classes and functions, in the order of the text."""
    docstrings = []
    for node in ast.walk(tree):
        if isinstance(node, _OWNERS) and node.body and isinstance(node.body[0], ast.Expr):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                docstrings.append(value)
    yield from sorted(docstrings, key=lambda node: node.lineno)


def _numpys(tree: ast.Module) -> str:
    """Return the imports of NumPy at a module's top, each on its own line."""
    imports = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            imports += [
                ast.unparse(ast.Import([alias]))
                for alias in node.names
                if alias.name.split(".")[0] == "numpy"
            ]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            imports.append(ast.unparse(node))
    return "\n".join(imports)


def _of_np2tf(tree: ast.Module) -> set[str]:
    """Return the imports of np2tf at the top of a text, as source text."""
    imports: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            imports |= {ast.unparse(alias) for alias in node.names if alias.name == "np2tf"}
        elif isinstance(node, ast.ImportFrom) and node.module == "np2tf":
            imports |= {ast.unparse(alias) for alias in node.names}
    return imports


def _without_docstrings(text: str) -> str:
    tree = ast.parse(text)
    for node in _docstrings(tree):
        node.value = ""
    return ast.dump(tree)
