"""The change of a file as a patch; lines are matched as a reader would."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise
from pathlib import Path

# -- matching ------------------------------------------------------------------------------------------------
# Match the lines of a text and of its translation, as a reader would: lines that occur once come first.

#: Ranges with more pairs of lines than this are compared without their frequent lines, which takes less time.
_MOST_PAIRS = 1_000_000

_Range = tuple[int, int, int, int]


class LineMatcher(SequenceMatcher[str]):
    """Compares two lists of lines.

    difflib alone drops lines that are frequent in a text of 200 lines or more. Equal blank lines and
    `return x` would then count as changed. Here lines that occur once on each side are matched first, in
    their order ("patience diff"), and difflib compares the short ranges between them with all their lines.
    """

    a: Sequence[str]
    b: Sequence[str]

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)

    def get_matching_blocks(self) -> list[Match]:
        """Return the equal ranges, in order, with an empty range at the end, as difflib does."""
        blocks: list[Match] = []
        for start, behind, size in sorted(_equal_ranges(self.a, self.b)):
            if (
                blocks
                and blocks[-1].a + blocks[-1].size == start
                and blocks[-1].b + blocks[-1].size == behind
            ):
                blocks[-1] = blocks[-1]._replace(size=blocks[-1].size + size)
            else:
                blocks.append(Match(start, behind, size))
        return [*blocks, Match(len(self.a), len(self.b), 0)]


def _equal_ranges(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the equal ranges: where they begin in both texts, and how many lines they have."""
    ranges = [(0, len(a), 0, len(b))]
    while ranges:
        first, last, start, end = ranges.pop()
        head = 0
        while first + head < last and start + head < end and a[first + head] == b[start + head]:
            head += 1
        if head:
            yield first, start, head
            first, start = first + head, start + head
        tail = 0
        while last - tail > first and end - tail > start and a[last - tail - 1] == b[end - tail - 1]:
            tail += 1
        if tail:
            last, end = last - tail, end - tail
            yield last, end, tail
        if first == last or start == end:
            continue
        anchors = _anchors(a, b, (first, last, start, end))
        for i, j in anchors:
            yield i, j, 1
        if anchors:
            edges = [(first - 1, start - 1), *anchors, (last, end)]
            ranges += [(i + 1, k, j + 1, m) for (i, j), (k, m) in pairwise(edges)]
        else:
            yield from _by_difflib(a, b, (first, last, start, end))


def _anchors(a: Sequence[str], b: Sequence[str], where: _Range) -> list[tuple[int, int]]:
    """Return the longest list of lines, in the order of both texts, that occur once on each side."""
    first, last, start, end = where
    counts, other_counts = Counter(a[first:last]), Counter(b[start:end])
    places = {line: j for j, line in enumerate(b[start:end], start) if other_counts[line] == 1}
    pairs = [(i, places[a[i]]) for i in range(first, last) if counts[a[i]] == 1 and a[i] in places]
    ends: list[int] = []
    chains: list[int] = []
    before: list[int | None] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        ends[at : at + 1] = [j]
        chains[at : at + 1] = [number]
        before.append(chains[at - 1] if at else None)
    pairs_in_order = []
    number_of_last = chains[-1] if chains else None
    while number_of_last is not None:
        pairs_in_order.append(pairs[number_of_last])
        number_of_last = before[number_of_last]
    return pairs_in_order[::-1]


def _by_difflib(a: Sequence[str], b: Sequence[str], where: _Range) -> Iterator[tuple[int, int, int]]:
    first, last, start, end = where
    drops_frequent = (last - first) * (end - start) > _MOST_PAIRS
    matcher = SequenceMatcher(None, a[first:last], b[start:end], drops_frequent)
    for i, j, size in matcher.get_matching_blocks():
        if size:
            yield first + i, start + j, size


# -- patches -------------------------------------------------------------------------------------------------
# Write the change of a file as a patch that `patch -p0` and `git apply -p0` accept.

_NO_NEWLINE = "\\ No newline at end of file\n"


def patch_of(path: Path, before: bytes, after: bytes) -> bytes:
    """Return the patch from bytes to bytes, in the file's own encoding, which it needs to apply."""
    name = os.fsencode(path.as_posix()).decode("latin-1")
    text = patch_text(name, before.decode("latin-1"), after.decode("latin-1"))
    return text.encode("latin-1")


def patch_text(name: str, before: str, after: str) -> str:
    """Return the patch from text to text, for people."""
    parts = [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in _hunks(before, after)]
    return "".join([f"--- {name}\n+++ {name}\n", *parts]) if parts else ""


def cells_patch(path: Path, before: bytes, after: bytes) -> bytes:
    """Return the changes of a notebook, cell by cell, in UTF-8. They are for people: no program applies them.

    Args:
        before, after: the two versions of the file, with the same cells.
    """
    from np2tf.translator.notebooks import Notebook  # loads the translator

    name = path.as_posix()
    cells, new_cells = (Notebook.of(data, name).cells for data in (before, after))
    parts = [
        patch_text(f"{name}:cell {cell.number}", _ended(cell.text), _ended(new_cell.text))
        for cell, new_cell in zip(cells, new_cells, strict=True)
    ]
    return "".join(parts).encode("utf-8", "surrogateescape")


def _ended(text: str) -> str:
    """Return the text of a cell with an end behind its last line, which cells do not have."""
    return text if text.endswith("\n") or not text else f"{text}\n"


def _hunks(before: str, after: str) -> Iterator[str]:
    """Yield the lines of a unified diff behind its two headings."""
    a, b = _lines(before), _lines(after)
    for group in LineMatcher(a, b).get_grouped_opcodes():
        yield f"@@ -{_range(group[0][1], group[-1][2])} +{_range(group[0][3], group[-1][4])} @@\n"
        for tag, first, last, start, end in group:
            if tag == "equal":
                yield from (f" {line}" for line in a[first:last])
            else:
                yield from (f"-{line}" for line in a[first:last])
                yield from (f"+{line}" for line in b[start:end])


def _range(first: int, last: int) -> str:
    """Return a range of lines as the heading of a hunk names it; an empty range names the line before it."""
    length = last - first
    return str(first + 1) if length == 1 else f"{first + (length > 0)},{length}"


def _lines(text: str) -> list[str]:
    """Return the lines as `diff` sees them: only a line feed ends a line."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])
