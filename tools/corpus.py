"""Runs published packages' own tests on plain NumPy and translated: ``python tools/corpus.py``.

The exit status is 1 if a test fails translated that is not in tests/corpus/known_failures.toml, if an entry
of that file no longer fails, or if the number of tests that pass on NumPy is not the expected number.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.packages import drawn, fetch, known, report, runs
from tools.packages.catalogue import ROOT, Package, catalogue
from tools.packages.trials import LONGEST, Trials

DOCUMENT = ROOT / "docs" / "corpus.md"
BEGIN = "<!-- begin: written by tools/corpus.py --write-docs -->"
END = "<!-- end -->"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--package", "names", multiple=True, help="Only this package (may be given several times).")
@click.option("--set", "chosen", type=click.Choice(["dev", "more", "all"]), default="dev", show_default=True)
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(list(runs.MODES)),
    default=["default"],
    show_default=True,
    help="default: as a user runs it; compile: at the first call; tensorflow: every single operation.",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to keep the downloads; else a temporary one."
)
@click.option("--keep", is_flag=True, help="Keep the temporary folder, and say where it is.")
@click.option("--install", is_flag=True, help="Install what the tests need and this environment lacks.")
@click.option(
    "--timeout", type=float, default=1800, show_default=True, help="Seconds for one run of a package."
)
@click.option(
    "--pypi",
    multiple=True,
    metavar="NAME==VERSION",
    help="Try this pure-Python package, from its sdist, and not the packages of the catalogue.",
)
@click.option(
    "--draw", type=int, help="Draw this number of packages at random from tests/corpus/drawn_from.txt."
)
@click.option("--seed", type=int, default=0, show_default=True, help="The random seed of --draw.")
@click.option(
    "--first", type=int, help="With --pypi and --draw: try this number of the packages that are kept."
)
@click.option(
    "--numpy-only", is_flag=True, help="With --pypi and --draw: only find out which packages are kept."
)
@click.option(
    "--processes",
    type=int,
    default=1,
    show_default=True,
    help="With --pypi and --draw: the number of processes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
@click.option("--write-docs", is_flag=True, help="Write the table of the catalogue into docs/corpus.md.")
def main(
    names: tuple[str, ...],
    chosen: str,
    modes: tuple[str, ...],
    folder: Path | None,
    keep: bool,
    install: bool,
    timeout: float,
    pypi: tuple[str, ...],
    draw: int | None,
    seed: int,
    first: int | None,
    numpy_only: bool,
    processes: int,
    as_json: bool,
    write_docs: bool,
) -> None:
    """Run published packages' own tests, untouched, on plain NumPy and translated."""
    console = Console(stderr=True)
    wanted = [*pypi, *(drawn.draw(draw, seed) if draw else ())]
    if wanted:
        with _downloads(folder, keep, console) as place:
            trials = Trials(place.absolute(), min(timeout, LONGEST), modes[0], processes, console)
            trials.run(wanted, first, numpy_only)
        trials.show(as_json)
        sys.exit(trials.status)
    rows: list[report.Row] = []
    faults: list[str] = []
    with _downloads(folder, keep, console) as place:
        for package in _packages(names, chosen):
            try:
                source = _ready(package, place, install)
            except fetch.FetchError as error:
                faults.append(str(error))
                continue
            rows += _rows(package, source, modes, timeout, console, faults)
    if as_json:
        click.echo(json.dumps(report.as_json(rows), indent=1))
    else:
        Console().print(report.table(rows))
    if write_docs:
        _document(report.markdown(rows))
    for fault in [*faults, *(fault for row in rows for fault in report.faults(row))]:
        console.print(fault, style="red", markup=False, highlight=False)
    sys.exit(0 if rows and not faults and all(row.verdict for row in rows) else 1)


def _packages(names: tuple[str, ...], chosen: str) -> list[Package]:
    every = catalogue()
    unknown = sorted(set(names) - {package.name for package in every})
    if unknown:
        raise click.UsageError(f"no such package: {', '.join(unknown)}; see tests/corpus/packages.toml")
    if names:
        return [package for package in every if package.name in names]
    return [package for package in every if chosen in ("all", package.set)]


@contextmanager
def _downloads(folder: Path | None, keep: bool, console: Console) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    elif keep:
        made = Path(tempfile.mkdtemp(prefix="np2tf-corpus-"))
        console.print(f"the packages are in {made}", markup=False, highlight=False)
        yield made
    else:
        with tempfile.TemporaryDirectory(prefix="np2tf-corpus-") as scratch:
            yield Path(scratch)


def _ready(package: Package, place: Path, install: bool) -> Path:
    lacking = fetch.missing(package)
    if lacking and install:
        fetch.install(lacking)
    elif lacking:
        raise fetch.FetchError(
            f"{package.name}: its tests need {', '.join(lacking)}; install them, or give --install"
        )
    return fetch.unpacked(package, place)


def _rows(
    package: Package,
    source: Path,
    modes: tuple[str, ...],
    timeout: float,
    console: Console,
    faults: list[str],
) -> list[report.Row]:
    listed = known.known_failures()
    with console.status(f"{package.name} on NumPy"):
        plain = runs.run(package, source, timeout=timeout)
    if len(plain.passed) != package.passed:
        faults.append(f"{package.name}: {len(plain.passed)} tests pass on NumPy, not {package.passed}")
    rows = []
    for mode in modes:
        with console.status(f"{package.name} translated ({mode})"):
            translated = runs.run(package, source, mode, timeout)
        verdict = known.judge(package.name, mode, plain, translated, listed)
        rows.append(report.Row(package, mode, plain, translated, verdict))
    return rows


def _document(table: str) -> None:
    """Replace the text between two marks of the document by a table."""
    before, _, text_behind = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = text_behind.partition(END)
    text = f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
