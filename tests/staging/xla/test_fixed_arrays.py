"""Arrays whose values the code needs become constants; other contents get other code."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.tiers import constants
from tests.helpers.differential import load, translation

SHIFTS, SOLID = np.array([0, 1, -1, 2, 0, -2, 1, 3, -3, 1]), np.arange(40).reshape(5, 8) % 3 == 0
#: name -> the body of f(x, shifts, solid); x is an array of shape (5, 8, 10), which it may change
BODIES = {
    "shifts of a loop over two arrays": """
        for k, shift in zip(range(10), shifts):
            x[:, :, k] = np.roll(x[:, :, k], shift, axis=1)
        return x
        """,
    "the count of a range": """
        total = 0.0
        for k in range(abs(shifts[3]) + 3):
            total = total * 0.5 + x[k % 5, k].sum()
        return total
        """,
    "parts at a mask, in another order, written back": """
        part = x[solid, :]
        part = part[:, [0, 5, 6, 7, 8, 1, 2, 3, 4, 9]]
        x *= 0.5
        x[solid, :] = part
        return x, part.shape, part
        """,
    "the shape of a result": """
        return x[solid, 0].reshape(-1, 2), np.nonzero(solid)
        """,
    "in a loop and in a branch": """
        for step in range(12):
            for k, shift in zip(range(10), shifts):
                x[:, :, k] = np.roll(x[:, :, k], shift, axis=0)
            if x.sum() > 0:
                x = x - x[solid, :].reshape(-1, 2)[0, 1]
        return x
        """,
    "a number of an array, which an index is made of": """
        return x[:, :, int(shifts[2] * 2 + np.abs(shifts).max())]
        """,
    "constants of the code itself": """
        widths = np.array([1, 2, 3])
        return [x[: int(np.cumsum(widths * shifts[4 : 7] ** 2)[k])].sum() for k in range(3)][-1]
        """,
    "the array is returned, and the same object": """
        y = np.roll(x, shifts[1])
        return y, shifts
        """,
}


@pytest.fixture(autouse=True)
def _compiled() -> Any:
    with np2tf.config.using(tier="compile"):
        yield


def both(name: str) -> tuple[Any, Any]:
    """The function as it is, and translated."""
    source = f"import numpy as np\n\n\ndef f(x, shifts, solid):{BODIES[name]}"
    names: dict[str, Any] = {}
    exec(source, names)
    return names["f"], load(translation(source))["f"]


def assert_equal(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_equal(a, b)
    else:
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12)


@pytest.mark.parametrize("name", BODIES)
def test_values_are_constants_of_the_code(name: str) -> None:
    """The function is compiled, and gives NumPy's results, also after the contents have changed in place."""
    plain, translated = both(name)
    shifts, solid = SHIFTS.copy(), SOLID.copy()
    before = counts.traces
    for turn in range(3):
        a, b = (np.random.default_rng(turn).random((5, 8, 10)) for _ in range(2))
        theirs, ours = plain(a, shifts.copy(), solid), translated(b, shifts, solid)
        assert_equal(ours, theirs)
        assert_equal(b, a)
        if turn == 1:
            shifts[:] = np.roll(shifts, 2)
            solid[:] = ~solid
    assert translated.compiled_count + translated.graph_count >= 2
    assert counts.traces > before


def test_lengths_that_vary() -> None:
    """An array whose length is an input of the code is no constant of it."""
    source = """import numpy as np


def f(x, shifts):
    for k in range(3):
        x = np.roll(x, shifts[k]) + x[shifts > 0].sum()
    return x, shifts * 2
"""
    names: dict[str, Any] = {}
    exec(source, names)
    translated = load(translation(source))["f"]
    for length in (5, 6, 7, 8, 9, 11, 12, 5, 8):
        x, shifts = np.arange(float(length)), np.arange(length) % 4 - 1
        assert_equal(translated(x.copy(), shifts), names["f"](x.copy(), shifts))


def test_the_same_object_comes_back() -> None:
    """An array that is a constant of the code is still the caller's own array."""
    _, translated = both("the array is returned, and the same object")
    shifts = SHIFTS.copy()
    assert translated(np.ones((5, 8, 10)), shifts, SOLID)[1] is shifts


def test_an_array_that_the_code_changes_is_no_constant() -> None:
    """Its contents would differ in every call: the host runs the function."""
    source = """import numpy as np


def f(x, shifts):
    y = np.roll(x, shifts[1])
    shifts += 1
    return y
"""
    names: dict[str, Any] = {}
    exec(source, names)
    translated = load(translation(source))["f"]
    ours, theirs, x = SHIFTS.copy(), SHIFTS.copy(), np.arange(12.0)
    for _ in range(3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnjittedWarning)
            result = translated(x, ours)
        assert_equal(result, names["f"](x, theirs))
        assert_equal(ours, theirs)
    assert translated.compiled_count == 0


def test_floats_are_data() -> None:
    """Numbers that differ in each call are no constants, however small the array is."""
    source = "import numpy as np\n\n\ndef f(x, y):\n    return np.roll(x, y.sum()) * 2\n"
    translated = load(translation(source))["f"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        assert_equal(translated(np.arange(9.0), np.ones(4)), np.roll(np.arange(9.0), 4) * 2)
    assert translated.compiled_count == 0


def test_contents_that_always_differ_are_compiled_a_few_times() -> None:
    """Each content costs a trace, so that there are few; the host runs the other calls."""
    _, translated = both("shifts of a loop over two arrays")
    plain, _ = both("shifts of a loop over two arrays")
    for turn in range(2 * constants.TRACES_OF_CONTENTS):
        a, b = np.arange(400.0).reshape(5, 8, 10), np.arange(400.0).reshape(5, 8, 10)
        shifts = np.full(10, turn)
        assert_equal(translated(b, shifts, SOLID), plain(a, shifts, SOLID))
    assert translated.compiled_count <= constants.TRACES_OF_CONTENTS
