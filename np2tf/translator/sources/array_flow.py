"""Which files of a project NumPy has a part in: those that import it, and those that arrays may come into."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from np2tf.translator.sources.names_between_files import Reexports, names_of_numpy, read_file
from np2tf.translator.sources.python_trees import imports_in, python_tree


def files_with_arrays(files: Sequence[tuple[Path, bytes]]) -> set[Path]:
    """Return the files that import NumPy, and those whose functions a file with arrays gives a value to.

    Args:
        files: the files of one project with their bytes. Files of other kinds, such as notebooks, count if
            they mention NumPy.
    """
    contents = {path.absolute(): data for path, data in files}
    own_path = {path.absolute(): path for path, _ in files}
    program = Reexports(lambda path: contents[path] if path in contents else read_file(path))
    found = {path for path, data in contents.items() if _uses_numpy(path, data)}
    found |= {path for path, data in contents.items() if path.suffix == ".py" and program.of(path, data)}
    others = contents.keys() - found
    new = set(found) if any(path.suffix == ".py" for path in others) else set()
    while new:
        reached = {file for path in new for file in _files_given_values(path, contents[path], program)}
        new = (reached & others) - found
        found |= new
    return {own_path[path] for path in found}


def _uses_numpy(path: Path, data: bytes) -> bool:
    return bool(names_of_numpy(data)) if path.suffix == ".py" else b"numpy" in data


def _files_given_values(path: Path, data: bytes, program: Reexports) -> Iterator[Path]:
    """Yield the files of the program whose functions or classes a file calls with values."""
    tree = python_tree(data) if path.suffix == ".py" else None
    if tree is None:
        return
    called = {root for node in ast.walk(tree) if isinstance(node, ast.Call) and (root := _root_of_call(node))}
    for node in ast.walk(tree):
        for bound, module, name in imports_in(node):
            if bound in called or name == "*":
                separator = "" if module.endswith(".") else "."
                places = [module] if name in (None, "*") else [f"{module}{separator}{name}", module]
                yield from (file for place in places if (file := program.file_of(path, place)) is not None)


def _root_of_call(call: ast.Call) -> str | None:
    """Return the name that a callee begins with, if the call has an argument that may be an array."""
    if not any(
        not isinstance(arg, ast.Constant) for arg in [*call.args, *(word.value for word in call.keywords)]
    ):
        return None
    node: ast.expr = call.func
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else None
