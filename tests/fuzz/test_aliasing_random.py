"""Random programs over arrays that alias: equal to NumPy, compiled or with a warning unjitted."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.helpers.array_programs import programs
from tests.helpers.differential import compare

CALLS = ("np.arange(4.), np.array([3., -1., 0.5, 2.]), 12", "*[np.arange(4.)] * 2, 0")
quiet = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def judge(source: str) -> None:
    """Numbers may be widened where a branch or loop gives them one type; overflow to inf is equal as well."""
    compare(source, *CALLS, ran=None, ways=("unjitted", "jitted"), number_types=False)


@settings(max_examples=25, derandomize=True, **quiet)
@given(programs())
def test_random_programs(source: str):
    judge(source)


@settings(max_examples=400, derandomize=True, **quiet)
@given(programs())
def _many(source: str):
    judge(source)


@pytest.mark.long
def test_many_random_programs():
    _many()
