"""Times the kernels of `benchmarks/kernels` under NumPy, np2tf, JAX and Numba, and compares the results.

Needs the extra `bench`: `pip install "np2tf[bench]"`. Every system runs in its own process, one system after
another. Each warm call is followed by a call of NumPy's in the same process, so that other work on the
machine slows both down. A dash in the table means that the system cannot run the kernel as it is written, or
not within the time limit.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from kernel_once import Once, measure_once, once_table
from kernel_report import Measured, draw, table, with_table

HERE = Path(__file__).resolve().parent
SYSTEMS = ("numpy", "np2tf", "jax", "numba")
RTOL, ATOL = 1e-6, 1e-8


def run_system(
    system: str, names: list[str], folder: Path, seconds: float, repeat: int, size: str, limit: float
) -> Measured:
    """Run the kernels under one system in a new process. After a kernel that takes too long, start another
    process.
    """
    found: Measured = {}
    while rest := [name for name in names if name not in found]:
        for line in lines_of(start(system, rest, folder, seconds, repeat, size), limit):
            if line is None:
                break
            told = json.loads(line)
            found[told.pop("kernel")] = told
        missing = next((name for name in rest if name not in found), None)
        if missing is not None:
            found[missing] = {"error": f"ended, or took more than {limit:g} s"}
    return found


def lines_of(process: subprocess.Popen[str], limit: float) -> Iterator[str | None]:
    """Yield the output of a process line by line; yield None and end the process if a line takes too long."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (line := lines.get(timeout=limit)) is not None:
            yield line
    except queue.Empty:
        yield None
    finally:
        process.kill()
        process.wait()


def start(
    system: str, names: list[str], folder: Path, seconds: float, repeat: int, size: str
) -> subprocess.Popen[str]:
    """Start the process that runs kernels."""
    command = [
        sys.executable,
        str(HERE / "kernel_systems.py"),
        system,
        str(folder),
        str(seconds),
        str(repeat),
        size,
        *names,
    ]
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


def equal(ours: Any, theirs: Any) -> bool:
    """Return whether two results are the same up to rounding. A value that a system cannot show (None) is not
    compared.
    """
    if ours is None or theirs is None:
        return True
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return np.shape(ours) == np.shape(theirs) and np.allclose(ours, theirs, RTOL, ATOL, equal_nan=True)


def check(system: str, name: str, folder: Path, measured: dict[str, Any]) -> None:
    """Add to the figures whether the result is NumPy's."""
    if "error" not in measured:
        ours, theirs = (
            pickle.loads((folder / f"{one}-{name}.pickle").read_bytes()) for one in (system, "numpy")
        )
        measured["right"] = equal(ours, theirs)


def run_once(names: list[str], size: str, limit: float, data: Path | None) -> None:
    """Print the times of single calls, and write them to a file if one is given.

    Raises:
        ClickException: a kernel fails.
    """
    results: dict[str, Once] = {}
    failed: list[str] = []
    for name in names:
        try:
            results[name] = measure_once(name, size, limit)
        except RuntimeError as error:
            failed.append(str(error))
        else:
            click.echo(once_table({name: results[name]})[-1], err=True)
    click.echo("\n".join(once_table(results)))
    if data is not None:
        data.write_text(json.dumps(results, indent=1))
    if failed:
        raise click.ClickException("; ".join(failed))


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--system",
    "systems",
    multiple=True,
    type=click.Choice(SYSTEMS[1:]),
    help="Run only these systems beside NumPy.",
)
@click.option(
    "--seconds", default=1.0, show_default=True, help="How long the warm calls of a kernel are repeated."
)
@click.option(
    "--repeat",
    default=3,
    show_default=True,
    help="The least number of warm calls: with --seconds 0 the number.",
)
@click.option(
    "--once",
    "single",
    is_flag=True,
    help="One call in a fresh process, of NumPy and of np2tf, twice: see below.",
)
@click.option("--limit", default=120.0, show_default=True, help="Seconds that a kernel may take in all.")
@click.option("--small", is_flag=True, help="Tiny arguments: a check of the results, not of the speed.")
@click.option("--chart", type=click.Path(path_type=Path), help="Draw a bar chart to this file (PNG).")
@click.option("--page", type=click.Path(path_type=Path), help="Put the table into this page.")
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write all measurements to this file.")
def main(
    names: tuple[str, ...],
    systems: tuple[str, ...],
    seconds: float,
    repeat: int,
    single: bool,
    limit: float,
    small: bool,
    chart: Path | None,
    page: Path | None,
    data: Path | None,
) -> None:
    """Time the kernels NAMES (all of them by default).

    A quick look at a few: run_kernels.py --system np2tf --seconds 0 --repeat 5 lu cholesky.

    With --once every kernel is called a single time in a fresh process, importing apart: by NumPy, by np2tf
    with an empty cache (cold), and by np2tf in a second process with the cache that the first has left.
    """
    chosen = list(names) or sorted(path.stem for path in (HERE / "kernels").glob("*.py"))
    size = "SMALL" if small else "SIZE"
    if single:
        run_once(chosen, size, limit, data)
        return
    results: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as folder:
        for system in ("numpy", *(systems or SYSTEMS[1:])):
            click.echo(f"{system} …", err=True)
            results[system] = run_system(
                system, chosen, Path(folder), 0 if small else seconds, repeat, size, limit
            )
            for name in chosen:
                check(system, name, Path(folder), results[system][name])
    click.echo("\n".join(table(results, chosen)))
    if data is not None:
        data.write_text(json.dumps(results, indent=1))
    if chart is not None:
        draw(results, chosen, chart)
    if page is not None:
        page.write_text(with_table(page.read_text(), results, chosen))
    ours = results.get("np2tf", {})
    bad = [name for name in chosen if ours.get(name, {"right": True}).get("right") is not True]
    if bad:
        raise click.ClickException(f"np2tf is not right: {', '.join(bad)}")


if __name__ == "__main__":
    main()
