"""Arrays picked by masks under XLA: equal masks count as one mask; no array of unknown length is made."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.tensors.graph_queries import value_number
from tests.helpers.differential import HEAD, arguments_of, compare, load, translation

#: Bodies of f(x, y): x and y are vectors of 40 floats, `a` is both as columns, `k` the first as integers.
PICKED = {
    "written where read": "x[x > 0] = x[x > 0] ** -1.5\n    return x",
    "in a callee": "return powers(x - 1.0) + powers(y)",
    "of two arrays": "x[x > y] = x[x > y] * y[x > y] + 1.0\n    return x",
    "both sides": "out = np.empty_like(x)\n    out[x > y] = x[x > y]\n"
    "    out[~(x > y)] = -y[~(x > y)]\n    return out",
    "an array written in between": "x[x > 2] = -x[x > 2]\n    x[x > 2] = x[x > 2] + y[x > 2]\n"
    "    return x, y[x < 0].sum()",
    "a named mask": "m = (x > 1) & (y < 5)\n    x[m] = np.where(y[m] > 2, x[m], -y[m])\n"
    "    x[~m] = 0.0\n    return x",
    "added to": "x[x > 2] += y[x > 2]\n    x[y > 1] *= x[y > 1]\n    return x",
    "reduced": "return x[x > 2].sum(), x[x > 2].max(), np.min(y[x > 2]), y[y > 0].prod(), np.mean(y[x > 2])",
    "spread": "return x[x > 2].std(), np.var(y[y > 1]), np.std(y[x > 2], ddof=1), np.linalg.norm(x[x > 2])",
    "integers": "return k[x > 2].mean(), (y > 1)[x > 2].mean(), k[y > 0].max(), k[y > 0].sum(), "
    "k[y > 0].std()",
    "truth": "return (x[x > 2] > 5).any(), (x[x > 2] > y[x > 2]).all(), np.sum(x[x > 2] > 5)",
    "counted": "return np.count_nonzero(x[x > 2]), len(x[x > 2]), x[x > 2].size, x[y > 2].shape[0]",
    "a mean by hand": "some = x[x > 2]\n    return some.sum() / len(some), some.ndim",
    "products": "return x[x > 2] @ y[x > 2] + np.dot(x[y > 1], x[y > 1])",
    "extremes": "return x[y > 0].argmax(), np.argmin(y[x > 2]), k[x > 2].argmax(), np.argmax(-x[x > 8])",
    "running sums": "x[y > 0] = np.cumsum(x[y > 0])\n    return x, y[x > 3].cumsum().sum()",
    "ends": "return x[y > 0][0], y[x > 2][-1], np.where(y > 1)[0][0]",
    "a column": "a[x > 2, 0] = -1.0\n    return a[x > 2, 1].sum() + a[x > 2, 0:2].mean(), a",
    "rows": "a[y > 0] = a[y > 0] * 2.0\n"
    "    return a[x > 2].mean(axis=0), a[x > 2].sum(axis=0), a.T[1][y > 1].sum()",
    "a mask of two axes": "b = np.outer(x, y)\n    b[b > 2] = np.sqrt(b[b > 2])\n"
    "    return b, b[b < 1].sum()",
    "places": "some = np.where(x > 2)[0]\n"
    "    return x[some].sum(), y[some].mean(), len(some), some.size, some.sum()",
    "places written": "some = np.nonzero(x > 2)[0]\n    x[some] = x[some] * y[some]\n"
    "    y[np.flatnonzero(y > 1)] = 0.0\n    return x, y",
    "places added to": "x[np.where(x > 2)] += 1.0\n    y[np.nonzero(y > 2)] *= 2.0\n    return x, y",
    "places of two axes": "i, j = np.nonzero(a > 1)\n    a[i, j] = a[i, j] + 10.0\n"
    "    return a, i.sum() + j.max(), len(i)",
    "places by the method": "some = (x > 2).nonzero()[0]\n    a[some, 1] = x[some]\n"
    "    return a, x[some + 0].sum()",
    "compressed": "return np.compress(x > 2, y).sum(), np.extract(y > 1, x).max(), y.compress(x > 1).mean()",
    "a mask of what was picked": "some = x[x > 1]\n    return some[some > 3].sum(), len(some[some < 5])",
    "in a loop": "for n in range(6):\n        y[n] = x[(n <= x) & (x < n + 2)].mean()\n"
    "        some = np.where(x > n)[0]\n        x[some] = x[some] - y[some] + len(some)\n    return x, y",
    "in a branch": "for n in range(6):\n        m = (n <= x) & (x < n + 1)\n        if m.any():\n"
    "            y[n] = x[m].max()\n        else:\n            x[~m] = x[~m] * 0.5\n    return x, y",
    "the caller's mask": "m = x > 2\n    for n in range(5):\n        x[m] = x[m] * 0.5 + y[m]\n"
    "        y[~m] = y[~m] - x[~m]\n    return x, y",
}
SOURCE = """
def powers(x):
    x[x > 0] = x[x > 0] ** -1.5
    return x


def f(x, y):
    a, k = np.stack([x, y], axis=1), x.astype(np.int64)
    {body}
"""
CALL = "np.arange(40.0) % 9, np.cos(np.arange(40.0)) * 4"


@pytest.mark.parametrize("body", PICKED.values(), ids=PICKED)
def test_no_selection_is_made(body: str) -> None:
    source = HEAD + SOURCE.format(body=body)
    compare(source, CALL, "np.sin(np.arange(40.0)) + 8, np.arange(40.0) % 7 - 1.0")
    function = load(translation(source))["f"]
    with np2tf.config.using(tier="compile"):
        assert function.lower(*arguments_of(CALL)).how == "xla"


#: Such as need the elements themselves.
MADE = {
    "returned": "return x[x > 2]",
    "sorted": "return np.sort(x[x > 2])",
    "masks of other arrays": "x[x > 2] = y[y > np.sort(y)[39 - np.count_nonzero(x > 2)]]\n    return x",
    "with a loop": "for n in range(9):\n        y[n] = y[n] + x[n]\n    return x[y > 0], y",
}


@pytest.mark.parametrize("body", MADE.values(), ids=MADE)
def test_a_selection_is_made_where_it_is_needed(body: str) -> None:
    source = HEAD + SOURCE.format(body=body)
    compare(source, CALL)
    function = load(translation(source))["f"]
    with np2tf.config.using(tier="compile"):
        code = function.lower(*arguments_of(CALL))
    assert code.how == "graph"
    assert set(code.loops) <= {"xla"}


NONE = "np.zeros(40), np.arange(40.0) - 50"


@pytest.mark.parametrize(
    "body",
    [
        "return x[x > 2].mean(), k[x > 2].mean(), y[y > 0].std()",
        "return x[x > 2].sum(), y[y > 0].prod(), len(x[x > 2]), np.linalg.norm(x[x > 2])",
        "x[x > 2] = y[x > 2]\n    x[np.where(y > 0)[0]] = 3.0\n    return x, a[x > 2].mean(axis=0)",
        "return x[x > 2] @ y[x > 2], x[x > 2].any(), x[x > 2].all(), x[x > 2].cumsum().sum()",
    ],
)
def test_nothing_is_picked(body: str) -> None:
    compare(HEAD + SOURCE.format(body=body), NONE)


@pytest.mark.parametrize("what", ["max()", "min()", "argmax()", "argmin()"])
@pytest.mark.parametrize("mask", ["x > 2", "np.where(x > 2)[0]"])
def test_the_extreme_of_nothing(what: str, mask: str) -> None:
    """NumPy raises."""
    compare(HEAD + SOURCE.format(body=f"return x[{mask}].{what}"), NONE, CALL, ran=None)


@pytest.mark.parametrize("body", ["return x[x > 2][0]", "return np.where(x > 2)[0][-1]"])
def test_an_end_of_nothing(body: str) -> None:
    compare(HEAD + SOURCE.format(body=body), NONE, CALL, ran=None)


@pytest.mark.parametrize(
    "x", ["np.array([np.nan, 3.0, np.nan, -1.0] * 10)", "np.full(40, -np.inf)", "np.full(40, np.inf)"]
)
def test_nan_and_infinities(x: str) -> None:
    body = (
        "x[x > 0] = x[x > 0] ** -1.5\n    return x, x[y > 0].max(), x[y > 0].argmax(), x[y > 0].argmin(), "
        "x[y > 0].mean(), np.sum(x[np.isnan(x)]), x[~np.isnan(x)].sum()"
    )
    compare(HEAD + SOURCE.format(body=body), f"{x}, np.arange(40.0) % 3 - 1")


@pytest.mark.parametrize(
    "body",
    [
        "a[x > 2] = x[x > 2]\n    return a",  # a[x > 2] has two columns, x[x > 2] has one axis
        "a[x > 2] = a[x > 2][:, :1]\n    return a",
        "x[x > 2] = a[x > 2]\n    return x",
        "x[a > 2] = 1.0\n    return x",
        "x[(x > 2)[:30]] = 1.0\n    return x",
        "x[np.where((x > 2)[:30])[0]] = 1.0\n    return x",
        "x[np.where(np.concatenate([x, x]) > 7)[0]] = 1.0\n    return x",
    ],
)
def test_shapes_that_do_not_fit(body: str) -> None:
    compare(HEAD + SOURCE.format(body=body), CALL, ran=None, messages=False)


def test_integers_that_are_cast() -> None:
    body = "k[x > 2] = y[x > 2]\n    x[y > 0] = k[y > 0]\n    k[k > 3] //= k[k > 3]\n    return k, x"
    compare(HEAD + SOURCE.format(body=body), CALL)


def test_equal_values_have_equal_numbers() -> None:
    seen: dict[str, bool] = {}

    @tf.function(autograph=False)
    def staged(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        def equal(name: str, a: tf.Tensor, b: tf.Tensor) -> None:
            seen[name] = value_number(a) == value_number(b)

        outer = (x > 0) & (y < 1)
        equal("the same", x > 0, x > 0)
        equal("deep", (x > 0) & (tf.identity(y) < 1), outer)
        equal("another constant", x > 0, x > 1)
        equal("another sign", x > 0.0, x > -0.0)
        equal("another array", x > 0, y > 0)
        equal("another operation", x > 0, x >= 0)
        equal("an attribute", tf.cast(x, tf.int32), tf.cast(x, tf.int64))
        equal("other outputs", *tf.unstack(tf.reshape(x, [2, -1])))
        equal("random numbers", tf.random.uniform([3]), tf.random.uniform([3]))
        equal("calls of Python", *(tf.numpy_function(np.negative, [x], tf.float64) for _ in range(2)))

        def body(k: tf.Tensor, z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            equal("captured", (x > 0) & (y < 1), outer)
            equal("complements in a loop", ~((x > 0) & (y < 1)), ~outer)
            equal("an array of the loop", z > 0, x > 0)
            return k + 1, z + 1

        return tf.while_loop(lambda k, z: k < 2, body, (tf.constant(0), x))[1]

    staged(tf.zeros(4, tf.float64), tf.zeros(4, tf.float64))
    assert {name for name, is_same in seen.items() if is_same} == {
        *("the same", "deep", "captured", "complements in a loop")
    }


def test_gradients_of_what_does_not_count() -> None:
    """Whose derivative is infinite, of which 0 times is NaN; also of code compiled without a tape."""

    @np2tf.jit
    def picked(x, y, factor):  # type: ignore[no-untyped-def]
        x, y = x * 1.0, y * 1.0
        x[x > 0] = x[x > 0] ** -1.5
        total = (factor * tnp.log(y[y > 2])).sum()
        for k in range(1, 4):
            total = total + tnp.log(y[k:]).sum()
        return x, total + tnp.sqrt(y[y > 9]).sum() * factor

    x = tf.constant([0.0, 1.0, -2.0, 4.0], tf.float64)
    y = tf.constant([0.0, 1.0, 2.0, 4.0], tf.float64)
    factor = tf.constant(3.0, tf.float64)
    with np2tf.config.using(tier="compile"):
        before = picked(x, y, factor)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y, factor])
            made, total = picked(x, y, factor)
            made, total = tf.convert_to_tensor(made), tf.convert_to_tensor(total)
    np.testing.assert_allclose(made, before[0])
    np.testing.assert_allclose(total, before[1])
    np.testing.assert_allclose(tape.gradient(made, x), [1.0, -1.5, 1.0, -1.5 * 4**-2.5])
    np.testing.assert_allclose(tape.gradient(total, y), [0.0, 1.0, 1.0, 3 / 4 + 3 / 4])
    np.testing.assert_allclose(tape.gradient(total, factor), np.log(4.0))


def test_gradients_of_a_tape_inside() -> None:
    @np2tf.jit
    def slope(x):  # type: ignore[no-untyped-def]
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tnp.log(tnp.asarray(x)[tnp.asarray(x) > 0]).sum()
        return tape.gradient(tf.convert_to_tensor(total), x)

    with np2tf.config.using(tier="compile"):
        found = slope(tf.constant([0.0, 2.0, -1.0], tf.float64))
    np.testing.assert_allclose(tf.convert_to_tensor(found), [0.0, 0.5, 0.0])


def test_slices_of_unknown_length_are_not_made_for_their_shape() -> None:
    source = HEAD + (
        "def f(x):\n    total = 0.0\n    for k in range(1, 9):\n        part = x[k:]\n"
        "        total += part[0] * part[-1] + part[1:].sum()\n    return total\n"
    )
    compare(source, "np.cos(np.arange(40.0))")
