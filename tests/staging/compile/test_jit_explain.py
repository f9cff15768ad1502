"""`f.explain(*args)` and `f.lower(*args)`: what is compiled where, and why not; tiers and how to pin them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.comparison import Comparison


def smooth(x, n):
    return np2tf.for_loop(np2tf.range(n), lambda i, x: x * 0.5 + 1, x)


def test_explain_an_xla_program():
    f = np2tf.jit(smooth, tier="compile")
    told = f.explain(np.ones((3, 4)), 20)
    assert (told.function, told.runs, told.loops) == ("smooth", "xla", ["xla"])
    assert told.arrays == ["float64[3, 4]"]
    assert told.fixed == ["20"]
    assert told.ops > 5
    assert told.path == __file__
    data = told.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert "runs on: xla" in str(told)
    assert f.trace_count == 1
    f(np.ones((3, 4)), 20)
    assert f.trace_count == 1


def test_explain_a_graph_with_a_compiled_loop():
    @np2tf.jit(tier="compile")
    def f(x):
        return smooth(tnp.linalg.svd(x)[1], 20)

    told = f.explain(np.eye(3))
    assert told.runs == "graph"
    assert "whose signs NumPy chooses" in told.not_xla
    assert told.loops == ["xla"]


def test_explain_what_cannot_be_compiled():
    @np2tf.jit
    def f(x):
        y = x * 2
        return tnp.zeros(int(y.sum()))

    told = f.explain(np.ones(2))
    assert told.runs == "host"
    assert told.code == "NP2TF542"
    assert told.line == f.__wrapped__.__code__.co_firstlineno + 3
    with pytest.warns(UnjittedWarning), np2tf.config.using(tier="compile"):
        f(np.ones(2))
    again = f.explain(np.ones(2))
    assert (again.runs, again.line) == ("host", told.line)
    assert again.reason


def test_explain_does_not_run_the_function():
    @np2tf.jit
    def f(x):
        return tnp.at(x)[0].set(5)

    x = np.zeros(2)
    f.explain(x)
    assert x[0] == 0


def test_a_tier_can_be_pinned():
    f, x = np2tf.jit(smooth, tier="host"), np.ones(3)
    before = counts.compiled
    with np2tf.config.using(tier="compile"):
        f(x, 20)
        assert counts.compiled == before
        assert f.explain(x, 20).decision == "host: pinned by tier=host"
    assert f.trace_count == 1
    compiled = np2tf.jit(smooth, tier="compile")
    compiled(x, 20)
    assert counts.compiled == before + 1
    with pytest.raises(ValueError, match="tier must be"):
        np2tf.jit(smooth, tier="fast")


def test_tensors_tapes_and_nothing_else_compile_at_once():
    f = np2tf.jit(smooth)
    before = counts.compiled
    f(np.ones(3), 20)
    assert counts.compiled == before
    f(tf.ones(3, tf.float64), 20)
    assert counts.compiled == before + 1
    with tf.GradientTape():
        f(np.ones(3), 20)
    assert counts.compiled == before + 2


def test_the_faster_way_stays():
    slow_host, slow_code = Comparison(), Comparison()
    for cache, host, compiled in ((slow_host, 0.2, 0.01), (slow_code, 0.2, 1.0)):
        for _ in range(2 if compiled < host else 1):
            cache.add_host_time(host)
        for _ in range(3 if compiled < host else 1):
            assert not cache.is_settled
            cache.add_compiled_time(compiled)
        assert cache.is_settled
    assert not slow_host.on_host
    assert slow_code.on_host


def test_one_call_is_enough_where_it_takes_long():
    hopeless, slow, short = Comparison(), Comparison(), Comparison()
    for cache, compiled in ((hopeless, 0.31), (slow, 0.29), (short, 0.019)):
        cache.add_host_time(0.2 if cache is not short else 0.001)
        cache.add_compiled_time(compiled)
    assert hopeless.is_settled
    assert hopeless.on_host
    assert not slow.is_settled
    assert not short.is_settled


def test_the_host_is_timed_again_where_it_is_close():
    cache = Comparison()
    cache.add_host_time(0.2)
    for _ in range(3):
        cache.add_compiled_time(0.18)
    assert cache.wants_host
    assert not cache.is_settled
    cache.add_host_time(0.1)
    cache.add_host_time(0.1)
    assert cache.is_settled
    assert cache.on_host


def test_a_cold_call_on_the_host_is_not_believed():
    cache = Comparison()
    cache.add_host_time(3.0)
    for _ in range(3):
        cache.add_compiled_time(0.6)
    assert cache.wants_host
    cache.add_host_time(0.2)
    assert cache.is_settled
    assert cache.on_host


def test_code_is_compared_with_the_host_even_if_that_has_never_run():
    cache = Comparison()
    for _ in range(3):
        cache.add_compiled_time(0.01)
    assert cache.wants_host
    assert not cache.is_settled
    cache.add_host_time(0.3)
    assert cache.wants_host, "this may have been an unusual call"
    cache.add_host_time(0.3)
    assert cache.is_settled
    assert not cache.on_host


def test_nearly_equal_tiers_are_given_more_calls():
    cache = Comparison()
    for _ in range(3):
        cache.add_host_time(0.010)
        cache.add_compiled_time(0.011)
    assert not cache.is_settled
    for _ in range(5):
        assert cache.wants_host
        cache.add_host_time(0.010)
    assert not cache.wants_host
    for _ in range(8):
        cache.add_compiled_time(0.011)
    assert not cache.is_settled
    cache.add_compiled_time(0.009)
    assert cache.is_settled
    assert not cache.on_host


def test_lower():
    f = np2tf.jit(smooth, tier="compile")
    code = f.lower(np.ones(3), 20)
    assert code.how == "xla"
    assert "while" in code.hlo()
    assert code.graph.get_operations()


def test_only_the_numbers_that_vary_become_inputs():
    @np2tf.jit(tier="compile")
    def f(x, n, k):
        return x * k + tnp.ones(n).sum()

    for k in range(20):
        np.testing.assert_array_equal(f(np.ones(2), 3, float(k)), [k + 3.0] * 2)
    assert f.trace_count <= 5
    told = f.explain(np.ones(2), 3, 50.0)
    assert told.fixed == ["3"]
    assert told.inputs == ["50.0"]


def test_a_global_counter_does_not_trace_for_ever():
    space = {"count": 0}
    exec("def f(x):\n    return x + count\n", space)
    f = np2tf.jit(space["f"], tier="compile")
    for k in range(2 * constants.TRACES_A_CACHE):
        space["count"] = k
        if k == constants.TRACES_A_CACHE:
            with pytest.warns(UnjittedWarning, match="NP2TF522"):
                assert f(np.zeros(1))[0] == k
        else:
            assert f(np.zeros(1))[0] == k
    assert f.trace_count == constants.TRACES_A_CACHE


def test_generators_and_coroutines_are_left_alone():
    @np2tf.jit
    def count(x):
        yield x
        yield x * 2

    with np2tf.config.using(tier="compile", jit="strict"):
        assert [float(x[0]) for x in count(np.ones(1))] == [1, 2]
    assert count.trace_count == 0
    assert "left alone" in count.explain(np.ones(1)).decision
