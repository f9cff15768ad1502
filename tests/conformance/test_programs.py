"""Every program of fixtures/programs, as it stands: it converts, and returns what NumPy returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from np2tf import convert
from np2tf.cli.verify.programs import verify_program

PROGRAMS = sorted((Path(__file__).parents[2] / "fixtures" / "programs").glob("*.py"))

by_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)


def test_there_are_programs():
    assert len(PROGRAMS) >= 17


@by_program
def test_it_converts(path: Path):
    text = path.read_text()
    result = convert(text, path=str(path))
    assert result.changed
    assert not [str(found) for found in result.diagnostics if found.severity == "error"]
    compile(result.text, str(path), "exec")
    again = convert(result.text, path=str(path))
    assert again.text == result.text


@by_program
def test_its_translation_is_equal(path: Path):
    """Every program runs twice: the first call compiles it, and the second call runs the compiled program."""
    outcome = verify_program(path, repeat=2)
    assert outcome.equal, f"{outcome.code} {outcome.error}"
