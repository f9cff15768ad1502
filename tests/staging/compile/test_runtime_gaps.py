"""Gaps: calls that the run time does not compile yet. A closed gap fails here: take it off the list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts


def arguments_that_overlap_compile() -> bool:
    """Two arguments that share memory: the call runs unjitted."""
    function = np2tf.jit(lambda x, y: x + y)
    base, before = np.ones(4), counts.compiled
    function(base[1:], base[:-1])
    return counts.compiled > before


GAPS = (arguments_that_overlap_compile,)


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("gap", GAPS, ids=lambda gap: gap.__name__)
def test_gap(gap: Callable[[], bool]) -> None:
    """It still does not work."""
    with np2tf.config.using(tier="compile", jit="on"):
        try:
            works = gap()
        except (ValueError, IndexError):
            works = False
    assert not works, f"{gap.__name__} works now: take it off the list"
