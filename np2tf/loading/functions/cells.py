"""Translates a cell of a notebook or prompt when it runs: names of earlier cells are known by their
values.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Mapping
from typing import Any

from np2tf.loading.code.boundaries import add_boundaries
from np2tf.loading.code.numpy_names import keep_names
from np2tf.loading.code.source_lines import SourceMap
from np2tf.loading.findings import Finding
from np2tf.loading.functions.blocks import imports_of, is_stand_in, stand_in
from np2tf.staging.host.originals import below_numpy
from np2tf.translator.pipeline import translate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import Source, SourceError

_TNP = "np2tf.tnp"


def translated_cell(
    text: str, names: Mapping[str, Any], path: str, options: Options | None = None
) -> tuple[ast.Module | None, list[Finding]]:
    """Return a cell's translation at the cell's own lines (None if it needs none), and the findings.

    Args:
        text: the text of the cell; IPython's magics are calls in it.
        names: the names that earlier cells have bound, with their values.
    """
    original = ast.parse(text)
    if any(
        isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for statement in original.body
    ):
        return None, []  # a future import must be the first statement
    head = "; ".join(_head(original, names))
    try:
        source = Source.of(f"{head}\n{text}", path)
        result = translate(source, options or Options())
    except SourceError as error:
        return None, [_move_finding(Finding.of(error.diagnostic))]
    findings = [_move_finding(Finding.of(diagnostic)) for diagnostic in result.diagnostics]
    if not result.changed:
        return None, findings
    tree = ast.parse(result.text)
    SourceMap(source, result).relocate(tree)
    tree.body = [statement for statement in tree.body if statement.lineno > 1 or _is_np2tf(statement)]
    tree.body = [statement for statement in tree.body if not is_stand_in(statement)]
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno = max(node.lineno - 1, 1), max(node.end_lineno - 1, 1)  # type: ignore[attr-defined]
    keep_names(original, tree)
    add_boundaries(tree, original, result.compiler_functions)
    return ast.fix_missing_locations(tree), findings


def _move_finding(finding: Finding) -> Finding:
    return finding._replace(line=max(finding.line - 1, 1))


def _is_np2tf(statement: ast.stmt) -> bool:
    """Return whether a statement imports a name that the translation needs."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "np2tf"
    return isinstance(statement, ast.Import) and all(alias.name == "np2tf" for alias in statement.names)


def _head(cell: ast.Module, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield statements that tell the translator the names that earlier cells have bound."""
    values = {name: _numpys(value) for name, value in names.items()}
    yield from imports_of(cell, values)
    targets = [node.target for node in ast.walk(cell) if isinstance(node, ast.AugAssign)]
    for name in dict.fromkeys(target.id for target in targets if isinstance(target, ast.Name)):
        if name in values:
            yield stand_in(name)


def _numpys(value: Any) -> Any:
    """Return NumPy's object for an object of np2tf that a translated cell has bound in its place."""
    if isinstance(value, types.ModuleType):
        top, dot, below = value.__name__.partition(_TNP)
        if not top and dot and (not below or below[0] == "."):
            return _below(tuple(below.split(".")[1:]), value)
    elif callable(value) and str(getattr(value, "__module__", "")).startswith(_TNP):
        path = (*value.__module__.split(".")[2:], getattr(value, "__name__", ""))
        return _below(path, value)
    return value


def _below(path: tuple[str, ...], otherwise: Any) -> Any:
    try:
        return below_numpy(path)
    except (ImportError, AttributeError):
        return otherwise
