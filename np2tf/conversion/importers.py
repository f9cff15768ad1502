"""The imports among the files of a project: an untranslated file must get no tensors from translated files.

Imports are found by names alone, so a module of the same name in another folder counts, too.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

_IMPORT = re.compile(rb"(?:from|import)\s+([\w.]+)")


def files_with_importer(files: Iterable[tuple[Path, bytes]]) -> dict[Path, Path]:
    """Return the files that another file imports, each with an importing file."""
    every = list(files)
    modules = {path: _parts(path) for path, _ in every}
    importers: dict[Path, Path] = {}
    for importer, data in every:
        for parts in _imports(importer, data):
            for path, module_parts in modules.items():
                if path != importer and module_parts[-len(parts) :] == parts:
                    importers.setdefault(path, importer)
    return importers


def _parts(path: Path) -> tuple[str, ...]:
    parts = path.resolve().with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imports(path: Path, data: bytes) -> Iterator[tuple[str, ...]]:
    """Return the last parts of the names of the modules that a file may import."""
    tree = _tree(data)
    if tree is None:
        for name in _IMPORT.findall(data):
            yield tuple(name.decode().strip(".").split("."))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                yield from (parts[: k + 1] for k in range(len(parts)))
        elif isinstance(node, ast.ImportFrom):
            inside = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                folders = path.resolve().parts[:-1]
                inside = folders[: len(folders) - node.level + 1] + inside
            if inside:
                yield inside
            yield from ((*inside, alias.name) for alias in node.names if alias.name != "*")


def _tree(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
