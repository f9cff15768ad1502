"""The fixtures as files."""

from __future__ import annotations

from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
#: Files of fixtures/refused that Python's parser or libcst cannot read.
UNREADABLE = {"python_2", "syntax_error", "undecodable", "unknown_coding"}


def programs(pattern: str) -> list[Path]:
    """Return the fixtures of a pattern that Python's parser and libcst read."""
    return [path for path in sorted(FIXTURES.rglob(pattern)) if path.name.split(".")[0] not in UNREADABLE]
