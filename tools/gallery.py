"""Makes the translations and the pictures of docs/gallery.md from the programs on that page."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
TEST = "tests/docs/test_gallery.py"
_PROGRAM = re.compile(r"^```python title=\"(\w+)\.py\"\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
#: The parts behind a program that this tool has made.
_MADE = re.compile(
    r"\n<!-- [^\n]* holds that this is the translation -->\n```python\n.*?^```\n\n!\[[^\n]*\n",
    re.DOTALL | re.MULTILINE,
)


def programs(page: str) -> dict[str, str]:
    """Return the programs of the page by their names."""
    return dict(_PROGRAM.findall(page))


def translated(text: str) -> str:
    """Return the translation of a program."""
    from np2tf import convert

    return convert(text).text


def with_translations(page: str) -> str:
    """Return the page with the present translation and the picture behind each program."""

    def extended(program: re.Match[str]) -> str:
        name, text = program.groups()
        return (
            f"{program[0]}\n<!-- {TEST} holds that this is the translation -->\n"
            f"```python\n{translated(text)}```\n\n"
            f"![{name}.py on NumPy and translated](gallery/{name}.png)\n"
        )

    return _PROGRAM.sub(extended, _MADE.sub("", page))


def results(name: str, text: str) -> list[tuple[np.ndarray, ...]]:
    """Return the arrays that the program returns: on NumPy, and translated and compiled."""
    import np2tf

    found = []
    for source in (text, translated(text)):
        module = ModuleType(name)
        exec(compile(source, f"{name}.py", "exec"), vars(module))
        with np2tf.config.using(tier="compile"):
            value: Any = module.main()
        arrays = value if isinstance(value, tuple) else (value,)
        found.append(tuple(np.asarray(array) for array in arrays))
    return found


def draw(name: str, both: list[tuple[np.ndarray, ...]], path: Path) -> None:
    """Draw the results beside each other: one matrix as an image, vectors as lines over the first."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for axis, title, arrays in zip(axes, ("NumPy", "np2tf"), both, strict=True):
        axis.set_title(f"{name}.py, {title}", fontsize=10)
        if arrays[0].ndim == 2:
            axis.imshow(arrays[0], cmap="viridis", aspect="auto", origin="lower")
            axis.set_axis_off()
        else:
            for array in arrays[1:]:
                axis.plot(arrays[0], array, linewidth=1.2)
            axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80, metadata={"Software": None})
    pyplot.close(figure)


def main() -> None:
    """Write the page and the pictures."""
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(gallery_functions.with_translations(with_translations(page)), encoding="utf-8")
    for name, text in programs(page).items():
        draw(name, results(name, text), PICTURES / f"{name}.png")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    from tools import gallery_functions

    main()
