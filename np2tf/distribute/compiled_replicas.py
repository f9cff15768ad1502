"""The compiled form of the replicas of one process: one graph, whose parts run on the process's devices."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from np2tf.distribute.cluster import cluster
from np2tf.runtime.compilation.compiling import Compiler
from np2tf.runtime.compilation.concrete_function import ConcreteFunction
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.transform_errors import LostWorkerError, ReplicaError

#: TensorFlow's errors in a collective operation if another process has ended or does not answer.
_LOST_ERRORS = (
    tf.errors.UnavailableError,
    tf.errors.DeadlineExceededError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
)


class CompiledReplicas(Compiler):
    """The compiler of replicas. It never runs them on the host, where they would not meet other processes."""

    _is_followed = False

    def __init__(self, stage: Callable[..., Any]) -> None:
        super().__init__(JittedFunction(stage, "compile"))

    def run(self, calls: tuple[Any, ...]) -> Any:
        """Return the result of the replicas for the arguments of each.

        Raises:
            StagingError: the function cannot be compiled.
            DiscardedCall: NumPy raises an error for these values, in all processes alike.
            LostWorkerError: another process has ended, or does not answer.
        """
        call = self._preparation.prepare(calls, {})
        compilation = self._compile(self._cache_of(call), call)
        _check_effects(compilation[0])
        try:
            return self._execute(*compilation, time.perf_counter())
        except _LOST_ERRORS as error:
            if cluster.count == 1:
                raise
            raise _lost_worker(error) from None


def _check_effects(function: ConcreteFunction) -> None:
    if function.is_plain and not function.written_places:
        return
    raise ReplicaError(
        "a replica changes an array, list, dict or object that is no argument, and the replicas would "
        "disagree about its value; return the new value"
    )


def _lost_worker(error: Exception) -> LostWorkerError:
    numbers = sorted({int(number) for number in re.findall(r"/task:(\d+)", str(error))} - {cluster.index})
    subject = f"worker {numbers[0]}" if len(numbers) == 1 else "another worker"
    fault = (
        f"has not answered for {cluster.timeout:g} s"
        if isinstance(error, tf.errors.DeadlineExceededError)
        else "has ended or cannot be reached"
    )
    return LostWorkerError(
        f"{subject} of {cluster.count} {fault} (this is worker {cluster.index}); look at its output for the "
        "reason, and start all workers again"
    )


__all__ = ["CompiledReplicas"]
