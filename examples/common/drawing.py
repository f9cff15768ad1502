"""Draws the times of a demonstration: lines over the sizes, or bars if a panel has one size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from examples.common.cases import COMPILED, EAGER, JAX, NUMPY, TF_EAGER, TF_GRAPH, TF_XLA
from examples.common.tables import Times

#: A system has the same colour in all pictures.
COLOURS = {
    NUMPY: "#4d4d4d",
    EAGER: "#9ecae1",
    COMPILED: "#08519c",
    TF_EAGER: "#fdbe85",
    TF_GRAPH: "#fd8d3c",
    TF_XLA: "#a63603",
    JAX: "#74c476",
}
#: Small SVG files, which are the same each time.
_SETTINGS = {"svg.fonttype": "none", "svg.hashsalt": "examples", "font.sans-serif": ["DejaVu Sans"]}
OTHERS = ("#756bb1", "#dd1c77", "#8c6d31", "#17becf")


def draw(times: Times, path: Path) -> None:
    """Draw one picture with a panel beside another.

    Args:
        times: the figures.
        path: the file, whose ending names the format.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        1, len(times), figsize=(min(5.2 * len(times), 10), 3.2), squeeze=False, layout="constrained"
    )
    for axis, (panel, sizes) in zip(axes[0], times.items(), strict=True):
        axis.set_title(panel, fontsize=10)
        if len(sizes) > 1:
            _lines(axis, sizes)
        else:
            _bars(axis, next(iter(sizes.values())))
        axis.grid(alpha=0.3, which="major")
        axis.minorticks_off()
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with pyplot.rc_context(_SETTINGS):
        figure.savefig(path, dpi=80, metadata=metadata)
    pyplot.close(figure)


def _colours(labels: list[str]) -> dict[str, str]:
    others = iter(OTHERS * len(labels))
    return {label: COLOURS.get(label) or next(others) for label in labels}


def _lines(axis: Any, sizes: dict[str, dict[str, float]]) -> None:
    labels = list(dict.fromkeys(label for times in sizes.values() for label in times))
    for label, colour in _colours(labels).items():
        values = [sizes[size].get(label, float("nan")) * 1e3 for size in sizes]
        axis.plot(range(len(sizes)), values, marker="o", markersize=3, color=colour, label=label)
    axis.set_xticks(range(len(sizes)), list(sizes))
    axis.set_yscale("log")
    axis.set_ylabel("ms")
    axis.legend(fontsize=7)


def _bars(axis: Any, times: dict[str, float]) -> None:
    values = [seconds * 1e3 for seconds in times.values()]
    bars = axis.barh(list(times), values, color=list(_colours(list(times)).values()))
    axis.bar_label(bars, [f"{value:.3g}" for value in values], padding=3, fontsize=8)
    axis.set_xscale("log")
    axis.margins(x=0.15)
    axis.invert_yaxis()
    axis.tick_params(labelsize=8)
    axis.set_xlabel("ms")
