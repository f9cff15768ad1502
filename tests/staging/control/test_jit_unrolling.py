"""Ranges known while staging: long ranges become loops of the graph, short ranges are written out."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

import np2tf
from np2tf.core.operators import UNROLL
from np2tf.staging.xla.placement import ops_of

LOOPS = {"While", "StatelessWhile"}
SOURCE = """\
import numpy as np


def f(x):
    for i in range(ROUNDS):
        x[i % 7] = x[i % 5] * 0.5 + np.sin(x[(i + 3) % 7])
    return x
"""


def function(rounds):
    names: dict = {}
    exec(np2tf.convert(SOURCE.replace("ROUNDS", str(rounds))).text, names)
    return names["f"]


@pytest.fixture(autouse=True)
def compile_at_once():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


def test_a_long_loop_is_one_loop_of_the_graph():
    x = np.arange(7.0)
    short, long = (function(rounds).lower(x) for rounds in (100, 5000))
    assert ops_of(long.graph) & LOOPS
    # Equal constants are one operation.
    assert abs(long.op_count - short.op_count) < 3
    assert short.op_count < 500


def test_a_long_loop_is_traced_quickly():
    x = np.arange(7.0)
    function(50).lower(x)
    start = perf_counter()
    function(5000).lower(x)
    assert perf_counter() - start < 2


@pytest.mark.parametrize("rounds", [1, 3, UNROLL])
def test_a_short_loop_is_written_out(rounds):
    x = np.arange(7.0)
    made = function(rounds)
    assert not ops_of(made.lower(x).graph) & LOOPS
    expected = x.copy()
    for i in range(rounds):
        expected[i % 7] = expected[i % 5] * 0.5 + np.sin(expected[(i + 3) % 7])
    np.testing.assert_allclose(np.asarray(made(x)), expected)


def test_one_more_round_makes_a_loop_of_it():
    assert ops_of(function(UNROLL + 1).lower(np.arange(7.0)).graph) & LOOPS


OF_ATTRIBUTES = """\
import numpy as np


class Layer:
    def __init__(self):
        self.weights = np.ones(3)
        self.active = None


def f(x):
    layer = Layer()
    total = 0.0
    for k in range(ROUNDS):
        layer.active = np.tanh(x * layer.weights)
        total = total + layer.active.sum() * k
        layer.weights = layer.weights - 0.1 * layer.active
    return total, layer.weights, layer.active
"""


@pytest.mark.parametrize("rounds", [UNROLL + 1, 5000])
def test_an_attribute_that_is_none_before_the_loop(rounds):
    """The first iteration makes an array of the attribute, and the iterations after it are a loop."""
    x = np.arange(3.0)
    # A class without a module would be Python's own.
    plain: dict = {"__name__": __name__}
    exec(OF_ATTRIBUTES.replace("ROUNDS", str(rounds)), plain)
    staged: dict = {"__name__": __name__}
    exec(np2tf.convert(OF_ATTRIBUTES.replace("ROUNDS", str(rounds))).text, staged)
    lowered = staged["f"].lower(x)
    assert ops_of(lowered.graph) & LOOPS
    assert lowered.op_count < 200
    for result, expected in zip(staged["f"](x), plain["f"](x), strict=True):
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12, atol=1e-300)
