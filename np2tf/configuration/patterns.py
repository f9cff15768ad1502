"""Match paths with patterns, which have the meaning of the lines of a .gitignore."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@lru_cache(maxsize=4096)
def spec_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """Return a matcher for the patterns. Paths are relative to the patterns' folder, and the paths of folders
    end in `/`.

    The matcher also takes everything in a folder that a pattern takes.
    """
    from pathspec import GitIgnoreSpec  # takes longer to import than `np2tf --help` may

    return GitIgnoreSpec.from_lines(patterns)


def verdict(patterns: tuple[str, ...], path: str) -> bool | None:
    """Return whether the patterns take a path itself (True) or keep it by `!` (False); None if no pattern
    matches.

    This is how git walks a tree from the top down: a pattern for a folder does not match the paths in the
    folder.
    """
    if spec_of(patterns).check_file(path).include is None:
        return None
    for pattern in reversed(patterns):
        if _takes(pattern.removeprefix("!"), path):
            return not pattern.startswith("!")
    return None


def _takes(pattern: str, path: str) -> bool:
    """Return whether a pattern matches a path itself, and not only a folder above it."""
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
