"""Reports count calls, seconds and places; they do not change a run, and a run without one has no cost."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import ndarray
from np2tf.arrays.dispatch import host_fallback
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.cli.report.hot_code import hot_code, share_of
from np2tf.cli.run_report import as_json, as_text
from np2tf.core import counts as stats
from np2tf.core.counts import Counts, Fallback, counts
from np2tf.core.settings import config
from np2tf.staging import operation_times as operation_times  # which loads what it replaces
from np2tf.staging.host.jit import JittedFunction, UnjittedWarning
from np2tf.staging.process import sampler
from np2tf.staging.process.sampler import COMPILED, ELSEWHERE, IMPORTING, NUMPY, TRACING, XLA
from np2tf.staging.report import HANDED_OVER, HOST_ONLY, ON_HOST, Place, Report
from np2tf.staging.watch import Watch
from tests.helpers.replacing import imported


@pytest.fixture
def watch() -> Any:
    """A report being taken, also of operations."""
    watch = Watch(of_operations=True)
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
    plain = Watch()
    assert [a for a, b in zip(before, entered(), strict=True) if a is not b] == []
    plain.stop()
    watch = Watch(of_operations=True)
    during = entered()
    watch.stop()
    assert len(during) == len(before) + 1
    assert sum(a is not b for a, b in zip(before, during, strict=False)) > 100
    assert [a for a, b in zip(before, entered(), strict=True) if a is not b] == []


def test_a_report_loads_nothing() -> None:
    program = (
        "import sys; from np2tf.cli import run_report; from np2tf.staging.watch import Watch\n"
        "run_report.as_json(Watch().stop())\nassert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


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
    functions = {function.name.rpartition(".")[2]: function for function in report.functions}
    assert functions["double"].compiled.calls + functions["double"].graph.calls == 3
    assert functions["double"].compiling.calls >= 1
    assert functions["concrete"].host.calls == 3
    (account,) = (account for account in report.accounts if account.name.endswith("double"))
    assert account.spent == functions["double"].compiling.seconds > 0
    (unjitted,) = report.unjitted
    assert unjitted.calls == 3
    assert unjitted.path == __file__
    assert unjitted in report.fallbacks
    line = functions["concrete"].line
    assert line < unjitted.line <= line + 2
    # Tracing is no operation.
    assert places(report, ON_HOST).get("sin", 0) <= 1
    # The clock is read more than once; other processes may run in between.
    assert sum(report.times.values()) == pytest.approx(report.seconds, rel=1e-3, abs=0.02)
    assert sum(report.spent.values()) <= report.seconds


def test_errors_come_through(watch: Watch):
    with pytest.raises(ValueError, match="broadcast"):
        tnp.add(tnp.ones(2), tnp.ones(3))
    assert places(watch.stop(), ON_HOST)["add"] == 1


def test_the_slowest_come_first():
    report = Report()
    for k in range(30):
        report.add_place(float(k), f"f{k}", "a.py", k, HOST_ONLY)
        report.add_place(100.0 + k, f"g{k}", "a.py", k, ON_HOST)
    report.unjitted.append(Place(1, 25.5, "slow", "b.py", 3, "why", "NP2TF501"))
    assert [place.name for place in report.fallbacks][:5] == ["f29", "f28", "f27", "f26", "slow"]
    assert len(report.fallbacks) == len(report.host_calls) == 10
    assert len(report.to_data()["host_fallbacks"]) == 10
    text = as_text(report)
    assert "a.py:29  f29" in text
    assert "b.py:3: NP2TF501 slow: why (1 call)" in text
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
    functions = {function.name.rpartition(".")[2]: function for function in report.functions}
    assert functions["inner"].inlined >= 1
    assert functions["inner"].compiled.calls == functions["inner"].graph.calls == 0
    assert functions["outer"].inlined == 0


# -- samples -------------------------------------------------------------------------------------------------


def spin(seconds: float) -> None:
    """Work in Python for so long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_samples_account_for_all_time():
    taken = sampler.Sampler()
    start = time.perf_counter()
    spin(0.2)
    json.loads("[" + ",".join(["1"] * 400_000) + "]")
    time.sleep(0.1)
    taken.stop()
    assert sum(taken.seconds.values()) == pytest.approx(time.perf_counter() - start, rel=0.1)
    path, line = __file__, spin.__code__.co_firstlineno
    in_spin = [
        stack
        for stack in taken.seconds
        if any(file == path and line <= at < line + 5 for file, at in stack.lines)
    ]
    assert in_spin
    assert {stack.kind for stack in in_spin} == {NUMPY}
    taken.stop()


@pytest.mark.parametrize(
    ("key", "kind"), [*sampler._MARKS.items(), *sampler._OUTER_MARKS.items()], ids=lambda one: str(one)
)
def test_the_functions_that_tell_what_is_done(key: tuple[str, str], kind: str):
    """They exist where the table says."""
    file, name = key
    path = f"{sampler.PACKAGE_FOLDER}/{file}"
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert sampler._role_of(path, name, {}) in ((sampler._MARK, kind), (sampler._OUTER_MARK, kind))


@pytest.mark.parametrize(
    ("module", "role"),
    [
        ("json", (sampler._LIBRARY, "json")),
        ("numpy", (sampler._LIBRARY, "numpy")),
        ("importlib._bootstrap", (sampler._LIBRARY, "importing modules")),
        ("np2tf.arrays.front.at", (sampler._OWN, NUMPY)),
        ("np2tf.staging.host.jit", (sampler._OWN, sampler.OWN)),
        ("tests.helpers.replacing", (sampler._PROGRAM, "")),
    ],
)
def test_whose_code_it_is(module: str, role: tuple[int, str]):
    names = vars(importlib.import_module(module))
    path = "<frozen importlib._bootstrap>" if "bootstrap" in module else names["__file__"]
    assert sampler._role_of(path, "f", names) == role


def test_where_compiled_code_spends_its_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampler, "PERIOD", 0.0005)
    source = "def steps(x, n):\n    for k in range(n):\n        x = np.sin(x) + k\n    return x\n"
    steps = imported(f"import numpy as np\n\n\n{source}")["steps"]
    watch = Watch()
    with config.using(tier="compile"):
        for _ in range(3):
            steps(np.ones(100), 100_000)
    report = watch.stop()
    times = report.times
    assert times.get(COMPILED, 0.0) > 0.0
    assert times.get(TRACING, 0.0) > 0.0
    assert times.get(XLA, 0.0) > 0.0
    assert IMPORTING not in times
    assert ELSEWHERE not in times
    (function,) = (function for function in report.functions if function.name.endswith("steps"))
    assert function.compiled.calls == 3
    # The first call runs, too: that is no part of compiling.
    assert function.compiled.seconds > 0.0


# -- what stayed on NumPy ------------------------------------------------------------------------------------

HOT = """
import json
import numpy as np


def short(x):
    return x + 1


def grows(x):
    track = []
    for k in range(1000):
        x = np.sin(x)
        track.append((x[0], k))
    return track


def draws(x, n):
    for k in range(n):
        x = np.sqrt(x) + 1
        json.dumps([k])
    return x


def library(x, n):
    for k in range(n):
        np.linalg.svd(x)
    return x


def several(x):
    for name in {"a", "b"}:
        x = np.sin(x)
        short(x)
    return x
"""


def hot_report(tmp_path: Path, stacks: dict[tuple[str, ...], float]) -> list[str]:
    """The sentences about a file, given seconds by the texts of the lines on the stack, innermost first."""
    file = tmp_path / "hot.py"
    file.write_text(HOT)
    lines = HOT.splitlines()

    def place(text: str) -> tuple[str, int]:
        return str(file), 1 + next(k for k, line in enumerate(lines) if text in line)

    report = Report(seconds=10.0)
    for texts, seconds in stacks.items():
        report.stacks[sampler.Stack(NUMPY, "", tuple(map(place, texts)))] = seconds
    return [f"{row.seconds:.1f} {row.line} {row.text}" for row in hot_code(report)]


@pytest.mark.parametrize(
    ("at", "wanted"),
    [
        (
            "track.append",
            r"5\.0 12 `grows`: loop: `track.append` grows a list in the loop \(line 14, NP2TF307\): alloc",
        ),
        (
            "json.dumps",
            r"`draws`: loop: calls `json.dumps`, .*\(line 21, NP2TF539\): move the computation into a func",
        ),
        (
            "        short(x)",
            r"`several`: loop: runs over something that is no range and no array \(line 32\): loop over a r",
        ),
        ("linalg.svd", r"`library`: loop: the program ended before compiling could pay$"),
    ],
)
def test_the_sentence_for_a_loop(at: str, wanted: str, tmp_path: Path):
    (row,) = hot_report(tmp_path, {(at,): 5.0, ("track = []",): 0.1})
    assert re.search(wanted, row), row


def test_a_function_and_its_caller(tmp_path: Path):
    rows = hot_report(tmp_path, {("return x + 1", "        short(x)"): 4.0, ("x = np.sqrt",): 0.4})
    assert [row.split(" ", 2)[:2] for row in rows] == [["4.0", "6"], ["4.0", "32"]]
    assert "shows no work on arrays" in rows[0]


def test_every_part_of_the_time_has_a_name(tmp_path: Path):
    file = tmp_path / "hot.py"
    file.write_text(HOT)
    report = Report(seconds=6.0)
    place = str(file)
    for stack in (
        sampler.Stack(NUMPY, "", ((place, 13),)),
        sampler.Stack(NUMPY, "", ((place, 7),)),
        sampler.Stack(NUMPY, "", ((place, 3),)),
        sampler.Stack(ELSEWHERE, "matplotlib", ((place, 13),)),
        sampler.Stack(COMPILED, "", ((place, 13),)),
        sampler.Stack(sampler.OWN, "", ()),
    ):
        report.stacks[stack] = 1.0
    assert share_of(report) == dict.fromkeys(
        (
            "on NumPy, in loops",
            "on NumPy, in functions",
            "on NumPy, in modules",
            "compiled code",
            "np2tf itself: start, choices, calls",
            "elsewhere: matplotlib",
        ),
        1.0,
    )
    assert "on NumPy, in loops                       1.00 s    17 %" in as_text(report)


def test_calls_that_are_not_timed_count(watch: Watch):
    """Of short calls most are not timed."""
    names = imported("import numpy as np\n\n\ndef f(x):\n    return np.sin(x[:3]) * 2\n", "counted")
    for _ in range(200):
        names["f"](np.ones(3))
    (function,) = (function for function in watch.stop().functions if function.name == "f")
    assert function.host.calls == 200
    assert function.is_short
