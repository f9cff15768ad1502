"""Write the change of a file as a patch that `patch -p0` and `git apply -p0` accept."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

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
    parts = []
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name):
        parts.append(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Return the lines as `diff` sees them: only a line feed ends a line."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])
