"""Writes of most of an array in a loop: in place, without copies of the array."""

from __future__ import annotations

import re

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation
from tests.helpers.selections import every_second

#: Parts of the same shape in other places.
_PARTS = (
    ("1:-1, 1:-1", ":-2, 1:-1", "2:, 2:", "1:-1, :-2"),
    (":, 1:", ":, :-1"),
    ("1:", ":-1"),
    ("0:-1, :-1", "1:, 1:", "0:-1, 1:"),
    ("0, :", "-1, :", "1"),
    (":, 0", ":, 1", ":, -2"),
    ("::2, 1:", "1::2, :-1"),
)


def program(rng: np.random.Generator) -> str:
    """The source of a loop that writes parts of two arrays, computed from parts of both."""
    lines = ["def kernel(x, y, steps):", "    for k in range(steps):"]
    for _ in range(5):
        target, *sources = rng.choice(["x", "y"], 3)
        parts = _PARTS[rng.integers(len(_PARTS))]
        write, *reads = rng.choice(parts, 3)
        first, second = (f"{source}[{read}]" for source, read in zip(sources, reads, strict=True))
        change = f"0.3 * ({first} - {second}) + 0.1 * k"
        lines.append(f"        {target}[{write}] {rng.choice(['=', '+=', '*='])} {change}")
        if rng.random() < 0.3:
            lines.append(f"        {target}[0, 0] = abs({first}).max()")
    return "\n".join([*lines, "    return x, y", ""])


@pytest.mark.parametrize("seed", every_second(range(25)))
def test_as_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = program(rng)
    numpys, space = load(HEAD + source), load(translation(HEAD + source))
    np2tf_arrays = [rng.standard_normal((36, 36)) for _ in range(2)]
    numpy_arrays = [array.copy() for array in np2tf_arrays]
    kernel = space["kernel"]
    with np2tf.config.using(tier="compile"):
        results, expected = kernel(*np2tf_arrays, 4), numpys["kernel"](*numpy_arrays, 4)
    assert kernel.compiled_count == 1, source
    for result, wanted in zip([*results, *np2tf_arrays], [*expected, *numpy_arrays], strict=True):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-11, atol=1e-11, err_msg=source)


SMOOTH = """
def kernel(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.25 * (b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b
"""
#: Every element is written from itself and another array, and an edge before.
ADVANCE = """
def kernel(a, b, steps):
    for k in range(steps):
        a[0, :] = k
        a[1:, :] -= 0.5 * (b[1:, :] - b[:-1, :])
        b[:, 1:] -= 0.5 * (a[:, 1:] - a[:, :-1])
    return a, b
"""


@pytest.mark.parametrize(("source", "most"), [(SMOOTH, 2), (ADVANCE, 3)], ids=["smooth", "advance"])
def test_no_copies_in_the_loop(source: str, most: int) -> None:
    rng = np.random.default_rng(1)
    kernel = load(translation(HEAD + source))["kernel"]
    with np2tf.config.using(tier="compile"):
        code = kernel.lower(rng.random((200, 200)), rng.random((200, 200)), 10)
    program = code.hlo(optimized=True)
    body = next(part for part in program.split("\n\n") if re.match(r"%\S*while_body", part))
    arrays = r"= f64\[(19|20)\d,(19|20)\d\]\S* "
    assert not re.search(arrays + "copy", body)
    assert len(re.findall(arrays + "(fusion|dynamic-update-slice|conditional)", body)) <= most


def test_writes_in_branches() -> None:
    source = """
def f(x, n):
    for k in range(n):
        if k % 2 == 0:
            x[1:-1, 1:-1] = 0.25 * (x[1:-1, :-2] + x[2:, 1:-1]) + k
        else:
            x[1:, :] = x[:-1, :] * 0.5
    return x
"""
    compare(HEAD + source, "np.cos(np.arange(4900.0)).reshape(70, 70), 7")
