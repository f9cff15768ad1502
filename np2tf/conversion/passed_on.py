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


#: The parts of a module's path without suffix; of a package the parts of its folder.
Module = tuple[str, ...]


def passed_on(files: Iterable[tuple[Path, bytes]]) -> dict[Path, tuple[str, ...]]:
    """Return the names that other files read from each file which imports NumPy."""
    pairs = list(files)
    modules = [_module(path) for path, data in pairs if _OF_NUMPY.search(data)]
    if len(pairs) < 2 or not modules:
        return {}
    by_last_name: dict[str, list[Module]] = {}
    for module in modules:
        by_last_name.setdefault(module[-1], []).append(module)
    names: dict[Module, set[str]] = {}
    for path, data in pairs:
        for module, name in _read(path, data, by_last_name):
            names.setdefault(module, set()).add(name)
    return {path: tuple(sorted(names[_module(path)])) for path, _ in pairs if _module(path) in names}


def _module(path: Path) -> Module:
    whole = path.absolute()
    return whole.parent.parts if path.stem == "__init__" else whole.with_suffix("").parts


def _read(path: Path, data: bytes, by_last_name: dict[str, list[Module]]) -> Iterator[tuple[Module, str]]:
    """Yield the modules with NumPy that a file imports from, and the names that it reads from them."""
    aliases = {name: name for name in by_last_name}
    for module, alias in _AS.findall(data):
        aliases[alias.decode()] = module.rpartition(b".")[2].decode("utf-8", "replace")
    for dots, module, clause in _FROM.findall(data):
        sources = list(_sources(path, len(dots), module.decode("utf-8", "replace"), by_last_name))
        for name, alias in _names(clause):
            yield from ((source, name) for source in sources)
            if name in by_last_name:
                aliases[alias] = name
    modules = {alias: name for alias, name in aliases.items() if name in by_last_name}
    attribute = re.compile(rb"\b(%s)\.(\w+)" % b"|".join(re.escape(os.fsencode(name)) for name in modules))
    for alias, name in attribute.findall(data):
        for module in by_last_name[modules[alias.decode()]]:
            yield module, name.decode()


def _sources(path: Path, dots: int, name: str, by_last_name: dict[str, list[Module]]) -> Iterator[Module]:
    """Yield the modules with NumPy that `from NAME import` in a file may mean. An absolute name means all
    modules whose paths end so.
    """
    parts = tuple(name.split(".")) if name else ()
    if dots:
        folders = path.absolute().parents
        parts = (*folders[dots - 1].parts, *parts) if dots <= len(folders) else ()
    for module in by_last_name.get(parts[-1], ()) if parts else ():
        if module[-len(parts) :] == parts:
            yield module


def _names(import_list: bytes) -> Iterator[tuple[str, str]]:
    """Yield the names in an import, and their names in the file."""
    for item in _COMMENT.sub(b"", import_list).strip(b"() \t\r\n").replace(b"\\", b" ").split(b","):
        words = item.decode("utf-8", "replace").split()
        if words:
            yield words[0], words[-1]
