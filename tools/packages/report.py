"""Report a run of the corpus: as a table, as Markdown, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from tools.packages.catalogue import Package
from tools.packages.known import Verdict
from tools.packages.runs import Run

HEAD = ("package", "mode", "pass on NumPy", "pass translated", "%", "s on NumPy", "s translated")


@dataclass(frozen=True)
class Row:
    """The results of one package in one mode."""

    package: Package
    mode: str
    numpy: Run
    translated: Run
    verdict: Verdict

    @property
    def kept(self) -> int:
        """Return how many of the tests that pass on NumPy pass translated."""
        return len(self.numpy.passed & self.translated.passed)

    @property
    def percent(self) -> float:
        """Return the percentage of the tests that pass on NumPy which pass translated; 0 if none passes on
        NumPy.
        """
        return 100 * self.kept / len(self.numpy.passed) if self.numpy.passed else 0.0

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row, in the order of HEAD."""
        return (
            f"{self.package.name} {self.package.version}",
            self.mode,
            str(len(self.numpy.passed)),
            str(self.kept),
            f"{int(self.percent * 10) / 10:g}",
            f"{self.numpy.seconds:.0f}",
            f"{self.translated.seconds:.0f}",
        )


def table(rows: Sequence[Row]) -> Table:
    """Return the table for the terminal."""
    made = Table(*HEAD[:2])
    for name in HEAD[2:]:
        made.add_column(name, justify="right")
    for row in rows:
        made.add_row(*row.cells(), style=None if row.verdict else "red")
    return made


def markdown(rows: Sequence[Row]) -> str:
    """Return the table for the documentation, and below it every failure with its cause."""
    # Single times, beside other work, say little; benchmarks/packages.py measures.
    lines = [f"| {' | '.join(cells[:4])} |" for cells in (HEAD, *(row.cells() for row in rows))]
    lines.insert(1, "|---|---|---:|---:|")
    causes = [
        f"* {row.package.name} ({row.mode}), `{failure.test}`: {failure.cause}"
        for row in rows
        for failure in row.verdict.known
    ]
    return "\n".join(
        [
            *lines,
            "",
            *(causes or ["In the modes above, every test that passes on plain NumPy passes translated."]),
        ]
    )


def faults(row: Row) -> list[str]:
    """Return a line for each result that the list of known failures does not allow."""
    where = f"{row.package.name} ({row.mode})"
    said = row.translated.messages
    return [
        *(
            f"{where}: not a known failure: {name}: {said.get(name, 'did not run')}"
            for name in row.verdict.unlisted
        ),
        *(f"{where}: a known failure that does not fail: {failure.test}" for failure in row.verdict.stale),
    ]


def as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows as JSON data."""
    return [
        {
            "package": row.package.name,
            "version": row.package.version,
            "mode": row.mode,
            "passed_numpy": len(row.numpy.passed),
            "passed_translated": row.kept,
            "percent": round(row.percent, 2),
            "seconds_numpy": round(row.numpy.seconds, 1),
            "seconds_translated": round(row.translated.seconds, 1),
            "known_failures": {failure.test: failure.cause for failure in row.verdict.known},
            "unlisted_failures": {
                name: row.translated.messages.get(name, "did not run") for name in row.verdict.unlisted
            },
            "stale_entries": [failure.test for failure in row.verdict.stale],
        }
        for row in rows
    ]
