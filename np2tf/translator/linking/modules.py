"""Resolves the names of imports to the files of a project."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

_INIT = "__init__.py"


class Modules:
    """A project's files, each with the folder that it was found under, by the names that import them."""

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        every = [(PurePath(file), PurePath(root)) for file, root in files]
        self._files = {str(path) for path, _ in every}
        self._by_name: dict[str, str | None] = {}
        for path, root in every:
            for name in dict.fromkeys((self._within_packages(path), self._within(path, root))):
                self._by_name[name] = str(path) if name not in self._by_name else None

    def absolute(self, name: str) -> str | None:
        """Return the file of the module `name`, if exactly one file can be that module."""
        return self._by_name.get(name)

    def relative(self, file: str, name: str) -> str | None:
        """Return the file that the relative name `name`, which begins with dots, refers to in `file`."""
        tail = name.lstrip(".")
        folder = PurePath(file).parent
        for _ in range(len(name) - len(tail) - 1):
            folder = folder.parent
        path = folder / _INIT
        for part in tail.split(".") if tail else ():
            child = self.below(str(path), part)
            if child is None:
                return None
            path = PurePath(child)
        return str(path)

    def below(self, file: str, name: str) -> str | None:
        """Return the file of the module `name` in a package; `file` is the package's `__init__.py`."""
        path = PurePath(file)
        if path.name != _INIT:
            return None
        places = (path.parent / name / _INIT, path.parent / f"{name}.py")
        return next((str(place) for place in places if str(place) in self._files), None)

    def _within_packages(self, path: PurePath) -> str:
        """Return the module's name by the folders around it that have an `__init__.py`."""
        parts = [] if path.name == _INIT else [path.stem]
        folder = path.parent
        while str(folder / _INIT) in self._files:
            parts.insert(0, folder.name)
            folder = folder.parent
        return ".".join(parts)

    def _within(self, path: PurePath, root: PurePath) -> str:
        """Return the module's name relative to the folder that it was found under."""
        parts = path.relative_to(root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1:] == ("__init__",) else parts)
