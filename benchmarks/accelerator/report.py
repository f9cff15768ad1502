"""Puts the figures of `run.py` into a page: python benchmarks/accelerator/report.py RESULTS... --page PAGE.

RESULTS are files `results.json`; where several have a figure, the last one counts.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: The lines of the page between which the tables stand.
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
SYSTEMS = {"np2tf": "np2tf", "hand": "JAX by hand", "jax": "jax.jit", "cupy": "CuPy", "numpy": "NumPy"}
#: The sizes, and what a page calls them.
SIZES = {"LARGE": "The larger sizes", "SIZE": "The sizes of kernels.md", "SMALL": "Tiny arguments"}
LOOPS = " | iterations × kernels | by hand"
#: Behind a time: right, wrong, and not compared, because NumPy has no result.
_MARKS = {True: "", False: " (other results)", None: " (not compared)"}

Rows = dict[str, dict[str, dict[str, Any]]]


def merged(files: list[Path]) -> tuple[dict[str, Any], Rows]:
    """Return the machine, and the figures of all files."""
    machine: dict[str, Any] = {}
    rows: Rows = {}
    for file in files:
        whole = json.loads(file.read_text())
        machine = whole["machine"]
        for key, row in whole["cases"].items():
            for system, one in row.items():
                if {"warm", "error"} & one.keys() or system not in rows.get(key, {}):
                    rows.setdefault(key, {})[system] = one
    return machine, rows


def cell(one: dict[str, Any] | None) -> str:
    """Return a system's time in milliseconds, or why there is none."""
    if one is not None and "warm" in one:
        return f"{one['warm'] * 1e3:.3g}{_MARKS[one.get('right')]}"
    error = (one or {}).get("error", "")
    return "too long" if "took" in error else "cannot" if error else "–"


def loops_of(one: dict[str, Any]) -> str:
    """Return the rounds of the innermost loop and the kernels of a round."""
    if "a round" not in one:
        return "–"
    rounds = "?" if one["rounds"] is None else f"{one['rounds']:,}"
    return f"{rounds} × {one['a round']}"


def table(rows: Rows, size: str, dtype: str, is_short: bool = False) -> Iterator[str]:
    """Yield the table of the cases of one size and dtype, and the means behind it.

    Args:
        is_short: without JAX's own compiler, which refuses most kernels, and without the iterations of the
            innermost loops and the kernels of each.
    """
    chosen = {key.split("-")[0]: row for key, row in rows.items() if key.endswith(f"-{size}-{dtype}")}
    chosen = {name: row for name, row in chosen.items() if {"warm", "error"} & row.get("np2tf", {}).keys()}
    systems = {name: label for name, label in SYSTEMS.items() if name != "jax" or not is_short}
    yield f"| {' | '.join(['', *systems.values()])} | with copies{'' if is_short else LOOPS} |"
    yield "|---" * (len(systems) + (2 if is_short else 4)) + "|"
    for name, row in chosen.items():
        ours = row["np2tf"]
        copies = f"{ours['copies'] * 1e3:.3g}" if "copies" in ours else "–"
        cells = [cell(row.get(system)) for system in systems]
        loops = [] if is_short else [loops_of(row.get(system, {})) for system in ("np2tf", "hand")]
        yield f"| {name} | {' | '.join([*cells, copies, *loops])} |"
    yield ""
    for system, label in list(SYSTEMS.items())[1:]:
        ratios = [
            row[system]["warm"] / row["np2tf"]["warm"]
            for row in chosen.values()
            if "warm" in row["np2tf"] and "warm" in row.get(system, {})
            if row["np2tf"].get("right") is not False and row[system].get("right") is not False
        ]
        if ratios:
            mean, ahead = float(np.exp(np.mean(np.log(ratios)))), sum(ratio > 1 for ratio in ratios)
            of = f"geometric mean of {len(ratios)}; longer: {ahead}"
            yield f"* {label} takes {mean:.2f} times as long as np2tf ({of})."


def tables(
    machine: dict[str, Any], rows: Rows, sizes: Collection[str] = tuple(SIZES), is_short: bool = False
) -> str:
    """Return the tables of sizes, and of all dtypes that have figures, as Markdown."""
    lines = [
        f"{machine.get('device')}, JAX {machine.get('jax')}; NumPy {machine.get('numpy')} on "
        f"{machine.get('cores')} cores. Milliseconds of warm calls."
    ]
    for dtype in ("float64", "float32"):
        for size, words in SIZES.items():
            if size in sizes and any(
                "warm" in row.get("np2tf", {})
                for key, row in rows.items()
                if key.endswith(f"-{size}-{dtype}")
            ):
                lines += ["", f"{words}, {dtype}:", "", *table(rows, size, dtype, is_short)]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--page", type=Path, required=True)
    args = parser.parse_args()
    machine, rows = merged(args.files)
    # A page needs the sizes for which the device is there; where none was measured, it has what there is.
    sizes = ["LARGE"] if any("-LARGE-" in key for key in rows) else list(SIZES)
    text = f"{BEGIN}\n\n{tables(machine, rows, sizes, is_short=True)}\n\n{END}"
    page = args.page.read_text()
    args.page.write_text(re.sub(f"{BEGIN}.*?{END}", lambda _: text, page, flags=re.DOTALL))


if __name__ == "__main__":
    main()
