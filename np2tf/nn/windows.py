"""Windows that move along axes: padding, dilation, and the slices that a window's places read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from np2tf import tnp

Pads = Sequence[tuple[int, int]]


def extent(window: int, dilation: int) -> int:
    """Return the number of elements from a window's first place to its last."""
    return (window - 1) * dilation + 1


def explicit_pads(
    padding: str | Pads, lengths: Sequence[int], extents: Sequence[int], strides: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the padding before and behind each axis.

    Args:
        padding: "VALID", "SAME", "SAME_LOWER", or a pair for each axis.
        lengths: the lengths of the axes.
        extents, strides: the extents and strides of the window.

    Raises:
        ValueError: if there is no such padding, or there are not as many pairs as axes.
    """
    if isinstance(padding, str):
        kind = padding.upper()
        if kind == "VALID":
            return [(0, 0)] * len(lengths)
        if kind not in ("SAME", "SAME_LOWER"):
            raise ValueError(f"padding is VALID, SAME, SAME_LOWER or pairs, not {padding!r}")
        pads = []
        for n, k, s in zip(lengths, extents, strides, strict=True):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            low = total // 2 if kind == "SAME" else total - total // 2
            pads.append((low, total - low))
        return pads
    pads = [(int(low), int(high)) for low, high in padding]
    if len(pads) != len(lengths):
        raise ValueError(f"there are {len(pads)} pairs of padding for {len(lengths)} axes")
    return pads


def pad(x: Any, axes: Sequence[int], pads: Pads, fill: Any) -> Any:
    """Return x with `fill` around the given axes; a negative number takes elements away."""
    for axis, (low, high) in zip(axes, pads, strict=True):
        if low < 0 or high < 0:
            x = x[(slice(None),) * axis + (slice(max(-low, 0), x.shape[axis] - max(-high, 0)),)]
    wide = [(0, 0)] * x.ndim
    for axis, (low, high) in zip(axes, pads, strict=True):
        wide[axis] = max(low, 0), max(high, 0)
    return tnp.pad(x, wide, constant_values=fill) if any(map(any, wide)) else x


def dilate(x: Any, axis: int, step: int) -> Any:
    """Return x with `step - 1` zeros between two elements along an axis."""
    n = x.shape[axis]
    if step == 1 or n == 0:
        return x
    result = tnp.expand_dims(x, axis + 1)
    zeros = tnp.zeros_like(result)
    result = tnp.concatenate([result, *[zeros] * (step - 1)], axis=axis + 1)
    result = result.reshape((*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return result[(slice(None),) * axis + (slice(0, (n - 1) * step + 1),)]


def count(length: int, window_extent: int, stride: int) -> int:
    """Return the number of places of a window along an axis."""
    return max((length - window_extent) // stride + 1, 0)


def part(x: Any, axis: int, start: int, places: int, stride: int) -> Any:
    """Return the elements that one element of the window reads at all places."""
    stop = start + (places - 1) * stride + 1 if places else start
    return x[(slice(None),) * axis + (slice(start, stop, stride),)]


__all__ = ["count", "dilate", "explicit_pads", "extent", "pad", "part"]
