"""Replaces the lines of a cell that are IPython's, and not Python's, by names while the program is
translated.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

#: Magics of whole cells after which the text is still Python.
_PYTHON = re.compile(r"%%(?:time|timeit|capture|prun|memit|python3?)\b")
_MAGIC = re.compile(r"\s*(?:[%!?]|[\w.*]+\?{1,2}\s*$|[\w.]+\s*=\s*[%!])")
_TARGET = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*[%!]")
_NAME = "np2tf_magic_"


class NoPlaceError(Exception):
    """A translation cannot be put back into the cells."""


@dataclass
class Magics:
    """The lines that names have replaced, in the order of the program."""

    lines: list[str] = field(default_factory=list)

    def without(self, cell: str) -> str | None:
        """Replace the lines of a cell that are not Python by names.

        Returns:
            The new text, in which lines may remain that are not Python; None for a cell in another language.
        """
        if cell.lstrip().startswith("%%") and not _PYTHON.match(cell.lstrip()):
            return None
        lines = cell.split("\n")
        candidates = [number for number, line in enumerate(lines) if _MAGIC.match(line)]
        originals = {}
        while candidates:
            error = _error(lines)
            if error is None:
                break
            # If the error is in another line, a magic before that line has an open quote or bracket.
            number = error - 1 if error - 1 in candidates else candidates[0]
            candidates.remove(number)
            originals[number] = lines[number]
            lines[number] = _indent(lines[number]) + _NAME
        for number in sorted(originals):
            lines[number] = self._stand_in(originals[number])
        return "\n".join(lines)

    def restore(self, cells: list[str]) -> list[str]:
        """Put the original lines back into the texts of cells.

        Raises:
            NoPlaceError: a line is gone, or stands in another place.
        """
        numbers: list[int] = []

        def original(match: re.Match[str]) -> str:
            number = int(match[2])
            line = self.lines[number]
            if match[1] != _indent(line):
                raise NoPlaceError(f"a magic would stand in another block: {line.strip()}")
            numbers.append(number)
            return line

        stand_in = re.compile(rf"^([ \t]*)[^\n]*?\b{_NAME}(\d+)\b[^\n]*$", re.MULTILINE)
        texts = [stand_in.sub(original, text) for text in cells]
        if numbers != list(range(len(self.lines))):
            raise NoPlaceError("a magic would be lost, or run in another order")
        return texts

    def _stand_in(self, line: str) -> str:
        name = f"{_NAME}{len(self.lines)}"
        self.lines.append(line)
        # A magic can read and do anything. `exec` says that to the translator.
        value = f"exec({name})"
        target = _TARGET.match(line)
        return _indent(line) + (f"{target[1]} = {value}" if target is not None else value)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _error(lines: list[str]) -> int | None:
    """Return the line in which Python's parser finds an error; None if the lines are Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return None
    return None
