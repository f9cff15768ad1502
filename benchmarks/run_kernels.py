"""Time the kernels of `benchmarks/kernels` under NumPy, np2tf, JAX and Numba; compare the results.

Needs the extra `bench`: `pip install "np2tf[bench]"`. Every system runs in a process of its own, one after
the other. A dash in the table means that the system cannot run the kernel as it is written.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
import numpy as np

HERE = Path(__file__).resolve().parent
SYSTEMS = ("numpy", "np2tf", "jax", "numba")
RTOL, ATOL = 1e-6, 1e-8

#: kernel -> what the worker said about it.
Measured = dict[str, dict[str, Any]]


def run_system(system: str, names: list[str], folder: Path, seconds: float, size: str) -> Measured:
    """Run the kernels under one system, in a process of its own."""
    command = [
        sys.executable,
        str(HERE / "kernel_systems.py"),
        system,
        str(folder),
        str(seconds),
        size,
        *names,
    ]
    path = os.pathsep.join(filter(None, [str(HERE.parent), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    found = {line["kernel"]: line for line in map(json.loads, done.stdout.splitlines())}
    for name in names:
        found.setdefault(name, {"error": f"the process ended with code {done.returncode}"})
    return found


def equal(ours: Any, theirs: Any) -> bool:
    """Whether two results are the same up to rounding; what a system cannot show (None) is left aside."""
    if ours is None or theirs is None:
        return True
    if isinstance(ours, (list, tuple)):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return np.shape(ours) == np.shape(theirs) and np.allclose(ours, theirs, RTOL, ATOL, equal_nan=True)


def check(system: str, name: str, folder: Path, measured: dict[str, Any]) -> None:
    """Add to what was measured whether the result is NumPy's."""
    if "error" not in measured:
        ours, theirs = (
            pickle.loads((folder / f"{one}-{name}.pickle").read_bytes()) for one in (system, "numpy")
        )
        measured["right"] = equal(ours, theirs)


def ratio(results: dict[str, Measured], system: str, name: str, key: str = "warm") -> float | None:
    """NumPy's seconds over a system's: above 1 the system is faster. None for a failed or wrong one."""
    found = results[system][name]
    return results["numpy"][name]["warm"] / found[key] if found.get("right") else None


def geometric_mean(values: list[float]) -> float:
    """The mean of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(results: dict[str, Measured], names: list[str]) -> list[str]:
    """The results as lines of text."""
    others = [system for system in results if system != "numpy"]
    lines = [
        f"{'kernel':24}{'NumPy ms':>10}{'np2tf 1st':>10}"
        + "".join(f"{one:>9}" for one in others)
        + "  runs on"
    ]
    for name in names:
        first = ratio(results, "np2tf", name, "first") if "np2tf" in results else None
        cells = [_cell(results, system, name) for system in others]
        how = results.get("np2tf", {}).get(name, {}).get("how", "")
        numpy_ms = f"{results['numpy'][name]['warm'] * 1000:10.1f}"
        lines.append(
            f"{name:24}{numpy_ms}{_number(first):>10}" + "".join(f"{one:>9}" for one in cells) + f"  {how}"
        )
    for system in others:
        ratios = [found for name in names if (found := ratio(results, system, name)) is not None]
        lines.append(
            f"{system}: geometric mean {geometric_mean(ratios):.2f} over {len(ratios)} of {len(names)}, "
            f"least {min(ratios, default=float('nan')):.2f}"
        )
    return lines


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _cell(results: dict[str, Measured], system: str, name: str) -> str:
    return "WRONG" if results[system][name].get("right") is False else _number(ratio(results, system, name))


def draw(results: dict[str, Measured], names: list[str], target: Path) -> None:
    """The ratios as a bar chart with a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    others = [system for system in results if system != "numpy"]
    figure, axes = pyplot.subplots(figsize=(8, 0.28 * len(names) + 1.5), layout="constrained")
    height = 0.8 / len(others)
    for k, system in enumerate(others):
        places = [n + k * height for n in range(len(names))]
        axes.barh(places, [ratio(results, system, name) or math.nan for name in names], height, label=system)
    axes.set_yticks([n + 0.4 - height / 2 for n in range(len(names))], names, fontsize=8)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as NumPy (warm calls)")
    axes.legend()
    figure.savefig(target, dpi=130)


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--system", "systems", multiple=True, type=click.Choice(SYSTEMS[1:]), help="Only these beside NumPy."
)
@click.option(
    "--seconds", default=1.0, show_default=True, help="How long the warm calls of a kernel are repeated."
)
@click.option("--small", is_flag=True, help="Tiny arguments: a check of the results, not of the speed.")
@click.option("--chart", type=click.Path(path_type=Path), help="Draw a bar chart to this file (PNG).")
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write all measurements to this file.")
def main(
    names: tuple[str, ...],
    systems: tuple[str, ...],
    seconds: float,
    small: bool,
    chart: Path | None,
    data: Path | None,
) -> None:
    """Time the kernels NAMES (all of them by default)."""
    chosen = list(names) or sorted(path.stem for path in (HERE / "kernels").glob("*.py"))
    size = "SMALL" if small else "SIZE"
    results: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as folder:
        for system in ("numpy", *(systems or SYSTEMS[1:])):
            click.echo(f"{system} …", err=True)
            results[system] = run_system(system, chosen, Path(folder), 0 if small else seconds, size)
            for name in chosen:
                check(system, name, Path(folder), results[system][name])
    click.echo("\n".join(table(results, chosen)))
    if data is not None:
        data.write_text(json.dumps(results, indent=1))
    if chart is not None:
        draw(results, chosen, chart)
    wrong = [
        f"{system}: {name}"
        for system in results
        for name in chosen
        if results[system][name].get("right") is False
    ]
    failed = [name for name in chosen if "error" in results.get("np2tf", {}).get(name, {})]
    if wrong or failed:
        raise click.ClickException(f"not right: {', '.join(wrong + failed)}")


if __name__ == "__main__":
    main()
