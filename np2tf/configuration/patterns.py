"""Patterns with the meaning that they have in a .gitignore."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@lru_cache(maxsize=1024)
def spec_of(patterns: tuple[str, ...]) -> GitIgnoreSpec:
    """The patterns as one that paths are matched with: relative to their folder, folders with `/` behind."""
    from pathspec import GitIgnoreSpec  # takes longer to import than `np2tf --help` may

    return GitIgnoreSpec.from_lines(patterns)
