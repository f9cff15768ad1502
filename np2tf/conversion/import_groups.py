"""The files of a project that import one another: `--target tf` translates them together.

Imports are found by names alone, so a module of the same name in another folder counts, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from np2tf.options import Options
from np2tf.tree.python_trees import python_tree

_IMPORT = re.compile(rb"(?:from|import)\s+([\w.]+)")


def translation_groups(
    files: Sequence[tuple[Path, Options]], data_of: Callable[[int], bytes]
) -> list[list[int]]:
    """Return the groups of files that are translated together, in the order of their first files.

    Args:
        files: the path and the options of each file.
        data_of: returns the bytes of the file at a position.

    Returns:
        The positions of each group's files. Only `--target tf` translates several files together.
    """
    modules = [
        position
        for position, (path, options) in enumerate(files)
        if options.target == "tf" and path.suffix == ".py"
    ]
    groups = import_groups([(files[position][0], data_of(position)) for position in modules])
    joint_groups = [[modules[index] for index in group] for group in groups]
    single_files = [[position] for position in sorted(set(range(len(files))).difference(modules))]
    return sorted(joint_groups + single_files)


def import_groups(files: Sequence[tuple[Path, bytes]]) -> list[list[int]]:
    """Return the groups of files that are connected by imports, in the order of their first files.

    Args:
        files: the path and the bytes of each file.

    Returns:
        The positions of each group's files.
    """
    named_files: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for position, (path, _) in enumerate(files):
        parts = _parts(path)
        named_files.setdefault(parts[-1], []).append((position, parts))
    leaders = list(range(len(files)))
    for position, (path, data) in enumerate(files):
        for imported_parts in _imports(path, data):
            for other_position, parts in named_files.get(imported_parts[-1], ()):
                if parts[-len(imported_parts) :] == imported_parts:
                    first, second = sorted((_leader(leaders, position), _leader(leaders, other_position)))
                    leaders[second] = first
    groups: dict[int, list[int]] = {}
    for position in range(len(files)):
        groups.setdefault(_leader(leaders, position), []).append(position)
    return list(groups.values())


def _leader(leaders: list[int], position: int) -> int:
    """Return the position that stands for the group of a file."""
    while leaders[position] != position:
        position = leaders[position]
    return position


def _parts(path: Path) -> tuple[str, ...]:
    parts = path.resolve().with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imports(path: Path, data: bytes) -> Iterator[tuple[str, ...]]:
    """Return the last parts of the names of the modules that a file may import."""
    tree = python_tree(data)
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
