"""Compares the time of packages' own tests on NumPy with the time of their translation, in default settings.

    python benchmarks/packages.py                            # every package of the dev set
    python benchmarks/packages.py --package nfft --rounds 5
    python benchmarks/packages.py --write-docs               # the table into docs/corpus.md

Both versions run in turn, each run in a new process, and the fastest run of each version counts. If the
translation needed TensorFlow, the time of importing TensorFlow is subtracted; the same run measures that
time. Translations come from the cache, as they do from a user's second run on.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.packages import fetch, runs
from tools.packages.catalogue import ROOT, Package, catalogue

DOCUMENT = ROOT / "docs" / "corpus.md"
BEGIN, END = "<!-- begin: written by benchmarks/packages.py -->", "<!-- end of packages.py -->"
HEAD = (
    "package",
    "NumPy, s",
    "translated, s",
    "of it TensorFlow's import",
    "quotient",
    "compiled",
    "on NumPy",
)
#: The columns of the table for the docs.
_IN_DOCS = (0, 1, 2, 4)
_CALLS = re.compile(r"jitted calls: (\d+) compiled, (\d+) graph, (\d+) on NumPy")
_LOADED = "TensorFlow: imported"


@dataclass(frozen=True)
class Timing:
    """The seconds that a package's tests take, and their calls of jitted functions.

    Attributes:
        importing: the seconds of `translated` that importing TensorFlow took; 0 if it was not needed.
        compiled: the calls of jitted functions that ran compiled or as a graph.
        host: the calls of jitted functions that ran on the host.
    """

    package: Package
    plain: float
    translated: float
    importing: float
    compiled: int
    host: int

    @property
    def quotient(self) -> float:
        """Return the time of the translation, without the import, divided by NumPy's time."""
        return (self.translated - self.importing) / self.plain

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row of the table."""
        importing = f"{self.importing:.1f}" if self.importing else "not needed"
        times = f"{self.plain:.2f}", f"{self.translated:.2f}", importing, f"{self.quotient:.2f}"
        return f"{self.package.name} {self.package.version}", *times, f"{self.compiled:,}", f"{self.host:,}"


def seconds_of_import(rounds: int = 3) -> float:
    """Return by how many seconds importing the TensorFlow half is longer than importing the rest; fastest
    runs.
    """
    quickest = []
    for module in ("np2tf.tnp", "np2tf.arrays.entry.routing"):
        command = [sys.executable, "-c", f"import {module}"]
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
            times.append(time.perf_counter() - start)
        quickest.append(min(times))
    return quickest[1] - quickest[0]


def timed(package: Package, folder: Path, rounds: int, importing: float) -> Timing:
    """Time a package's tests on NumPy and translated, in turn."""
    plain, translated = [], []
    for _ in range(rounds):
        plain.append(runs.run(package, folder))
        translated.append(runs.run(package, folder, "default"))
    best = min(translated, key=lambda one: one.seconds)
    calls = _CALLS.search(best.output)
    compiled, graph, host = map(int, calls.groups()) if calls else (0, 0, 0)
    loaded = importing if _LOADED in best.output else 0.0
    return Timing(package, min(one.seconds for one in plain), best.seconds, loaded, compiled + graph, host)


def mean(timings: list[Timing]) -> float:
    """Return the geometric mean of the quotients."""
    return math.exp(sum(math.log(one.quotient) for one in timings) / len(timings))


def markdown(timings: list[Timing]) -> str:
    """Return the table for the docs."""
    rows = [HEAD, *(one.cells() for one in timings)]
    lines = [f"| {' | '.join(cells[at] for at in _IN_DOCS)} |" for cells in rows]
    lines.insert(1, f"|{'---|' * len(_IN_DOCS)}")
    return "\n".join([*lines, "", f"Geometric mean of the quotients: **{mean(timings):.2f}**."])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--package", "names", multiple=True, help="Only this package (may be given several times).")
@click.option("--rounds", default=3, show_default=True, help="How often each way runs.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where the downloads are kept.")
@click.option("--write-docs", is_flag=True, help="Write the table into docs/corpus.md.")
def main(names: tuple[str, ...], rounds: int, folder: Path | None, write_docs: bool) -> None:
    """Time the packages' own tests on NumPy and translated."""
    console = Console()
    chosen = [one for one in catalogue() if one.set == "dev" and (not names or one.name in names)]
    timings = []
    with tempfile.TemporaryDirectory(prefix="np2tf-packages-") as scratch:
        os.environ.setdefault("NP2TF_CACHE_DIR", str(Path(scratch, "cache")))
        importing = seconds_of_import()
        for package in chosen:
            place = fetch.unpacked(package, folder or Path(scratch))
            timings.append(timed(package, place, rounds, importing))
            console.print(*timings[-1].cells(), sep="  ")
    table = Table(*HEAD)
    for one in timings:
        table.add_row(*one.cells())
    console.print(table)
    console.print(f"geometric mean of the quotients: {mean(timings):.2f}")
    if write_docs:
        before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
        text = f"{before}{BEGIN}\n\n{markdown(timings)}\n\n{END}{rest.partition(END)[2]}"
        DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
