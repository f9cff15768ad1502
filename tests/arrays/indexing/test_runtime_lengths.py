"""Parts whose lengths are known at run time only, under XLA: in rounds over the elements that they take."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.indexing import selection_chunks
from tests.helpers.differential import HEAD, arguments_of, compare, load, observe, translation
from tests.helpers.selections import in_turn

#: Length of `x` and `y`, longer than an array that is worked on as a whole; `z` is longer than `x`.
LENGTH = 704
#: Lengths around one round and several rounds of 1, 8 and 64 elements, and the length of an array.
LENGTHS = (0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 128, 200, LENGTH - 1, LENGTH)
DTYPES = ["float64", "float32", "int64", "complex128"]
#: Statements about a length `k`; the arrays have length `n`, `a` has shape (24, 704) and `t` (704, 24).
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
    "a block": "t[:k, i:] -= np.outer(t[:k, i], y[i:24])",
    "a block from a place on": "t[k:, i:] -= np.outer(t[k:, i - 1], t[i - 1, i:])",
    "a block to one side": "a[i:, k:] = a[i:, k:] + 1",
    "a new axis": "x[:k] += (y[:k, None] * t[:k, :1]).sum(axis=1)",
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
    over = selection_chunks.run_rounds

    def counted(length: tf.Tensor, elements: int, step: selection_chunks.Step, state: tf.Tensor) -> tf.Tensor:
        made.append(elements)
        return over(length, elements, step, state)

    monkeypatch.setattr(selection_chunks, "run_rounds", counted)
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


@pytest.mark.parametrize(("name", "dtype"), in_turn(READ, DTYPES))
def test_reductions_and_products(name: str, dtype: str, loops: list[int]) -> None:
    check(READ[name], dtype, loops)


@pytest.mark.parametrize(("name", "dtype"), in_turn(ORDERED, ["float64", "float32", "int64", "uint8"]))
def test_greatest_and_least(name: str, dtype: str, loops: list[int]) -> None:
    check(ORDERED[name], dtype, loops)


@pytest.mark.parametrize(("name", "dtype"), in_turn(WRITTEN, DTYPES))
def test_writes(name: str, dtype: str, loops: list[int]) -> None:
    statement = WRITTEN[name]
    if dtype == "complex128":
        statement = statement.replace("np.maximum(", "np.add(")
    check(statement, dtype, loops)


SPARSE = """
def f(start, columns, values, x):
    y = np.zeros(len(start) - 1)
    for i in range(len(start) - 1):
        part = slice(start[i], start[i + 1])
        y[i] = values[start[i] : start[i + 1]] @ x[columns[start[i] : start[i + 1]]]
    return y
"""


def test_rows_of_a_sparse_matrix(loops: list[int]) -> None:
    """An index outside of all rows may be out of bounds; an index in a row out of bounds is NumPy's error."""
    start = "np.array([0, 3, 3, 80, 700])"
    columns = "np.arange(704) * 7 % 50 - 5 * (np.arange(704) % 2)"
    further_arguments = "np.arange(704.0), np.arange(50.0)"
    source = HEAD + SPARSE.replace("        part = slice(start[i], start[i + 1])\n", "")
    compare(
        source,
        f"{start}, {columns}, {further_arguments}",
        f"{start}, np.where(np.arange(704) < 700, {columns}, 99), {further_arguments}",
        ways=("jitted",),
    )
    assert loops
    bad = f"np.where(np.arange(704) < 699, {columns}, 99)"
    compare(source, f"{start}, {bad}, {further_arguments}", ways=("jitted",), ran=None)


def test_what_is_not_taken_may_be_anything(loops: list[int]) -> None:
    source = HEAD + (
        "def f(x, y, a, lengths):\n    out = np.zeros(8)\n    for i in range(len(lengths)):\n"
        "        k = lengths[i]\n"
        "        out[i] = x[:k] @ y[:k] + x[:k].sum() + np.max(x[:k]) + x[:k].mean()\n"
        "        a[:k, :k] -= np.outer(a[:k, 0], y[:k])\n        y[:k] *= 0.5\n    return out, y, a\n"
    )
    x = "np.where(np.arange(704) < 73, 1.0 + np.arange(704.0), np.where(np.arange(704) % 2, np.nan, np.inf))"
    compare(source, f"{x}, {x}, np.outer({x}[:80], {x}), np.array([70, 71, 73])", ways=("jitted",))
    assert loops


def test_nan_inside_counts(loops: list[int]) -> None:
    source = HEAD + (
        "def f(x, lengths):\n    out = np.zeros((4, len(lengths)))\n    for i in range(len(lengths)):\n"
        "        k = lengths[i]\n        out[0, i] = np.max(x[:k])\n        out[1, i] = np.min(x[:k])\n"
        "        out[2, i] = x[:k].sum()\n        out[3, i] = np.any(x[:k] == 0.0)\n    return out\n"
    )
    for place in (70, 71):
        call = f"np.where(np.arange(704) == {place}, np.nan, -np.arange(704.0)), np.array([1, 71, 72, 704])"
        compare(source, call, ways=("jitted",))
    assert loops


@pytest.mark.parametrize("name", ["max", "min"])
def test_empty_parts_have_no_greatest(name: str) -> None:
    source = HEAD + (
        "def f(x, lengths):\n    out = np.zeros(len(lengths))\n    for i in range(len(lengths)):\n"
        f"        out[i] = np.{name}(x[: lengths[i]])\n    return out\n"
    )
    compare(source, "np.arange(704.0), np.array([3, 80])", ways=("jitted",))
    compare(source, "np.arange(704.0), np.array([3, 0])", ways=("jitted",), ran=None)


def test_lengths_that_differ_are_numpys_error() -> None:
    source = HEAD + (
        "def f(x, y, lengths):\n    out = np.zeros(len(x))\n    for i in range(len(lengths)):\n"
        "        k = lengths[i]\n        out[i] = x[:k] @ y[3 : k + 3]\n        out[:k] += y[5 : k + 5]\n"
        "    return out\n"
    )
    compare(source, "np.arange(704.0), np.arange(710.0), np.array([3, 80])", ways=("jitted",))
    compare(source, "np.arange(704.0), np.arange(704.0), np.array([80, 704])", ways=("jitted",), ran=None)


def test_integers_wrap_as_numpys_do(loops: list[int]) -> None:
    source = HEAD + (
        "def f(x, b, lengths):\n    out = np.zeros(len(lengths), np.int64)\n"
        "    for i in range(len(lengths)):\n        k = lengths[i]\n"
        "        out[i] = np.sum(x[:k]) + np.prod(x[:k]) + b[:k].sum() + np.sum(b[:k] * b[:k])\n"
        "    return out\n"
    )
    x = "np.arange(704) * 2**56 + 1"
    compare(source, f"{x}, (np.arange(704) % 256).astype(np.uint8), np.array([1, 64, 700])", ways=("jitted",))
    assert loops


def test_sums_are_as_accurate_as_numpys() -> None:
    source = HEAD + (
        "def f(x, lengths):\n    out = np.zeros(len(lengths))\n    for i in range(len(lengths)):\n"
        "        out[i] = np.sum(x[: lengths[i]])\n    return out\n"
    )
    x = np.random.default_rng(5).random(200_000).astype(np.float32)
    lengths = np.array([1_000, 30_000, 199_999])
    exact = np.array([x[:k].sum(dtype=np.float64) for k in lengths])
    with np2tf.config.using(jit="on", tier="compile"):
        found = load(translation(source))["f"](x, lengths)
    numpy_sums = np.array([x[:k].sum() for k in lengths])
    assert np.all(abs(found - exact) <= np.maximum(4 * abs(numpy_sums - exact), 2e-7 * exact))


GRADIENT = """
def f(x, y, lengths):
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    out = np.zeros(8)
    for i in range(4):
        k = lengths[i]
        out[i] = x[:k] @ np.flip(y[:k]) + np.sum(x[:k] * y[704 - k :] * x[:k])
        x[:k] = x[:k] * y[704 - k :] + np.flip(x[:k])
        y[:k] *= 0.5
    return (out * np.arange(8.0)).sum() + (x * y).sum()
"""


def test_gradients_are_those_of_whole_arrays(loops: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    source = HEAD + GRADIENT
    given = [tf.constant(np.cos(np.arange(704.0) * k)) for k in (1, 2)]
    lengths = np.array([70, 0, 704, 3])

    def gradients() -> tuple[tf.Tensor, list[tf.Tensor]]:
        function = load(translation(source))["f"]
        with np2tf.config.using(jit="on", tier="compile"), tf.GradientTape() as tape:
            tape.watch(given)
            value = tf.convert_to_tensor(function(*given, lengths))
        assert function.trace_count
        return value, tape.gradient(value, given)

    value, found = gradients()
    assert loops
    monkeypatch.setattr(selection_chunks, "elements_of_round", lambda *_: None)
    whole, wanted = gradients()
    np.testing.assert_allclose(value, whole, rtol=1e-12)
    for found_gradient, wanted_gradient in zip(found, wanted, strict=True):
        np.testing.assert_allclose(found_gradient, wanted_gradient, rtol=1e-11, atol=1e-11)
    step = 1e-6 * tf.one_hot(40, 704, dtype=tf.float64)
    with np2tf.config.using(jit="off"):
        plain = load(source)["f"]
        ends = [plain(given[0].numpy() + sign * step.numpy(), given[1].numpy(), lengths) for sign in (1, -1)]
    np.testing.assert_allclose(found[0][40], (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
