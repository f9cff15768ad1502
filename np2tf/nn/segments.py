"""Reductions of segments: of the elements that have the same number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from np2tf import tnp
from np2tf.nn.operands import dtype_of, highest, lowest


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the sum of each segment.

    Args:
        data: array whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; 0 for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_sum.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.add_at, lambda dtype: dtype.type(0))


def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the product of each segment.

    Args:
        data: array whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; 1 for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_prod.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.multiply_at, lambda dtype: dtype.type(1))


def segment_max(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the greatest element of each segment.

    Args:
        data: array of real numbers whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; the least value of the dtype for
        an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_max.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.maximum_at, lowest)


def segment_min(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the least element of each segment.

    Args:
        data: array of real numbers whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; the greatest value of the dtype
        for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_min.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.minimum_at, highest)


def _reduce(
    data: Any, ids: Any, count: int | None, update: Callable[..., Any], initial: Callable[[Any], Any]
) -> Any:
    data, ids = tnp.asarray(data), tnp.asarray(ids)
    n = count if count is not None else int(tnp.max(ids)) + 1
    dtype = dtype_of(data)
    # Elements that are left out go to a place behind the segments.
    place = tnp.where((ids < 0) | (ids >= n), n, ids)
    start = tnp.full_like(data, initial(dtype), shape=(n + 1, *data.shape[1:]))
    result = update(start, place, data)
    return result[:n]


__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
