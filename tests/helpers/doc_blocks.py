"""The blocks of code in pages of documentation: what they hold, and what is said of how they are run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(\w*)(?:[ ]+title=\"([^\"]+)\")?\s*$")
_NOT_RUN = re.compile(r"^<!-- not run: (.{10,}) -->$")
_ELSEWHERE = re.compile(r"^<!-- (tests/[\w/]+\.py) holds .* -->$")
#: A line that stands for a file of the checkout.
_FILE = re.compile(r'^--8<-- "([\w/.]+)"$', re.MULTILINE)
_ROOT = Path(__file__).resolve().parents[2]
_NEW = "<!-- in a new environment -->"
_STATUS = re.compile(r"^<!-- exits with (\d+) -->$")
#: The languages of the blocks that are run; other blocks show output and data.
RUN = ("python", "sh")


class Block(NamedTuple):
    """One block.

    Attributes:
        language: behind the fence.
        text: what stands in it.
        line: where it begins.
        title: the name of the file, if the block is a file.
        not_run: the reason why it is not run.
        elsewhere: the test that runs it.
        status: with which its last command ends.
        is_installation: whether it runs in the top folder of a checkout, in a new environment.
    """

    language: str
    text: str
    line: int
    title: str = ""
    not_run: str = ""
    elsewhere: str = ""
    status: int = 0
    is_installation: bool = False


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if opened is None:
            at += 1
            continue
        end = lines.index("```", at + 1)
        told = _before(lines, at)
        text = _FILE.sub(_text_of, "\n".join(lines[at + 1 : end])).rstrip("\n") + "\n"
        found.append(Block(opened[1], text, at + 1, opened[2] or "", *told))
        at = end + 1
    return found


def _text_of(file: re.Match[str]) -> str:
    return (_ROOT / file[1]).read_text(encoding="utf-8")


def _before(lines: list[str], at: int) -> tuple[str, str, int, bool]:
    """Return the settings in the comment before a block."""
    line = next((line for line in reversed(lines[:at]) if line.strip()), "")
    not_run, elsewhere, status = _NOT_RUN.match(line), _ELSEWHERE.match(line), _STATUS.match(line)
    return (
        not_run[1] if not_run else "",
        elsewhere[1] if elsewhere else "",
        int(status[1]) if status else 0,
        line == _NEW,
    )
