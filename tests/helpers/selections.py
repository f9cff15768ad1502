"""Selections of parameters: the default run takes them, and `-m long` takes the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(rows: Iterable[Any], variants: Sequence[Any]) -> list[Any]:
    """Return the pairs of rows and variants as parameters of a test.

    Each row is tested with one of the variants, in turn. The other pairs are marked `long`.
    """
    return [
        pytest.param(row, variant, marks=() if place == number % len(variants) else pytest.mark.long)
        for number, row in enumerate(rows)
        for place, variant in enumerate(variants)
    ]


def every_second(rows: Iterable[Any]) -> list[Any]:
    """Return rows as parameters of a test: the default run takes every second one."""
    return [
        pytest.param(row, marks=pytest.mark.long if number % 2 else ()) for number, row in enumerate(rows)
    ]
