"""Compiled calls among other threads, processes and signals: what they write, and how long they last."""

from __future__ import annotations

import _thread
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.core.errors import VariableChangeError
from np2tf.core.late import installation
from np2tf.staging.host.replacement import LoopRun
from np2tf.staging.objects.places import entry
from np2tf.staging.process import concurrency
from np2tf.staging.trace import operations, write_back
from np2tf.staging.trace.captures import guard_captures
from np2tf.staging.xla import supervision
from np2tf.staging.xla.calls import ConcreteCall
from tests.helpers.replacing import Taken, imported, taken

__all__ = ["taken"]


class OutOfTime(Exception):
    """Raised by the handler of a signal."""


@contextmanager
def during_each_call(monkeypatch: pytest.MonkeyPatch, work: Callable[[], None]) -> Iterator[None]:
    """Let another thread do `work` while compiled code runs, after it has read its inputs."""
    call = ConcreteCall.__call__

    def interrupted(self: ConcreteCall, *args: Any) -> Any:
        outputs = call(self, *args)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return outputs

    with monkeypatch.context() as patch:
        patch.setattr(ConcreteCall, "__call__", interrupted)
        # (The runner of the tests may have no thread, or some.)
        patch.setattr(concurrency, "other_threads_run", lambda: True)
        yield


@np2tf.jit(tier="compile")
def write_first_half(out: Any, x: Any) -> Any:
    n = len(out) // 2
    out = np2tf.tnp.at(out)[:n].set(x[:n] + out[:n])
    return None


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64", "complex128", "bool", "int8", "uint64"])
def test_elements_that_others_write_meanwhile_stay(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, x = np.zeros(6, dtype)[::-1], np.ones(6, dtype)

    def work() -> None:
        out[3:] = 1
        out[3:] *= out.dtype.type(1)

    with during_each_call(monkeypatch, work):
        write_first_half(out, x)
    np.testing.assert_array_equal(out, np.ones(6, dtype))


def test_shared_memory_is_written_like_arrays_of_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two maps of one file: another process writes through its own."""
    shape = (6,)
    ours = np.memmap(tmp_path / "file", np.float64, "w+", shape=shape)
    theirs = np.memmap(tmp_path / "file", np.float64, "r+", shape=shape)
    with during_each_call(monkeypatch, lambda: theirs.__setitem__(slice(3, None), 5.0)):
        monkeypatch.setattr(concurrency, "other_threads_run", lambda: False)
        write_first_half(ours[:], np.ones(6))
    np.testing.assert_array_equal(ours, [1.0, 1.0, 1.0, 5.0, 5.0, 5.0])


def test_who_may_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(concurrency, "other_threads_run", lambda: False)
    own = np.zeros(4)
    mapped = np.memmap(tmp_path / "file", np.float64, "w+", shape=(4,))
    for array in (own, own[1:], own.reshape(2, 2).T):
        assert not concurrency.has_foreign_memory(array)
        assert write_back.private_copies([array], [0]) == {}
    for array in (mapped, mapped[1:], np.asarray(mapped), np.frombuffer(bytearray(32))):
        assert concurrency.has_foreign_memory(array)
        assert list(write_back.private_copies([array], [0])) == [0]


def test_items_that_others_write_meanwhile_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(numbers: Any, named: Any, growing: Any, x: Any) -> None:
        numbers[0] = x.sum()
        named["first"] = x * 2
        growing.append(x + 1)

    numbers, named, growing = [0.0, 0.0], {"second": None}, ["one"]

    def work() -> None:
        numbers[1] = 5.0
        named["second"] = 6.0  # type: ignore[assignment]
        growing.append("another")

    with during_each_call(monkeypatch, work):
        np2tf.jit(fill, tier="compile")(numbers, named, growing, np.ones(2))
    assert numbers == [2.0, 5.0]
    assert named["second"] == 6.0
    np.testing.assert_array_equal(named["first"], [2.0, 2.0])
    assert growing[:2] == ["one", "another"]
    assert len(growing) == 3


def test_names_that_others_bind_during_a_trace_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("np2tf.staging.trace.captures.other_threads_run", lambda: True)
    space = {"running": True, "flags": [False]}
    places = [entry(space, "running"), entry(space, "flags")]
    with guard_captures(places, [], lambda: frozenset({"other"})):
        space["running"] = False
        space["flags"][0] = True  # type: ignore[index]
    assert space == {"running": False, "flags": [True]}
    with pytest.raises(VariableChangeError), guard_captures(places, [], lambda: frozenset({"running"})):
        space["running"] = True  # may be the trace's own change, which no later call would make
    assert space["running"] is False


# -- loops that wait -----------------------------------------------------------------------------------------

LOOPS = """
import numpy as np

class Worker:
    def __init__(self):
        self.stop, self.x = False, np.ones(3)

    def run(self):
        while not self.stop:
            self.x *= 0.5


def of_array(x, stop):
    while not stop[0]:
        x *= 0.5


def of_copy(x, stop):
    go_on = stop[0] == 0
    while go_on:
        x *= 0.5
        go_on = stop[0] == 0


def of_list(x, stop):
    while not stop[1][0]:
        x *= 0.5


def ends_by_itself(x, stop):
    n = 0
    while x[0] > 0.1 and n < 100:
        x *= 0.5
        n += 1


def ends_by_its_own_flag(x, stop):
    while not stop[0]:
        x *= 0.5
        stop[0] = x[0] < 0.1
"""


def test_loops_that_wait_for_others_are_not_compiled() -> None:
    found = imported(LOOPS)
    calls = {name: (np.ones(3), np.zeros(1)) for name in found if name.startswith(("of_", "ends_"))}
    calls["of_list"] = np.ones(3), (np.zeros(1), [False])  # type: ignore[assignment]
    with np2tf.config.using(tier="compile"):
        codes = {name: found[name].explain(*args).code for name, args in calls.items()}
        codes["Worker.run"] = found["Worker"].run.explain(found["Worker"]()).code
    waiting = {name: code for name, code in codes.items() if not name.startswith("ends_")}
    assert waiting == dict.fromkeys(waiting, "NP2TF568")
    assert {code for name, code in codes.items() if name.startswith("ends_")} == {""}


# -- signals -------------------------------------------------------------------------------------------------


@contextmanager
def alarm(seconds: float, handler: Callable[[int, Any], Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    # Again and again, because a garbage collection may swallow the exception of a handler.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.3)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def out_of_time(number: int, frame: Any) -> None:
    raise OutOfTime


SOURCE = """
import numpy as np


def anneal(x, out, least):
    n = 0
    while x.max() > least:
        x *= 0.999
        x += 0.001
        n += 1
        out[0] = n
    return n


def inner(x, out, least):
    for k in range(100):
        while x.max() > least:
            x *= 0.999
            x += 0.001
            out[k] += 1


def drawn(x, out, least):
    rng = np.random.default_rng(3)
    while x.max() > least:
        x *= 0.999 + 0.0001 * rng.random()
        x += 0.001
        out[0] += 1
"""


MORE = """


def of_two_parts(x, out, least):
    while out[0] < 1e9 and least < 0:
        x *= 0.999
        out[0] += 1


def with_break(x, out, least):
    for k in range(10**9):
        if least > 0:
            break
        x *= 0.999
        out[0] += 1
"""


@pytest.mark.parametrize("name", ["anneal", "inner", "drawn", "of_two_parts", "with_break"])
def test_a_handler_ends_a_compiled_loop(name: str) -> None:
    """What the loop has written until then is there, as in NumPy."""
    function = imported(SOURCE + MORE)[name]
    x, out = np.linspace(0, 0.9, 10), np.zeros(100)
    with np2tf.config.using(tier="compile"):
        function(x.copy(), out, np.array(2.0))  # no round at all: it is compiled
        with alarm(0.6, out_of_time), pytest.raises(OutOfTime):
            function(x, out, np.array(-1.0))
    assert out[0] > 0
    if sys.platform == "linux":
        assert function.compiled_count + function.graph_count == 1


def test_a_handler_ends_a_replaced_loop(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two parts a handler may raise; what the parts have written is there."""
    run, parts = LoopRun._run, []

    def with_signal(self: LoopRun, *args: Any) -> float | None:
        seconds = run(self, *args)
        parts.append(args[0])
        if len(parts) == 3:
            signal.raise_signal(signal.SIGALRM)
        return seconds

    monkeypatch.setattr(LoopRun, "_run", with_signal)
    x, out = np.linspace(0, 0.9, 10), np.zeros(1)
    with alarm(60.0, out_of_time), pytest.raises(OutOfTime):
        imported(SOURCE)["anneal"](x, out, -1.0)
    assert taken.over
    assert len(parts) == 3
    assert out[0] > sum(parts)


def test_a_handler_waits_until_tensorflow_is_imported() -> None:
    """An import that ends in the middle leaves half a TensorFlow, which no later import completes."""
    steps = []
    with alarm(60.0, out_of_time), pytest.raises(OutOfTime), installation.needed():
        steps.append(signal.raise_signal(signal.SIGALRM))
    assert steps == [None], "the block was left in the middle"
    assert not installation.problem


def test_what_a_handler_raises_is_no_problem_of_tensorflows() -> None:
    with alarm(60.0, out_of_time):
        try:
            signal.raise_signal(signal.SIGALRM)
        except OutOfTime as error:
            with pytest.raises(OutOfTime):
                installation.note(error)
    assert not installation.problem


def test_keyboard_interrupt_stops_a_long_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """With neither threads nor handlers, a long call is compiled; Ctrl-C ends it with nothing written."""
    monkeypatch.setattr(supervision, "other_threads_run", lambda: False)
    monkeypatch.setattr(supervision, "handles_signals", lambda: False)
    function = np2tf.jit(imported(SOURCE)["anneal"].__wrapped__, tier="compile")
    x, out = np.linspace(0, 0.9, 10), np.zeros(1)
    function(x.copy(), out, np.array(2.0))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.6, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            function(x, out, np.array(-1.0))
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert (out == 0).all()
    np.testing.assert_array_equal(x, np.linspace(0, 0.9, 10))


@pytest.mark.long
def test_a_program_ends_while_a_daemon_computes(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        SOURCE
        + """
import threading, time

anneal(np.ones(3) * 0.5, np.zeros(1), np.array(2.0))
threading.Thread(target=anneal, args=(np.ones(3), np.zeros(1), np.array(-1.0)), daemon=True).start()
time.sleep(1.0)
print("end")
""",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "np2tf", "run", "--tier", "compile", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


# -- traces --------------------------------------------------------------------------------------------------


def _repeat(x: Any, factors: Any) -> Any:
    for factor in factors:
        x = x * factor + 1.0
    return x


def test_a_trace_has_a_limit_of_operations_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    factors = [k / 2 for k in range(1200)]
    monkeypatch.setattr(operations, "MOST_OPERATIONS", 500)
    explanation = np2tf.jit(_repeat, tier="compile").explain(np.ones(3), factors)
    assert (explanation.code, explanation.runs) == ("NP2TF567", "host")
    monkeypatch.undo()
    memory = iter(range(0, 1 << 50, 1 << 45))
    monkeypatch.setattr(operations, "_resident_bytes", lambda: next(memory))
    explanation = np2tf.jit(_repeat, tier="compile").explain(np.ones(3), factors)
    assert explanation.code == "NP2TF567"
    assert "MB of memory" in explanation.reason


def test_writes_in_unrolled_loops_do_not_repeat_the_iterations_before() -> None:
    """The number of operations grows with the number of iterations, not with its square or faster."""
    source = """
import numpy as np


def tile(image, x, lo, hi, factors):
    z = x[lo:hi]
    for factor in factors:
        z = np.where(np.abs(z) < 4, z * z + factor, z)
        image[lo:hi] += np.abs(z) < 4
"""
    function = np2tf.jit(imported(source)["tile"].__wrapped__, tier="compile")
    image, x = np.zeros((64, 32)), np.linspace(-1, 1, 64 * 32).reshape(64, 32)
    function(image, x, 0, 16, (0.5, 0.25))
    counts = [
        function.lower(image, x, 8, 24, tuple(0.1 * k for k in range(rounds))).op_count for rounds in (8, 16)
    ]
    assert counts[1] < 4 * counts[0]


def test_a_tape_follows_arrays_while_other_threads_run() -> None:
    """Only arrays on the host are copied for a call, because a copy of a tensor's numbers has no gradient."""
    double = np2tf.jit(lambda x: np2tf.tnp.sum(2.0 * x), tier="compile")
    end = threading.Event()
    other_thread = threading.Thread(target=end.wait)
    other_thread.start()
    try:
        for x in (tf.constant([1.0, 2.0]), np2tf.device_put(np.array([1.0, 2.0]))):
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = double(x)
            np.testing.assert_array_equal(np.asarray(tape.gradient(total, x)), [2.0, 2.0])
    finally:
        end.set()
        other_thread.join()
