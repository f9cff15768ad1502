"""A second look at a translation, by other means than those that made it.

It must be a program that Python compiles, bytes that say the same text, and every statement at the top of the
file that nothing was planned for must stand in it as it stood, in order.
"""

from __future__ import annotations

import warnings

import libcst as cst

from np2tf.pipeline import Result
from np2tf.tree.source import Source


def unsafe(source: Source, result: Result, data: bytes) -> str | None:
    """What is wrong with a translation and its bytes, or None."""
    if not result.changed:
        return None if result.text == source.original else "the text is another, and nothing was translated"
    error = _does_not_compile(result.text)
    if error is not None and _does_not_compile(source.text) is None:
        return f"it is no program: {error}"
    if Source.of(data, source.path).original != result.text:
        return "its bytes say something else than its text"
    return _lost(source, result)


def _does_not_compile(text: str) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text.removeprefix("\ufeff"), "<translation>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"{error}"
    except RecursionError:
        return None  # too deep for the compiler, which says nothing about the translation
    return None


def _lost(source: Source, result: Result) -> str | None:
    """The first statement at the top that is not where it should be, though nothing was planned for it."""
    at = 0
    for statement in source.module.body:
        if statement in result.touched:
            continue
        text = source.module.code_for_node(_bare(statement))
        found = result.text.find(text, at)
        if found < 0:
            return f"a statement is not what it was: {text.strip().splitlines()[0][:80]}"
        at = found + len(text)
    return None


def _bare(statement: cst.CSTNode) -> cst.CSTNode:
    """A statement without the lines above it, which belong to what was inserted between as well."""
    has_lines = isinstance(statement, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return statement.with_changes(leading_lines=()) if has_lines else statement
