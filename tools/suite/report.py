"""Report a run: figures per module, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from suite.known import BAD
from suite.runner import Outcome


@dataclass
class Figures:
    """The number of tests of a module by outcome.

    Attributes:
        native: passed, and no operation was handed to NumPy.
        host: passed, with operations handed to NumPy.
        failed: failed, or ended the process.
        skipped: skipped, or expected to fail, by NumPy's own marks.
        seconds: how long the tests took.
    """

    native: int = 0
    host: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0

    @property
    def judged(self) -> int:
        """Return the number of tests that can pass or fail."""
        return self.native + self.host + self.failed

    @property
    def passed(self) -> str:
        """Return the share of the judged tests that pass."""
        return _share(self.native + self.host, self.judged)

    @property
    def passed_native(self) -> str:
        """Return the share of the judged tests that pass without NumPy's help."""
        return _share(self.native, self.judged)

    def add(self, outcome: Outcome) -> None:
        """Count one more test."""
        self.seconds += outcome.seconds
        if outcome.outcome in BAD:
            self.failed += 1
        elif outcome.outcome != "passed":
            self.skipped += 1
        elif outcome.host:
            self.host += 1
        else:
            self.native += 1


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def figures(outcomes: Iterable[Outcome], by_folder: bool = False) -> tuple[dict[str, Figures], Figures]:
    """Return the figures per module, or per folder of NumPy that has modules, and in all."""
    modules: dict[str, Figures] = {}
    total = Figures()
    for outcome in outcomes:
        name = outcome.module.partition("/")[0] if by_folder else outcome.module
        modules.setdefault(name, Figures()).add(outcome)
        total.add(outcome)
    return modules, total


def table(outcomes: Iterable[Outcome], by_folder: bool = False) -> str:
    """Return a Markdown table with one row for each module, or for each folder of NumPy that has modules."""
    modules, total = figures(outcomes, by_folder)
    first = "folder" if by_folder else "module"
    rows = [
        f"| {first} | tests | pass | native only | with host | fail | skipped |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, row in [*sorted(modules.items()), ("**all**", total)]:
        rows.append(
            f"| {name} | {row.judged} | {row.passed} | {row.native} ({row.passed_native}) | {row.host} "
            f"| {row.failed} | {row.skipped} |"
        )
    return "\n".join(rows)


def as_json(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Return the same figures as JSON data, with the failures."""
    ran = list(outcomes)
    modules, total = figures(ran)
    return {
        "total": asdict(total),
        "modules": {name: asdict(row) for name, row in modules.items()},
        "failures": {outcome.id: outcome.cause for outcome in ran if outcome.outcome in BAD},
    }
