"""A workflow for GitHub: findings beside the lines of a pull request, and the report as its summary."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

#: The path of the workflow in the repository.
PLACE = ".github/workflows/np2tf.yml"
_TEXT = """\
name: np2tf
on:
  push:
  pull_request:
permissions:
  contents: read
jobs:
  np2tf:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      # The translator alone: it needs no TensorFlow.
      - run: pip install {requirement}
      - run: np2tf report --markdown . >> "$GITHUB_STEP_SUMMARY"
      - run: np2tf check --format github{arguments} .
"""


def workflow(requirement: str, arguments: Sequence[str]) -> str:
    """Return the text of the workflow.

    Args:
        requirement: the requirement that pip installs.
        arguments: further arguments of `np2tf check`.
    """
    return _TEXT.format(
        requirement=shlex.quote(requirement),
        arguments="".join(f" {shlex.quote(argument)}" for argument in arguments),
    )
