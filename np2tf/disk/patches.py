"""Write the change of a file as a patch that `patch -p0` and `git apply -p0` accept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from np2tf.disk.matching import LineMatcher

_NO_NEWLINE = "\\ No newline at end of file\n"


def patch_of(path: Path, before: bytes, after: bytes) -> bytes:
    """Return the patch from bytes to bytes: in the file's own encoding, which the patch needs in order to
    apply.
    """
    name = os.fsencode(path.as_posix()).decode("latin-1")
    text = patch_text(name, before.decode("latin-1"), after.decode("latin-1"))
    return text.encode("latin-1")


def patch_text(name: str, before: str, after: str) -> str:
    """Return the patch from text to text, for people."""
    parts = [line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in _hunks(before, after)]
    return "".join([f"--- {name}\n+++ {name}\n", *parts]) if parts else ""


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
