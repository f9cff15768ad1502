"""A fault of np2tf's own never reaches a program: each internal step fails, and the output stays NumPy's."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import np2tf
from np2tf.arrays.front import tensorflow_loading
from np2tf.arrays.front.flags import fast_flags
from np2tf.core import cache, faults
from np2tf.loading import translations
from np2tf.staging.tiers import budget, constants
from np2tf.staging.tiers import history as decisions_module
from np2tf.staging.watch import Watch
from np2tf.translator.sources.options import Options
from tests.helpers.replacing import cut as cut
from tests.helpers.replacing import taken as taken

#: The internal steps of each kind of program. A step is a function, a method, a property or a class.
STEPS: dict[str, tuple[str, ...]] = {
    # a function that is compiled at its first call: its decision, signature, trace, code, run, write-back
    "compiled": (
        "np2tf.staging.host.jit:JittedFunction._choose",
        "np2tf.staging.compile.compiler:Compiler.__init__",
        "np2tf.staging.compile.compiler:Compiler.choose",
        "np2tf.staging.compile.compiler:Compiler._examine",
        "np2tf.staging.compile.compiler:Compiler._may_run_on_host",
        "np2tf.staging.compile.compiler:Compiler._prefers_host",
        "np2tf.staging.compile.compiler:raises_floating_point_errors",
        "np2tf.staging.compile.preparation:CallPreparation.prepare",
        "np2tf.staging.compile.preparation:share_memory",
        "np2tf.staging.trace.signature:Signature.key",
        "np2tf.staging.compile.preparation:take_arguments",
        "np2tf.staging.compile.preparation:Dependencies",
        "np2tf.staging.compile.specializations:SpecializationCaches.of",
        "np2tf.staging.compile.specializations:SpecializationCache.find",
        "np2tf.staging.compile.specializations:SpecializationCache.notice",
        "np2tf.staging.compile.compiler:Compiler._find_or_compile",
        "np2tf.staging.compile.compiler:Compiler._keep_decision",
        "np2tf.staging.compile.compiler:Compiler._check_reuse",
        "np2tf.staging.compile.compiler:stable_names",
        "np2tf.staging.compile.compiler:digest_of_call",
        "np2tf.staging.tiers.budget:Budget.count_trace",
        "np2tf.staging.compile.concrete_function:ConcreteFunction.__init__",
        "np2tf.staging.compile.concrete_function:Program._trace",
        "np2tf.staging.compile.concrete_function:collect_outputs",
        "np2tf.staging.compile.results:describe_result",
        "np2tf.staging.compile.results:flatten",
        "np2tf.staging.compile.concrete_function:ConcreteCall",
        "np2tf.staging.xla.calls:ConcreteCall.__call__",
        "np2tf.staging.compile.concrete_function:ConcreteFunction.__call__",
        "np2tf.staging.compile.concrete_function:input_of",
        "np2tf.staging.compile.concrete_function:rebuild_result",
        "np2tf.staging.compile.concrete_function:prepare_writes",
        "np2tf.staging.compile.concrete_function:prepare_changes",
        "np2tf.staging.random.streams:Draws.draw_call",
        "np2tf.staging.random.streams:StreamDraws.begin",
        "np2tf.staging.compile.compiler:Compiler._note_compiled_call",
        "np2tf.staging.tiers.budget:Budget.note_first_call",
        "np2tf.staging.tiers.comparison:Comparison.count_compiled_call",
    ),
    # the same before the half of np2tf that needs TensorFlow is loaded
    "cold": (
        "np2tf.staging.host.jit:JittedFunction._choose",
        "np2tf.staging.host.jit:JittedFunction._needs_tensorflow",
        "np2tf.staging.host.jit:JittedFunction._compiler",
        "np2tf.staging.host.jit:load",
    ),
    # a function that has to run on the host, which np2tf finds out while it compiles
    "refused": (
        "np2tf.staging.compile.compiler:place_of",
        "np2tf.staging.compile.compiler:first_line",
        "np2tf.staging.compile.compiler:Compiler._note_fallback",
        "np2tf.staging.tiers.host_streak:HostStreak.note",
        "np2tf.staging.compile.compiler:tell_unjitted",
        "np2tf.staging.tiers.history:Followed.refuse",
        "np2tf.staging.tiers.history:Refusal.from_fallback",
        "np2tf.core.counts:Counts.fell_back",
    ),
    # a function that moves to compiled code and is compared: its timing, budget, prospect, review
    "auto": (
        "np2tf.staging.host.host_function:HostFunction.note",
        "np2tf.staging.host.host_function:HostFunction._function_for",
        "np2tf.staging.host.host_function:HostFunction.is_short",
        "np2tf.staging.host.host_function:HostFunction.original",
        "np2tf.staging.host.host_function:Stopwatch",
        "np2tf.staging.tiers.clock:Stopwatch.seconds",
        "np2tf.staging.tiers.clock:Stopwatch.own_seconds",
        "np2tf.staging.host.host_function:is_on_host",
        "np2tf.staging.tiers.history:Prospect.advice",
        "np2tf.staging.tiers.history:Followed.call_record",
        "np2tf.staging.tiers.history:Prospect.__init__",
        "np2tf.staging.tiers.history:Prospect.follow",
        "np2tf.staging.tiers.history:Decisions.record_of",
        "np2tf.staging.tiers.history:Decisions.keep",
        "np2tf.staging.tiers.history:_read",
        "np2tf.staging.tiers.history:_cache",
        "np2tf.staging.tiers.history:Decisions._store",
        "np2tf.staging.tiers.history:versions",
        "np2tf.staging.tiers.history:entry_name",
        "np2tf.staging.tiers.history:Followed.outcome",
        "np2tf.staging.tiers.budget:Budget.is_open",
        "np2tf.staging.tiers.budget:Budget.deadline",
        "np2tf.staging.tiers.budget:Budget.note_gain",
        "np2tf.staging.compile.specializations:SpecializationCache.start_from",
        "np2tf.staging.tiers.comparison:Comparison.wants_host",
        "np2tf.staging.tiers.comparison:Comparison.add_host_time",
        "np2tf.staging.tiers.comparison:Comparison.add_compiled_time",
        "np2tf.staging.tiers.comparison:Comparison._choose_tier",
        "np2tf.staging.tiers.comparison:Comparison.reconsider",
        "np2tf.staging.tiers.comparison:Comparison.is_due_on_host",
    ),
    # a loop that continues as compiled code
    "loop": (
        "np2tf.staging.host.watched_loops:WatchedLoop.may_be_watched",
        "np2tf.staging.host.watched_loops:WatchedLoop.is_due",
        "np2tf.staging.host.watched_loops:WatchedLoop.note_replacement",
        "np2tf.staging.host.watched_loops:WatchedLoop.functions",
        "np2tf.staging.host.watched_loops:WatchedLoop.is_refused",
        "np2tf.staging.host.watched_loops:_translate",
        "np2tf.staging.host.replacement:LoopTimer",
        "np2tf.staging.tiers.clock:LoopTimer.seconds",
        "np2tf.staging.tiers.clock:LoopTimer.own_seconds",
        "np2tf.staging.host.replacement:LoopRun._measure",
        "np2tf.staging.host.replacement:LoopRun._pays",
        "np2tf.staging.host.replacement:LoopRun._take_over",
        "np2tf.staging.host.watched_loops:WatchedLoop.note",
        "np2tf.staging.host.replacement:LoopRun._note_part",
        "np2tf.staging.host.replacement:LoopRun.__init__",
        "np2tf.staging.host.replacement:loop_compiler",
        "np2tf.staging.host.replacement:load",
        "np2tf.staging.compile.loop_compiler:LoopCompiler.compile_ahead",
        "np2tf.staging.compile.preparation:CallPreparation.prepare",
        "np2tf.staging.compile.concrete_function:ConcreteFunction.__call__",
        "np2tf.staging.compile.concrete_function:prepare_writes",
        "np2tf.staging.compile.compiler:Compiler._note_compiled_call",
    ),
    # the parts of a loop in which Python acts in every iteration
    "regions": (
        "np2tf.staging.host.regions:Region.__init__",
        "np2tf.staging.host.regions:Region.consider",
        "np2tf.staging.host.regions:Regions.decide",
        "np2tf.staging.host.regions:is_possible",
        "np2tf.staging.host.regions:LoopTimer",
        "np2tf.staging.host.regions:loop_compiler",
        "np2tf.staging.host.regions:Region._prepare",
        "np2tf.staging.host.regions:Region._compile",
        "np2tf.staging.host.regions:Region._note_call",
        "np2tf.staging.compile.loop_compiler:LoopCompiler.compile_ahead",
        "np2tf.staging.compile.compiler:Compiler._note_compiled_call",
    ),
    # a module that is translated while it is imported, with the cache of translations and of decisions
    "import": (
        "np2tf.loading.translations:cache",
        "np2tf.loading.translations:key_of",
        "np2tf.loading.translations:_with_reexports",
        "np2tf.loading.translations:is_candidate",
        "np2tf.core.cache:Cache.load_with_rest",
        "np2tf.core.cache:Cache.store",
        "np2tf.core.cache:Cache.is_trusted",
        "np2tf.core.cache:Cache._write",
        "np2tf.loading.translations:Sources.find",
        "np2tf.loading.translations:Sources.remember",
        "np2tf.loading.translations:Sources._write",
        "np2tf.loading.import_hook:translation",
        "np2tf.loading.import_hook:tell",
        "np2tf.loading.import_hook:_follow_program",
        "np2tf.loading.code.translation:translate",
        "np2tf.loading.code.translation:loops_of",
        "np2tf.loading.code.translation:originals_of",
        "np2tf.staging.host.originals:add_originals",
        "np2tf.staging.host.originals:use_originals",
        "np2tf.staging.host.watched_loops:add_loops",
    ),
    # a program with a report
    "report": (
        "np2tf.staging.process.sampler:Sampler._stack_of",
        "np2tf.staging.report:Report.add_place",
        "np2tf.staging.report:Time.add",
        "np2tf.staging.operation_times:user_location",
    ),
}
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: OverflowError(34, "Numerical result out of range"),
    lambda: AttributeError("injected"),
    lambda: OSError(28, "No space left on device"),
    lambda: RuntimeError("injected"),
    lambda: _internal_error(),
)
CASES = [
    pytest.param(
        kind, step, k, id=f"{kind}-{step.partition(':')[2]}-{k}", marks=() if k == n % 5 else pytest.mark.long
    )
    for kind, steps in STEPS.items()
    for n, step in enumerate(steps)
    for k in range(len(ERRORS))
]

#: Every effect of a call is seen if it happens twice: a write, a print, an append, an attribute, a draw.
PROGRAM = """
    import numpy as np

    class Body:
        def __init__(self):
            self.x = np.arange(6)
            self.steps = 0

    def advance(body, log, u, rng):
        for k in range(1, 5):
            u[k] = u[k - 1] + u[k + 1]
        body.x = body.x + u
        body.steps += 1
        log.append(u.sum())
        noise = rng.integers(0, 100, 3)
        print("total", u.sum())
        return np.where(u > 3, u, -u) + noise.sum()

    def shout(u, path):
        with open(path, "a") as file:
            file.write("x")
        u += 1
        return u * 2

    def word(u):
        return np.array(["a" * (int(np.sum(u)) % 5)] * 3)

    def tick(u, v):
        for k in range(1, 5):
            u[k] = u[k - 1] + v[k]
        return u * 2

    def smooth(u, n):
        for k in range(n):
            u[1:-1] = u[2:] - u[:-2] + k
            u[0] += 1
        return u

    def drift(u, n, log):
        for k in range(n):
            v = u[1:] - u[:-1] + k
            u[1:] = v % 7 + u[0]
            log.append(k + 1)
        return u

    def main(path, count, jit):
        body, log, rng, u = Body(), [], np.random.default_rng(0), np.arange(6)
        values = [advance(body, log, u, rng).tolist() for _ in range(3)]
        by_hand, by_hand_word, v = jit(tick), jit(word), np.arange(6)
        values += [by_hand(v, u).tolist() for _ in range(count)]
        values += [by_hand_word(u).tolist() for _ in range(3)]
        values += [shout(u, path).tolist() for _ in range(2)]
        state = body.x.tolist(), body.steps, list(map(int, log)), u.tolist(), rng.integers(99)
        return values, state
"""


def _internal_error() -> Exception:
    import tensorflow as tf

    return tf.errors.InternalError(None, None, "injected")


def _place(step: str) -> tuple[Any, str]:
    module, _, path = step.partition(":")
    owner: Any = importlib.import_module(module)
    *classes, name = path.split(".")
    for part in classes:
        owner = getattr(owner, part)
    assert name in vars(owner), f"{step} is gone: give its successor"
    return owner, name


@contextlib.contextmanager
def _failing(
    step: str, make: Callable[[], Exception], monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[Any]]:
    """Let a step fail, and count how often it has."""
    hits: list[Any] = []

    def fail(*_: Any, **__: Any) -> Any:
        hits.append(step)
        raise make()

    owner, name = _place(step)
    before = vars(owner)[name]
    is_value = isinstance(before, (property, functools.cached_property, bool))
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, property(fail) if is_value else fail)
        yield hits


def _run(main: Callable[..., Any], folder: Path, count: int, jit: Callable[[Any], Any]) -> Any:
    """Return everything that shows of a run."""
    folder.mkdir(exist_ok=True)
    file = folder / "effects"
    file.unlink(missing_ok=True)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        values = main(str(file), count, jit)
    return values, output.getvalue(), file.read_text()


@pytest.fixture(scope="module")
def source() -> str:
    return textwrap.dedent(PROGRAM)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Every test has its own cache, warns anew, and leaves no record."""
    tensorflow_loading.load()
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.setenv("NP2TF_DECISIONS", "on")
    monkeypatch.setattr(faults, "_reported", set())
    for name, value in (("_records", None), ("_outcomes", []), ("is_usual", True)):
        monkeypatch.setattr(decisions_module.decisions, name, value)
    for function in (cache.cache, cache.decisions, translations._sources):
        function.cache_clear()
    with warnings.catch_warnings():
        # np2tf's own warnings are shown, and never raised. Compiled code is not used if NumPy's are errors.
        warnings.simplefilter("error", UserWarning)
        yield
    for function in (cache.cache, cache.decisions, translations._sources):
        function.cache_clear()


def _expected(source: str, folder: Path, count: int = 3) -> Any:
    names: dict[str, Any] = {"__name__": "plain"}
    exec(compile(source, "plain.py", "exec"), names)
    return _run(names["main"], folder, count, lambda function: function)


def _translated(source: str, folder: Path) -> Callable[..., Any]:
    path = folder / "program_of_faults.py"
    path.write_text(source)
    return np2tf.import_module(path).main


@pytest.mark.parametrize(("kind", "step", "error"), CASES)
def test_a_step_that_fails(
    kind: str,
    step: str,
    error: int,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    count = 40 if kind == "auto" else 3
    if kind == "loop":
        request.getfixturevalue("taken")
        source = source.replace(
            "return values, state", "values.append(smooth(u, 40).tolist())\n    return values, state"
        )
    if kind == "regions":
        request.getfixturevalue("cut")
        source = source.replace(
            "return values, state", "return drift(u, 40, log).tolist(), log, values, state"
        )
    expected = _expected(source, tmp_path / "plain", count)
    if kind == "auto":
        for name in ("HOST_SECONDS_FIRST", "SHARED_BY"):
            monkeypatch.setattr(constants, name, 1e-9)
        for name in ("TOO_SHORT", "FIRST_RECONSIDER_FACTOR", "RECONSIDER_FACTOR"):
            monkeypatch.setattr(constants, name, 0.0)
        monkeypatch.setattr(constants, "SHARE_DIVISOR", 1.0)
        monkeypatch.setattr(constants, "UNPAID_TRIES", 1000)
        monkeypatch.setattr(budget.Budget, "is_open", True)
    if kind == "cold":
        monkeypatch.setattr(fast_flags, "tensors", False)
    tier = "auto" if kind in ("auto", "loop", "regions", "import") else "compile"
    with np2tf.config.using(tier=tier):
        main = None if kind == "import" else _translated(source, tmp_path)
        watch = Watch(of_operations=True) if kind == "report" else None
        try:
            with _failing(step, ERRORS[error], monkeypatch) as hits:
                main = main or _translated(source, tmp_path)
                assert _run(main, tmp_path / "translated", count, np2tf.jit) == expected
                if kind in ("import", "auto"):
                    _at_exit()
        finally:
            if watch is not None:
                watch.stop()
    assert hits, "the program does not reach the step"


def _at_exit() -> None:
    """Do what np2tf does when the process ends."""
    decisions_module.decisions.store()
    try:
        sources = translations._sources(cache.cache(), Options())  # type: ignore[arg-type]
    except Exception:  # this is the step that fails, before there is anything to write
        return
    sources.write()
