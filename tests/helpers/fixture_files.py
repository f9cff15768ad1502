"""The fixtures as files."""

from __future__ import annotations

from pathlib import Path

from np2tf.tree.source import Source, SourceError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def programs(pattern: str) -> list[Path]:
    """Return the fixtures of a pattern that Python's parser and libcst read."""
    return [path for path in sorted(FIXTURES.rglob(pattern)) if _is_program(path)]


def _is_program(path: Path) -> bool:
    try:
        assert Source.of(path.read_bytes(), str(path)).module
    except SourceError:
        return False
    return True
