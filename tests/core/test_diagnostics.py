"""Codes and reports."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

from np2tf import convert
from np2tf.core.diagnostics import Diagnostic, Report, codes

PACKAGE = Path(__file__).resolve().parents[2] / "np2tf"


@pytest.mark.parametrize("code", sorted(codes()))
def test_every_code_is_whole(code: str) -> None:
    """A code has a message, a why, a remedy and a known severity."""
    entry = codes()[code]
    assert re.fullmatch(r"NP2TF\d{3}", code)
    assert entry.message
    assert entry.why.endswith(".")
    assert entry.remedy.endswith(".")
    assert entry.severity in {"note", "warning", "error"}


def test_every_code_is_used_and_every_used_code_declared() -> None:
    """The table and the program agree."""
    used = {code for path in PACKAGE.rglob("*.py") for code in re.findall(r"NP2TF\d{3}", path.read_text())}
    assert used == set(codes())


def test_message_is_filled() -> None:
    """A diagnostic prints as file:line:column: code message."""
    found = Diagnostic("NP2TF002", "a.py", 3, 5, (("name", "np.x"),))
    assert str(found).startswith("a.py:3:5: NP2TF002 NumPy has no public name `np.x`")


def test_words_of_messages_are_plain() -> None:
    """Messages have named words only."""
    for code, entry in codes().items():
        for _, name, spec, conversion in string.Formatter().parse(entry.message):
            assert name is None or (name.isidentifier() and not spec and not conversion), code


SOURCE = """\
import numpy as np
np.no_such_name{line}
{above}
np.no_such_name
x = np.zeros(2)
"""


def found(line: str = "", above: str = "", top: str = "") -> list[int]:
    """The lines at which something is said."""
    return [d.line for d in convert(top + SOURCE.format(line=line, above=above)).diagnostics]


def test_ignore_comments() -> None:
    """`# np2tf: ignore[CODE]` works for its line, the next line if it stands alone, or the file."""
    assert found() == [2, 4]
    assert found(line="  # np2tf: ignore[NP2TF002]") == [4]
    assert found(line="  # np2tf: ignore") == [4]
    assert found(line="  # np2tf: ignore[NP2TF001]") == [2, 4]
    assert found(line="  # np2tf: ignore[NP2TF001, NP2TF002]") == [4]
    assert found(above="# np2tf: ignore[NP2TF002]") == [2]
    assert found(top="# np2tf: ignore-file[NP2TF002]\n") == []
    assert found(top="# np2tf: ignore-file\n") == []
    assert found(top="# np2tf: ignore-file[NP2TF001]\n") == [3, 5]


def test_errors_cannot_be_ignored() -> None:
    """A file that is not Python is reported whatever its comments say."""
    assert [d.code for d in convert("# np2tf: ignore-file\nimport numpy\ndef f(:\n").diagnostics] == [
        "NP2TF901"
    ]


def test_report_says_things_once() -> None:
    """The same finding at the same place is one finding, and the order is that of the file."""
    report = Report()
    for line in (4, 2, 4):
        report.add("NP2TF002", line, 1, name="np.x")
    assert [finding.line for finding in report] == [2, 4]
