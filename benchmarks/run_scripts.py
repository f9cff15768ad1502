"""Runs whole programs as processes, `python script` beside `np2tf run script`: times and outputs compared.

    python benchmarks/run_scripts.py                        # every script of benchmarks/scripts
    python benchmarks/run_scripts.py --only heat2d,mhd      # those whose names contain one of these
    python benchmarks/run_scripts.py --busy                 # while another process keeps a core busy
    python benchmarks/run_scripts.py --write-docs           # the table into docs/scripts.md

Each script runs in a temporary folder of its own: under Python, then under np2tf with an empty cache (first),
then again with the cache that the first run left (second). Times are of the whole process, with imports. A
script that takes Python less than ten seconds runs `--rounds` times in each way, and the fastest runs count,
because a moment's load on the machine would be a large part of its time. A script with a line
`# nothing to gain: reason` is one whose time no compiler could lessen. The exit status is 1 if an output
differs.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "benchmarks" / "scripts"
DOCUMENT = ROOT / "docs" / "scripts.md"
BEGIN, END = "<!-- begin: written by benchmarks/run_scripts.py -->", "<!-- end of run_scripts.py -->"
HEAD = ("script", "python s", "first s", "second s", "python/first", "python/second", "equal")
#: From how many seconds on NumPy a script is long enough to repay compiling it in its first run.
LONG = 20.0
#: Up to how many seconds on NumPy a script runs several times.
SHORT = 10.0
_NOTHING = re.compile(r"^# nothing to gain: (.+)$", re.MULTILINE)
_SPIN = "while True: pass"


@dataclass(frozen=True)
class Script:
    """A program to run.

    Attributes:
        name: the name of the file without its ending, or of the folder.
        path: the file or the folder.
        reason: why a compiler has nothing to gain; empty if it has.
    """

    name: str
    path: Path
    reason: str

    def copy_to(self, folder: Path) -> Path:
        """Copy the script, or the folder with its modules, and return the file to run."""
        if self.path.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(self.path, folder, dirs_exist_ok=True, ignore=ignore)
            return folder / "main.py"
        return Path(shutil.copy(self.path, folder))


@dataclass(frozen=True)
class Run:
    """What one process did. The status is None if it ran out of time."""

    seconds: float
    status: int | None
    output: str
    errors: str


@dataclass(frozen=True)
class Result:
    """The runs of one script; of several runs of a kind, the fastest."""

    script: Script
    python: Run
    first: Run
    second: Run

    @property
    def differences(self) -> list[str]:
        """Return how the runs under np2tf differ from Python's, in words."""
        found = []
        for name, run in (("first", self.first), ("second", self.second)):
            if run.status != self.python.status:
                found.append(f"{name}: status {_status(run)} instead of {_status(self.python)}")
            if run.output != self.python.output:
                found.append(f"{name}: {_first_difference(self.python.output, run.output)}")
        if self.python.status != 0:
            found.append(f"python: status {_status(self.python)}")
        return found

    @property
    def quotients(self) -> tuple[float, float]:
        """Return Python's time divided by the first run's and by the second's."""
        return self.python.seconds / self.first.seconds, self.python.seconds / self.second.seconds

    @property
    def excess(self) -> float:
        """Return by how many seconds the first run is longer than Python's."""
        return self.first.seconds - self.python.seconds

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row of the table."""
        name = f"{self.script.name} *" if self.script.reason else self.script.name
        times = (f"{run.seconds:.2f}" for run in (self.python, self.first, self.second))
        equal = "NO" if self.differences else "yes"
        return name, *times, *(f"{quotient:.2f}" for quotient in self.quotients), equal

    def data(self) -> dict[str, object]:
        """Return the result as data for JSON."""
        return {
            "script": self.script.name,
            "nothing_to_gain": self.script.reason,
            "python": self.python.seconds,
            "first": self.first.seconds,
            "second": self.second.seconds,
            "differences": self.differences,
        }


def _status(run: Run) -> str:
    return "out of time" if run.status is None else str(run.status)


def _first_difference(expected: str, found: str) -> str:
    """Return the first line in which two outputs differ."""
    pairs = zip([*expected.splitlines(), "(end)"], [*found.splitlines(), "(end)"])
    for number, (line, other) in enumerate(pairs, 1):
        if line != other:
            return f"line {number} is {other!r} instead of {line!r}"
    return "the ends of the lines differ"


def scripts(only: str) -> list[Script]:
    """Return the scripts whose names contain one of the parts in a list with commas; all, if it is empty."""
    paths = sorted([*SCRIPTS.glob("*.py"), *(main.parent for main in SCRIPTS.glob("*/main.py"))])
    parts = [part.strip() for part in only.split(",") if part.strip()]
    chosen = []
    for path in paths:
        if parts and not any(part in path.stem for part in parts):
            continue
        text = (path / "main.py" if path.is_dir() else path).read_text(encoding="utf-8")
        reason = _NOTHING.search(text)
        chosen.append(Script(path.stem, path, reason[1] if reason else ""))
    return chosen


def np2tf_command() -> list[str]:
    """Return the command `np2tf run`, as a user calls it; `PYTHONPATH` makes it this checkout's."""
    return [sys.executable, str(Path(sys.executable).with_name("np2tf")), "run"]


def run_once(script: Script, command: list[str], variables: Mapping[str, str], timeout: float) -> Run:
    """Run a copy of a script in a folder that is empty but for it."""
    with tempfile.TemporaryDirectory(prefix="np2tf-script-") as name:
        # np2tf of this checkout, whichever one is installed; Python gets the same, to start alike.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
        # Python would not write the byte code that a user's second run finds.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        file = script.copy_to(Path(name))
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [*command, file.name],
                capture_output=True,
                text=True,
                cwd=name,
                env=environment,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return Run(time.perf_counter() - start, None, "", "")
        return Run(time.perf_counter() - start, done.returncode, done.stdout, done.stderr)


def fastest(runs: list[Run]) -> Run:
    """Return the fastest run, or one that failed: a fast failure must not count as a time."""
    failed = [run for run in runs if run.status != 0 or run.output != runs[0].output]
    return failed[0] if failed else min(runs, key=lambda run: run.seconds)


def measured(script: Script, rounds: int, timeout: float) -> Result:
    """Run a script under Python, under np2tf with an empty cache, and with that cache; a short one again."""
    cycles: list[tuple[Run, Run, Run]] = []
    while not cycles or (len(cycles) < rounds and cycles[0][0].seconds < SHORT):
        with tempfile.TemporaryDirectory(prefix="np2tf-cache-") as cache:
            variables = {"NP2TF_CACHE_DIR": cache, "NP2TF_CACHE": "on"}
            python = run_once(script, [sys.executable], {}, timeout)
            first, second = (run_once(script, np2tf_command(), variables, timeout) for _ in range(2))
            cycles.append((python, first, second))
    return Result(script, *(fastest(list(runs)) for runs in zip(*cycles)))


@contextlib.contextmanager
def busy(wanted: bool) -> Iterator[None]:
    """Keep one other process busy meanwhile."""
    if not wanted:
        yield
        return
    process = subprocess.Popen([sys.executable, "-c", _SPIN])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean; nan of none."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def closing_lines(results: list[Result]) -> list[str]:
    """Return the means and the extremes, in words."""
    long = [one for one in results if one.python.seconds >= LONG and not one.script.reason]
    lines = []
    for name, chosen in (("all", results), (f"{LONG:.0f} s or more on NumPy, something to gain", long)):
        first, second = (geometric_mean([one.quotients[which] for one in chosen]) for which in (0, 1))
        numbers = f"first {first:.2f}, second {second:.2f}" if chosen else "none"
        lines.append(f"geometric means, {name} ({len(chosen)}): {numbers}")
    least = [min(results, key=lambda one: one.quotients[which]) for which in (0, 1)]
    words = [
        f"{name} {one.quotients[which]:.2f} ({one.script.name})"
        for which, (name, one) in enumerate(zip(("first", "second"), least))
    ]
    lines.append(f"least of all: {', '.join(words)}")
    small, large = (pick(results, key=lambda one: one.excess) for pick in (min, max))
    lines.append(
        f"excess of the first run over python: least {small.excess:+.2f} s ({small.script.name}), "
        f"most {large.excess:+.2f} s ({large.script.name})"
    )
    return lines


def markdown(results: list[Result]) -> str:
    """Return the table and the closing lines for the docs."""
    lines = [f"| {' | '.join(HEAD)} |", f"|---|{'---:|' * (len(HEAD) - 2)}---|"]
    # A star would begin emphasis in Markdown.
    lines += [
        f"| {' | '.join(cell.replace('*', chr(92) + '*') for cell in one.cells())} |" for one in results
    ]
    return "\n".join([*lines, "", *(f"* {line}" for line in closing_lines(results))])


def write_document(results: list[Result]) -> None:
    """Replace the table in the docs."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    text = f"{before}{BEGIN}\n\n{markdown(results)}\n\n{END}{rest.partition(END)[2]}"
    DOCUMENT.write_text(text, encoding="utf-8")


def show(console: Console, results: list[Result]) -> None:
    """Print the table, the closing lines and what differs."""
    table = Table(*HEAD, caption="* nothing to gain")
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[1:-1]:
        column.justify = "right"
    for one in results:
        table.add_row(*map(escape, one.cells()), style="bold red" if one.differences else None)
    console.print(table)
    for line in closing_lines(results):
        console.print(escape(line))
    for one in results:
        for difference in one.differences:
            text = f"MISMATCH in {one.script.name}: {difference}"
            console.print(escape(text), style="bold white on red")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", default="", metavar="NAMES", help="Only scripts with one of these in their names.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Runs of a short script."
)
@click.option("--busy", "is_busy", is_flag=True, help="Keep another process busy while everything runs.")
@click.option("--timeout", default=600.0, show_default=True, help="The most seconds for one run.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write the times to this file.")
@click.option("--write-docs", is_flag=True, help="Write the table into docs/scripts.md.")
def main(only: str, rounds: int, is_busy: bool, timeout: float, file: Path | None, write_docs: bool) -> None:
    """Run whole programs under Python and under np2tf, and compare times and outputs."""
    # In a file, the table would be cut at 80 columns.
    console = Console(width=None if sys.stdout.isatty() else 110)
    chosen = scripts(only)
    if not chosen:
        raise click.UsageError(f"no script has one of these in its name: {only}")
    results = []
    with busy(is_busy):
        for script in chosen:
            one = measured(script, rounds, timeout)
            results.append(one)
            console.print(escape("  ".join(one.cells())), style="bold red" if one.differences else None)
            if file:  # after each script, so that an interrupted run leaves what it has
                file.write_text(json.dumps([each.data() for each in results], indent=1), encoding="utf-8")
            for run in (one.python, one.first, one.second):
                if run.status != 0:
                    console.print(escape(run.errors[-2000:]), style="red")
    show(console, results)
    if write_docs:
        write_document(results)
    if any(one.differences for one in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
