"""Finds the names of NumPy that files of a project import from one another: these names must stay bound.

The texts are searched before any file is parsed. A name that is found wrongly costs one needless import.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

#: Stands for all names, because a file imports `*`.
EVERY = "*"
_FROM = re.compile(
    rb"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|(?:[^\n\\#;]|\\\r?\n)*)", re.MULTILINE
)
_AS = re.compile(rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_OWNER = re.compile(rb"\b(\w+)\.(?=\w)")
_WORD = re.compile(rb"\w+")
_COMMENT = re.compile(rb"#[^\n]*")
_OF_NUMPY = re.compile(rb"^[ \t]*(?:from[ \t]+numpy\b|import[^\n]*\bnumpy\b)", re.MULTILINE)


def passed_on(files: Iterable[tuple[Path, bytes]]) -> dict[Path, tuple[str, ...]]:
    """Return the names that other files read from each file which imports NumPy."""
    pairs = list(files)
    binding = {_key(path): path for path, data in pairs if next(_in_lines(_OF_NUMPY, b"numpy", data), None)}
    if len(pairs) < 2 or not binding:
        return {}
    keys = {os.fsencode(key): key for key in binding}
    names: dict[str, set[str]] = {}
    for path, data in pairs:
        for key, name in _read(path, data, keys):
            names.setdefault(key, set()).add(name)
    return {path: tuple(sorted(names[_key(path)])) for path, _ in pairs if _key(path) in names}


def _key(path: Path) -> str:
    """Return the name by which other files import a file; for an `__init__.py`, the package's name."""
    return path.absolute().parent.name if path.stem == "__init__" else path.stem


def _read(path: Path, data: bytes, keys: dict[bytes, str]) -> Iterator[tuple[str, str]]:
    """Yield the modules with NumPy that a file imports from, and the names that it reads from them.

    Args:
        path: the file.
        data: its bytes.
        keys: the names of the modules with NumPy, by the bytes that spell them.
    """
    modules = keys.copy()

    def bind(alias: bytes, module: bytes) -> None:
        if module in keys:
            modules[alias] = keys[module]
        else:
            modules.pop(alias, None)

    for match in _in_lines(_AS, b"import", data):
        bind(match[2], match[1].rpartition(b".")[2])
    for match in _in_lines(_FROM, b"from", data):
        dots, module, clause = match.groups()
        key = module.rpartition(b".")[2] if module else os.fsencode(_package(path, len(dots)))
        for name, alias in _names(clause):
            if key in keys:
                yield keys[key], name.decode("utf-8", "replace")
            if name in keys:
                bind(alias, name)
    for module, name in _attributes(modules, data):
        yield modules[module], name.decode()


def _in_lines(pattern: re.Pattern[bytes], word: bytes, data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the matches of a pattern of lines that hold a word: as `finditer` does, but searching for the
    word first takes a tenth of the time.
    """
    end, at = 0, data.find(word)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        match = pattern.match(data, begin) if begin >= end else None
        if match is not None:
            yield match
            end = match.end()
        at = data.find(word, max(at + 1, end))


def _attributes(modules: Container[bytes], data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield each `module.name` in a text whose module is one of these."""
    end = 0
    for owner in _OWNER.finditer(data):
        if owner[1] in modules and owner.start() >= end:
            name = _WORD.match(data, owner.end())
            assert name is not None
            yield owner[1], name[0]
            end = name.end()


def _package(path: Path, dots: int) -> str:
    """Return the last part of the name of the package that `from . import` refers to."""
    return path.absolute().parents[dots - 1].name if dots and dots <= len(path.absolute().parents) else ""


def _names(import_list: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names in an import, and their names in the file."""
    for item in _COMMENT.sub(b"", import_list).strip(b"() \t\r\n").replace(b"\\", b" ").split(b","):
        words = item.split()
        if words:
            yield words[0], words[-1]
