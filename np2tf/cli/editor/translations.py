"""New texts for a text in an editor: its translation, one function translated, findings mended or hidden."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from np2tf.cli.check.edits import differs_in_comments, lines_of, with_suppressions, without
from np2tf.cli.configuration import Configurations
from np2tf.cli.editor.examination import Examination, data_of, encoding_of
from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.batch.batch import Task, run_tasks, with_shared_names
from np2tf.translator.batch.one_file import mend_bytes
from np2tf.translator.batch.outcome import problem, reason_of
from np2tf.translator.sources.python_trees import DEFINITIONS, first_line, imports_in, python_tree

# -- whole texts ---------------------------------------------------------------------------------------------
# What `np2tf convert` and `np2tf check --fix` write.


@dataclass(frozen=True)
class Translation:
    """What `np2tf convert` makes of a text: the text itself if it has no translation, with the findings."""

    text: str
    findings: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> list[Diagnostic]:
        """Return why there is no translation."""
        return [finding for finding in self.findings if finding.severity == "error"]


def translation_of(path: Path, text: str, configurations: Configurations) -> Translation:
    """Translate a text that stands, or will stand, in the file at `path`. A failure is among the findings.

    Raises:
        ConfigurationError: the configuration of the file cannot be used.
    """
    options = configurations.of(path).options()
    try:
        (result,) = run_tasks(with_shared_names([Task(path, path.parent, data_of(text), options)]))
    except Exception as error:  # an editor goes on; the error is reported as a fault of np2tf
        return Translation(text, (problem("NP2TF905", path, reason_of(error)),))
    after = result.data.decode(encoding_of(text)) if result.changed else text
    return Translation(after, tuple(result.diagnostics))


def mended(examination: Examination, findings: Sequence[Diagnostic]) -> str | None:
    """Return a text with findings mended as `np2tf check --fix` does it; None if they cannot be mended."""
    path, text = examination.path, examination.text
    places = frozenset((finding.line, finding.column) for finding in findings if finding.is_fixable)
    outcome = mend_bytes(data_of(text), path, path.parent, places)
    return None if outcome.failed or not places else outcome.data.decode(encoding_of(text))


def suppressed(examination: Examination, findings: Sequence[Diagnostic]) -> str | None:
    """Return a text with comments that hide findings; None if there is no place for a comment."""
    after, count = with_suppressions(examination.text, findings)
    return after if count and differs_in_comments(examination.text, after) else None


def without_unused(examination: Examination, finding: Diagnostic) -> str | None:
    """Return a text without the suppression that a finding says to hide nothing; None for other findings."""
    unused = [
        suppression
        for suppression in examination.unused_suppressions
        if (suppression.comment.line, suppression.comment.start + 1) == (finding.line, finding.column)
    ]
    return without(examination.text, unused) if unused and finding.code == "NP2TF911" else None


# -- functions -----------------------------------------------------------------------------------------------
# One function of a file translated, while the others stay on NumPy.


class _Span(NamedTuple):
    """The lines of a function with its decorators, from 1."""

    first: int
    last: int


def function_at(text: str, line: int) -> str:
    """Return the qualified name of the outermost function or method in a line; "" outside of functions."""
    tree = python_tree(text.removeprefix("\ufeff"))
    for name, span in _functions(tree) if tree is not None else ():
        if span.first <= line <= span.last:
            return name
    return ""


def line_of_function(text: str, name: str) -> int:
    """Return the first line of a function, with its decorators; 1 if there is no function of this name."""
    tree = python_tree(text.removeprefix("\ufeff"))
    functions = _functions(tree) if tree is not None else ()
    return next((span.first for other, span in functions if other == name), 1)


def with_function(before: str, after: str, name: str) -> str | None:
    """Return a text in which one function is as in the translation of the text, with the imports it needs.

    Args:
        after: the translation.
        name: the qualified name of the function.

    Returns:
        None if the function does not change, or is not the only one of its name, or needs something of the
        translation besides its imports.
    """
    trees = [python_tree(text.removeprefix("\ufeff")) for text in (before, after)]
    if trees[0] is None or trees[1] is None:
        return None
    old, new = ([span for other, span in _functions(tree) if other == name] for tree in trees if tree)
    if len(old) != 1 or len(new) != 1:
        return None
    old_lines, new_lines = lines_of(before), lines_of(after)
    function = new_lines[new[0].first - 1 : new[0].last]
    if function == old_lines[old[0].first - 1 : old[0].last]:
        return None
    imports = _missing_imports(trees[0], trees[1], new[0], after)
    if imports is None:
        return None
    end = "\r\n" if old_lines[0].endswith("\r\n") else "\n"
    place = _behind_imports(trees[0])
    return "".join(
        [
            *old_lines[:place],
            *(line + end for line in imports),
            *old_lines[place : old[0].first - 1],
            *function,
            *old_lines[old[0].last :],
        ]
    )


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Span]]:
    """Yield functions and methods, but no functions in functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, DEFINITIONS):
            yield prefix + child.name, _Span(first_line(child), child.end_lineno or child.lineno)
        elif isinstance(child, ast.stmt):
            yield from _functions(child, prefix)


def _missing_imports(before: ast.Module, after: ast.Module, span: _Span, text: str) -> list[str] | None:
    """Return the imports of a translation that a function in it needs and the source lacks.

    Returns:
        None if the function needs another statement of the translation, or an import that would give a name
        of the source another meaning.
    """
    function = "".join(lines_of(text)[span.first - 1 : span.last])
    used = set(re.findall(r"[^\W\d]\w*", function))
    known = {entry for statement in before.body for entry in imports_in(statement)}
    taken = _defined(before) | {name for name, _, _ in known}
    missing: list[str] = []
    bound: set[str] = set()
    for statement in after.body:
        entries = list(imports_in(statement))
        bound |= {name for name, _, _ in entries}
        if any(entry[0] in used and entry not in known for entry in entries):
            if any(entry[0] in taken and entry not in known for entry in entries):
                return None
            missing.append(ast.unparse(statement))
    return None if (used & _defined(after)) - bound - _defined(before) else missing


def _defined(tree: ast.Module) -> set[str]:
    """Return the names that the statements of a module bind, without imports."""
    names = set()
    for statement in tree.body:
        if isinstance(statement, DEFINITIONS):
            names.add(statement.name)
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
            stores = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
            names |= {node.id for node in stores if isinstance(node.ctx, ast.Store)}
    return names


def _behind_imports(tree: ast.Module) -> int:
    """Return the last line of the imports at the head of a module, or of its docstring; 0 without them."""
    line = 0
    for position, statement in enumerate(tree.body):
        is_docstring = position == 0 and isinstance(statement, ast.Expr)
        if not is_docstring and not isinstance(statement, (ast.Import, ast.ImportFrom)):
            break
        line = statement.end_lineno or statement.lineno
    return line
