"""Files by which a repository uses np2tf: its configuration, its top, the source of np2tf, a workflow."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from np2tf.core.rules import tomllib

# -- configuration -------------------------------------------------------------------------------------------
# Adds the table of a configuration at the end of a file.


class CannotAddError(ValueError):
    """Raised for a file to which a table cannot be added without a change of the file's meaning."""


def configuration(aside: Sequence[str], is_own: bool) -> str:
    """Return the text for an np2tf.toml (`is_own`) or a pyproject.toml that excludes the patterns `aside`."""
    lines = [] if is_own else ["[tool.np2tf]"]
    lines += ['target = "np2tf"', 'select = ["ALL"]']
    if aside:
        patterns = ", ".join(json.dumps(pattern, ensure_ascii=False) for pattern in aside)
        lines += [
            "# Tests, docs and benchmarks stay on NumPy.",
            f"extend-exclude = [{patterns}]",
        ]
    return "\n".join(lines) + "\n"


def with_table(data: bytes, table: str) -> bytes:
    """Return a pyproject.toml with the table at its end; all other bytes stay.

    Raises:
        CannotAddError: the file is not valid TOML, or cannot have the table.
    """
    try:
        text = data.decode("utf-8-sig")
        before = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CannotAddError(f"it is not valid TOML: {error}") from None
    end = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text.strip() else end if text.endswith("\n") else end * 2
    addition = (gap + table.replace("\n", end)).encode("utf-8")
    try:
        after = tomllib.loads((data + addition).decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise CannotAddError(f"no table can be added to `tool`: {error}") from None
    target_document = {**before, "tool": {**before.get("tool", {}), **tomllib.loads(table)["tool"]}}
    if after != target_document:
        raise CannotAddError("adding to it would change its meaning")
    return data + addition


# -- origin --------------------------------------------------------------------------------------------------
# The source from which np2tf was installed, so that a hook or a job can install the same version.


@dataclass(frozen=True)
class Distribution:
    """A git repository and a revision, or a release of a package index."""

    url: str = ""
    revision: str = ""
    version: str = ""

    @property
    def requirement(self) -> str:
        """Return the requirement for pip; "" if it is unknown."""
        if self.url:
            return f"np2tf @ git+{self.url}@{self.revision}"
        return f"np2tf=={self.version}" if self.version else ""


def parse_origin(text: str) -> Distribution:
    """Parse `URL@REVISION`; a text without URL or revision raises ValueError."""
    url, _, revision = text.removeprefix("git+").rpartition("@")
    if not url or "/" in revision or not revision:
        raise ValueError("must be URL@REVISION, such as https://example.org/np2tf.git@v0.1.0")
    return Distribution(url, revision)


def installed_distribution() -> Distribution:
    """Return the source of the running np2tf as pip has recorded it; an empty record for a checkout."""
    try:
        package = distribution("np2tf")
    except PackageNotFoundError:
        return Distribution()
    text = package.read_text("direct_url.json")
    if text is None:
        return Distribution(version=package.version) if package.read_text("INSTALLER") else Distribution()
    record = json.loads(text)
    revision = record.get("vcs_info", {}).get("commit_id", "")
    return Distribution(record["url"], revision) if revision else Distribution()


# -- repository ----------------------------------------------------------------------------------------------
# The repository around a folder: its top, and its folders that hold no programs of its own.

#: Folders of files that test, measure or describe programs; they stay on NumPy.
_ASIDE = ("tests", "test", "docs", "doc", "benchmarks", "asv_bench", "examples")
#: Files at any place that are no programs of the repository.
_ASIDE_FILES = ("conftest.py", "setup.py", "noxfile.py")


@dataclass
class Repository:
    """A folder to be prepared, and the patterns of the files in it that are not translated."""

    top: Path
    aside: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, top: Path, files: Iterable[Path]) -> Repository:
        """Return the description of a folder with these Python files."""
        parts = {part for file in files for part in _parts(file, top)}
        folders = [f"{name}/" for name in _ASIDE if name in parts]
        return cls(top, folders + [name for name in _ASIDE_FILES if name in parts])

    @property
    def pyproject(self) -> Path:
        """The path of the pyproject.toml, which need not exist."""
        return self.top / "pyproject.toml"


def top_of(folder: Path) -> Path:
    """Return the top of the repository that a folder is in; the folder itself if there is no repository."""
    whole = Path(os.path.abspath(folder))
    return next((folder for folder in (whole, *whole.parents) if os.path.lexists(folder / ".git")), whole)


def _parts(file: Path, top: Path) -> tuple[str, ...]:
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(top)).parts
    except ValueError:
        return ()


# -- workflow ------------------------------------------------------------------------------------------------
# A workflow for GitHub: findings beside the lines of a pull request, and the report as its summary.

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
    """Return the text of the workflow: pip installs `requirement`, `np2tf check` gets further arguments."""
    return _TEXT.format(
        requirement=shlex.quote(requirement),
        arguments="".join(f" {shlex.quote(argument)}" for argument in arguments),
    )
