"""Finds the names of NumPy that files of a project import from one another: these names must stay bound.

The texts are searched before any file is parsed. A name that is found wrongly costs one needless import.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Stands for all names, because a file imports `*`.
EVERY = "*"
_FROM = re.compile(
    rb"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|(?:[^\n\\#;]|\\\r?\n)*)", re.MULTILINE
)
_AS = re.compile(rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_COMMENT = re.compile(rb"#[^\n]*")
_OF_NUMPY = re.compile(rb"^[ \t]*(?:from[ \t]+numpy\b|import[^\n]*\bnumpy\b)", re.MULTILINE)


def passed_on(files: Iterable[tuple[Path, bytes]]) -> dict[Path, tuple[str, ...]]:
    """Return the names that other files read from each file which imports NumPy."""
    pairs = list(files)
    binding = {_key(path): path for path, data in pairs if _OF_NUMPY.search(data)}
    if len(pairs) < 2 or not binding:
        return {}
    names: dict[str, set[str]] = {}
    for path, data in pairs:
        for key, name in _read(path, data, binding):
            names.setdefault(key, set()).add(name)
    return {path: tuple(sorted(names[_key(path)])) for path, _ in pairs if _key(path) in names}


def _key(path: Path) -> str:
    """Return the name by which other files import a file; for an `__init__.py`, the package's name."""
    return path.absolute().parent.name if path.stem == "__init__" else path.stem


def _read(path: Path, data: bytes, binding: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Yield the modules with NumPy that a file imports from, and the names that it reads from them."""
    aliases = {key: key for key in binding}
    for module, alias in _AS.findall(data):
        aliases[alias.decode()] = _last(module)
    for dots, module, clause in _FROM.findall(data):
        key = _last(module) if module else _package(path, len(dots))
        for name, alias in _names(clause):
            if key in binding:
                yield key, name
            if name in binding:
                aliases[alias] = name
    modules = {alias: key for alias, key in aliases.items() if key in binding}
    if modules:
        attribute = re.compile(
            rb"\b(%s)\.(\w+)" % b"|".join(re.escape(os.fsencode(name)) for name in modules)
        )
        for alias, name in attribute.findall(data):
            yield modules[alias.decode()], name.decode()


def _last(module: bytes) -> str:
    return module.rpartition(b".")[2].decode("utf-8", "replace")


def _package(path: Path, dots: int) -> str:
    """Return the last part of the name of the package that `from . import` refers to."""
    return path.absolute().parents[dots - 1].name if dots and dots <= len(path.absolute().parents) else ""


def _names(import_list: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names in an import, and their names in the file."""
    for item in _COMMENT.sub(b"", import_list).strip(b"() \t\r\n").replace(b"\\", b" ").split(b","):
        words = item.decode("utf-8", "replace").split()
        if words:
            yield words[0], words[-1]
