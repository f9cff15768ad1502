"""A plot of the ratios of NumPy's times to the translation's times, with a bar for each."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from np2tf.diagnostics import codes

#: The maximal number of bars that a reader can distinguish; the slowest are drawn.
MAX_BARS = 60


class PlotError(ValueError):
    """Raised if matplotlib is missing, or does not know the format."""


@dataclass(frozen=True)
class Bar:
    """One ratio, and whether the translation's result is right."""

    name: str
    ratio: float
    equal: bool
    seconds: float


def check_plot(file: Path) -> None:
    """Check that a plot can be drawn, before anything is measured.

    Raises:
        PlotError: with the remedy.
    """
    if importlib.util.find_spec("matplotlib") is None:
        entry = codes()["NP2TF928"]
        raise PlotError(f"{entry.code} {entry.message}. {entry.remedy}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    formats = FigureCanvasAgg.get_supported_filetypes()
    if file.suffix.removeprefix(".") not in formats:
        raise PlotError(f"--plot {file}: the file's name ends with one of {', '.join(sorted(formats))}")
    if not file.absolute().parent.is_dir():
        raise PlotError(f"--plot {file}: there is no folder {file.parent}")


def draw(bars: Sequence[Bar], file: Path) -> None:
    """Draw the ratios on a logarithmic scale, NumPy being 1."""
    from matplotlib.figure import Figure

    bars = [bar for bar in bars if 1e-6 < bar.ratio < 1e6]
    longest_bars = sorted(sorted(bars, key=lambda bar: -bar.seconds)[:MAX_BARS], key=lambda bar: bar.ratio)
    figure = Figure(figsize=(8, 1.2 + 0.25 * max(len(longest_bars), 4)), layout="constrained")
    axes = figure.add_subplot()
    colours = [("#2a7" if bar.ratio >= 1 else "#c63") if bar.equal else "#888" for bar in longest_bars]
    # From 1, where a bar of a ratio begins.
    axes.barh(range(len(longest_bars)), [bar.ratio - 1 for bar in longest_bars], left=1, color=colours)
    axes.set_yticks(
        range(len(longest_bars)), [bar.name if bar.equal else f"{bar.name} (differs)" for bar in longest_bars]
    )
    axes.set_xscale("log")
    ratios = [bar.ratio for bar in longest_bars]
    ticks = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    axes.set_xticks(ticks, [f"{tick:g}×" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlim(0.9 * min([0.5, *ratios]), 1.1 * max([2.0, *ratios]))
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("NumPy's time over the translation's: right of 1 the translation is faster")
    if len(longest_bars) < len(bars):
        axes.set_title(f"The {len(longest_bars)} that take longest, of {len(bars)}")
    figure.savefig(file)
