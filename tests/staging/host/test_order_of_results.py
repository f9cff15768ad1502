"""The memory order of arrays that loops make, after the loop has gone on as compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import load, translation
from tests.helpers.mixed_types import source_of
from tests.helpers.replacing import Taken, imported, taken

__all__ = ["taken"]
BODIES = (
    "y = x + 1\nfor k in range(n):\n    x, y = y, x * 0.5\nreturn x, y, x.copy(order='K'), y.ravel('A')",
    "y = np.zeros(x.shape, order='F')\nfor k in range(n):\n    y = y * 0.5 + x\nreturn y, y.ravel(order='K')",
    "y = np.zeros_like(x)\nfor k in range(n):\n    y[k % 3, k % 4] += k\nreturn y, y.flags.f_contiguous, y.T",
    "for k in range(n):\n    x = x.astype('f4') * 0.5 if x[0, 0] > 3 else x + 1\nreturn x",
    "k = 0\nwhile k < n:\n    x = np.where(x > 3, x * 0.5, -x)\n    k += 1\nreturn x, x.ravel(order='A')",
    "for k in range(n):\n    x *= 0.5\n    y = x.T + k\nreturn x, y",
)
ARRAYS = (
    lambda: np.arange(12.0).reshape(3, 4),
    lambda: np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    lambda: np.asfortranarray(np.arange(30.0).reshape(5, 6))[1:4, 1:5],
)


def _described(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_described, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.strides, value.tolist()
    return value


@pytest.mark.parametrize("way", ["replaced", "compiled"])
def test_strides(way: str, request: pytest.FixtureRequest) -> None:
    found: Taken | None = request.getfixturevalue("taken") if way == "replaced" else None
    problems = []
    for body in BODIES:
        source = source_of(body)
        reference = load(source)["f"]
        with np2tf.config.using(**({} if found else {"jit": "on", "tier": "compile"})):
            function = imported(source)["f"] if found else load(translation(source))["f"]
            for made in ARRAYS:
                result, wanted = _described(function(made(), 25)), _described(reference(made(), 25))
                if result != wanted:
                    problems.append(f"{body}\n{result}\n{wanted}")
    assert problems == []
    assert found is None or found.over
