"""Arguments that are parts of larger arrays: what is a view of them, and what a copy, is as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from tests.helpers.differential import HEAD, compare

#: How the argument is taken from an array of 24 numbers.
PARTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "whole": lambda a: a,
    "end": lambda a: a[3:],
    "stepped": lambda a: a[::2],
    "backwards": lambda a: a[::-1],
    "column": lambda a: a.reshape(6, 4)[:, 1],
    "columns": lambda a: a.reshape(6, 4)[:, 1:],
    "rows": lambda a: a.reshape(6, 4)[1:4],
    "rows stepped": lambda a: a.reshape(6, 4)[::2],
    "columns backwards": lambda a: a.reshape(6, 4)[:, ::-1],
    "rows backwards": lambda a: a.reshape(6, 4)[::-1],
    "transposed": lambda a: a.reshape(6, 4).T,
    "transposed part": lambda a: a.reshape(6, 4)[1:, 1:3].T,
    "permuted": lambda a: a.reshape(2, 3, 4).transpose(1, 0, 2),
    "permuted part": lambda a: a.reshape(2, 3, 4)[:, ::-1, 1:].transpose(2, 0, 1),
    "one long axis": lambda a: a.reshape(2, 3, 4)[:1, :, :1],
    "blocks": lambda a: a.reshape(2, 3, 4)[:, 1:],
    "diagonal": lambda a: np.einsum("ii->i", a[:16].reshape(4, 4)),
    "empty": lambda a: a.reshape(6, 4)[:0, 1:],
}
#: name -> view or copy of the argument; the function writes to the view or copy
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "ravel": lambda m, x: x.ravel(),
    "ravel K": lambda m, x: m.ravel(x, order="K"),
    "ravel F": lambda m, x: m.ravel(x, order="F"),
    "reshape": lambda m, x: x.reshape(-1),
    "an axis more": lambda m, x: x.reshape(*x.shape, 1),
    "two axes joined": lambda m, x: x.reshape(-1, x.shape[-1]),
    "reshape F": lambda m, x: x.reshape(-1, order="F"),
    "ascontiguousarray": lambda m, x: m.ascontiguousarray(x),
    "asfortranarray": lambda m, x: m.asfortranarray(x),
    "transposed and joined": lambda m, x: x.T.reshape(-1),
    "a part joined": lambda m, x: x[1:].reshape(-1),
    "squeezed": lambda m, x: m.squeeze(x),
}


@np2tf.jit(tier="compile")
def written(x: Any, view: Any) -> Any:
    made = view(tnp, x)
    made[...] = 7.0
    flags = made.flags.c_contiguous, made.flags.f_contiguous, x.flags.c_contiguous, x.flags.f_contiguous
    return x.sum(), flags


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("view", VIEWS)
def test_views_and_copies(part: str, view: str) -> None:
    np2tf_array, numpys = np.arange(24.0), np.arange(24.0)
    # As graphs: what is a view is settled while tracing, and programs of XLA take seconds and memory.
    with patch("np2tf.staging.compile.concrete_function.xla_pays", lambda ops: False):
        found = written(PARTS[part](np2tf_array), VIEWS[view])
    given = PARTS[part](numpys)
    made = VIEWS[view](np, given)
    made[...] = 7.0
    flags = (made.flags.c_contiguous, made.flags.f_contiguous)
    assert found == (given.sum(), (*flags, given.flags.c_contiguous, given.flags.f_contiguous))
    np.testing.assert_array_equal(np2tf_array, numpys)


def test_one_trace_serves_parts_of_arrays_of_all_widths() -> None:
    @np2tf.jit(tier="compile")
    def total(x: Any) -> Any:
        return x.ravel().sum()

    for width in (5, 6, 9):
        assert total(np.ones((4, width))[:, 1:4]) == 12
    assert total.explain(np.ones((4, 5))[:, 1:4]).traces == 1
    assert total(np.ones((4, 5))[:, :3][:, ::-1]) == 12
    assert total(np.ones((4, 3))) == 12
    assert total.explain(np.ones((4, 3))).traces == 3


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_strides_are_numpys_own() -> None:
    """They need not be equal for equal traces: NumPy is asked."""

    @np2tf.jit(tier="compile")
    def strides(x: Any) -> Any:
        return x.strides

    for width in (5, 6):
        assert strides(np.ones((4, width))[:, 1:4]) == (8 * width, 8)


def test_blocks_of_arrays_in_fortran_order() -> None:
    source = f"{HEAD}def f(a):\n    b = np.block([[a, a]])\n    c = b.ravel()\n    c[0] = 9.0\n    return b\n"
    compare(source, "np.arange(6.0).reshape(2, 3)")
    compare(source, "np.asfortranarray(np.arange(6.0).reshape(2, 3))")
    compare(source, "np.asfortranarray(np.arange(6e5).reshape(2, 300000))")
    compare(source, "np.arange(24.0).reshape(2, 3, 4)[:, ::-1, 1]")
    compare(source, "np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1)")


def test_overlaps_among_many_arrays():
    """Pairs are found by their addresses if there are many arrays: each answer is that of all pairs."""
    from itertools import combinations

    from np2tf.staging.compile.preparation import share_memory

    rng = np.random.default_rng(0)
    base = np.zeros((40, 60))
    for _ in range(300):
        arrays = [np.zeros(rng.integers(1, 5)) for _ in range(10)]
        for _ in range(rng.integers(0, 4)):
            rows, columns = (sorted(rng.integers(0, n, 2)) for n in base.shape)
            part = base[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1 : rng.integers(1, 3)]
            arrays.append([part, part.T, part[::-1], part[0]][rng.integers(4)])
        rng.shuffle(arrays)
        expected = any(np.shares_memory(a, b) for a, b in combinations(arrays, 2))
        assert share_memory(arrays) == expected
