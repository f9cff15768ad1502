"""One process records the costs of functions; the next process decides by them only when to compile."""

from __future__ import annotations

import os
import subprocess
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.cli.main import np2tf as command
from np2tf.core import cache as files
from np2tf.core.counts import Fallback
from np2tf.staging.compile.specializations import SpecializationCache
from np2tf.staging.host import replacement
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.host.jit import JittedFunction, UnjittedWarning
from np2tf.staging.host.watched_loops import LoopFunction, WatchedLoop
from np2tf.staging.tiers import constants
from np2tf.staging.tiers import history as module
from np2tf.staging.tiers.budget import Budget
from np2tf.staging.tiers.call_context import load, tensorflow
from np2tf.staging.tiers.history import (
    CallRecord,
    Decisions,
    FunctionRecord,
    Prospect,
    Refusal,
    digest_of_call,
    digest_of_code,
    key_of,
)
from np2tf.staging.trace.signature import Signature, take_apart
from tests.helpers.command_runner import CliRunner
from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[3]
RECORD = FunctionRecord((2.0, 3.0), 0.5, 1, 0.1, 0, {"a": CallRecord(0.1, 0.01, (1,), (), 2)})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for the length of a test, and what this process has found out so far forgotten."""
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    for cached in (files.cache, files.decisions, module.entry_name):
        cached.cache_clear()
    monkeypatch.setattr(module.decisions, "is_usual", True)
    monkeypatch.setattr(module.decisions, "_records", {})
    monkeypatch.setattr(module.decisions, "_outcomes", [])
    yield tmp_path / "cache" / "decisions"
    for cached in (files.cache, files.decisions, module.entry_name):
        cached.cache_clear()


def process(**found: FunctionRecord | None) -> Decisions:
    """A process that has found this out, and has ended."""
    made = Decisions()
    assert made.records is not None
    for key, record in found.items():
        made.keep(lambda key=key, record=record: (key, record))  # type: ignore[misc]
    made.store()
    return made


def the_file(folder: Path) -> Path:
    (path,) = folder.glob("*.bin")
    return path


# -- what is on disk -----------------------------------------------------------------------------------------


def test_the_second_process_knows_what_the_first_has_found_out(folder: Path) -> None:
    refused = FunctionRecord(
        (), 0.2, 1, -1.0, 3, {"b": CallRecord(refusal=Refusal("f", "NP2TF501", "no", "x.py", 3, 4, 5))}
    )
    process(f=RECORD, g=refused)
    assert Decisions().records == {"f": RECORD, "g": refused}
    assert the_file(folder).stat().st_mode & 0o077 == 0


def test_two_processes_at_once_keep_what_both_have_found_out(folder: Path) -> None:
    first, second = Decisions(), Decisions()
    assert first.records == second.records == {}
    for decisions, key in ((first, "f"), (second, "g")):
        decisions.keep(lambda key=key: (key, RECORD))  # type: ignore[misc]
    first.store()
    second.store()
    assert set(Decisions().records) == {"f", "g"}


def test_what_is_forgotten_is_written_nowhere(folder: Path) -> None:
    process(f=RECORD, g=RECORD)
    process(f=None)
    assert set(Decisions().records) == {"g"}


def test_a_function_that_is_made_twice_counts_twice(folder: Path) -> None:
    made = Decisions()
    assert not made.records
    for _ in range(2):
        made.keep(lambda: ("f", RECORD))
    made.store()
    found = Decisions().records["f"]
    assert (found.host_seconds, found.cost, found.tries) == ((4.0, 3.0), 1.0, 2)


@pytest.mark.parametrize("what", ["cut off", "flipped", "empty", "of others"])
def test_a_file_that_is_not_whole_is_ignored(folder: Path, what: str) -> None:
    process(f=RECORD)
    path = the_file(folder)
    content = path.read_bytes()
    if what == "of others":
        path.chmod(0o666)
    else:
        flipped = content[:-1] + bytes([content[-1] ^ 1])
        path.write_bytes({"cut off": content[:-5], "flipped": flipped, "empty": b""}[what])
    assert Decisions().records == {}
    process(g=RECORD)
    assert set(Decisions().records) == {"g"}, "it is written again"


@pytest.mark.parametrize(
    "value",
    [
        7,
        {"functions": {}},
        {"of": None, "functions": {}},
        {"of": (), "functions": {"f": RECORD.to_data()}},
        {"functions": {"f": ((1.0,), 0.5)}},
        {"functions": {"f": ((), 0.5, 1, "a", 0, {})}},
        {"functions": {"f": (*RECORD[:-1], {"a": (1.0,)})}},
        {"functions": {"f": (*RECORD[:-1], [1])}},
        {"functions": 5},
    ],
)
def test_whole_entries_that_mean_nothing_are_ignored(folder: Path, value: Any) -> None:
    process(f=RECORD)
    kept = files.decisions()
    assert kept is not None
    if isinstance(value, dict):
        value = {"of": module.versions(), **value}
    kept.store(module.entry_name(), value)
    assert Decisions().records == {}


def test_what_other_versions_have_found_out_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(f=RECORD)
    real = module.versions()
    monkeypatch.setattr(module, "versions", lambda: ("another NumPy", *real[1:]))
    assert Decisions().records == {}


def test_other_machines_and_programs_have_entries_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process(f=RECORD)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 1000)
    module.entry_name.cache_clear()
    assert Decisions().records == {}
    monkeypatch.undo()
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(folder.parent))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "another.py", raising=False)
    module.entry_name.cache_clear()
    assert Decisions().records == {}


def test_a_process_that_is_killed_while_writing_leaves_the_old_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process(f=RECORD)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            process(f=RECORD._replace(cost=9.0))
    assert Decisions().records == {"f": RECORD}
    # A temporary file that a killed process leaves is no entry, either.
    (folder / f"{module.entry_name()}.half.tmp").write_bytes(the_file(folder).read_bytes()[:60])
    assert Decisions().records == {"f": RECORD}


def _store_in_child(made: Decisions) -> None:
    made.store()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_made_by_fork_keeps_nothing_of_its_parents(folder: Path) -> None:
    made = Decisions()
    assert not made.records
    made.keep(lambda: ("f", RECORD))
    child = get_context("fork").Process(target=_store_in_child, args=(made,))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert Decisions().records == {}
    made.store()
    assert Decisions().records == {"f": RECORD}


@pytest.mark.parametrize("setting", ["NP2TF_DECISIONS", "NP2TF_CACHE"])
def test_it_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    process(f=RECORD)
    monkeypatch.setenv(setting, "off")
    files.decisions.cache_clear()
    assert Decisions().records == {}
    the_file(folder).unlink()
    process(f=RECORD)
    assert not list(folder.glob("*.bin"))


@pytest.mark.parametrize(("name", "value"), [("tier", "compile"), ("jit", "off"), ("promotion", "all")])
def test_under_unusual_settings_nothing_is_kept_or_followed(folder: Path, name: str, value: str) -> None:
    process(f=RECORD)
    made = Decisions()
    made.notice_setting(name, value)
    assert made.records == {}
    made.keep(lambda: ("g", RECORD))
    made.store()
    assert set(Decisions().records) == {"f"}


def test_a_process_that_only_imports_reads_and_writes_nothing(folder: Path) -> None:
    code = (
        "import np2tf.staging.host.jit\n"
        "from np2tf.staging.tiers.history import decisions\nprint(decisions._records)"
    )
    ran = subprocess.run([warm_python(), "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.strip() == "None"
    assert not folder.exists()


def test_the_cache_command_tells_of_decisions_and_removes_them(folder: Path) -> None:
    process(f=RECORD)
    told = CliRunner().invoke(command, ["cache", "info"])
    assert "programs with known compile decisions: 1" in told.output
    CliRunner().invoke(command, ["cache", "clear"])
    assert not list(folder.glob("*"))


# -- names that last -----------------------------------------------------------------------------------------

SOURCE = "def f(x):\n    return x in {'a', 'b', 'c'} or x * 2\n"


def _code(source: str) -> types.CodeType:
    names: dict[str, Any] = {}
    exec(compile(source, "a.py", "exec"), names)
    return names["f"].__code__  # type: ignore[no-any-return]


def test_digests_are_the_same_in_every_process() -> None:
    told = (
        "import numpy as np, sys; from np2tf.staging.tiers.history import *; names = {}\n"
        f"exec(compile({SOURCE!r}, 'a.py', 'exec'), names)\n"
        "call = (np.ones((3, 4)), 2, [1.0], object(), None, 'x'), {'b': 1, 'a': {'z': 1, 'y': 2.0}}\n"
        "print(digest_of_code(names['f'].__code__), digest_of_call(*call))"
    )
    ran = {
        subprocess.run(
            [sys.executable, "-c", told],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(ran) == 1


def test_the_digest_of_a_function_is_of_what_it_does() -> None:
    same_code = _code("\n\n# a comment\n" + SOURCE)
    assert digest_of_code(_code(SOURCE)) == digest_of_code(same_code)
    for old, new in (("2", "3"), ("'c'", "'d'"), ("x * 2", "x + 2"), ("(x)", "(x, y=1)")):
        assert digest_of_code(_code(SOURCE)) != digest_of_code(_code(SOURCE.replace(old, new)))


def test_the_digest_of_a_call_is_of_dtypes_ranks_and_rough_sizes() -> None:
    def digest(*args: Any, **kwargs: Any) -> str:
        return digest_of_call(args, kwargs)

    assert digest(np.ones(100), 3, k=2.0) == digest(np.zeros(101), 9, k=7.5)
    different = [
        digest(np.ones(100)),
        digest(np.ones(1000)),
        digest(np.ones((10, 10))),
        digest(np.ones(100, np.float32)),
        digest(1),
        digest(1.0),
        digest(True),
        digest(False),
        digest("a"),
        digest("b"),
        digest([1]),
        digest([1.0]),
        digest(x=1),
        digest(),
    ]
    assert len(set(different)) == len(different)


# -- what is advised -----------------------------------------------------------------------------------------

ARGUMENTS = (np.ones(3),)
KIND = digest_of_call(ARGUMENTS, {})


def function(x: Any) -> Any:
    return x + 1


def prospect(record: FunctionRecord, spent: float = 0.0) -> Prospect:
    """The prospect of `function`, of which this record is known, and which has taken so many seconds."""
    module.decisions.records[key_of(function.__code__)] = record
    return Prospect(function, lambda: spent)


FASTER = CallRecord(0.1, 0.01)


def record(*spent: float, cost: float = 1.0, ratio: float = 0.1, way: CallRecord = FASTER) -> FunctionRecord:
    return FunctionRecord(spent, cost, 1, ratio, 0, {KIND: way})


SLOWER = CallRecord(0.1, 0.2)
ROWS: list[tuple[str, bool, FunctionRecord, float, bool | None]] = [
    ("it pays, and all of it pays the import", False, record(20.0), 0.0, True),
    ("it pays, but not the import", False, record(2.2), 0.0, False),
    ("it pays, and TensorFlow is there", True, record(4.0), 0.0, True),
    ("it does not pay", True, record(1.0), 0.0, False),
    ("one of two processes was short", True, record(1.0, 20.0), 0.0, False),
    ("it may pay a little", True, record(1.5), 0.0, False),
    ("it takes a little longer than ever", True, record(1.0), 1.9, False),
    ("it takes a little longer than in the longest process", True, record(1.0, 4.0), 7.0, False),
    ("it takes much longer than ever", True, record(1.0), 2.1, None),
    ("it takes much longer, but others may not", False, record(1.0), 2.1, False),
    ("it has only been traced", True, record(4.0, ratio=-1.0), 0.0, None),
    ("it has only been traced, and little is left", True, record(4.0, ratio=-1.0), 1.5, False),
    ("it has only been traced, for long", True, record(4.0, ratio=-1.0, cost=2.0), 0.0, False),
    ("these calls are slower", True, record(20.0, way=SLOWER), 0.0, False),
    ("these calls are slower, however long", True, record(20.0, way=SLOWER), 50.0, False),
    (
        "nothing is known of such calls",
        True,
        record(20.0)._replace(call_records={"x": CallRecord()}),
        0.0,
        None,
    ),
]


@pytest.mark.parametrize(
    ("is_known", "found", "spent", "advice"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_is_advised(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_known: bool,
    found: FunctionRecord,
    spent: float,
    advice: bool | None,
) -> None:
    monkeypatch.setattr(tensorflow, "is_known", is_known)
    monkeypatch.setattr(module.clock, "host_seconds", 0.0)
    assert prospect(found, spent).advice(ARGUMENTS, {}) is advice


def _refused(path: Path) -> FunctionRecord:
    path.write_text("1\n")
    why = Fallback("function", "it cannot be", "NP2TF501", str(path), 1)
    return record(20.0, way=CallRecord(refusal=Refusal.from_fallback(why)))


def test_what_cannot_be_compiled_is_not_tried_again_but_told(folder: Path, tmp_path: Path) -> None:
    made = prospect(_refused(tmp_path / "a.py"), spent=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.advice(ARGUMENTS, {}) is False
    made = prospect(_refused(tmp_path / "a.py"), spent=10.0)
    with pytest.warns(UnjittedWarning, match=r"NP2TF501 .*a\.py:1: function runs unjitted: it cannot be"):
        assert made.advice(ARGUMENTS, {}) is False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.advice(ARGUMENTS, {}) is False


def test_what_could_not_be_compiled_is_tried_again_once_its_file_has_changed(
    folder: Path, tmp_path: Path
) -> None:
    found = _refused(tmp_path / "a.py")
    (tmp_path / "a.py").write_text("22\n")
    assert prospect(found, spent=10.0).advice(ARGUMENTS, {}) is None


# -- what is found out, and revised --------------------------------------------------------------------------


class _Compiled:
    """The specialization cache of `function`, which has been compiled, and its budget."""

    def __init__(self, made: Prospect, host: HostFunction, known: CallRecord | None = None) -> None:
        self.cache, self.budget = SpecializationCache(), Budget(host)
        signature = Signature()
        take_apart(3, signature)
        self.cache.start_from(known, signature)
        self.cache.digest = KIND
        with self.budget.count_trace():
            pass
        self.budget.note_first_call(0.5)
        made.follow(self.budget, lambda: [self.cache])

    def warm(self, seconds: float, times: int = 1) -> None:
        self.cache.timing.count_compiled_call(seconds, False)
        for _ in range(times):
            self.cache.timing.count_compiled_call(seconds, True)
            self.cache.timing.add_compiled_time(seconds)


def _processes(found: FunctionRecord | None) -> tuple[Prospect, HostFunction]:
    if found is not None:
        module.decisions.records[key_of(function.__code__)] = found
    host = HostFunction(function)
    return host.prospect, host


def test_the_next_process_compiles_at_once_what_has_paid(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorflow, "is_known", True)
    made, host = _processes(None)
    assert made.advice(ARGUMENTS, {}) is None
    host.own_seconds = 2.0
    compiled = _Compiled(made, host)
    compiled.warm(0.01, 20)
    compiled.cache.timing.add_host_time(0.2, 0.2)
    _, found = made.outcome()
    assert found is not None
    assert found.host_seconds == pytest.approx((2.0 + 21 * 0.2,))
    assert found.ratio == pytest.approx(0.01 / 0.2)
    assert found.call_records == {KIND: CallRecord(0.2, 0.01, (), (), 0)}
    made, _ = _processes(found)
    assert made.advice(ARGUMENTS, {}) is True


def test_no_more_is_compiled_at_once_than_has_paid(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensorflow, "is_known", True)
    made, host = _processes(record(20.0)._replace(tries=2))
    budget = Budget(host)
    made.follow(budget, tuple)
    for _ in range(2):
        assert made.advice(ARGUMENTS, {}) is True
        with budget.count_trace():
            pass
    assert made.advice(ARGUMENTS, {}) is None


def test_a_process_that_is_shorter_than_expected_revises_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorflow, "is_known", True)
    made, host = _processes(record(20.0))
    assert made.advice(ARGUMENTS, {}) is True
    compiled = _Compiled(made, host, CallRecord(0.1, 0.01, (), (), 1))
    compiled.warm(0.01, 2)
    _, found = made.outcome()
    assert found is not None
    assert found.host_seconds == pytest.approx((0.3, 20.0))
    made, _ = _processes(found)
    assert made.advice(ARGUMENTS, {}) is False


def test_code_that_is_slower_than_it_is_known_to_be_revises_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensorflow, "is_known", True)
    known = CallRecord(0.1, 0.01, (), (), 1)
    made, host = _processes(record(20.0, way=known))
    compiled = _Compiled(made, host, known)
    compiled.warm(0.17, constants.WARM_CALLS)
    timing = compiled.cache.timing
    assert timing.wants_host, "it is compared at once where it is not clearly ahead"
    for _ in range(constants.WARM_CALLS):
        timing.add_host_time(0.1, 0.1)
    assert timing.is_settled
    assert timing.on_host
    _, found = made.outcome()
    assert found is not None
    assert found.call_records[KIND].is_slower
    made, _ = _processes(found)
    assert made.advice(ARGUMENTS, {}) is False


def test_a_host_that_is_faster_than_it_is_known_to_be_revises_it(folder: Path) -> None:
    known = CallRecord(0.1, 0.01, (), (), 1)
    made, host = _processes(record(20.0, way=known))
    compiled = _Compiled(made, host, known)
    timing = compiled.cache.timing
    compiled.warm(0.01, constants.WARM_CALLS)
    assert not timing.wants_host, "no call is spent on what is known"
    compiled.warm(0.01, int(constants.REVIEW_FACTOR * 0.1 / 0.01))
    assert timing.wants_host, "until one costs little"
    for _ in range(constants.WARM_CALLS):
        timing.add_host_time(0.002, 0.002)
    assert timing.is_settled
    assert timing.on_host


def test_what_is_followed_for_long_is_forgotten(folder: Path) -> None:
    found: FunctionRecord | None = record(20.0, way=SLOWER)
    for number in range(constants.MAX_USES):
        made, host = _processes(found)
        host.own_seconds = 1.0 + number
        _, found = made.outcome()
        assert found is not None
        assert (found.uses, found.host_seconds[0]) == (number + 1, 1.0 + number)
    made, _ = _processes(found)
    assert made.outcome()[1] is None


def test_numbers_that_have_varied_are_inputs_of_the_first_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load()
    from np2tf.staging.compile.compiler import Compiler

    monkeypatch.setattr(Compiler, "_stored_traces", lambda *_: None)

    def scaled(x: Any, k: float) -> Any:
        return x * k

    def traces_of_four_calls() -> JittedFunction:
        made = np2tf.jit(scaled)
        for k in (0.5, 1.5, 2.5, 3.5):
            np.testing.assert_array_equal(made(np.arange(4.0), k), np.arange(4.0) * k)
        return made

    kind = digest_of_call((np.arange(4.0), 0.5), {})
    # The host is never asked, as it seems to be much slower.
    known = FunctionRecord((1e6,), 0.1, 2, 0.0, 0, {kind: CallRecord(1e3, 1e-4, (0,), (), 1)})
    key = key_of(scaled.__code__)
    monkeypatch.setitem(module.decisions.records, key, known)
    made = traces_of_four_calls()
    assert (made.trace_count, made._host.timed_calls) == (1, 0)
    monkeypatch.setitem(
        module.decisions.records, key, known._replace(call_records={kind: CallRecord(1e3, 1e-4, (), (), 1)})
    )
    assert traces_of_four_calls().trace_count == 2


def test_a_function_that_cannot_be_staged_is_kept_as_such(folder: Path) -> None:
    load()

    @np2tf.jit
    def opaque(x: Any) -> Any:
        return np2tf.tnp.zeros(int(x.sum()))

    compiler = opaque._compiler
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patched:
        patched.setattr(Budget, "is_open", True)
        patched.setattr(opaque._host, "own_seconds", 10.0)
        with pytest.warns(UnjittedWarning):
            compiler.call((np.ones(3),), {})
    _, found = opaque._host.prospect.outcome()
    assert found is not None
    (way,) = found.call_records.values()
    assert way.refusal is not None
    assert way.refusal.is_current
    assert way.refusal.function.endswith("opaque")


def test_what_is_pinned_by_a_setting_is_not_kept(folder: Path) -> None:
    load()
    made = np2tf.jit(lambda x: x * 2.0, tier="compile")
    made(np.ones(3))
    assert made.trace_count == 1
    assert not module.decisions._outcomes


# -- loops ---------------------------------------------------------------------------------------------------


def _loop() -> WatchedLoop:
    known = LoopFunction("key", "name", "f", "", (1,), ("x",), ("x",), "range", False)
    return WatchedLoop(known, function.__code__)


def _rounds(loop: WatchedLoop) -> replacement.LoopRun:
    return replacement.LoopRun(range(100), loop, ())


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    monkeypatch.setattr(replacement, "is_possible", lambda: True)
    monkeypatch.setattr(replacement.clock, "host_seconds", 1e3)


@pytest.mark.parametrize(
    ("cost", "ratio", "left", "pays"),
    [
        (0.5, 0.1, 1.0, True),  # clearly less than is asked for where nothing is known
        (0.5, 0.9, 1.0, False),
        (5.0, 0.1, 4.0, False),
        (5.0, 0.1, 4.5, True),  # its trace is stored
        (1.0, -1.0, 5.9, False),  # given up while it was traced, and XLA needs a second beside the program
        (1.0, -1.0, 6.1, True),
    ],
)
def test_a_loop_that_is_known_is_taken_over_when_it_pays(
    folder: Path, loaded: None, cost: float, ratio: float, left: float, pays: bool
) -> None:
    module.decisions.records[key_of(function.__code__)] = FunctionRecord((), cost, 1, ratio, 0, {})
    assert _rounds(_loop())._pays(0.05, left) is pays


def test_what_a_loop_has_cost_and_brought_is_kept(folder: Path, loaded: None) -> None:
    loop = _loop()
    loop.note(0.5)
    loop.note(0.25)
    loop.ratio = 0.125
    loop.refuse((1.0,), {}, Fallback("f", "no", "NP2TF501", __file__, 1))
    key, found = loop.outcome()
    assert found is not None
    assert (found.cost, found.ratio) == (0.75, 0.125)
    module.decisions.records[key] = found
    again = _loop()
    assert again.is_refused((2.0,)), "a call of that kind"
    assert not again.is_refused((1,))
    assert not _loop().is_refused(("x",))
    _, followed = again.outcome()
    assert followed is not None
    assert followed.uses == 1


# -- two whole processes -------------------------------------------------------------------------------------

HEAVY = """
import numpy as np


def walk(x):
    s = 0.0
    for i in range(1, len(x)):
        x[i] = 0.5 * (x[i - 1] + x[i]) + 0.001
        s += x[i]
    return s
"""
PROGRAM = """
import sys
import tensorflow
import np2tf
np2tf.install(["heavy"])
import numpy as np
from np2tf.core.counts import counts
from np2tf.staging.tiers import constants
constants.HOT_LOOP = 1e9  # loops are another matter
import heavy
results = []
for call in range(int(sys.argv[1])):
    results.append(float(heavy.walk(np.linspace(0.0, 1.0, 200_000))))
    if call == 0:
        first = counts.compiled
print(first, counts.traces, counts.host_calls, len(set(results)))
"""


def test_the_second_process_decides_at_once(tmp_path: Path) -> None:
    (tmp_path / "heavy.py").write_text(HEAVY)
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "NP2TF_CACHE": "on",
        "NP2TF_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(ROOT),
    }

    def run(calls: int) -> list[int]:
        ran = subprocess.run(
            [warm_python(), "program.py", str(calls)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        assert ran.returncode == 0, ran.stderr
        return [int(number) for number in ran.stdout.split()]

    first, traces, host_calls, _ = run(200)
    assert first == 0
    assert traces >= 1
    assert host_calls > 1
    first, traces, host_calls, _ = run(200)
    assert first == 1, "the first call is compiled"
    assert traces == 0, "from the trace of the first process"
    made: Callable[[int], list[int]] = run
    short = made(1)
    assert short[0] == 1, "the process is shorter than any before, which nobody can know"
    assert made(1)[:3] == [0, 0, 1], "now it is known"


class OfUnknownShape:
    """An object whose attributes compute, and raise as long as something is missing."""

    @property
    def shape(self) -> tuple[int, ...]:
        raise ValueError("there is no shape yet")

    dtype = shape


def test_a_digest_asks_objects_for_nothing() -> None:
    assert digest_of_call((OfUnknownShape(),), {}) == digest_of_call((OfUnknownShape(),), {})
