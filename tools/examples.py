"""Measures the demonstrations, and writes their figures and pictures into docs/examples.md.

    python tools/examples.py [NAME…]

Each demonstration runs in its own process, one after another. Takes about five minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "examples.md"
PICTURES = ROOT / "docs" / "examples"
#: The lines of the page around the rows of its table.
BEGIN, END = "<!-- figures: tools/examples.py -->", "<!-- end of the figures -->"
HEAD = (
    "| demonstration | of | NumPy | np2tf | TensorFlow | JAX | TensorFlow / np2tf |\n"
    "|---|---|---:|---:|---:|---:|---:|"
)
#: The systems of the table, each with the beginnings of the rows that are its own.
SYSTEMS = {
    "numpy": ("NumPy",),
    "np2tf": ("np2tf",),
    "tensorflow": ("TensorFlow", "tf.", "by hand"),
    "jax": ("jax",),
}


def rows_of(name: str, figures: str) -> Iterator[str]:
    """Yield the rows of a demonstration: of each table the largest size, and the best of each system.

    Args:
        figures: the tables as `python -m examples NAME --markdown` prints them, in milliseconds.
    """
    for text in re.findall(r"^\|.*\n\| ---.*\n(?:\|.*\n?)+", figures, re.MULTILINE):
        head, _, *rows = (re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines())
        best: dict[str, float] = {}
        for row in rows:
            for system, beginnings in SYSTEMS.items():
                if row[0].startswith(beginnings):
                    best[system] = min(float(row[-1].replace(",", "")), best.get(system, float("inf")))
        told = [f"{best[system]:,.4g}" if system in best else "–" for system in SYSTEMS]
        ratio = f"{best['tensorflow'] / best['np2tf']:.2f}"
        yield f"| {name} | {head[0].removesuffix(', ms')}, {head[-1]} | {' | '.join(told)} | {ratio} |"


def with_figures(page: str, name: str, figures: str) -> str:
    """Return the page with the rows of a demonstration replaced; the rows with the best ratios come first.

    Raises:
        ValueError: the page has no place for them.
    """
    before, begin, rest = page.partition(BEGIN)
    table, end, behind = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE} has no place for the figures of {name}")
    rows = [row for row in table.splitlines()[3:] if row and not row.startswith(f"| {name} |")]
    rows = sorted([*rows, *rows_of(name, figures)], key=lambda row: -float(row.strip("| ").split("|")[-1]))
    return f"{before}{BEGIN}\n{HEAD}\n" + "\n".join(rows) + f"\n{END}{behind}"


def measure(name: str, picture: Path, quick: bool = False) -> str:
    """Run a demonstration, draw its picture, and return its tables for the page."""
    words = ["-m", "examples", name, "--markdown", "--plot", str(picture), *(["--quick"] if quick else [])]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def main(names: list[str]) -> None:
    """Measure the demonstrations (all of them by default)."""
    from examples.common.command import NAMES

    PICTURES.mkdir(exist_ok=True)
    for name in names or NAMES:
        print(name, flush=True)
        figures = measure(name, PICTURES / f"{name}.svg")
        PAGE.write_text(with_figures(PAGE.read_text(encoding="utf-8"), name, figures), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(sys.argv[1:])
