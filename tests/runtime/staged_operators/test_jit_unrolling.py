"""Ranges known while staging: long ranges become loops of the graph, short ranges are written out."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

import np2tf
from np2tf.operators.table import UNROLL
from np2tf.runtime.xla.op_placement import ops_of

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
    short, long = (function(rounds).lower(x) for rounds in (50, 5000))
    assert ops_of(long.graph) & LOOPS
    assert long.op_count == short.op_count < 500


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
