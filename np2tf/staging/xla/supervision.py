"""Runs compiled code so that it keeps nobody waiting for long.

Python calls the handlers of signals between two statements of the main thread, and another thread may wait
for what a function writes, or ask it to end. Compiled code has no statements. So a call of code with long
loops is stopped (`np2tf.staging.xla.calls`) after a quarter of a second if the program has other
threads, handlers of its own, or arrays in shared memory. Its results are thrown away, and the host runs the
call, where hot loops run as compiled code in short parts (`np2tf.staging`).

In all other programs only Ctrl-C can come. A call that has turned out to be long runs in a thread of its own,
while the main thread waits: KeyboardInterrupt stops the call, which then has written nothing.
"""

from __future__ import annotations

import _thread
import atexit
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

from np2tf.core.errors import LongCallError
from np2tf.staging.process.concurrency import (
    OwnThreads,
    handles_signals,
    has_foreign_memory,
    is_main_thread,
    other_threads_run,
)
from np2tf.staging.xla.calls import ConcreteCall, StopSign

#: The seconds that a call may take if others may wait for it, and the time between two looks at the clock.
LONGEST, PERIOD = 0.25, 0.05
#: The thread that looks at the clock sleeps after this many looks that found no call.
_IDLE = 20
#: The end of the program waits so many seconds for the calls of its threads.
_LAST_SECONDS = 2.0
_Outputs = Sequence[tf.Tensor]


class _Timekeeper:
    """Stops calls that take too long, from a thread of its own."""

    def __init__(self) -> None:
        self._deadlines: dict[StopSign, float] = {}
        self._gate = _thread.allocate_lock()
        self._gate.acquire()
        self._is_asleep = self._has_started = False
        self._unused_signs: list[StopSign] = []

    def add(self) -> StopSign:
        """Return a sign that will be set after LONGEST seconds, unless it is removed."""
        try:
            sign = self._unused_signs.pop()
        except IndexError:
            sign = StopSign()
        self._deadlines[sign] = time.perf_counter() + LONGEST
        if not self._has_started:
            self._has_started = True
            start_thread(self._keep_time)
        elif self._is_asleep:
            with suppress(RuntimeError):  # another thread has opened the gate
                self._gate.release()
        return sign

    def remove(self, sign: StopSign) -> None:
        """Leave a sign alone from now on."""
        deadline = self._deadlines.pop(sign)
        # A sign that is being set at this moment serves no second call.
        if not sign.is_set and time.perf_counter() < deadline - PERIOD:
            self._unused_signs.append(sign)

    def _keep_time(self) -> None:
        idle = 0
        while True:
            time.sleep(PERIOD)
            now = time.perf_counter()
            for sign, deadline in list(self._deadlines.items()):
                if now > deadline:
                    sign.set()
            idle = 0 if self._deadlines else idle + 1
            if idle >= _IDLE:
                self._is_asleep = True
                if not self._deadlines:
                    self._gate.acquire()
                self._is_asleep, idle = False, 0

    def stop_all(self) -> None:
        """Set the signs of all calls."""
        for sign in list(self._deadlines):
            sign.set()


class _Exit:
    """The end of the program, which threads of the program may outlive as daemons.

    Python ends such a thread as soon as it leaves TensorFlow. That aborts the whole process, because
    TensorFlow's frames cannot be left so. So the end waits until no thread is in a call, and later calls
    never return.
    """

    def __init__(self) -> None:
        self._threads: set[int] = set()
        self._has_begun = False
        atexit.register(self._begin)

    @contextmanager
    def delayed(self) -> Iterator[None]:
        """Let the end of the program wait for the call in the block."""
        while self._has_begun:
            time.sleep(LONGEST)
        thread = _thread.get_ident()
        self._threads.add(thread)
        try:
            yield
        finally:
            self._threads.discard(thread)
        while self._has_begun:
            time.sleep(LONGEST)

    def _begin(self) -> None:
        self._has_begun = True
        until = time.perf_counter() + _LAST_SECONDS
        while self._threads and time.perf_counter() < until:
            _timekeeper.stop_all()
            time.sleep(0.001)


_timekeeper, _exit = _Timekeeper(), _Exit()


def start_thread(work: Callable[[], None]) -> None:
    """Start a thread of np2tf's own, which the program's list of threads does not have, and wait for its
    start.
    """
    started = _thread.allocate_lock()
    started.acquire()

    def run() -> None:
        OwnThreads.count += 1
        started.release()
        try:
            work()
        finally:
            OwnThreads.count -= 1

    _thread.start_new_thread(run, ())
    started.acquire()


class Supervision:
    """The calls of one compiled function.

    Attributes:
        call: calls the function without supervision.
        is_long: whether a call has been stopped because it took long.
        compile_seconds: the seconds in which XLA has compiled it apart from a call; 0.0 if it has not.

    Args:
        call: calls the function.
        runs_ahead: whether the function may be called with nothing but its inputs changed, because it has no
            effects of its own.
    """

    def __init__(self, call: ConcreteCall, runs_ahead: bool) -> None:
        self.call, self._runs_ahead = call, runs_ahead
        self.is_long = self._is_compiled = False
        self.compile_seconds = 0.0

    def run(self, inputs: list[tf.Tensor], arrays: Sequence[Any], has_alternative: bool) -> _Outputs:
        """Return the outputs of the function; raise LongCallError if the host should run the call.

        Args:
            inputs: the operands.
            arrays: the caller's arrays.
            has_alternative: whether the host may run the call.
        """
        is_main = is_main_thread()
        if not is_main:
            with _exit.delayed():
                return self._run(inputs, arrays, has_alternative, is_main)
        return self._run(inputs, arrays, has_alternative, is_main)

    def _run(
        self, inputs: list[tf.Tensor], arrays: Sequence[Any], has_alternative: bool, is_main: bool
    ) -> _Outputs:
        if not self.call.can_be_stopped:
            return self.call(inputs)
        others_wait = other_threads_run() or handles_signals() or any(map(_is_foreign, arrays))
        if not (others_wait or is_main):
            return self.call(inputs)
        if others_wait and not has_alternative:
            return self._in_a_thread(inputs) if is_main else self.call(inputs)
        if self.is_long and others_wait:
            raise LongCallError("the call takes long, and other code may be waiting for it")
        if self.is_long:
            return self._in_a_thread(inputs)
        if not self._is_compiled and self._runs_ahead:
            self._compile_ahead(inputs)
        self._is_compiled = True
        outputs = self._in_time(inputs)
        if outputs is not None:
            return outputs
        self.is_long = True
        return self._run(inputs, arrays, has_alternative, is_main)

    def _compile_ahead(self, inputs: list[tf.Tensor]) -> None:
        """Let XLA compile, which nothing can stop; no loop begins."""
        start = time.perf_counter()
        sign = StopSign()
        sign.set()
        self.call(inputs, sign.tensor)
        self.compile_seconds = time.perf_counter() - start

    def _in_time(self, inputs: list[tf.Tensor]) -> _Outputs | None:
        """Return the outputs; None if the call would take long."""
        sign = _timekeeper.add()
        try:
            outputs = self.call(inputs, sign.tensor)
        finally:
            _timekeeper.remove(sign)
        return None if sign.is_set else outputs

    def _in_a_thread(self, inputs: list[tf.Tensor]) -> _Outputs:
        """Return the outputs, while the main thread waits, so that the handlers of signals run."""
        sign, is_done = StopSign(), _thread.allocate_lock()
        is_done.acquire()
        results: list[_Outputs] = []
        errors: list[BaseException] = []
        device = context.context().device_name
        operands = self.call.operands(inputs, sign.tensor)

        def work() -> None:
            try:
                with tf.device(device):
                    results.append(self.call.execute(operands))
            except BaseException as error:  # raised in the main thread
                errors.append(error)
            finally:
                is_done.release()

        start_thread(work)
        try:
            # The signal may have reached another thread, which does not wake this thread.
            while not is_done.acquire(timeout=PERIOD):
                pass
        except BaseException:
            sign.set()
            _wait(is_done)
            raise
        if errors:
            raise errors[0]
        return results[0]


def _wait(is_done: Any) -> None:
    """Wait for the end of a call that has been stopped, which uses the caller's arrays."""
    while True:
        with suppress(KeyboardInterrupt):
            is_done.acquire()
            return


def _is_foreign(array: Any) -> bool:
    return not isinstance(array, tf.Tensor) and has_foreign_memory(array)
