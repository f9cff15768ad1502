"""A covering selection of two lists of parameters: the default run takes it, and `-m long` takes the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(rows: Iterable[Any], variants: Sequence[Any]) -> list[Any]:
    """Return the pairs of rows and variants as parameters of a test.

    Each row is tested with the first variant and, in turn, with one of the other variants. The other pairs
    are marked `long`.
    """
    first, *other_variants = variants
    made = []
    for number, row in enumerate(rows):
        chosen = {first, other_variants[number % len(other_variants)]}
        for variant in variants:
            made.append(pytest.param(row, variant, marks=() if variant in chosen else pytest.mark.long))
    return made
