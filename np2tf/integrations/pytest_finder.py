"""The import hook of ``pytest --np2tf``, which finds a package's modules as pytest collects and imports
them.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import ModuleType

from _pytest.assertion.rewrite import AssertionRewritingHook

from np2tf.loading.import_hook import TESTS, TranslatingFinder, TranslatingLoader

#: Patterns for test files that match every file, and so do not tell tests from other files.
_EVERY_FILE = ("*", "*.py")


class PackageFinder(TranslatingFinder):
    """Translates the packages under test, and records which of their modules were translated.

    pytest imports the modules that it collects under its own names: in a folder without `__init__.py`,
    `pkg/a.py` is the module `a`. So modules are found by place as well as by name. pytest also rewrites the
    assertions in every file that is named on the command line; a file of the package is translated instead.
    """

    def __init__(
        self, packages: Sequence[str], folders: Mapping[Path, str], python_files: Iterable[str] = ()
    ) -> None:
        """Find the modules of `packages`, which are names or patterns.

        Args:
            python_files: pytest's patterns for the names of test files.
        """
        super().__init__(packages)
        self.folders = folders
        self._tests = [pattern for pattern in python_files if pattern not in _EVERY_FILE]
        self._by_name = {name: TranslatingFinder((name,)) for name in self.include}
        self._loaders: list[tuple[str, TranslatingLoader]] = []
        self._inside: dict[str, bool] = {}

    def matches(self, fullname: str) -> bool:
        """Return whether the module of this name belongs to a package, or may belong to it by its place."""
        return super().matches(fullname) or self._place(fullname) is not None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a spec with the translating loader for a module of a package under test, or None."""
        spec = super().find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            return spec
        if not super().matches(fullname) and self._package_around(Path(spec.origin)) is None:
            return None
        if isinstance(spec.loader, TranslatingLoader):
            self._loaders.append((self._package(fullname, Path(spec.origin)), spec.loader))
        return spec

    def _may_translate(self, spec: importlib.machinery.ModuleSpec) -> bool:
        """Return whether the module may be translated; test files keep pytest's messages of assertions."""
        is_rewritten = isinstance(spec.loader, AssertionRewritingHook)
        return super()._may_translate(spec) and not (is_rewritten and self._is_test(Path(spec.origin or "")))

    def modules(self) -> dict[str, dict[str, bool]]:
        """Return, for each package, its imported modules, and whether the translation of each runs."""
        modules: dict[str, dict[str, bool]] = {name: {} for name in self.include}
        for package, loader in self._loaders:
            if loader.translated is not None:
                modules[package][loader.name] = loader.translated
        return modules

    def _package(self, fullname: str, origin: Path) -> str:
        names = (name for name, finder in self._by_name.items() if finder.matches(fullname))
        return next(names, None) or self._package_around(origin) or self.include[0]

    def _place(self, fullname: str) -> Path | None:
        """Return the file of a module of this name in a folder of a package, if `sys.path` leads there."""
        inner = Path(*fullname.split("."))
        for entry in sys.path if self.folders else ():
            if entry not in self._inside:
                self._inside[entry] = any(Path(entry).is_relative_to(folder) for folder in self.folders)
            if self._inside[entry]:
                for file in (Path(entry, inner).with_suffix(".py"), Path(entry, inner) / "__init__.py"):
                    if file.is_file() and self._package_around(file) is not None:
                        return file
        return None

    def _package_around(self, file: Path) -> str | None:
        """Return the package whose folder contains a file, unless the file is a test or in an environment."""
        for folder, package in self.folders.items():
            if file.is_relative_to(folder):
                parts = file.relative_to(folder).with_suffix("").parts
                foreign = "site-packages" in parts
                return (
                    None
                    if foreign or any(fnmatch(part, test) for part in parts for test in TESTS)
                    else package
                )
        return None

    def _is_test(self, file: Path) -> bool:
        """Return whether pytest recognises a file as a test file by its name."""
        return any(fnmatch(file.name, pattern) or fnmatch(str(file), pattern) for pattern in self._tests)


def folders_of(packages: Iterable[str], places: Iterable[Path], arguments: Iterable[str]) -> dict[Path, str]:
    """Return the folders of packages that lie in a folder of `places`, or that contain an argument of pytest.

    Args:
        packages: the names of the packages; patterns have no folder.
        places: the folders that tests are run from.
        arguments: the paths to collect, each perhaps with `::` and the name of a test.
    """
    around = list(places)
    for argument in arguments:
        path = Path(argument.split("::")[0]).absolute()
        around += path.parents if path.exists() else ()
    folders: dict[Path, str] = {}
    for package in packages:
        inner = Path(*package.split("."))
        for place in around:
            folder = (place / inner).absolute()
            if package.replace(".", "").isidentifier() and folder.is_dir() and not _is_project(folder, inner):
                folders.setdefault(folder, package)
    return folders


def _is_project(folder: Path, inner: Path) -> bool:
    """Return whether a folder of the package's name is the project around the package."""
    files = ("pyproject.toml", "setup.py", "setup.cfg")
    candidates = (folder / inner, folder / "src" / inner)
    return any((folder / file).is_file() for file in files) or any(
        folder_inside.is_dir() for folder_inside in candidates
    )
