"""Puts the imports of np2tf to the places where isort puts them, if the source's imports are sorted."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.tree.blanks import is_blank_line
from np2tf.translator.tree.nodes import dotted_name
from np2tf.translator.tree.templates import Statement

_DIGITS = re.compile(r"(\d+)")
_Key = Callable[[cst.CSTNode], Any]


def keep_sorted(facts: Facts, plan: Plan) -> None:
    """Sort the new imports into the section of NumPy's import, if that section is sorted in the source."""
    sections = _sections(facts.module.body)
    section = next((lines for lines in sections if any(_top(line) == "numpy" for line in lines)), None)
    key = _order_of(section) if section is not None else None
    if key is not None:
        plan.add(facts.module, lambda updated_node: _with_sorted_section(updated_node, key))


def _sections(body: Sequence[cst.CSTNode]) -> list[list[cst.SimpleStatementLine]]:
    """Return the runs of imports, one import on each line, between blank lines and other statements."""
    sections: list[list[cst.SimpleStatementLine]] = []
    goes_on = False
    for line in body:
        is_import = type(line) is cst.SimpleStatementLine and _module(line) is not None
        if is_import:
            assert type(line) is cst.SimpleStatementLine
            if not goes_on or any(map(is_blank_line, line.leading_lines)):
                sections.append([])
            sections[-1].append(line)
        goes_on = is_import
    return sections


def _small(line: cst.CSTNode) -> cst.BaseSmallStatement | None:
    return line.body[0] if type(line) is cst.SimpleStatementLine and len(line.body) == 1 else None


def _module(line: cst.CSTNode) -> str | None:
    """Return the module that a line imports, or from which it imports; None for any other line."""
    small = _small(line)
    if type(small) is cst.Import and len(small.names) == 1:
        return dotted_name(small.names[0].name)
    if type(small) is cst.ImportFrom and not small.relative and small.module is not None:
        return dotted_name(small.module)
    return None


def _top(line: cst.CSTNode) -> str:
    """Return the name of the package that a line imports."""
    return (_module(line) or "").partition(".")[0]


def _name_key(line: cst.CSTNode) -> Any:
    parts = _DIGITS.split((_module(line) or "").lower())
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _kind_and_name_key(line: cst.CSTNode) -> Any:
    return type(_small(line)) is cst.ImportFrom, _name_key(line)


def _order_of(section: Sequence[cst.CSTNode]) -> _Key | None:
    """Return the key by which a section of other packages is sorted; None if isort has not sorted it."""
    if any(_top(line) in sys.stdlib_module_names for line in section):
        return None
    for key in (_kind_and_name_key, _name_key):
        keys = list(map(key, section))
        if keys == sorted(keys):
            return key
    return None


def _with_sorted_section(module: cst.Module, key: _Key) -> cst.Module:
    """Return the module with the section sorted in which np2tf's imports stand."""
    for section in _sections(module.body):
        if not any(_top(line) == "np2tf" for line in section):
            continue
        lines = sorted(section, key=key)
        if lines != section:
            start = list(module.body).index(section[0])
            body = [*module.body[:start], *_begun_like(section[0], lines)]
            return module.with_changes(body=[*body, *module.body[start + len(section) :]])
        break
    return module


def _begun_like(
    first: cst.SimpleStatementLine, lines: Sequence[cst.SimpleStatementLine]
) -> Sequence[Statement]:
    """Return the lines; the blank lines above `first` stand above the first of them."""
    blanks = [line for line in first.leading_lines if is_blank_line(line)]
    comments = [line for line in first.leading_lines if not is_blank_line(line)]
    bare = [line.with_changes(leading_lines=comments) if line is first else line for line in lines]
    return [bare[0].with_changes(leading_lines=[*blanks, *bare[0].leading_lines]), *bare[1:]]
