"""Match the lines of a text and of its translation, as a reader would: lines that occur once come first."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise

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
