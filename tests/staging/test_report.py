"""Reports count calls, seconds and places; a run without a report has no cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import ndarray
from np2tf.arrays.dispatch import host_fallback
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.cli.run_report import as_json, as_text
from np2tf.core import counts as stats
from np2tf.core.counts import Counts, Fallback, counts
from np2tf.core.settings import config
from np2tf.staging.host.jit import JittedFunction, UnjittedWarning
from np2tf.staging.report import HANDED_OVER, HOST_ONLY, ON_HOST, Report, Watch


@pytest.fixture
def watch() -> Any:
    """A report being taken."""
    watch = Watch()
    yield watch
    watch.stop()


def entered() -> list[Any]:
    """The functions that calls enter by: of classes and of modules."""
    owners = (Ufunc, ndarray, tnp.random.Generator, JittedFunction)
    found = [value for owner in owners for value in vars(owner).values()]
    return [*found, *host_fallback.interceptors, fast_flags.host]


def test_without_a_report_nothing_is_in_the_way():
    """Every function is the very object that it was before: there is nothing to pay for."""
    before = entered()
    watch = Watch()
    during = entered()
    watch.stop()
    assert len(during) == len(before) + 1
    assert sum(a is not b for a, b in zip(before, during, strict=False)) > 100
    assert [a for a, b in zip(before, entered(), strict=True) if a is not b] == []


def places(report: Report, why: str) -> dict[str, int]:
    return {place.name: place.calls for place in report.places.values() if place.why == why}


def test_operations_on_the_host_by_line(watch: Watch):
    x = tnp.ones(5)
    for _ in range(3):
        x = x + tnp.sin(x)
    tnp.sum(x)
    tnp.at(x)[0].set(2.0)
    tnp.linalg.norm(x)
    tnp.random.default_rng(1).random(2)
    report = watch.stop()
    found = places(report, ON_HOST)
    # Operators and methods of arrays on the host run in NumPy, which the report does not count.
    assert found["sin"] == 3
    assert {"ones", "sum", "at[].set", "linalg.norm", "Generator.random"} <= found.keys()
    assert {place.path for place in report.places.values()} == {__file__}
    assert len({place.line for place in report.places.values()}) >= 6
    assert report.host.calls == sum(place.calls for place in report.places.values())
    assert report.host.seconds == pytest.approx(sum(place.seconds for place in report.places.values()))


def test_what_a_fallback_is(watch: Watch):
    x = tnp.ones(8, dtype=np.uint8)
    tnp.roots(x)
    with config.using(eager="tensorflow"):
        y = tnp.ones(3)
        tnp.sin(y)
        tnp.savetxt("/dev/null", y)
    report = watch.stop()
    assert places(report, HOST_ONLY)["roots"] == 1
    assert {"roots", "savetxt"} <= {place.name for place in report.fallbacks}
    assert "sin" not in {place.name for place in report.places.values()}
    assert report.eager.calls >= 2
    assert report.eager.seconds > 0
    assert not set(places(report, HANDED_OVER)) - {"savetxt"}


def test_an_operation_that_calls_back_is_one_operation(watch: Watch):
    tnp.apply_along_axis(lambda row: tnp.sin(row).sum(), 0, tnp.ones((3, 2)))
    report = watch.stop()
    assert set(places(report, ON_HOST)) == {"ones", "apply_along_axis"}


def test_jitted_functions(watch: Watch):
    @np2tf.jit
    def double(x: Any) -> Any:
        return tnp.sin(x) * 2

    @np2tf.jit
    def concrete(x: Any) -> Any:
        return x * int(x.sum())

    x = tnp.ones(3)
    with config.using(tier="compile"):
        with pytest.warns(UnjittedWarning):
            concrete(x)
        concrete(x)
        concrete(x)
        for _ in range(3):
            double(x)
    report = watch.stop()
    functions = {function.name.rpartition(".")[2]: function for function in report.functions.values()}
    assert functions["double"].compiled.calls + functions["double"].graph.calls == 3
    assert functions["double"].compiling.calls >= 1
    assert functions["concrete"].host.calls == 3
    (unjitted,) = report.unjitted.values()
    assert unjitted.calls == 3
    assert unjitted.path == __file__
    assert unjitted in report.fallbacks
    line = functions["concrete"].line
    assert line < unjitted.line <= line + 2
    # Tracing is no operation.
    assert places(report, ON_HOST).get("sin", 0) <= 1
    parts = (report.compiled, report.graph, report.compiling, report.eager, report.host)
    assert sum(part.seconds for part in parts) + report.other_seconds == pytest.approx(report.seconds)


def test_errors_come_through(watch: Watch):
    with pytest.raises(ValueError, match="broadcast"):
        tnp.add(tnp.ones(2), tnp.ones(3))
    assert places(watch.stop(), ON_HOST)["add"] == 1


def test_the_slowest_come_first():
    report = Report()
    for k in range(30):
        report.add_place(float(k), f"f{k}", "a.py", k, HOST_ONLY)
        report.add_place(100.0 + k, f"g{k}", "a.py", k, ON_HOST)
    report.add_unjitted(25.5, "slow", "b.py", 3, "why", "NP2TF501")
    assert [place.name for place in report.fallbacks][:5] == ["f29", "f28", "f27", "f26", "slow"]
    assert len(report.fallbacks) == len(report.host_calls) == 10
    assert len(report.to_data()["host_fallbacks"]) == 10
    text = as_text(report)
    assert "a.py:29  f29" in text
    assert "b.py:3: NP2TF501 slow: why (1 calls)" in text
    assert '"host_fallbacks"' in as_json(report)


def test_counters_of_processes_add_up():
    counts_of_process = Counts(compiled=1, host=2, host_calls=1)
    counts_of_process.fell_back(Fallback("f", "why", path="a.py", line=3))
    counts_of_process.fell_back(Fallback("f", "why", path="a.py", line=3))
    total = Counts()
    total.add(counts_of_process.to_data())
    total.add(counts_of_process.to_data())
    assert (total.compiled, total.host, total.host_calls, total.unjitted) == (2, 4, 2, 4)
    assert [str(fallback) for fallback in total.fallbacks] == ["f: why"]


def test_counts_of_a_block():
    counts.fell_back(Fallback("f", "in a block"))
    with stats.collect() as found:
        counts.fell_back(Fallback("f", "in a block"))
        counts.fell_back(Fallback("g", "in a block"))
    assert [(fallback.function, fallback.calls) for fallback in found.fallbacks] == [("f", 1), ("g", 1)]


def test_a_function_that_became_a_part_of_another(watch: Watch):
    @np2tf.jit
    def inner(x: Any) -> Any:
        return tnp.cos(x)

    @np2tf.jit
    def outer(x: Any) -> Any:
        return inner(x) + 1

    with config.using(tier="compile"):
        outer(tnp.ones(3))
    inner(tnp.ones(3))
    report = watch.stop()
    functions = {function.name.rpartition(".")[2]: function for function in report.functions.values()}
    assert functions["inner"].inlined >= 1
    assert functions["inner"].compiled.calls == functions["inner"].graph.calls == 0
    assert functions["outer"].inlined == 0
