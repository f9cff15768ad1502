"""Tracing takes time in proportion to the program, however deep its branches are nested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.control import branches
from tests.helpers.differential import HEAD, compare, load, translation


def ladder(rungs: int) -> str:
    """A loop over a ladder of tests on data."""
    lines = ["def f(x):", "    s = x[0]", "    for i in range(len(x)):", "        v = np.abs(x[i])"]
    for k in range(rungs):
        lines += [f"        {'elif' if k else 'if'} v > {rungs - k}:", f"            s = s + {k}.5 * v"]
        if k % 3 == 0:
            lines += ["            x[i] = s"]
    lines += ["        else:", "            s = s - 1", "    return s, x"]
    return HEAD + "\n".join(lines) + "\n"


def test_ladders_mean_what_they_mean_in_numpy() -> None:
    compare(ladder(7), "np.arange(12.) - 3", "np.zeros(4)")


def test_each_branch_is_traced_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for every rung above it at most, and not twice as often for each."""
    traced = []

    class Counted(branches._Side):
        def __init__(self, *args: Any) -> None:
            traced.append(self)
            super().__init__(*args)

    monkeypatch.setattr(branches, "_Side", Counted)
    rungs = 12
    x = np.arange(16.0)
    function = load(translation(ladder(rungs)))["f"]
    with np2tf.config.using(tier="compile"):
        found, _ = function(x.copy())
    assert function.trace_count == 1
    assert float(found) == load(ladder(rungs))["f"](x.copy())[0]
    # The body of a loop is traced a few times itself.
    assert rungs < len(traced) <= 4 * rungs**2
