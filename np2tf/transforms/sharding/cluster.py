"""The processes of a distributed program: each runs the same program, and knows its place among them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.core.errors import ClusterError

#: The environment variable in which TensorFlow and cluster managers describe the processes.
VARIABLE = "TF_CONFIG"
#: The seconds that a process waits for other processes in a collective operation.
TIMEOUT = 1800.0


class _Cluster:
    """The processes that this process has been joined with.

    Attributes:
        strategy: TensorFlow's strategy for the processes; None in a program of one process.
        index: the place of this process among them.
        timeout: the seconds that a process waits for other processes.
    """

    def __init__(self) -> None:
        self.strategy: Any = None
        self.index, self.count, self.timeout = 0, 1, TIMEOUT


cluster = _Cluster()


def initialize(
    workers: Sequence[str] | None = None, index: int | None = None, timeout: float = TIMEOUT
) -> None:
    """Join this process with the other processes of a distributed program.

    Call it before any other use of TensorFlow; `np2tf run --workers` does that for the programs that it
    starts. A second call does nothing.

    Args:
        workers: the addresses of all processes, "HOST:PORT" each, in one order everywhere. None takes the
            workers and the index from the environment variable `TF_CONFIG`, which cluster managers set.
        index: the place of this process in `workers`.
        timeout: the seconds that a process waits for other processes in a collective operation.

    Raises:
        ClusterError: the workers are not given, or TensorFlow has been used before.

    See https://www.tensorflow.org/api_docs/python/tf/distribute/MultiWorkerMirroredStrategy.
    """
    if cluster.strategy is not None:
        return
    if workers is not None:
        if index is None or not 0 <= index < len(workers):
            raise ClusterError(f"index is the place of this process among {len(workers)} workers: {index!r}")
        os.environ[VARIABLE] = json.dumps(
            {"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}}
        )
    addresses, place = _description()
    try:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    except RuntimeError as error:
        raise ClusterError(
            f"TensorFlow has been used before the processes were joined ({error}); call "
            "np2tf.distribute.initialize() first"
        ) from None
    cluster.strategy, cluster.index, cluster.count = strategy, place, len(addresses)
    cluster.timeout = timeout


def _description() -> tuple[list[str], int]:
    """Return the addresses of the workers and the index of this process, as the environment has them."""
    text = os.environ.get(VARIABLE, "")
    try:
        description = json.loads(text) if text else {}
        addresses = list(description["cluster"]["worker"])
        task = description["task"]
        place = int(task["index"])
        kind = task["type"]
    except (ValueError, KeyError, TypeError) as error:
        reason = f"{VARIABLE} is not set" if not text else f"{VARIABLE} has no {error}: {text}"
        raise ClusterError(f"the workers of the program are unknown: {reason}") from None
    if kind != "worker" or set(description["cluster"]) != {"worker"} or not 0 <= place < len(addresses):
        raise ClusterError(f"{VARIABLE} must name workers only, and this process among them: {text}")
    return addresses, place


def process_index() -> int:
    """Return the place of this process among the processes of the program: 0 in the first and in a single
    process.

    See https://docs.jax.dev/en/latest/_autosummary/jax.process_index.html.
    """
    return cluster.index


def process_count() -> int:
    """Return the number of processes of the program.

    See https://docs.jax.dev/en/latest/_autosummary/jax.process_count.html.
    """
    return cluster.count


def set_cpu_devices(count: int) -> None:
    """Split the CPU into devices, so that you can try a program for several devices without having them.

    Args:
        count: the number of devices "cpu:0", "cpu:1" …; the call comes before any other use of TensorFlow.

    Raises:
        ClusterError: TensorFlow has been used before.

    See https://www.tensorflow.org/api_docs/python/tf/config/set_logical_device_configuration.
    """
    if count < 1:
        raise ClusterError(f"a processor has at least one device, not {count}")
    processor = tf.config.list_physical_devices("CPU")[0]
    try:
        tf.config.set_logical_device_configuration(
            processor, [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
        )
    except RuntimeError as error:
        raise ClusterError(f"the devices cannot be changed any more: {error}") from None


__all__ = ["cluster", "initialize", "process_count", "process_index", "set_cpu_devices"]
