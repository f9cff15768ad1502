"""Measures the calls of a case in turns, and compares their results."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from examples.common.cases import Case, on_host

#: In each turn a call is repeated until so many seconds have passed.
TURN = 0.02
#: The least number of turns.
TURNS = 3


class UnequalError(Exception):
    """Two systems have different results; the message names them."""


def measured(case: Case, seconds: float) -> dict[str, float]:
    """Return the shortest time of each call in seconds, after its results have proved equal.

    The calls take turns, so that other work on the machine slows all of them down.

    Args:
        case: the calls.
        seconds: how long each call is repeated.

    Raises:
        UnequalError: two results differ by more than rounding.
    """
    compare(case)
    best = {label: float("inf") for label in case.calls}
    deadline = perf_counter() + seconds * len(best)
    turn = 0
    while turn < TURNS or perf_counter() < deadline:
        for label, call in case.calls.items():
            best[label] = min(best[label], _shortest(call, min(TURN, seconds)))
        turn += 1
    return best


def _shortest(call: Callable[[], Any], seconds: float) -> float:
    shortest, begun = float("inf"), perf_counter()
    while True:
        start = perf_counter()
        on_host(call())
        now = perf_counter()
        shortest = min(shortest, now - start)
        if now - begun > seconds:
            return shortest


def compare(case: Case) -> None:
    """Compare the results of all calls with the result of the first call.

    Raises:
        UnequalError: two results differ by more than rounding.
    """
    results = {label: on_host(call()) for label, call in case.calls.items()}
    (first, expected), *others = results.items()
    scale = max((float(np.max(np.abs(array), initial=0.0)) for array in expected), default=1.0)
    for label, arrays in others:
        for ours, theirs in zip(arrays, expected, strict=True):
            try:
                np.testing.assert_allclose(ours, theirs, case.tolerance, case.tolerance * scale)
            except AssertionError as error:
                where = f"{case.panel}, {case.size}"
                raise UnequalError(f"{where}: {label} differs from {first}:{error}") from None
