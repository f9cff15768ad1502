"""Random loops that read and write rows and columns of two arrays, in branches and inner loops as well.

np2tf keeps XLA from copying an array only if the array is large; in these tests, it does so for all arrays.
"""

from __future__ import annotations

import random

import pytest

from np2tf.staging.xla import loop_passes
from tests.helpers.differential import HEAD, compare
from tests.helpers.random_lines import lines

LINES = (
    "{y1}[{p1}] {o} {y2}[{p2}] * 0.5 + a[{p3}]",
    "{y1}[{p1}] = a[{p2}] - {y2}[{p3}] * {y3}[{p1}]",
    "x = {y1}[{p1}] - x * 0.5",
    "{y1}[{p1}] {o} x + 0.0",
    "s = s * 0.5 + np.sum({y1}[{p1}]) * 0.1",
    "if {q}:\n    {y1}[{p1}] {o} {y2}[{p2}] + x\nelse:\n    {y3}[{p3}] = x * 0.5",
    "if {q}:\n    {y1}[{p1}] = {y2}[{p2}] * 0.5\n    {y1}[{p3}] = x + 1.0",
    "if {q}:\n    {y1}[{p1}] = x * 0.5\nelif s > 0:\n    {y1}[{p2}] = {y2}[{p3}] + 0.25",
    "for j in range(m):\n    {y1}[i, j] = {y2}[i - 1, j] * 0.5 + {y3}[{r}, j - 1]",
)
ARRAYS = ("c", "d")
ROWS = ("i", "i - 1", "i + 1", "0", "n - 1 - i", "k[i]")
PLACES = (*ROWS, *(f":, {row}" for row in ROWS), "i, ::-1", "k[i], ::-1", "::-1, i")
WORDS = {
    **{f"y{k}": ARRAYS for k in (1, 2, 3)},
    **{f"p{k}": PLACES for k in (1, 2, 3)},
    "r": ("i", "i - 1"),
    "o": ("=", "+=", "-="),
    "q": ("i < 3", "i % 2 == 0", "a[i, 0] > 0.0", "s > 0.0", "c[i, 1] > d[i, 1]"),
}
SOURCE = """
def f(a, c, d, k):
    n, m = a.shape
    s, x = 0.25, a[0] * 1.0
    for i in range(1, n - 1):
{body}
    return c, d, s, x
"""
CALL = "*(np.cos(np.arange(147.0) * 1.5).reshape(3, 7, 7)), np.arange(7) * 3 % 7"


#: Of 24 programs, 8 run with the other tests, and all with `-m long`.
SEEDS = [pytest.param(seed, marks=pytest.mark.long if seed % 3 else ()) for seed in range(24)]


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_and_columns(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_passes, "_LARGE_READ", 1)
    body = "\n".join(lines(random.Random(seed), LINES, 2, WORDS))
    compare(HEAD + SOURCE.format(body=body), CALL, ran=None, ways=("jitted",), number_types=False)
