"""Rows of an array written and read several times in a loop: only the last writes are performed."""

from __future__ import annotations

import re

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation

_KEYS = ("0", "1", "2", "3", "1:3", "0:2", ":, 0", "2, 1:-1", "-1", "k % 4")


def program(rng: np.random.Generator) -> str:
    """The source of a loop that writes rows of two arrays of 4 × 30 × 40."""
    lines = ["def f(x, y):", "    for k in range(5):"]
    for _ in range(12):
        target, source = rng.choice(["x", "y"], 2)
        write, read = rng.choice(_KEYS, 2)
        kind = rng.integers(5)
        if kind == 0:
            lines.append(f"        {target}[{write}] = 0.5 * {target}[{write}] + k")
        elif kind == 1:
            lines.append(f"        {target}[{write}] += {source}[{read}].mean()")
        elif kind == 2:
            lines.append(f"        {target}[{write}] = {source}[{write}] - 0.5 * {target}[{write}]")
        elif kind == 3:
            lines.append(f"        {target}[{write}] = np.roll({source}[{write}], 1, axis=0)")
        else:
            lines.append(f"        {target}[3] = {source}[0] * 0.5")
    return "\n".join([*lines, "    return x, y", ""])


@pytest.mark.parametrize("seed", range(12))
def test_as_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = "np.cos(np.arange(4800.0)).reshape(4, 30, 40)"
    compare(HEAD + program(rng), f"{arrays}, {arrays} - 1.0")


def test_only_the_last_writes() -> None:
    source = """
def f(x):
    for k in range(9):
        for j in (0, 1, 2):
            x[j] = x[j] * 0.5 + x.sum()
        for j in (0, 1, 2):
            x[j] = np.roll(x[j], 1, axis=0)
    return x
"""
    kernel = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        code = kernel.lower(np.ones((3, 50, 50)))
    # The sums read the array, so that the first writes are performed, except the last of them.
    writes = re.findall(r"ROOT \S+ = \S+ dynamic-update-slice\(", code.hlo(optimized=True))
    assert len(writes) == 5
