"""The module with the helpers of a program of several modules, which convert writes beside its package."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import libcst as cst

from np2tf.translator.facts.facts import Facts
from np2tf.translator.tensorflow.array_users import imported_modules
from np2tf.translator.tensorflow.numpy_table import LINE_OPTIONS, helpers_with

NAME = "_tensorflow_numpy"
_DOCSTRING = '"""What differs between NumPy and tf.experimental.numpy, for the modules of this program."""'
_HEAD = f"""{_DOCSTRING}

import tensorflow as tf
import tensorflow.experimental.numpy as tnp

tnp.experimental_enable_numpy_behavior()
"""


def shared_path(
    facts_by_file: Mapping[str, Facts], files: Collection[str], roots: Mapping[str, str]
) -> Path | None:
    """Return the file of the module that translated files share; None if each keeps its own helpers.

    They share one if all are in packages or modules of one folder, which is below the roots of the command.
    """
    folders = {_folder_of_imports(Path(file), facts_by_file) for file in files}
    if len(files) < 2 or len(folders) != 1:
        return None
    (folder,) = folders
    path = folder / f"{NAME}.py"
    imported = (name for facts in facts_by_file.values() for name in imported_modules(facts))
    if any(name.split(".")[0] == folder.name for name in imported):
        return None  # a folder without `__init__.py` is a package, too
    if not all(folder.resolve().is_relative_to(Path(root).resolve()) for root in roots.values()):
        return None
    is_foreign = path.exists() and not path.read_text(encoding="utf-8").startswith(_DOCSTRING)
    return None if is_foreign else path


def is_shared_import(node: cst.ImportFrom) -> bool:
    """Return whether a statement imports helpers from the module that translated files share."""
    return isinstance(node.module, cst.Name) and node.module.value == NAME


def _folder_of_imports(path: Path, files: Collection[str]) -> Path:
    """Return the folder from which a file is imported: that of the package at the top, or the file's own."""
    packages = {Path(file).parent for file in files if Path(file).name == "__init__.py"}
    folder = path.parent
    while folder in packages or (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def shared_text(helpers: Iterable[str], path: Path) -> str:
    """Return the text of the module, with the helpers that it already has."""
    needed = set(helpers)
    if path.exists():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        needed |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} | LINE_OPTIONS
    return "\n\n\n".join([_HEAD.rstrip("\n"), *helpers_with(needed).values()]) + "\n"
