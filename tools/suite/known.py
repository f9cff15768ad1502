"""The data of the suite: excluded modules, and known failures, each with its reason."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from suite.runner import Outcome

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent.parent.parent / "tests" / "numpy_suite"
BAD = ("failed", "crashed")


def excluded() -> dict[str, str]:
    """Return module or folder of NumPy's tests -> why it says nothing about an array library."""
    data = tomllib.loads((FOLDER / "excluded.toml").read_text(encoding="utf-8"))
    return {path: reason for reason, paths in data["excluded"].items() for path in paths}


def included(folder: Path) -> list[str]:
    """Return the test modules of the numpy package that are not excluded, relative to its folder."""
    left_out = excluded()
    every = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("tests/test_*.py"))
    return [name for name in every if not any(name.startswith(path) for path in left_out)]


def known_failures() -> dict[str, str]:
    """Return test id -> why the test fails. An id that ends in ``[*]`` stands for all parameters."""
    entries: dict[str, str] = {}
    for path in sorted(FOLDER.glob("known_*.toml")):
        for module, tests in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for reason, names in tests.items():
                entries.update({f"{module}::{name}": reason for name in names})
    return entries


@dataclass(frozen=True)
class Verdict:
    """The comparison of a run with the list: failures that are not listed, and entries that do not fail."""

    unknown: list[Outcome]
    stale: list[str]


def every_parameter(test: str) -> str:
    """Return the entry that stands for all parameters of a test."""
    return f"{test.partition('[')[0]}[*]" if "[" in test else test


def judge(outcomes: Iterable[Outcome], known: dict[str, str], modules: Iterable[str]) -> Verdict:
    """Compare a run of `modules` with the list."""
    ran = list(outcomes)
    failing = {outcome.id for outcome in ran if outcome.outcome in BAD}
    passing = {every_parameter(outcome.id) for outcome in ran if outcome.outcome == "passed"}
    covered = {entry for test in failing for entry in (test, every_parameter(test))}
    within = set(modules)
    return Verdict(
        [
            outcome
            for outcome in ran
            if outcome.id in failing and not {outcome.id, every_parameter(outcome.id)} & known.keys()
        ],
        [
            entry
            for entry in known
            if entry.partition("::")[0] in within
            and (entry not in covered or (entry.endswith("[*]") and entry in passing))
        ],
    )


def updated(outcomes: Iterable[Outcome], known: dict[str, str], modules: Iterable[str]) -> dict[str, str]:
    """Return the list that fits a run. Reasons are kept; a new failure gets its error as the reason."""
    ran = list(outcomes)
    passing = {every_parameter(outcome.id) for outcome in ran if outcome.outcome == "passed"}
    within = set(modules)
    made = {entry: reason for entry, reason in known.items() if entry.partition("::")[0] not in within}
    for outcome in ran:
        if outcome.outcome in BAD:
            whole = every_parameter(outcome.id)
            entry = outcome.id if whole in passing else whole
            reason = known.get(outcome.id) or known.get(whole) or made.get(entry) or seen(outcome)
            made[entry] = reason
    return made


def seen(outcome: Outcome) -> str:
    """Return a first reason for a failure: the error, without the parts that change from run to run."""
    text = re.sub(r"0x[0-9a-f]+", "0x…", outcome.cause.partition(" @ ")[0].partition(" Traceback ")[0])
    text = re.sub(r"(/[\w.~-]+){2,}", "…", text)
    return " ".join(text.split())[:120] or outcome.outcome


@dataclass(frozen=True)
class Cause:
    """A reason for people, with patterns of the error and of the test's name that recognise it."""

    reason: str
    error: str
    test: str = ""

    def fits(self, entry: str, error: str) -> bool:
        """Return whether both patterns are found."""
        return re.search(self.error, error) is not None and re.search(self.test, entry) is not None


@lru_cache(maxsize=1)
def causes() -> tuple[Cause, ...]:
    """Return the causes of tests/numpy_suite/causes.toml."""
    data = tomllib.loads((FOLDER / "causes.toml").read_text(encoding="utf-8"))
    return tuple(Cause(**cause) for cause in data["cause"])


def explained(entry: str, reason: str) -> str:
    """Return the reason of the first cause that fits an error; else the text as it is."""
    if any(cause.reason == reason for cause in causes()):
        return reason
    return next((cause.reason for cause in causes() if cause.fits(entry, reason)), reason)


def write(entries: dict[str, str]) -> None:
    """Write the list, one file for each of NumPy's packages."""
    entries = {entry: explained(entry, reason) for entry, reason in entries.items()}
    packages: dict[str, dict[str, dict[str, list[str]]]] = {}
    for entry, reason in sorted(entries.items()):
        module, _, test = entry.partition("::")
        tests = packages.setdefault(module.partition("/")[0].strip("_"), {}).setdefault(module, {})
        tests.setdefault(reason, []).append(test)
    for path in FOLDER.glob("known_*.toml"):
        path.unlink()
    for package, modules in packages.items():
        parts = [f"# Known failures of NumPy's own tests in numpy/{package}: reason = tests."]
        for module, reasons in modules.items():
            parts.append(f"\n[{_quoted(module)}]")
            for reason, names in sorted(reasons.items()):
                listed = "".join(f"    {_quoted(name)},\n" for name in names)
                parts.append(f"{_quoted(reason)} = [\n{listed}]")
        (FOLDER / f"known_{package}.toml").write_text("\n".join(parts) + "\n", encoding="utf-8")


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, apart from the pairs that it makes of characters beyond 16 bits.
    return re.sub(
        r"\\u(d[89ab]..)\\u(d[c-f]..)",
        lambda pair: f"\\U{0x10000 + ((int(pair[1], 16) - 0xD800) << 10) + int(pair[2], 16) - 0xDC00:08x}",
        json.dumps(text),
    ).replace("\x7f", "\\u007f")
