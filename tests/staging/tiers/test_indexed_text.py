"""Code that takes single characters of a text is told before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from np2tf.staging.tiers.indexed_text import indexes_text


def compares(a: Any, b: Any) -> int:
    count = 0
    for i in range(len(a)):
        count += a[i] == b[len(b) - 1 - i]
    return count


def takes_the_first(a: Any, b: Any) -> Any:
    return a[0] if b[1] == "x" else b[2:3]


def asks_for_a_mode(a: Any, b: Any) -> Any:
    return a[b["k"]] if b == "fast" else [a, b][len(a)]


@pytest.mark.parametrize(
    ("function", "a", "b", "indexes"),
    [
        (compares, "abc", "abd", True),
        (compares, [1, 2], b"ab", True),
        (compares, [1, 2], (1, 2), False),
        (takes_the_first, "abc", "xyz", False),
        (asks_for_a_mode, [1, 2], "fast", False),
    ],
)
def test_text(function: Callable[..., Any], a: Any, b: Any, indexes: bool) -> None:
    assert indexes_text(function.__code__, (a, b)) is indexes
    assert indexes_text(function.__code__, (a, b, 0)) is indexes
