"""A notebook as one program: later cells know the names that earlier cells bind."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

from np2tf.diagnostics import Diagnostic
from np2tf.notebooks.magics import Magics, NoPlaceError
from np2tf.notebooks.places import Place, elements, members, spelled_like, whole
from np2tf.tree.source import SourceError

SUFFIX = ".ipynb"
#: A statement that says which cell follows. A comment would vanish with a statement that is removed.
_MARK = '"np2tf: cell {}"'
_CELL_MARK = re.compile(r'^"np2tf: cell (\d+)"\n', re.MULTILINE)
_BOM = "\ufeff"


@dataclass(frozen=True)
class Cell:
    """A code cell: its number among all cells, from 1, its text, and the place of the text in the file."""

    number: int
    text: str
    place: Place
    first: int
    """The line of the program in which the text of the cell begins."""


@dataclass(frozen=True)
class Notebook:
    """A notebook's file, and its program."""

    path: str
    data: str
    cells: tuple[Cell, ...]
    magics: Magics
    text: str

    @classmethod
    def of(cls, data: bytes, path: str) -> Notebook:
        """Read a file.

        Raises:
            SourceError: it is not a notebook of Jupyter's format 4.
        """
        try:
            text = data.decode("utf-8")
            top = whole(text.removeprefix(_BOM))
            content = json.loads(text.removeprefix(_BOM))
            if not isinstance(content, dict) or content.get("nbformat") != 4:
                raise ValueError("it is not a notebook of Jupyter's format 4")
            code_cells = list(_code_cells(text.removeprefix(_BOM), top, content))
        except (ValueError, RecursionError) as error:
            reason = (("reason", str(error) or "it is nested too deeply"),)
            raise SourceError(Diagnostic("NP2TF902", path, 1, 1, reason)) from None
        magics = Magics()
        cells, parts, line = [], [], 1
        for number, cell, place in code_cells:
            python = magics.without(cell)
            if python is not None:
                parts.append(f"{_MARK.format(number)}\n{python}\n")
                cells.append(Cell(number, cell, place, line + 1))
                line += parts[-1].count("\n")
        return cls(path, text, tuple(cells), magics, "".join(parts))

    def cell_at(self, line: int) -> Cell | None:
        """Return the cell that holds a line of the program; None if the line is before the first cell."""
        index = bisect_right(self.cells, line, key=lambda cell: cell.first) - 1
        return self.cells[index] if index >= 0 else None

    def in_cell(self, finding: Diagnostic) -> Diagnostic:
        """Turn a finding in the program into a finding in its cell."""
        cell = self.cell_at(finding.line)
        if cell is None or finding.cell is not None:
            return finding
        shift = cell.first - 1
        end = (finding.end[0] - shift, finding.end[1]) if finding.end is not None else None
        return replace(finding, line=finding.line - shift, end=end, cell=cell.number)

    def in_cells(self, findings: list[Diagnostic]) -> list[Diagnostic]:
        """Turn findings in the program into findings in their cells."""
        return [self.in_cell(finding) for finding in findings]

    def in_program(self, finding: Diagnostic) -> Diagnostic:
        """Turn a finding in a cell into a finding in the program."""
        cell = next((cell for cell in self.cells if cell.number == finding.cell), None)
        if cell is None:
            return finding
        shift = cell.first - 1
        end = (finding.end[0] + shift, finding.end[1]) if finding.end is not None else None
        return replace(finding, line=finding.line + shift, end=end, cell=None)

    def with_program(self, text: str) -> str:
        """Return the file with a translation of its program.

        Raises:
            NoPlaceError: the translation cannot be divided into the cells.
        """
        parts = _CELL_MARK.split(text)
        numbers = [int(number) for number in parts[1::2]]
        if parts[0] or numbers != [cell.number for cell in self.cells]:
            raise NoPlaceError("the translation has other cells")
        result = self.data
        shift = len(_BOM) if self.data.startswith(_BOM) else 0
        new_cells = self.magics.restore(parts[2::2])
        for cell, lines in reversed(list(zip(self.cells, new_cells))):
            new = lines.removesuffix("\n")
            if cell.text.startswith("%%") and new.split("\n")[0] != cell.text.split("\n")[0]:
                raise NoPlaceError(f"something would stand before {cell.text.split()[0]}")
            if new != cell.text:
                start, end = cell.place.start + shift, cell.place.end + shift
                result = result[:start] + spelled_like(self.data[start:end], new) + result[end:]
        return result


def _code_cells(text: str, top: Place, content: dict[str, Any]) -> list[tuple[int, str, Place]]:
    """Return number, text and place of each code cell of a notebook in Python."""
    metadata = content.get("metadata", {})
    info, kernel = metadata.get("language_info") or {}, metadata.get("kernelspec") or {}
    if "python" not in str(info.get("name", kernel.get("language", "python"))).lower():
        return []
    cells = dict(members(text, top)).get("cells")
    code_cells = []
    for number, place in enumerate(elements(text, cells) if cells is not None else (), 1):
        cell = content["cells"][number - 1]
        source = dict(members(text, place)).get("source")
        if not isinstance(cell, dict) or cell.get("cell_type") != "code" or source is None:
            continue
        value = cell["source"]
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            value = "".join(value)
        if not isinstance(value, str):
            raise ValueError(f"the source of cell {number} is no text")
        code_cells.append((number, value, source))
    return code_cells
