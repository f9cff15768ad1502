"""The code cells of a notebook as one text, which a report shows in the place of a source."""

from __future__ import annotations

from collections.abc import Mapping

from np2tf.notebooks.notebook import Notebook
from np2tf.tree.source import SourceError


def text_of_cells(data: str, path: str) -> tuple[str, Mapping[int, int]]:
    """Return the cells of a notebook below headings, and the line of each heading by the cell's number.

    Args:
        data: the text of the file; what is no notebook has no cells.
        path: the path of the file.
    """
    try:
        cells = Notebook.of(data.encode("utf-8"), path).cells
    except SourceError:
        return "", {}
    lines: list[str] = []
    headings = {}
    for cell in cells:
        headings[cell.number] = len(lines) + 1
        lines += [f"# cell {cell.number}", *cell.text.rstrip("\n").split("\n"), ""]
    return "\n".join(lines), headings
