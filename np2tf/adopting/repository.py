"""The repository around a folder: its top, and its folders that hold no programs of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

#: Folders of files that test, measure or describe programs; they stay on NumPy.
_ASIDE = ("tests", "test", "docs", "doc", "benchmarks", "asv_bench", "examples")
#: Files at any place that are no programs of the repository.
_ASIDE_FILES = ("conftest.py", "setup.py", "noxfile.py")


@dataclass
class Repository:
    """A folder to be prepared.

    Attributes:
        top: the folder.
        aside: patterns of the files that are not translated.
    """

    top: Path
    aside: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, top: Path, files: Iterable[Path]) -> Repository:
        """Return the description of a folder with these Python files."""
        parts = {part for file in files for part in _parts(file, top)}
        folders = [f"{name}/" for name in _ASIDE if name in parts]
        return cls(top, folders + [name for name in _ASIDE_FILES if name in parts])

    @property
    def pyproject(self) -> Path:
        """The path of the pyproject.toml, which need not exist."""
        return self.top / "pyproject.toml"


def top_of(folder: Path) -> Path:
    """Return the top of the repository that a folder is in; the folder itself if there is no repository."""
    whole = Path(os.path.abspath(folder))
    return next((folder for folder in (whole, *whole.parents) if os.path.lexists(folder / ".git")), whole)


def _parts(file: Path, top: Path) -> tuple[str, ...]:
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(top)).parts
    except ValueError:
        return ()
