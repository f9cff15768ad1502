"""Starts the processes of a distributed program on this machine, and watches them.

Each process runs the same command with its place among the workers in its environment. If a worker
fails, the other workers are stopped, so that none waits for it.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import IO

from np2tf.core.diagnostics import Diagnostic

#: The environment variable that tells a process that it is a worker, and which.
VARIABLE = "NP2TF_WORKER"
#: The seconds that workers have to end by themselves after another has failed, and after a signal to end.
GRACE, LAST_GRACE = 10.0, 3.0
#: Libraries' numbers of threads. Workers divide the processor's cores.
_THREADS = ("TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def worker_index() -> int | None:
    """Return the place of this process among the workers; None in a process that is no worker."""
    text = os.environ.get(VARIABLE, "")
    return int(text) if text.isdecimal() else None


def run_workers(count: int, restarts: int) -> int:
    """Run this process's own command in several processes, and return the exit status.

    The first worker has this process's input and output; what it writes to a file or a pipe arrives in whole
    lines. Lines of other workers get the number of the worker.

    Args:
        restarts: how often all workers are started again after one has failed.
    """
    for restarts_left in range(restarts, -1, -1):
        failure = _Workers(count).run()
        if failure is None:
            return 0
        print(f"np2tf run: {failure.text}", file=sys.stderr, flush=True)
        if failure.is_interrupt or not restarts_left:
            return failure.status
        print(f"np2tf run: restarting all workers ({restarts_left} left)", file=sys.stderr, flush=True)
    return 1


class _Failure:
    """The failure of a worker.

    Attributes:
        is_interrupt: whether the user has ended the command.
    """

    def __init__(self, text: str, status: int, is_interrupt: bool = False) -> None:
        self.text, self.status, self.is_interrupt = text, status, is_interrupt


class _Workers:
    """The worker processes of one start."""

    def __init__(self, count: int) -> None:
        self._addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ends: queue.Queue[int] = queue.Queue()
        self._pumps: list[threading.Thread] = []

    def run(self) -> _Failure | None:
        """Run all workers to their ends, and return the first failure."""
        with _signals_as_exceptions():
            try:
                for k in range(len(self._addresses)):
                    self._start(k)
                failure = self._watch()
            except (KeyboardInterrupt, _Termination) as error:
                number = signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM
                failure = _Failure(f"ended by {number.name}", 128 + number, is_interrupt=True)
            finally:
                self._stop()
        for pump in self._pumps:
            pump.join()
        return failure

    def _start(self, index: int) -> None:
        outputs = sys.stdout, sys.stderr
        prefix = f"[worker {index}] " if index else ""
        # Only the first worker may draw on the terminal. Lines of other workers must not break its lines.
        pipes = [None if not index and stream.isatty() else subprocess.PIPE for stream in outputs]
        process = subprocess.Popen(
            [sys.executable, *sys.orig_argv[1:]],
            env=os.environ | self._environment(index),
            stdin=None if index == 0 else subprocess.DEVNULL,
            stdout=pipes[0],
            stderr=pipes[1],
        )
        self._processes.append(process)
        for stream, target in zip((process.stdout, process.stderr), outputs, strict=True):
            if stream is not None:
                self._begin(_pump, stream, target.fileno(), prefix.encode())
        threading.Thread(target=self._report_end, args=(index,), daemon=True).start()

    def _begin(self, *call: object) -> None:
        pump = threading.Thread(target=call[0], args=call[1:], daemon=True)  # type: ignore[arg-type]
        pump.start()
        self._pumps.append(pump)

    def _environment(self, index: int) -> dict[str, str]:
        task = {"type": "worker", "index": index}
        count = len(self._addresses)
        threads = str(max(1, (os.cpu_count() or 1) // count))
        variables = {name: threads for name in _THREADS if name not in os.environ}
        cards = [card for card in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if card]
        if len(cards) >= count:
            variables["CUDA_VISIBLE_DEVICES"] = ",".join(cards[index::count])
        configuration = json.dumps({"cluster": {"worker": self._addresses}, "task": task})
        return {**variables, "TF_CONFIG": configuration, VARIABLE: str(index)}

    def _report_end(self, index: int) -> None:
        self._processes[index].wait()
        self._ends.put(index)

    def _watch(self) -> _Failure | None:
        """Wait for all workers, or until a failure and some time for other workers to notice it."""
        failure, deadline = None, None
        for _ in self._processes:
            try:
                index = self._ends.get(
                    timeout=None if deadline is None else max(0.0, deadline - time.monotonic())
                )
            except queue.Empty:
                break
            status = self._processes[index].returncode
            if status and failure is None:
                failure = _failure_of(index, len(self._processes), status)
                deadline = time.monotonic() + GRACE
        return failure

    def _stop(self) -> None:
        """End the workers that are still running."""
        for stop in (subprocess.Popen.terminate, subprocess.Popen.kill):
            live_processes = [process for process in self._processes if process.poll() is None]
            for process in live_processes:
                stop(process)
            deadline = time.monotonic() + LAST_GRACE
            for process in live_processes:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))


def _failure_of(index: int, count: int, status: int) -> _Failure:
    if status < 0:
        reason = f"was ended by {signal.Signals(-status).name}"
    else:
        reason = f"ended with status {status}"
    words = (("index", str(index)), ("count", str(count)), ("reason", reason))
    text = f"NP2TF713 {Diagnostic('NP2TF713', '', 1, 1, words).message}"
    return _Failure(text, 128 - status if status < 0 else status)


class _Termination(BaseException):
    """Raised in the main thread by the signal SIGTERM."""


@contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Raise an exception at SIGTERM, so that the workers are ended before this process is."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _Termination

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _pump(stream: IO[bytes], target: int, prefix: bytes) -> None:
    """Copy lines to a file descriptor, each with a prefix and by one write, until nobody reads them."""
    with stream, suppress(BrokenPipeError):
        for line in stream:
            left = prefix + (line.rstrip(b"\r\n") + b"\n" if prefix else line)
            while left:
                left = left[os.write(target, left) :]


def free_ports(count: int) -> Sequence[int]:
    """Return ports of this machine that no program listens at."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one_socket in sockets:
            one_socket.bind(("127.0.0.1", 0))
        return [one_socket.getsockname()[1] for one_socket in sockets]


__all__ = ["VARIABLE", "free_ports", "run_workers", "worker_index"]
