"""Functions of a row, and of object arrays of rows, as NumPy has them. Tests translate this module."""

from __future__ import annotations

from typing import Any

import numpy as np

import np2tf

WEIGHTS = np.array([0.5, -1.0, 2.0])


def normalised(row: Any) -> Any:
    """A result as long as the row."""
    return row / np.sqrt(np.sum(row**2) + 1)


def moments(row: Any) -> Any:
    """Numbers, of several dtypes, in a nested result."""
    return {"mean": row.sum() / (len(row) + 1), "n": len(row), "large": (row > 1).sum()}


def smoothed(row: Any) -> Any:
    """Writes in place, and slices."""
    result = row.copy()
    result[1:] += 0.5 * row[:-1]
    result[row > 1] = 0.0
    return result


def recurrence(row: Any) -> Any:
    """A loop whose number of steps is the row's length."""
    state = np.zeros(3)
    for k in range(len(row)):
        state = 0.5 * state + WEIGHTS * row[k]
    return state


def longer(row: Any) -> Any:
    """A result whose length is another function of the row."""
    return np.concatenate([row, row[::-1], np.ones(2)])


def positive(row: Any) -> Any:
    """A result whose length depends on the values."""
    return row[row > 0.5]


def products(row: Any) -> Any:
    """Two axes whose lengths depend on the row."""
    return np.outer(row, row)


def written(row: Any) -> Any:
    """A write to the row, which must not reach the argument."""
    row *= 2
    return row + 1


#: Functions of a row of floats.
OF_ROWS = [normalised, moments, smoothed, recurrence, longer, positive, products, written]


def loss(weights: Any, row: Any, target: Any) -> Any:
    """The loss of a sequence."""
    state = 0.0
    for k in range(len(row)):
        state = np.tanh(weights[0] * state + weights[1] * row[k])
    return (state - target) ** 2


def total(rows: Any) -> Any:
    """A loop over rows."""
    result = 0.0
    for row in rows:
        result = result + np.sum(row**2)
    return result


def weighted(rows: Any) -> Any:
    """A loop over rows that reads a global array."""
    result = np.zeros(3)
    for row in rows:
        result = result + WEIGHTS * row.sum()
    return result


def largest(rows: Any) -> Any:
    """A loop over the numbers of rows."""
    result = np.zeros(len(rows))
    for k in range(len(rows)):
        result[k] = np.max(rows[k])
    return result


def products_of_pairs(rows: Any, targets: Any) -> Any:
    """A loop over rows and a dense array together."""
    result = 0.0
    for row, target in zip(rows, targets):
        result = result + row.sum() * target
    return result


def arithmetic(rows: Any) -> Any:
    """Arithmetic with numbers, and among ragged arrays."""
    return (rows * 2 - 1) / 4 + rows**2 - (-rows)


def parts(rows: Any) -> Any:
    """Slices, selected rows, and single rows."""
    return rows[1:], rows[::2], rows[[0, 0]], rows[-1] + rows[0][0], rows[0] * (rows.shape[0] + rows.ndim)


def of_lanes(rows: Any) -> Any:
    """Batches of batches."""
    shares = np2tf.vmap(lambda row: row / row.sum())(rows + 1)
    return np2tf.vmap(np.sum)(shares), shares * 2


#: Functions of an object array of rows.
OF_ARRAYS = [total, weighted, largest, arithmetic, parts, of_lanes]
