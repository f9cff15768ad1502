"""A project to verify: a package in a folder, with a `project.toml` that says how the package is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "project.toml"
#: The file into which a project's main() writes its results, in the folder in which it runs.
RESULTS = "results.npz"


class ProjectError(ValueError):
    """A `project.toml` cannot be used."""


@dataclass(frozen=True)
class Project:
    """The contents of a `project.toml`.

    Attributes:
        folder: the folder that holds the package and the file.
        package: the name of the package, which is run as `python -m package`.
        main: "module:function", which takes the arguments of the command line as a list.
        small: the `--size` of a short run.
        hot: "module:function" and "module:Class.method" of the functions that take most of the time.
    """

    folder: Path
    package: str
    main: str
    small: int
    hot: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return self.folder.name

    def arguments(self, size: int | None) -> list[str]:
        """Return the command line of a run that writes its results.

        Args:
            size: the `--size` of the run; None is the project's default.
        """
        return [*(() if size is None else ("--size", str(size))), "--out", RESULTS]


def find_projects(paths: Iterable[Path], part_of_name: str = "") -> list[Project]:
    """Return the projects among `paths`, and in the folders among them, whose name contains `part_of_name`.

    Raises:
        ProjectError: if a `project.toml` cannot be used.
    """
    files: list[Path] = []
    for path in paths:
        files += [path / FILE] if (path / FILE).is_file() else sorted(path.glob(f"*/{FILE}"))
    return [read_project(file) for file in files if part_of_name in file.parent.name]


def read_project(file: Path) -> Project:
    """Return the project that a `project.toml` describes.

    Raises:
        ProjectError: if an entry is missing in the file, or has the wrong type.
    """
    try:
        data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        hot = tuple(data.get("hot", ()))
        project = Project(file.parent.absolute(), data["package"], data["main"], data["small"], hot)
    except KeyError as error:
        raise ProjectError(f"{file}: there is no {error.args[0]!r}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"{file}: {error}") from error
    names = (project.main, *hot)
    if not all(isinstance(name, str) and name.count(":") == 1 for name in names):
        raise ProjectError(f"{file}: main and hot are written as 'module:function'")
    if not isinstance(project.package, str) or not isinstance(project.small, int):
        raise ProjectError(f"{file}: package is a name, and small a number")
    return project
