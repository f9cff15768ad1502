"""Object arrays of rows on the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np


def object_array(rows: Iterable[Any]) -> np.ndarray:
    """Return the object array with one axis of some rows, also if their lengths are equal."""
    items = list(rows)
    result = np.empty(len(items), object)
    for k, item in enumerate(items):
        result[k] = item
    return result


def rows_on_host(flat: np.ndarray, splits: Sequence[np.ndarray]) -> np.ndarray:
    """Return the object array of rows.

    Args:
        flat: the elements of all rows.
        splits: for each level the places where rows end, the outermost level first.

    Returns:
        An object array with a new array for each row; nested object arrays for several levels.
    """
    values = flat if len(splits) == 1 else rows_on_host(flat, splits[1:])
    return object_array(values[start:end].copy() for start, end in pairwise(splits[0]))


def densest_rows(rows: np.ndarray) -> np.ndarray:
    """Return an object array of rows as a loop over the rows would stack it: dense arrays of rows with equal
    shapes.
    """
    if rows.dtype != object:
        return rows
    items = [densest_rows(row) for row in rows]
    if items and all(item.dtype != object and item.shape == items[0].shape for item in items):
        return np.stack(items)
    return object_array(items)
