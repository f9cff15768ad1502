"""Measures the demonstrations, and writes their tables and pictures into docs/examples.md.

    python tools/examples.py [NAME…]

Each demonstration runs in its own process, one after another. Takes about five minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "examples.md"
PICTURES = ROOT / "docs" / "examples"


def with_figures(page: str, name: str, figures: str) -> str:
    """Return the page with the figures of a demonstration replaced.

    Raises:
        ValueError: the page has no place for them.
    """
    begin, end = f"<!-- figures of {name}: tools/examples.py -->\n", "<!-- end -->\n"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{PAGE} has no place for the figures of {name}")
    picture = f"![Times of {name}](examples/{name}.svg)"
    return pattern.sub(lambda _: f"{begin}{figures.strip()}\n\n{picture}\n{end}", page)


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
