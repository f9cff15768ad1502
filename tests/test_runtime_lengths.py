"""Parts whose lengths are known at run time only, under XLA: in rounds over the elements that they take."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from differential import HEAD, arguments_of, compare, load, observe, translation

import np2tf
from np2tf.tnp import rounds

#: Of `x`, `y` and `z`: longer than what is worked on as a whole, `z` longer than the others.
LENGTH = 704
#: Around one and several rounds of 1, 8 and 64 elements, and all of an array.
LENGTHS = (0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 200, LENGTH - 1, LENGTH)
#: Statements about a length `k`; `n` is that of the arrays, `a` has 24 rows of 704 and `t` 704 rows of 24.
READ = {
    "sum": "out[i] = x[:k].sum()",
    "sum from a place on": "out[i] = np.sum(x[n - k :])",
    "product of the elements": "out[i] = np.prod(x[:k] * x[:k] - x[:k] * x[:k] + x[:1])",
    "any": "out[i] = np.any(x[:k] == x[n - 1])",
    "all": "out[i] = np.all(x[:k] != x[n - 1])",
    "counted": "out[i] = np.count_nonzero(x[n - k :])",
    "inner product": "out[i] = x[:k] @ y[:k]",
    "of parts elsewhere": "out[i] = np.dot(x[n - k :], z[3 : k + 3])",
    "of what is turned round": "out[i] = np.inner(np.flip(x[:k]), y[:k]) + x[n - k :][::-1] @ z[:k]",
    "conjugated": "out[i] = np.vdot(x[:k], y[:k][::-1])",
    "with an expression": "out[i] = (x[:k] * y[0] + y[n - k :]) @ z[:k]",
    "an expression used twice": "w = x[:k] - y[:k]\n        out[i] = (w * w + w).sum() - w.sum()",
    "sum of an expression": "out[i] = np.sum(np.abs(x[:k] - y[n - k :]) * z[k : 2 * k])",
    "a row": "out[i] = a[i, :k] @ y[:k] + a[i, n - k :].sum()",
    "a column": "out[i] = t[:k, i] @ y[:k] + t[n - k :, i].sum()",
    "a column to the end": "out[i] = t[k:, i].sum()",
    "rows": "out[i] = t[:k].sum() + t[n - k :].sum(axis=0)[i]",
    "columns": "out[i] = a[:, :k].sum() + a[:, n - k :].sum(axis=1)[i]",
    "a block": "out[i] = a[i:, :k].sum() + t[:k, i:].sum()",
    "a matrix and a vector": "out[: k] = t[:k] @ y[:24]",
    "a vector and a matrix": "out[: k] = y[:24] @ a[:, :k]",
}
ORDERED = {
    "the greatest": "out[i] = np.max(x[: k + 1] + y[n - k - 1 :]) if k < n else 0",
    "the least": "out[i] = t[: k + 1, i].min() if k < n else 0",
    "the greatest of rows": "out[i] = a[:, : k + 1].max() if k < n else 0",
}
WRITTEN = {
    "a number": "x[:k] = 3",
    "a number added": "x[n - k :] += 2",
    "itself": "x[:k] = x[:k] * 2",
    "another part": "x[n - k :] = y[:k]",
    "a part of itself": "x[:k] = x[n - k :]",
    "added elsewhere": "x[n - k :] += z[3 : k + 3] * y[0]",
    "turned round": "x[:k] += y[0] * np.flip(x[:k])",
    "an expression": "x[:k] = np.maximum(np.abs(x[:k]), np.abs(y[n - k :])) - x[0]",
    "a row": "a[i, :k] += y[n - k :]",
    "a row, by another": "a[i, :k] = a[i - 1, :k] + a[i, :k]",
    "a column": "t[:k, i] -= y[:k]",
    "a column, by another": "t[k:, i] = t[k:, i] * t[0, 0] + t[k:, i - 1]",
    "rows": "t[:k] += y[:24]",
    "rows by columns": "t[:k] *= t[:k, :1]",
    "columns": "a[:, n - k :] += x[:k]",
    "a block": "t[:k, i:] -= np.outer(t[:k, i], t[0, i:])",
    "a block from a place on": "t[k:, i:] -= np.outer(t[k:, i - 1], t[i - 1, i:])",
    "a block to one side": "a[i:, k:] = a[i:, k:] + 1",
    "a new axis": "x[:k] += (y[:k, None] * t[:k, :1])[:, 0]",
}
PROGRAM = """
def f(x, y, z, a, t, lengths):
    n = len(x)
    out = np.zeros_like(x)
    for i in range(len(lengths)):
        k = lengths[i]
        {statement}
    return out, x, y, a, t
"""
ARRAYS = (
    "*(lambda g: [g.integers(-3, 4, shape).astype('{dtype}') + {more} for shape in "
    "(704, 704, 1500, (24, 704), (704, 24))])(np.random.default_rng(1)), np.array({lengths})"
)


def arrays(dtype: str, lengths: tuple[int, ...] = LENGTHS) -> str:
    more = "0"
    if dtype == "complex128":
        more = "np.complex128(1j) * g.integers(-2, 3, shape)"
    return ARRAYS.format(dtype=dtype, more=more, lengths=list(lengths))


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The elements of a round of every loop over a part that is staged."""
    made: list[int] = []
    over = rounds.over

    def counted(length: tf.Tensor, elements: int, step: rounds.Step, state: tf.Tensor) -> tf.Tensor:
        made.append(elements)
        return over(length, elements, step, state)

    monkeypatch.setattr(rounds, "over", counted)
    return made


def check(statement: str, dtype: str, loops: list[int]) -> None:
    source, call = HEAD + PROGRAM.format(statement=statement), arrays(dtype)
    wanted = observe(load(source)["f"], arguments_of(call))
    function = load(translation(source))["f"]
    with np2tf.config.using(jit="on", tier="compile"):
        found = observe(function, arguments_of(call))
        assert found.differs_from(wanted) is None
        assert found.ran == "compiled"
        assert loops
        assert set(function.lower(*arguments_of(call)).loops) == {"xla"}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("name", READ)
def test_reductions_and_products(name: str, dtype: str, loops: list[int]) -> None:
    check(READ[name], dtype, loops)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("name", ORDERED)
def test_greatest_and_least(name: str, dtype: str, loops: list[int]) -> None:
    check(ORDERED[name], dtype, loops)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("name", WRITTEN)
def test_writes(name: str, dtype: str, loops: list[int]) -> None:
    statement = WRITTEN[name]
    if dtype == "complex128":
        statement = statement.replace("np.maximum(", "np.add(")
    check(statement, dtype, loops)
