"""Calls that differ in the lengths of their arrays, or in numbers that are lengths, share XLA programs."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.staging.compile.specializations import RECURRING_CALLS
from tests.helpers.differential import load, translation
from tests.helpers.selections import every_second

LENGTHS = (20, 21, 22, 23, 30, 31, 33, 40, 60, 0, 1, 2, 3, 16, 17, 100)
#: Programs of arrays whose lengths vary; `f` is given what `given` makes of a length.
PROGRAMS: dict[str, tuple[str, str]] = {
    "a table of two lengths": (
        """
        def f(x, y):
            n, m = len(x), len(y)
            table = np.full((n + 1, m + 1), np.inf)
            table[0, 0] = 0.0
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    best = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
                    table[i, j] = abs(x[i - 1] - y[j - 1]) + best
            return table[n, m]
        """,
        "(rng.random(n), rng.random(n + 3))",
    ),
    "slices": (
        """
        def f(x, k=5):
            y = x.copy()
            for _ in range(k + 9):
                y[1:-1] = 0.25 * (y[:-2] + 2 * y[1:-1] + y[2:])
            return y
        """,
        "(rng.random(n),)",
    ),
    "an array that is gone through": (
        """
        def f(x, pairs):
            out = np.zeros_like(x)
            for i, j in pairs:
                d = x[i] - x[j]
                out[i] += d
                out[j] -= d
            return out
        """,
        "(rng.random((30, 2)), rng.integers(0, 30, (n, 2)))",
    ),
    "an argument that is written and returned": (
        """
        def f(x):
            for i in range(1, len(x)):
                x[i] += 0.5 * x[i - 1]
            return x
        """,
        "(rng.random(n),)",
    ),
    "an argument that is returned in part": (
        """
        def f(x):
            for i in range(len(x)):
                x[i] = x[i] * x[-1]
            return x[2:], x[::-1], len(x)
        """,
        "(rng.random(n),)",
    ),
    "enumerate and zip": (
        """
        def f(x, y):
            out = np.empty(x.shape[0])
            s = 0
            for i, v in enumerate(x):
                s = s + i * v
                out[i] = s
            for v, w in zip(x, y):
                s = s - v * w
            return out, s
        """,
        "(rng.integers(0, 9, n), rng.integers(0, 9, n))",
    ),
    "means and running sums": (
        """
        def f(x):
            y = x - x.mean()
            s = 0.0
            for v in y:
                s += v * v
            return np.cumsum(x), y / (1 + s), np.argmax(x) if len(x) else -1
        """,
        "(rng.random(n),)",
    ),
    "lengths that are tested": (
        """
        def f(x):
            if len(x) < 3:
                raise ValueError("too short")
            s = 0.0
            for k in range(len(x) - 2):
                s += abs(x[k] - 2 * x[k + 1] + x[k + 2])
            return s
        """,
        "(rng.random(n),)",
    ),
    "a matrix with one open axis": (
        """
        def f(x):
            s = np.zeros(x.shape[1])
            for row in x:
                s = s * 0.5 + row * np.sum(row)
            return s, x.sum(axis=0), x.max(axis=1)
        """,
        "(rng.random((n, 3)),)",
    ),
    "square matrices": (
        """
        def f(a):
            n = a.shape[0]
            for k in range(n):
                for i in range(k + 1, n):
                    a[i, k] = a[i, k] / (a[k, k] + n)
                    a[i, k + 1:] -= a[i, k] * a[k, k + 1:]
            return a
        """,
        "(rng.random((n % 12, n % 12)),)",
    ),
    "beyond the end": (
        """
        def f(x, k=7):
            s = 0.0
            for i in range(12):
                s += x[i + k]
            return s
        """,
        "(rng.random(n),)",
    ),
    "an index array": (
        """
        def f(x, index):
            s = 0.0
            for k in range(len(index)):
                s += x[index[k]] * k
            return s, index[0]
        """,
        "(rng.random(n + 1), rng.integers(-n - 1, n + 1, n))",
    ),
    "another function": (
        """
        def half(x):
            s = 0.0
            for i in range(len(x) // 2):
                s += x[i] * 2
            return s

        def f(x):
            y = x.copy()
            for i in range(len(x)):
                y[i] = half(x[:i]) + i
            return y
        """,
        "(rng.random(n),)",
    ),
}
#: Functions of a number that is a length: the first argument has 64 elements.
OF_NUMBERS: dict[str, str] = {
    "a part": "return x[:n] * 2, x[n:], x[-n:]",
    "the last element": "return x[:n][-1] + x[:n][0]",
    "new arrays": "z = np.zeros(n)\n    z[:] = 3\n    return z, np.ones((n, 2)) + z[:, None], np.arange(n)",
    "a part of a part": "y = x[2:n]\n    return y[1:].sum(), y[:-1].sum(), y[3:5].sum(), y[-3:] + 1",
    "a write into a part": "y = x[:n]\n    y[1:] = 5.0\n    y[0] += 1.0\n    return y",
    "places": "return np.argmin(x[3:n]), np.cumsum(x[3:n])",
    "a matrix": "a = x.reshape(8, 8)[:n, 1:n]\n    return a * 2, a.sum(axis=0), a.T + 1",
    "elements by index": "return x[:n][[0, -1]]",
    "a new axis": "return (x[:n][:, None] * x[None, :3]).sum(axis=1)",
    "two parts": "return x[:n] - x[-n:] if n else x",
    "size": "return x[:n].size, x[:n].shape, len(x[:n])",
}


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return isinstance(found, tuple) and len(found) == len(wanted) and all(map(_same, found, wanted))
    if type(found) is not type(wanted) or np.shape(found) != np.shape(wanted):
        return False
    if isinstance(wanted, (np.ndarray, np.generic)) and found.dtype != wanted.dtype:
        return False
    return np.allclose(found, wanted, rtol=1e-12, atol=1e-14, equal_nan=True)


def _outcome(function: Any, args: tuple[Any, ...]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*args)
    except Exception as error:
        return type(error)


def _assert_same_call(np2tf_function: Any, numpys: Any, args: tuple[Any, ...]) -> None:
    numpy_args = copy.deepcopy(args)
    found, wanted = _outcome(np2tf_function, args), _outcome(numpys, numpy_args)
    if isinstance(wanted, type):
        assert found is wanted
        return
    assert _same(found, wanted), (found, wanted)
    results = (found, wanted) if isinstance(found, tuple) else ((found,), (wanted,))
    for np2tf_array, numpy_array in zip(args, numpy_args):
        assert _same(np2tf_array, numpy_array)
    for np2tf_array, numpy_array in zip(*results):
        if isinstance(numpy_array, np.ndarray):
            assert np2tf_array.flags.owndata == numpy_array.flags.owndata
            assert [np2tf_array is arg for arg in args] == [numpy_array is arg for arg in numpy_args]
            for np2tf_arg, numpy_arg in zip(args, numpy_args):
                if isinstance(numpy_arg, np.ndarray):
                    assert np.shares_memory(np2tf_array, np2tf_arg) == np.shares_memory(
                        numpy_array, numpy_arg
                    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", every_second(PROGRAMS))
def test_lengths_of_arrays(name: str) -> None:
    text, given = PROGRAMS[name]
    source = "import numpy as np\n\n\n" + "\n".join(line[8:] for line in text.strip("\n").split("\n"))
    numpys, np2tf_function = load(source)["f"], load(translation(source))["f"]
    rng = np.random.default_rng(1)
    with np2tf.config.using(tier="compile"):
        for n in LENGTHS:
            _assert_same_call(np2tf_function, numpys, eval(given, {"rng": rng, "n": n}))
        traces = np2tf_function.trace_count
        for n in range(41, 49):
            _assert_same_call(np2tf_function, numpys, eval(given, {"rng": rng, "n": n}))
        assert np2tf_function.trace_count - traces <= 4
        assert not np2tf_function.graph_count


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_that_are_lengths(name: str) -> None:
    source = f"import numpy as np\n\n\ndef f(x, n):\n    {OF_NUMBERS[name]}\n"
    space = load(translation(source))
    numpys, np2tf_function = load(source)["f"], np2tf.jit(space["f"])
    with np2tf.config.using(tier="compile"):
        for n in (7, 6, 5, 4, 3, 8, 0, 1, 2, 70, -1, -70):
            _assert_same_call(np2tf_function, numpys, (np.arange(64.0) % 7, n))
        assert not np2tf_function.graph_count


#: Expressions that XLA computes for static lengths only.
OF_STATIC_LENGTHS = (
    "np.concatenate([np.sort(x), x])",
    "np.diff(x, prepend=x[-1:])",
    "np.abs(np.fft.rfft(x))",
    "x[::2], x[::-1][1:]",
    "np.unique(np.floor(x * 4)) + 1",
    "np.searchsorted(np.sort(x), x)",
    "np.tile(x, 2) + 1, np.roll(x, 3) + 1, np.vstack([x, x])",
    "np.argsort(x), np.repeat(x, 2)",
    "np.apply_along_axis(np.sort, 0, x) + 1",
    "np.median(x), np.nanmedian(x), np.percentile(x, 30), np.nanquantile(x, [0.1, 0.5])",
    "np.quantile(x, [0, 0.3, 1], method='hazen'), np.quantile(x, 0.3, method='midpoint')",
    "np.quantile(x, [0.1, 0.9], method='nearest'), np.quantile(x, 0.3, method='higher')",
    "np.convolve(x, [1.0, 2.0, 1.0]), np.convolve(x[:3], x, 'same'), np.convolve(x, x[3:], 'valid')",
    "np.correlate(x, x), np.correlate(x[:4], x * 1j, 'same'), np.correlate(x, x[3:], 'full')",
    "np.gradient(x), np.gradient(x, np.cumsum(x), edge_order=2)",
    "np.cov(x, x), np.corrcoef(x, x[::-1]), np.cov(x, ddof=2) + 1",
    "np.linspace(0, 1, len(x)) + 1, np.linspace(2, 9, len(x) - 3, endpoint=False, retstep=True)[1]",
    "np.linspace([0, 1], 9, len(x), dtype=int, axis=1) + 1, np.linspace(3, 3, len(x), False) + 1",
    "np.insert(x, 3, 1.0), np.insert(x, -2, [1, 2, 3]), np.insert(np.outer(x, x), len(x) // 2, x, axis=1)",
    "np.delete(x, 3), np.delete(x, -2), np.delete(np.outer(x, x), len(x) // 2, axis=1)",
    "np.pad(x, 3, mode='edge'), np.pad(x, (2, 40), mode='wrap'), np.pad(x[:1], 3, mode='reflect')",
    "np.pad(x, (40, 1), mode='reflect'), np.pad(np.outer(x, x), ((0, 1), (50, 2)), mode='symmetric')",
    "np.array_split(x, 3)[0] + 1, np.array_split(x, 3)[2] * 2, np.split(x[: len(x) // 2 * 2], 2)[1] + 1",
)
#: Expressions that raise errors for short arrays.
OF_LONG_ARRAYS = (
    "np.gradient(x, edge_order=2)",
    "np.percentile(x, 30)",
    "np.nanquantile(x, 0.5)",
    "np.convolve(x, [1.0, 2.0, 1.0])",
    "np.correlate(x, x[2:])",
    "np.delete(x, 3)",
    "np.insert(x, -3, 1)",
    "np.pad(x, 2, mode='wrap')",
    "np.linspace(0, 1, len(x) - 3) + 1",
    "[part * 2 for part in np.split(x, 2)]",
)


def _both_functions(body: str) -> tuple[Any, Any]:
    """Return a function of an array `x`, as NumPy runs it and jitted."""
    source = f"import numpy as np\n\n\ndef f(x):\n    {body}\n"
    return load(source)["f"], np2tf.jit(load(translation(source))["f"])


@pytest.mark.parametrize("expression", OF_STATIC_LENGTHS)
def test_a_graph_serves_all_lengths(expression: str) -> None:
    """Without loops, a graph of unknown lengths runs where XLA would need each length."""
    numpys, np2tf_function = _both_functions(f"y = x * 1\n    return {expression}, y")
    rng = np.random.default_rng(5)
    with np2tf.config.using(tier="compile"):
        for n in range(17, 32):
            _assert_same_call(np2tf_function, numpys, (rng.random(n),))
        assert np2tf_function.trace_count == 3
        assert np2tf_function.graph_count >= 13


@pytest.mark.parametrize("expression", OF_LONG_ARRAYS)
def test_a_graph_leaves_errors_to_numpy(expression: str) -> None:
    """A call of a length that NumPy refuses is discarded and repeated on the host."""
    numpys, np2tf_function = _both_functions(f"return {expression}")
    rng = np.random.default_rng(5)
    with np2tf.config.using(tier="compile"):
        for n in (20, 22, 24, 26, *range(8)):
            _assert_same_call(np2tf_function, numpys, (rng.random(n),))
        assert np2tf_function.graph_count


def test_a_graph_writes_into_arrays_of_all_lengths():
    @np2tf.jit
    def add_sorted(x, y):
        x[1:] += tnp.sort(y)[1:]
        return x

    with np2tf.config.using(tier="compile"):
        for n in range(17, 27):
            x, y = np.ones(n), np.arange(float(n))[::-1].copy()
            result = add_sorted(x, y)
            assert result is x
            np.testing.assert_array_equal(x, 1 + np.r_[0, 1:n])
    assert add_sorted.graph_count == 8


ATTENTION = """
import numpy as np


def softmax(x):
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def f(tokens, embedding, positions, weights):
    x = embedding[tokens] + positions[: len(tokens)]
    parts = [np.split(part, 2, axis=-1) for part in np.split(x @ weights, 3, axis=-1)]
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    return np.hstack([attention(q, k, v, mask) for q, k, v in zip(*parts)])[-1]
"""


def test_attention_to_ever_more_tokens_is_traced_three_times():
    numpys, np2tf_function = load(ATTENTION)["f"], np2tf.jit(load(translation(ATTENTION))["f"])
    rng = np.random.default_rng(8)
    weights = rng.random((30, 8)), rng.random((40, 8)), rng.random((8, 24))
    with np2tf.config.using(tier="compile"):
        for n in range(17, 30):
            tokens = rng.integers(0, 30, n)
            np.testing.assert_allclose(np2tf_function(tokens, *weights), numpys(tokens, *weights), rtol=1e-12)
    assert np2tf_function.trace_count == 3


def test_a_length_that_recurs_is_compiled():
    @np2tf.jit
    def doubled(x):
        return tnp.concatenate([tnp.sort(x), x])

    def call(n: int) -> None:
        x = np.arange(float(n))[::-1].copy()
        np.testing.assert_array_equal(doubled(x), np.concatenate([np.sort(x), x]))

    with np2tf.config.using(tier="compile"):
        for n in range(17, 27):
            call(n)
        assert doubled.trace_count == 3
        for _ in range(RECURRING_CALLS + 5):
            call(20)
        assert doubled.trace_count == 4
        assert doubled.compiled_count == 2 + 6
        call(27)
        assert doubled.trace_count == 4


def test_loops_are_compiled_for_each_length_that_they_need():
    @np2tf.jit
    def smoothed(x):
        y = tnp.sort(x)
        for i in range(1, len(x)):
            y[i] += y[i - 1] * 0.5
        return y

    with np2tf.config.using(tier="compile"):
        for n in range(17, 22):
            x = np.arange(float(n))[::-1].copy()
            wanted = np.sort(x)
            for i in range(1, n):
                wanted[i] += wanted[i - 1] * 0.5
            np.testing.assert_allclose(smoothed(x), wanted, rtol=1e-14)
    # One attempt has been in vain.
    assert smoothed.trace_count == 6, smoothed.trace_count


def test_lengths_that_have_been_equal_need_not_be():
    @np2tf.jit
    def total(x, y):
        return (x * 2).sum() + (x + y).sum()

    with np2tf.config.using(tier="compile"):
        for n in range(20, 26):
            assert total(np.ones(n), np.ones(n)) == 4 * n
        assert total.trace_count == 3
        assert total(np.ones(24), np.ones(1)) == 24 * 4
        with pytest.raises(ValueError, match="broadcast"):
            total(np.ones(24), np.ones(23))
        assert total(np.ones(24), np.ones(24)) == 96


def test_other_lengths_of_a_static_axis():
    @np2tf.jit
    def weighed(x):
        return (x * tnp.arange(x.shape[1])).sum()

    with np2tf.config.using(tier="compile"):
        for shape in [(20, 3), (21, 3), (22, 3), (23, 3), (23, 4), (24, 4), (24, 5), (25, 6), (26, 7)]:
            x = np.random.default_rng(2).random(shape)
            np.testing.assert_allclose(weighed(x), (x * np.arange(shape[1])).sum(), rtol=1e-13)
