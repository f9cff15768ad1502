"""Try several packages that nobody has looked at before, and report their results together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from tools.packages.trial import on_numpy, translated

#: The most seconds that a package's tests may take on NumPy.
LONGEST = 300.0
#: A translated run may take this many times as long as the run on NumPy, and so many seconds more.
_SLOWER, _MORE = 10.0, 300.0
_HEAD = ("package", "pass on NumPy", "pass translated", "%", "s on NumPy", "s translated", "calls c/g/h")


class Trials:
    """The runs of packages in a folder that keeps downloads, environments and results."""

    def __init__(self, folder: Path, timeout: float, mode: str, processes: int, console: Console) -> None:
        self.folder = folder
        self.timeout = timeout
        self.mode = mode
        self.processes = processes
        self.records: list[dict[str, Any]] = []
        self._console = console
        self._numpy_only = False

    def run(self, wanted: Sequence[str], first: int | None = None, numpy_only: bool = False) -> None:
        """Run the packages on NumPy, and the kept packages translated.

        Args:
            wanted: the packages, as `name==version`.
            first: run at most so many of the kept packages translated.
            numpy_only: run no package translated.
        """
        self._numpy_only = numpy_only
        with ThreadPoolExecutor(self.processes) as pool:
            records = list(pool.map(self._on_numpy, wanted))
            kept = [record for record in records if record["kept"]][:first]
            self.records = [record for record in records if not record["kept"]]
            self.records += kept if numpy_only else pool.map(self._translated, kept)

    @property
    def status(self) -> int:
        """Return 0 if a package was kept and no test fails only translated, else 1."""
        kept = [record for record in self.records if record["kept"]]
        if not kept:
            return 1
        return int(not self._numpy_only and any(_failing(record) or _nothing(record) for record in kept))

    def show(self, as_json: bool) -> None:
        """Print the results: a table and the failures, or JSON."""
        if as_json:
            click.echo(json.dumps(self.records, indent=1))
            return
        table = Table(_HEAD[0])
        for name in _HEAD[1:]:
            table.add_column(name, justify="right")
        for record in self.records:
            if record["kept"]:
                table.add_row(*_cells(record), style="red" if _failing(record) or _nothing(record) else None)
        Console().print(table)
        for record in self.records:
            if not record["kept"]:
                click.echo(f"{record['package']} is not kept: {record['reason']}")
            if _nothing(record):
                click.echo(
                    f"{record['package']}: nothing of one of {', '.join(record['modules'])} was translated"
                )
            for name, error in _failing(record).items():
                click.echo(f"{record['package']} {name}: {error}")

    def _on_numpy(self, wanted: str) -> dict[str, Any]:
        record = on_numpy(wanted, self.folder, self.timeout)
        self._say(f"{wanted}: {len(record['numpy']['passed'])} pass" if record["kept"] else _not_kept(record))
        return record

    def _translated(self, record: dict[str, Any]) -> dict[str, Any]:
        made = translated(record, self.folder, _SLOWER * record["numpy"]["seconds"] + _MORE, self.mode)
        passed = len(record["numpy"]["passed"])
        self._say(f"{record['package']}: {made['translated']['passed']} of {passed} pass translated")
        return made

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False)


def _not_kept(record: dict[str, Any]) -> str:
    return f"{record['package']} is not kept: {record['reason']}"


def _failing(record: dict[str, Any]) -> dict[str, str]:
    return dict(record.get("translated", {}).get("fails_only_translated", {}))


def _nothing(record: dict[str, Any]) -> bool:
    return bool(record.get("translated", {}).get("nothing_translated", False))


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    numpy, translated = record["numpy"], record.get("translated")
    passed = len(numpy["passed"])
    first = (record["package"], str(passed))
    if translated is None:
        return (*first, "", "", f"{numpy['seconds']:.0f}", "", "")
    calls = "/".join(str(translated["calls"][name]) for name in ("compiled", "graph", "host"))
    percent = f"{int(1000 * translated['passed'] / passed) / 10:g}"
    return (
        *first,
        str(translated["passed"]),
        percent,
        f"{numpy['seconds']:.0f}",
        f"{translated['seconds']:.0f}",
        calls,
    )
