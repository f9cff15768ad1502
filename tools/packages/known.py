"""The list of tests that fail translated, each with its cause: tests/corpus/known_failures.toml."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tools.packages.catalogue import ROOT, tomllib
from tools.packages.runs import MODES, Run

LIST = ROOT / "tests" / "corpus" / "known_failures.toml"


@dataclass(frozen=True)
class Known:
    """One test that is known to fail."""

    package: str
    test: str
    cause: str
    modes: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The comparison of a run with the list.

    Attributes:
        known: failures that are listed.
        unlisted: tests that pass on NumPy, fail translated, and are not listed.
        stale: listed tests that pass, or do not exist.
    """

    known: tuple[Known, ...]
    unlisted: tuple[str, ...]
    stale: tuple[Known, ...]

    def __bool__(self) -> bool:
        return not self.unlisted and not self.stale


def known_failures() -> tuple[Known, ...]:
    """Return the whole list.

    Raises:
        ValueError: an entry has no cause, or an unknown mode.
    """
    found = []
    for entry in tomllib.loads(LIST.read_text(encoding="utf-8")).get("failure", ()):
        modes = tuple(entry.get("modes", MODES))
        if not entry.get("cause", "").strip() or not set(modes) <= set(MODES):
            raise ValueError(f"{LIST.name}: an entry of {entry['package']}: no cause, or an unknown mode")
        for test in entry.get("tests") or [entry["test"]]:
            found.append(Known(entry["package"], test, entry["cause"], modes))
    return tuple(found)


def judge(package: str, mode: str, numpy: Run, translated: Run, listed: Iterable[Known]) -> Verdict:
    """Compare one package's run in one mode with the list."""
    failing = numpy.passed - translated.passed
    known_failures = [failure for failure in listed if failure.package == package and mode in failure.modes]
    names = {failure.test for failure in known_failures}
    return Verdict(
        tuple(failure for failure in known_failures if failure.test in failing),
        tuple(sorted(failing - names)),
        tuple(failure for failure in known_failures if failure.test not in failing),
    )
