"""Compare what np2tf expects compiled code to save, before anything is compiled, with what was measured.

The measured figures are those of docs/kernels.md: for each kernel NumPy's time divided by the time of np2tf,
which keeps the faster of NumPy and compiled code. The expected figures are those of
`np2tf.staging.tiers.expected_savings`, which reads the code only.
`--write-docs` writes the table into docs/measurements.md, and the chart.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import statistics
import sys
import types
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from np2tf.staging.tiers.expected_savings import expected_saving

ROOT = Path(__file__).resolve().parent.parent
KERNELS, PAGE, CHART = ROOT / "docs/kernels.md", ROOT / "docs/measurements.md", ROOT / "docs/predictions.png"
BEGIN, END = "<!-- begin: written by benchmarks/predictions.py -->", "<!-- end of predictions.py -->"
_ROW = re.compile(r"^\| (\w+) \| [\d.]+ \| ([\d.]+) \| ", re.MULTILINE)


def measured() -> dict[str, float]:
    """Return the share of NumPy's time that each kernel saves."""
    text = KERNELS.read_text(encoding="utf-8")
    return {name: 1.0 - 1.0 / float(ratio) for name, ratio in _ROW.findall(text) if float(ratio) > 0.0}


def expected(name: str) -> float:
    """Return the share that np2tf expects a kernel's code to save."""
    path = ROOT / f"benchmarks/kernels/{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (kernel,) = (function for function in _functions(module) if function.__name__ == "kernel")
    return expected_saving(kernel.__code__, vars(module))


def _functions(space: Any) -> Iterator[types.FunctionType]:
    for value in list(vars(space).values()):
        if isinstance(value, types.FunctionType):
            yield value


def table(pairs: dict[str, tuple[float, float]]) -> list[str]:
    """Return the rows of the table: for each expected share, what was measured."""
    by_expected: dict[float, list[float]] = defaultdict(list)
    for expectation, found in pairs.values():
        by_expected[expectation].append(found)
    lines = [
        "| expected share | kernels | measured: least | quartile | median | quartile | most |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for expectation, found in sorted(by_expected.items()):
        quartiles = statistics.quantiles(found, n=4) if len(found) > 1 else found * 3
        figures = [min(found), *quartiles, max(found)]
        cells = " | ".join(f"{figure:.2f}" for figure in figures)
        lines.append(f"| {expectation:.2f} | {len(found)} | {cells} |")
    return lines


def draw(pairs: dict[str, tuple[float, float]]) -> None:
    """Draw the chart: one point for each kernel."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    ordered = sorted(pairs.values(), key=lambda pair: pair[1])
    for place, (expectation, found) in enumerate(ordered):
        colour = "tab:blue" if expectation >= 0.5 else "tab:orange"
        axes.plot([place, place], [expectation, found], color="0.85", linewidth=1, zorder=1)
        axes.scatter(place, found, color=colour, s=14, zorder=2)
        axes.scatter(place, expectation, color="0.6", s=6, marker="_", zorder=2)
    axes.set_xlabel("kernels, by what compiled code saves")
    axes.set_ylabel("share of NumPy's time")
    axes.set_title("saved (dots) and expected (dashes)", fontsize=10)
    figure.savefig(CHART, dpi=110)


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write-docs", action="store_true", help="write the table and the chart into docs/")
    arguments = parser.parse_args()
    pairs = {}
    for name, found in measured().items():
        try:
            pairs[name] = expected(name), found
        except (ValueError, FileNotFoundError) as error:  # no single function `kernel`
            print(f"{name}: {error}", file=sys.stderr)
    lines = table(pairs)
    print("\n".join(lines))
    if arguments.write_docs:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}", encoding="utf-8")
        draw(pairs)


if __name__ == "__main__":
    main()
