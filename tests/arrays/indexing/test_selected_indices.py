"""Index arrays of a length that is known at run time, under XLA: all of the index array is looked at."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation

LOOP = """def f(x, index, n):
    total = 0.0
    out = np.zeros(len(x))
    for i in range(n):
        {statement}
        total += out.sum() + x[0]
    return total, out, x
"""
STATEMENTS = {
    "a number is written": "out[index[i : i + 3]] = 1.5 + i",
    "a constant is written": "x[index[:i]] = 0.0",
    "rows are marked": (
        "used = np.zeros(len(x), dtype=bool)\n        used[index[i : 2 * i]] = True\n        out += used"
    ),
    "a sum is read": "out[i] = x[index[i : 2 * i]].sum()",
    "a product": "out[i] = x[i : 2 * i] @ x[index[i : 2 * i]]",
    "a mask picks indices": "out[index[index > i]] = 2.0",
    "negative indices": "out[-index[: i + 1]] = i",
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_selected_indices(statement: str) -> None:
    source = HEAD + LOOP.format(statement=statement)
    array, index = "np.linspace(1, 2, 30)", "((np.arange(30) * 7) % 29)"
    compare(source, f"{array}, {index}, 14", f"{array} * 2, {index}[::-1].copy(), 12", aliases=False)
    function = load(translation(source))["f"]
    with np2tf.config.using(jit="on", tier="compile"):
        made = function.lower(np.linspace(1, 2, 30), np.arange(30), 14)
    assert made.how == "xla", made.not_xla


@pytest.mark.parametrize("statement", ["out[index[i : i + 3]] = 1.0", "out[i] = x[index[i : i + 3]].sum()"])
def test_what_is_out_of_bounds(statement: str) -> None:
    """NumPy's error where an index counts, and none where it does not."""
    source = HEAD + LOOP.format(statement=statement)
    bad = "np.where(np.arange(30) < {}, 0, 99)"
    array = "np.linspace(1, 2, 30)"
    compare(source, f"{array}, {bad.format(14)}, 12", aliases=False)
    compare(source, f"{array}, {bad.format(13)}, 12", ran="fallback", aliases=False)
