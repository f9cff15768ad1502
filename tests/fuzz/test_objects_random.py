"""Random programs over objects mean the same translated: their results, and what became of the objects."""

from __future__ import annotations

import pytest

from tests.helpers.differential import compare
from tests.helpers.object_programs import CALLS, program


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_over_objects(seed: int) -> None:
    compare(program(seed), *CALLS, ran=None, ways=("unjitted", "jitted"), messages=False, number_types=False)
