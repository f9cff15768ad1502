"""Reports of the kernels' runner: a table as text, a table for the documentation, and a bar chart."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

#: kernel -> the figures that the worker has printed.
Measured = dict[str, dict[str, Any]]

BEGIN, END = "<!-- written by benchmarks/run_kernels.py -->", "<!-- end -->"


def ratio(results: dict[str, Measured], system: str, name: str, key: str = "warm") -> float | None:
    """Return NumPy's seconds over a system's: above 1 the system is faster; None for a failed or wrong run.

    A run is wrong if its result differs from NumPy's.
    """
    found = results[system][name]
    return found["numpy"] / found[key] if found.get("right") else None


def geometric_mean(values: list[float]) -> float:
    """Return the geometric mean of ratios."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def table(results: dict[str, Measured], names: list[str]) -> list[str]:
    """Return the results as lines of text."""
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
    return [*lines, *means(results, names)]


def means(results: dict[str, Measured], names: list[str]) -> list[str]:
    """Return a line for each system: the geometric mean, the median and the least ratio."""
    lines = []
    for system in (one for one in results if one != "numpy"):
        ratios = [found for name in names if (found := ratio(results, system, name)) is not None]
        lines.append(
            f"{system}: geometric mean {geometric_mean(ratios):.2f} over {len(ratios)} of {len(names)}, "
            f"median {statistics.median(ratios or [math.nan]):.2f}, least {min(ratios, default=math.nan):.2f}"
        )
    return lines


def with_table(page: str, results: dict[str, Measured], names: list[str]) -> str:
    """Return a page of the documentation with its table replaced by the new results."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n{as_markdown(results, names)}\n{END}{after}"


def as_markdown(results: dict[str, Measured], names: list[str]) -> str:
    """Return the results as a table of a page, with the geometric means below it."""
    others = [system for system in results if system != "numpy"]
    heads = ["kernel", "NumPy ms", *(f"{one}, warm" for one in others), "np2tf runs"]
    rows = [heads, ["---", *["---:"] * (len(heads) - 2), "---"]]
    for name in names:
        cells = [_cell(results, system, name) for system in others]
        how = results.get("np2tf", {}).get(name, {}).get("how", "")
        rows.append([name, f"{results['numpy'][name]['warm'] * 1000:.0f}", *cells, how])
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", *(f"* {line}" for line in means(results, names))])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _cell(results: dict[str, Measured], system: str, name: str) -> str:
    return "WRONG" if results[system][name].get("right") is False else _number(ratio(results, system, name))


def draw(results: dict[str, Measured], names: list[str], target: Path) -> None:
    """Draw the ratios as a bar chart with a logarithmic axis."""
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
