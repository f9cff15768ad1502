"""Patterns with the meaning that they have in a .gitignore."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@lru_cache(maxsize=4096)
def spec_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """The patterns as one that paths are matched with: relative to their folder, folders with `/` behind.

    It takes what lies in a folder that a pattern takes as well.
    """
    from pathspec import GitIgnoreSpec  # takes longer to import than `np2tf --help` may

    return GitIgnoreSpec.from_lines(patterns)


def verdict(patterns: tuple[str, ...], path: str) -> bool | None:
    """Whether the patterns take a path itself (False: by `!` they do not); None where none is about it.

    This is how git looks at a tree from the top down: a pattern for a folder says nothing of what is in it.
    """
    if spec_of(patterns).check_file(path).include is None:
        return None
    for pattern in reversed(patterns):
        if _takes(pattern.removeprefix("!"), path):
            return not pattern.startswith("!")
    return None


def _takes(pattern: str, path: str) -> bool:
    """Whether one pattern is about a path, and not about a folder above it."""
    parts = path.rstrip("/").split("/")
    body = pattern.rstrip().rstrip("/")
    if "/" not in body:
        return spec_of((pattern,)).match_file(parts[-1] + "/" * path.endswith("/"))
    if not spec_of((pattern,)).match_file(path):
        return False
    names = body.strip("/").split("/")
    if names[-1] == "**":
        return len(parts) > len([name for name in names if name != "**"])
    if "**" in names:
        return spec_of((f"**/{names[-1]}",)).match_file(parts[-1])
    return len(parts) == len(names)
