"""Checks of a translation by other means than those that made it.

The text must compile, and the bytes must decode to the text. Every top-level statement of the source without
a planned edit must be a statement of the translation, in order, with its comments and blanks.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence, Set

import libcst as cst

from np2tf.tree.source import Source, SourceError


def unsafe(source: Source, made: str, touched: Set[cst.CSTNode], data: bytes) -> str | None:
    """Return why a translation is wrong, or None.

    Args:
        source: the source that was translated.
        made: the text of the translation.
        touched: the nodes of the source that contain a planned edit.
        data: the bytes of the translation.
    """
    if made == source.original:
        return None
    if not touched:
        return "the text is another, and nothing was translated"
    text = made.removeprefix("\ufeff")
    error = _does_not_compile(text)
    if error is not None and _does_not_compile(source.text) is None:
        return f"it is no program: {error}"
    try:
        same = Source.of(data, source.path).original == made
    except SourceError:
        same = False
    return _lost(source, touched, text) if same else "its bytes say something else than its text"


def _does_not_compile(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<translation>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    except (RecursionError, MemoryError):
        return None  # too deep for the compiler, which says nothing about the translation
    return None


def _lost(source: Source, touched: Set[cst.CSTNode], text: str) -> str | None:
    """Return an error for the first top-level statement without a planned edit that the translation lacks at
    its place.
    """
    before, statements = list(_statements(source.text)), source.module.body
    if len(before) != len(statements):
        return None
    after = _statements(text)
    for lines, statement in zip(before, statements):
        if statement not in touched and not any(lines == others for others in after):
            return f"a statement is not what it was: {lines[0][:80]}"
    return None


def _statements(text: str) -> Iterator[Sequence[str]]:
    """Yield the lines of each top-level statement of a program; statements that share a line count as one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begin = end = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    for node in body:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        if first > end:
            if end:
                yield lines[begin - 1 : end]
            begin = first
        end = node.end_lineno or first
    if end:
        yield lines[begin - 1 : end]
