"""Checks of a translation that do not use the code that made it.

The text must compile, and the bytes must decode to the text. Every top-level statement of the source without
a planned edit must be a statement of the translation, in order, with its comments and blanks.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence, Set

import libcst as cst

from np2tf.translator.sources.python_trees import parse_quietly
from np2tf.translator.tree.source import Source, SourceError, spans


def unsafe(source: Source, translation: str, touched_nodes: Set[cst.CSTNode], data: bytes) -> str | None:
    """Return why a translation is wrong, or None; `touched_nodes` contain the planned edits."""
    if translation == source.original:
        return None
    if not touched_nodes:
        return "the text has changed, although nothing was translated"
    text = translation.removeprefix("\ufeff")
    program = _parse(text)
    error = program if isinstance(program, str) else _does_not_compile(program)
    if error is not None and _does_not_compile(source.program or _parse(source.text)) is None:
        return f"it is not valid Python: {error}"
    try:
        is_same = source.says(data) == translation
    except SourceError:
        is_same = False
    if not is_same:
        return "its bytes do not decode to its text"
    return _lost_statement(source, touched_nodes, text, program) if isinstance(program, ast.Module) else None


def _parse(text: str) -> ast.Module | str | None:
    """Return the parsed program or its error; None, which proves nothing, if it is too deep to parse."""
    try:
        return parse_quietly(text)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return None


def _does_not_compile(program: ast.Module | str | None) -> str | None:
    if not isinstance(program, ast.Module):
        return program
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(program, "<translation>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return None  # too deep for the compiler, which says nothing about the translation
    return None


def _lost_statement(
    source: Source, touched_nodes: Set[cst.CSTNode], text: str, program: ast.Module
) -> str | None:
    """The first statement at the top that is not where it should be, though nothing was planned for it."""
    before = list(_statements(source.text, spans(source.program or ast.parse(source.text))))
    statements = source.module.body
    if len(before) != len(statements):
        return None
    after = _statements(text, spans(program))
    for lines, statement in zip(before, statements):
        if statement not in touched_nodes and not any(lines == other_lines for other_lines in after):
            return f"a statement has changed: {lines[0][:80]}"
    return None


def _statements(text: str, statements: Sequence[tuple[int, int]]) -> Iterator[Sequence[str]]:
    """Return the lines of each top statement of a program; statements on one line count as one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begin = end = 0
    for first, last in statements:
        if first > end:
            if end:
                yield lines[begin - 1 : end]
            begin = first
        end = last
    if end:
        yield lines[begin - 1 : end]
