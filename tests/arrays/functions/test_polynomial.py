"""Polynomials of the main namespace, convolve and correlate over dtypes and modes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from tests.helpers.op_harness import MODES, Case, differences

VECTOR = np.array([0.5, -1.25, 2.0])
MATRIX = np.ones((2, 3))
OPERANDS = (
    VECTOR,
    np.array([4, 5, 6, 7]),
    np.array([0, 1, 2, 3], "int8"),
    VECTOR.astype("float32"),
    VECTOR + 1j * VECTOR[::-1],
    VECTOR.astype("float16"),
)
#: polymul leaves out leading zeros, a shape that depends on values.
NOT_STAGED = ("polymul",)
#: polyfit is made of svd.
NOT_IN_XLA = (*NOT_STAGED, "polyfit")


def polynomials() -> Iterator[Case]:
    for a in OPERANDS:
        for v in (np.array([1.0, 2.0]), np.array([1, -1, 2, 1, 3]), np.array([3], "float32")):
            for mode in ("full", "same", "valid"):
                yield Case("convolve", (a, v, mode))
                yield Case("correlate", (a, v, mode))
        yield Case("polyval", (a, np.array([0.5, -1.0])))
        yield Case("polyval", (a, 2))
        for m in (0, 1, 2, 9):
            yield Case("polyder", (a, m))
        for m in (0, 1, 3):
            yield Case("polyint", (a, m))
        yield Case("polyint", (a, 1), {"k": 2.0})
        for name in ("polyadd", "polysub", "polymul"):
            yield Case(name, (a, np.array([1, 2])))
    yield Case("convolve", (VECTOR, np.zeros(0)))
    yield Case("convolve", (MATRIX, VECTOR))
    yield Case("polyder", (VECTOR, -1))
    yield Case("poly", (VECTOR,))
    yield Case("poly", (np.array([1, 2, 3]),))
    x = np.linspace(-1, 2, 9)
    for y in (x**3 - x, np.stack([x, x**2], 1)):
        yield Case("polyfit", (x, y, 2))
        yield Case("polyfit", (x, y, 1), {"w": np.arange(1.0, 10.0)})
        yield Case("polyfit", (x, y, 1), {"cov": True})
        yield Case("polyfit", (x, y, 1), {"cov": "unscaled"})
        yield Case("polyfit", (x, y, 1), {"full": True})
    yield Case("polyfit", (np.arange(5), np.arange(5) ** 2, 1))
    yield Case("polyfit", (x, x[:3], 1))
    yield Case("polyfit", (x, x, -1))


@pytest.mark.parametrize("mode", MODES)
def test_equals_numpy(mode: str) -> None:
    left_out = {"eager": (), "graph": NOT_STAGED, "xla": NOT_IN_XLA}[mode]
    cases = [case for case in polynomials() if case.name not in left_out]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [f"{case}: {text}" for case, text in differences(cases, mode)]
    assert found == []


def tensor(value: np.ndarray) -> Any:
    return np2tf.device_put(value)


def test_poly1d_goes_to_numpy() -> None:
    with np2tf.config.using(eager="tensorflow"):
        product = tnp.polymul(np.poly1d([1, 2]), np.poly1d([1, -2]))
        assert product == np.poly1d([1, 0, -4])
        assert tnp.polyval(np.poly1d([1, 2]), np.poly1d([3, 0])) == np.poly1d([3, 2])


def test_polyfit_warns_of_bad_conditions() -> None:
    x = tensor(np.ones(5))
    with pytest.warns(np.exceptions.RankWarning):
        tnp.polyfit(x, x, 2)
