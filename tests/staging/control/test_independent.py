"""Loops with independent rounds: computed at once where independence is proven and pays, else as loops."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.front.residency import surroundings
from np2tf.staging.xla.placement import ops_of

ROUNDS = 12
LOOPS = {"While", "StatelessWhile"}
rng = np.random.default_rng(3)
MATRICES, ROWS, NUMBERS = (
    rng.random((ROUNDS, 4, 4)) + 4 * np.eye(4),
    rng.random((ROUNDS, 4)),
    rng.random(ROUNDS),
)
INDICES = rng.permutation(ROUNDS)

#: name -> (value of round i, shape of the result behind its first axis)
BODIES = {
    "element": (lambda m, r, v, k, i: tnp.sin(v[i]) * 2 + i, ()),
    "neighbours": (lambda m, r, v, k, i: v[i - 1] - v[i], ()),
    "row against all": (lambda m, r, v, k, i: tnp.sum((r - r[i]) ** 2), ()),
    "part of a row": (lambda m, r, v, k, i: r[i, 1:3] @ r[0, 1:3], ()),
    "window": (lambda m, r, v, k, i: tnp.max(v[i : i + 1]), ()),
    "row": (lambda m, r, v, k, i: m[i] @ r[i], (4,)),
    "number into a row": (lambda m, r, v, k, i: v[i], (4,)),
    "solve": (lambda m, r, v, k, i: tnp.linalg.solve(m[i], r[i]), (4,)),
    "factor": (lambda m, r, v, k, i: tnp.linalg.cholesky(m[i] @ m[i].T), (4, 4)),
    "choice": (lambda m, r, v, k, i: np2tf.cond(v[i] > 0.5, lambda: v[i], lambda: 0), ()),
    "by index": (lambda m, r, v, k, i: v[k[i]] + r[k[i], -1], ()),
    "integer": (lambda m, r, v, k, i: k[i] // 2 + i % 3, ()),
    "without a vectorised form": (lambda m, r, v, k, i: tnp.linalg.det(tnp.kron(m[i], m[i])), ()),
    "loop inside": (
        lambda m, r, v, k, i: np2tf.for_loop(range(20), lambda j, s: s + v[i] * j, 0.0),
        (),
    ),
}


def looped(body, values, out, span):
    return np2tf.map_loop(span, lambda i: body(*values, i), out)


def expected(body, shape, span):
    out = np.zeros((ROUNDS, *shape))
    for i in span:
        out[i] = body(MATRICES, ROWS, NUMBERS, INDICES, i)
    return out


@pytest.fixture(autouse=True)
def compile_at_once():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


@pytest.fixture
def accelerator():
    with patch.object(surroundings, "device_kind", "gpu"):
        yield


@pytest.mark.usefixtures("accelerator")
@pytest.mark.parametrize("span", [range(ROUNDS), range(1, ROUNDS - 1), range(0, ROUNDS - 1, 1)], ids=str)
@pytest.mark.parametrize("name", BODIES)
def test_values(name, span):
    body, shape = BODIES[name]

    @np2tf.jit
    def f(m, r, v, k, out):
        return looped(body, (m, r, v, k), out, span)

    out = np.zeros((ROUNDS, *shape))
    found = f(MATRICES, ROWS, NUMBERS, INDICES, out)
    np.testing.assert_allclose(np.asarray(found), expected(body, shape, span), rtol=1e-12)
    assert np.shares_memory(np.asarray(found), out)
    once = name not in ("without a vectorised form", "loop inside")
    assert bool(ops_of(f.lower(MATRICES, ROWS, NUMBERS, INDICES, out).graph) & LOOPS) is not once


def test_on_a_cpu_only_what_a_batch_makes_faster():
    def graph(name):
        body, shape = BODIES[name]
        f = np2tf.jit(
            lambda m, r, v, k: looped(body, (m, r, v, k), tnp.zeros((ROUNDS, *shape)), range(ROUNDS))
        )
        return ops_of(f.lower(MATRICES, ROWS, NUMBERS, INDICES).graph)

    assert not graph("factor") & LOOPS
    assert graph("row against all") & LOOPS


def same(x, y, out):
    return np2tf.map_loop(range(len(x)), lambda i: x[i - 1] + 1, x)


def view(x, y, out):
    return np2tf.map_loop(range(len(x) - 1), lambda i: out[i] * 2 + x[i], out[1:])


def writes_another(x, y, out):
    def value(i):
        tnp.at(y)[0].add(x[i])
        return y[0]

    return np2tf.map_loop(range(len(x)), value, out)


def writes_a_view(x, y, out):
    def value(i):
        part = x[i : i + 1]
        part += 1.0
        return part[0]

    return np2tf.map_loop(range(len(x)), value, out)


@pytest.mark.usefixtures("accelerator")
@pytest.mark.parametrize("function", [same, view, writes_another, writes_a_view])
def test_rounds_that_need_one_another_follow_one_another(function):
    given = [np.arange(1.0, 13.0), np.zeros(2), np.zeros(12)]
    tensorflow_arrays, jitted_arrays = [array.copy() for array in given], [array.copy() for array in given]
    with np2tf.config.using(jit="off"):
        right = np.asarray(function(*map(tnp.asarray, tensorflow_arrays)))
    f = np2tf.jit(function)
    np.testing.assert_array_equal(np.asarray(f(*jitted_arrays)), right)
    assert ops_of(f.lower(*given).graph) & LOOPS
    for jitted_array, right_array in zip(jitted_arrays[1:], tensorflow_arrays[1:], strict=True):
        np.testing.assert_array_equal(jitted_array, right_array)


@pytest.mark.usefixtures("accelerator")
def test_an_index_out_of_bounds_is_an_error():
    f = np2tf.jit(lambda v, k: np2tf.map_loop(range(ROUNDS), lambda i: v[k[i]], tnp.zeros(ROUNDS)))
    np.testing.assert_array_equal(np.asarray(f(NUMBERS, INDICES)), NUMBERS[INDICES])
    with np2tf.config.using(jit="on"), pytest.raises(IndexError, match="out of bounds"):
        f(NUMBERS, INDICES + 1)


def test_lists_and_host_arrays_are_filled_too():
    with np2tf.config.using(jit="off"):
        assert np2tf.map_loop(range(3), lambda i: i * i, [0] * 4) == [0, 1, 4, 0]
        np.testing.assert_array_equal(np2tf.map_loop(range(1, 3), lambda i: i + 1, np.zeros(3)), [0, 2, 3])


@pytest.mark.parametrize(
    ("body", "mapped"),
    [
        ("out[i] = np.sin(x[i])", True),
        ("y = x[i] * 2\n        out[i] = y + 1", True),
        ("out[i] = out[i - 1] + x[i]", False),
        ("out[i] += x[i]", False),
        ("out[i + 1] = x[i]", False),
        ("out[i], z[i] = x[i], x[i]", False),
        ("z[0] = x[i]; out[i] = z[0]", False),
        ("s = s + x[i]; out[i] = s", False),
        ("i = i + 1; out[i] = x[i]", False),
        ("x.sort(); out[i] = x[0]", False),
    ],
)
def test_what_the_text_proves(body, mapped):
    loop = f"    for i in range(n):\n        {body}\n"
    head = "import numpy as np\n\n\ndef f(x, z, s, n):\n    out = np.zeros(n)\n"
    result = np2tf.convert(f"{head}{loop}    return out\n")
    assert ("np2tf.map_loop" in result.text) is mapped, result.text
    assert [(found.code, found.line) for found in result.diagnostics if found.code == "NP2TF310"] == (
        [("NP2TF310", 6)] if mapped else []
    )
