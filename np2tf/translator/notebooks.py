"""A notebook as one program, and its translation put back into the cells."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.sources.python_trees import parse_quietly
from np2tf.translator.tree.source import SourceError

# -- places --------------------------------------------------------------------------------------------------
# Find where values stand in a JSON text, to replace a value and leave all else byte for byte.

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Place(NamedTuple):
    """The part of a text that spells a value."""

    start: int
    end: int


def members(text: str, place: Place) -> Iterator[tuple[str, Place]]:
    """Yield the keys of an object, each with the place of its value. Other values have no keys."""
    if text[place.start] != "{":
        return
    at = _after_space(text, place.start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        value = _value(text, at)
        yield key, value
        at = _after_comma(text, value.end)


def elements(text: str, place: Place) -> Iterator[Place]:
    """Yield the places of the elements of an array. Other values have no elements."""
    if text[place.start] != "[":
        return
    at = _after_space(text, place.start + 1)
    while text[at] != "]":
        value = _value(text, at)
        yield value
        at = _after_comma(text, value.end)


def whole(text: str) -> Place:
    """Return the place of the single value of a text; raise ValueError if it is not JSON."""
    json.loads(text)
    return _value(text, _after_space(text, 0))


def spelled_like(old: str, new: str) -> str:
    """Spell a text as JSON, in the form of the earlier value `old`: one string, or a list of lines."""
    is_ascii = old.isascii() and "\\u" in old
    if not old.startswith("["):
        return json.dumps(new, ensure_ascii=is_ascii)
    lines = new.splitlines(keepends=True) if "\r" not in new else re.findall(r"[^\n]*\n|[^\n]+", new)
    if not lines:
        return "[]"
    places = list(elements(old, Place(0, len(old))))
    first, separator, last = "", ", ", ""
    if places:
        first, last = old[1 : places[0].start], old[places[-1].end : -1]
        separator = old[places[0].end : places[1].start] if len(places) > 1 else "," + (first or " ")
    return f"[{first}{separator.join(json.dumps(line, ensure_ascii=is_ascii) for line in lines)}{last}]"


def _value(text: str, at: int) -> Place:
    _, end = _DECODER.raw_decode(text, at)
    return Place(at, end)


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


# -- magics --------------------------------------------------------------------------------------------------
# Replaces the lines of a cell that are IPython's, and not Python's, by names while the program is
# translated.

#: Magics of whole cells after which the text is still Python.
_PYTHON = re.compile(r"%%(?:time|timeit|capture|prun|memit|python3?)\b")
#: The last alternative is IPython's automagic, `cd /content`.
_MAGIC = re.compile(
    r"\s*(?:[%!?]|[\w.*]+\?{1,2}\s*$|[\w.]+\s*=\s*[%!]|"
    r"(?:cd|ls|pwd|pip|conda|mkdir|rm|cp|mv|cat)(?:\s+[\w/.~-]|\s*$))"
)
#: Magics outside of functions that neither read nor bind names, as the shell's commands without `$x` and
#: `{x}`.
_APART = re.compile(
    r"(?:!|%%(?:time|capture)\s*$|(?:%(?:matplotlib|load_ext|reload_ext|autoreload|config|precision|env)|"
    r"%?(?:cd|ls|pwd|pip|conda|mkdir|rm|cp|mv|cat))\b)[^{$]*$"
)
_TARGET = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*[%!]")
#: The names of magics in the program begin with this.
MAGIC = "np2tf_magic_"


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
            lines[number] = _indent(lines[number]) + MAGIC
        for number in sorted(originals):
            lines[number] = self._stand_in(originals[number])
        return "\n".join(lines)

    def restore(self, cells: list[str]) -> list[str]:
        """Put the cells' original lines back; raise NoPlaceError if one is gone or has moved."""
        numbers: list[int] = []

        def original(match: re.Match[str]) -> str:
            number = int(match[2])
            line = self.lines[number]
            if match[1] != _indent(line):
                raise NoPlaceError(f"a magic would end up in another block: {line.strip()}")
            numbers.append(number)
            return line

        stand_in = re.compile(rf"^([ \t]*)[^\n]*?\b{MAGIC}(\d+)\b[^\n]*$", re.MULTILINE)
        texts = [stand_in.sub(original, text) for text in cells]
        if numbers != list(range(len(self.lines))):
            raise NoPlaceError("a magic would be lost, or run in another order")
        return texts

    def _stand_in(self, line: str) -> str:
        name = f"{MAGIC}{len(self.lines)}"
        self.lines.append(line)
        # Most magics can read and do anything. `exec` says that to the translator.
        value = f"print({name})" if _APART.match(line) else f"exec({name})"
        target = _TARGET.match(line)
        return _indent(line) + (f"{target[1]} = {value}" if target is not None else value)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _error(lines: list[str]) -> int | None:
    """Return the line in which Python's parser finds an error; None if the lines are Python."""
    try:
        parse_quietly("\n".join(lines))
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


# -- notebook ------------------------------------------------------------------------------------------------
# A notebook as one program: later cells know the names that earlier cells bind.

SUFFIX = ".ipynb"
#: A statement that says which cell follows. A comment would vanish with a statement that is removed.
_MARK = '"np2tf: cell {}"'
_CELL_MARK = re.compile(r'^"np2tf: cell (\d+)"\n', re.MULTILINE)
_BOM = "\ufeff"
#: The place of a function of the program in a message.
_LINE = re.compile(r"\(line (\d+)\)")


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
        """Read a file; raise SourceError if it is no notebook in Jupyter's format 4."""
        try:
            text = data.decode("utf-8")
            top = whole(text.removeprefix(_BOM))
            content = json.loads(text.removeprefix(_BOM))
            if not isinstance(content, dict) or content.get("nbformat") != 4:
                raise ValueError("it is not in Jupyter's format 4")
            code_cells = list(_code_cells(text.removeprefix(_BOM), top, content))
        except json.JSONDecodeError as error:
            reason = (("reason", f"it is not valid JSON: {error.msg}"),)
            raise SourceError(Diagnostic("NP2TF900", path, error.lineno, error.colno, reason)) from None
        except UnicodeDecodeError as error:
            reason = (("reason", f"it is not UTF-8: {error.reason}"),)
            raise SourceError(Diagnostic("NP2TF900", path, 1, 1, reason)) from None
        except (ValueError, RecursionError) as error:
            reason = (("reason", str(error) if isinstance(error, ValueError) else "it is nested too deeply"),)
            raise SourceError(Diagnostic("NP2TF900", path, 1, 1, reason)) from None
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
        words = tuple((name, self.with_lines_of_cells(word)) for name, word in finding.args)
        return replace(finding, line=finding.line - shift, end=end, cell=cell.number, args=words)

    def with_lines_of_cells(self, text: str) -> str:
        """Return a message in which places of the program, "(line 12)", are places in cells, "(cell 3:2)"."""

        def place(match: re.Match[str]) -> str:
            line = int(match[1])
            cell = self.cell_at(line)
            return match[0] if cell is None else f"(cell {cell.number}:{line - cell.first + 1})"

        return _LINE.sub(place, text)

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
        """Return the file with a translated program; raise NoPlaceError if it does not fit the cells."""
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
                raise NoPlaceError(f"something would come before {cell.text.split()[0]}")
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
            raise ValueError(f"the source of cell {number} is not text")
        code_cells.append((number, value, source))
    return code_cells
