"""Finds the names of NumPy that files of a project import from one another: these names must stay bound.

The texts are searched before any file is parsed. A name that is found wrongly costs one needless import.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from np2tf.linking.import_lines import from_imports, in_lines, names_of_numpy

#: Stands for all names, because a file imports `*`.
EVERY = "*"
_AS = re.compile(rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_ATTRIBUTE = re.compile(rb"\b(\w+)\.(?=(\w+))")

#: The parts of a module's path without suffix; of a package the parts of its folder.
Module = tuple[str, ...]


def passed_on(files: Iterable[tuple[Path, bytes]]) -> dict[Path, tuple[str, ...]]:
    """Return the names of NumPy that other files read from each file which imports NumPy."""
    pairs = list(files)
    numpy_names = {_module(path): names for path, data in pairs if (names := names_of_numpy(data))}
    if len(pairs) < 2 or not numpy_names:
        return {}
    by_last_name: dict[str, list[Module]] = {}
    for module in numpy_names:
        by_last_name.setdefault(module[-1], []).append(module)
    every_name = {name for names in numpy_names.values() for name in names}
    attributes = [b"." if name == EVERY else f".{name}".encode() for name in every_name]
    read_names: dict[Module, set[str]] = {}
    for path, data in pairs:
        has_attribute = any(attribute in data for attribute in attributes)
        for module, name in _read(path, data, by_last_name, has_attribute):
            if name == EVERY or not numpy_names[module].isdisjoint((name, EVERY)):
                read_names.setdefault(module, set()).add(name)
    return {
        path: tuple(sorted(read_names[_module(path)])) for path, _ in pairs if _module(path) in read_names
    }


def _module(path: Path) -> Module:
    whole = path.absolute()
    return whole.parent.parts if path.stem == "__init__" else whole.with_suffix("").parts


def _read(
    path: Path, data: bytes, by_last_name: dict[str, list[Module]], has_attribute: bool
) -> Iterator[tuple[Module, str]]:
    """Yield the modules with NumPy that a file imports from, and the names that it reads from them.

    Args:
        path: the file.
        data: its bytes.
        by_last_name: the modules with NumPy, by their last names.
        has_attribute: whether the file may read a name of NumPy as an attribute of a module.
    """
    aliases = by_last_name.copy()

    def bind(alias: str, name: str) -> None:
        if name in by_last_name:
            aliases[alias] = by_last_name[name]
        else:
            aliases.pop(alias, None)

    for match in in_lines(_AS, b"import", data) if has_attribute else ():
        bind(match[2].decode(), match[1].decode().rpartition(".")[2])
    for module_name, names in from_imports(data):
        modules = list(_modules(path, module_name, by_last_name))
        for name, alias in names:
            yield from ((module, name) for module in modules)
            if name in by_last_name:
                bind(alias, name)
    for owner, attribute in set(_ATTRIBUTE.findall(data)) if has_attribute else ():
        yield from ((module, attribute.decode()) for module in aliases.get(owner.decode(), ()))


def _modules(path: Path, name: str, by_last_name: dict[str, list[Module]]) -> Iterator[Module]:
    """Yield the modules with NumPy that `from NAME import` in a file may mean. An absolute name means all
    modules whose paths end so.
    """
    tail = name.lstrip(".")
    level = len(name) - len(tail)
    parts = tuple(tail.split(".")) if tail else ()
    if level:
        folders = path.absolute().parents
        parts = (*folders[level - 1].parts, *parts) if level <= len(folders) else ()
    for module in by_last_name.get(parts[-1], ()) if parts else ():
        if module[-len(parts) :] == parts:
            yield module
