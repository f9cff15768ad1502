"""What a program shows besides the result of its `main()`: printed text, arrays, figures, files."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from np2tf.cli.output import quantity
from np2tf.cli.verify.comparison import (
    Difference,
    files_difference,
    first_difference,
    freeze,
    own_lines,
    text_difference,
)

# -- written files -------------------------------------------------------------------------------------------

#: In a folder with more files than this, files are not compared.
MOST_FILES = 10_000
#: Folders that a program's results are not in.
_IGNORED_FOLDERS = ("__pycache__", "node_modules", "site-packages")


class WrittenFiles:
    """The files below a folder that are written from now on."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._before = folder, _files(folder)

    def copy_to(self, target: Path) -> int | None:
        """Copy the written files into a folder, which is emptied first; return their number. None where the
        folder has too many files.
        """
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        after = _files(self._folder)
        if self._before is None or after is None:
            return None
        names = [name for name, state in after.items() if self._before.get(name) != state]
        for name in names:
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._folder / name, place)
        return len(names)


def _files(folder: Path) -> dict[str, tuple[int, int, int]] | None:
    """The files of a folder and what tells whether they have been written; None where there are too many."""
    states: dict[str, tuple[int, int, int]] = {}
    for entry in _entries(str(folder)):
        state = entry.stat(follow_symlinks=False)
        states[os.path.relpath(entry.path, folder)] = (state.st_mtime_ns, state.st_size, state.st_ino)
        if len(states) > MOST_FILES:
            return None
    return states


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _IGNORED_FOLDERS:
                continue
            if entry.is_dir(follow_symlinks=False):
                if not os.path.exists(os.path.join(entry.path, "pyvenv.cfg")):
                    yield from _entries(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry


# -- figures -------------------------------------------------------------------------------------------------


def figures() -> list[Any]:
    """Return the data of matplotlib's open figures, and close them; none if matplotlib is not loaded."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = [[_axes(axes) for axes in pyplot.figure(number).axes] for number in pyplot.get_fignums()]
    pyplot.close("all")
    return found


def _axes(axes: Any) -> dict[str, Any]:
    return {
        "title": axes.get_title(),
        "labels": [axes.get_xlabel(), axes.get_ylabel()],
        "lines": [freeze(line.get_xydata()) for line in axes.lines],
        "images": [freeze(image.get_array()) for image in axes.images],
        "points": [freeze(collection.get_offsets()) for collection in axes.collections],
        "patches": [freeze(patch.get_path().vertices) for patch in axes.patches],
        "texts": [text.get_text() for text in axes.texts],
    }


# -- all of them ---------------------------------------------------------------------------------------------


@dataclass
class Effects:
    """What one side of a program shows.

    Attributes:
        text: the lines that it prints.
        arrays: the arrays among the variables of its module.
        figures: the data of its figures.
        folder: copies of the files that it writes.
        files: their number; None if there are too many to tell.
    """

    folder: Path
    text: list[str] = field(default_factory=list)
    arrays: dict[str, Any] = field(default_factory=dict)
    figures: list[Any] = field(default_factory=list)
    files: int | None = 0

    def note(self, module: ModuleType, text: str, written: WrittenFiles) -> None:
        """Keep what there is to see after a call of the program."""
        self.text = own_lines(text)
        self.arrays = {
            name: freeze(value)
            for name, value in vars(module).items()
            if not name.startswith("_") and hasattr(value, "__array__") and hasattr(value, "dtype")
        }
        self.figures = figures()
        self.files = written.copy_to(self.folder)

    def difference(self, actual: Effects, rtol: float) -> str | Difference | None:
        """Return the first difference between this side, NumPy's, and the other one."""
        return (
            text_difference(self.text, actual.text, rtol)
            or _named("module", first_difference(self.arrays, actual.arrays, rtol))
            or _named("figures", first_difference(self.figures, actual.figures, rtol))
            or files_difference(self.folder, actual.folder, rtol)
        )

    def told(self) -> Iterator[str]:
        """Yield what there is to compare, in words."""
        if self.text:
            yield quantity(len(self.text), "printed line")
        if self.arrays:
            yield quantity(len(self.arrays), "array") + " of the module"
        if self.figures:
            yield quantity(len(self.figures), "figure")
        if self.files:
            yield quantity(self.files, "file")


def _named(name: str, difference: Difference | None) -> str | None:
    return None if difference is None else str(difference).replace("result", name, 1)
