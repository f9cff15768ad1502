"""Shares and counts as SVG, coloured by classes of the page's style sheet."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

from markupsafe import Markup

_RADIUS = 42.0
_GAP = 1.2


def bar(parts: Mapping[str, float], whole: float | None = None, label: str = "") -> Markup:
    """Return a bar of adjacent parts, as wide as the element around it.

    Args:
        parts: class of the colour -> size.
        whole: the size of the full width; by default the sum of the parts.
        label: the chart in words, for readers who cannot see it.
    """
    total = whole or sum(parts.values())
    rects, x = [], 0.0
    for name, size in parts.items():
        width = 100 * size / total if total else 0.0
        if width > 0:
            rects.append(
                Markup('<rect class="{}" x="{}" y="0" width="{}" height="10"/>').format(
                    name, f"{x:.3f}", f"{width:.3f}"
                )
            )
        x += width
    start_tag = Markup('<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"')
    return start_tag + Markup(' aria-label="{}">{}</svg>').format(label, Markup("").join(rects))


def ring(parts: Mapping[str, float], share: str, below: str) -> Markup:
    """Return a ring of parts with a text in it."""
    total = sum(parts.values())
    around = 2 * pi * _RADIUS
    arcs, offset = [], 0.0
    sizes = {name: size for name, size in parts.items() if size > 0}
    for name, size in sizes.items():
        length = around * size / total
        gap = min(_GAP, length / 2) if len(sizes) > 1 else 0.0
        arc = '<circle class="{}" cx="50" cy="50" r="{}" stroke-dasharray="{} {}" stroke-dashoffset="{}"/>'
        numbers = (f"{length - gap:.3f}", f"{around - length + gap:.3f}", f"{-offset:.3f}")
        arcs.append(Markup(arc).format(name, _RADIUS, *numbers))
        offset += length
    if not arcs:
        arcs.append(Markup('<circle class="none" cx="50" cy="50" r="{}"/>').format(_RADIUS))
    text = Markup('<text x="50" y="50">{}</text><text class="below" x="50" y="64">{}</text>')
    return Markup(
        '<svg class="ring" viewBox="0 0 100 100" role="img" aria-label="{}"><g>{}</g>{}</svg>'
    ).format(f"{share} {below}", Markup("").join(arcs), text.format(share, below))
