"""The replicas of a strategy of TensorFlow: one copy of a function on each device of each process."""

from __future__ import annotations

import zlib
from typing import Any

import tensorflow as tf

from np2tf.distribute.cluster import cluster
from np2tf.distribute.groups import Group
from np2tf.transform_errors import TransformArgumentError


class Replicas:
    """The replicas of a strategy.

    Attributes:
        devices: the names of this process's devices.
        count: the number of replicas in all processes.
        first: the number of the first replica of this process.
        group: all replicas.
        processes: the first replicas of all processes.
    """

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self.devices = tuple(strategy.extended.worker_devices)
        self.count = int(strategy.num_replicas_in_sync)
        process_count = self.count // len(self.devices)
        self.first = cluster.index * len(self.devices) if process_count > 1 else 0
        places = [device.rpartition("/")[2] for device in self.devices]
        key = zlib.crc32(repr((process_count, places)).encode()) & 0x3FFFFFFF
        self.group = Group(key, self.devices, self.first, self.count)
        self.processes = Group(key | 0x40000000, self.devices[:1], cluster.index, process_count)

    @property
    def places(self) -> range:
        """Return the places of this process's replicas."""
        return range(len(self.devices))

    def local_value(self, value: Any, place: int) -> Any:
        """Return the part of a distributed value that a replica here has; other values unchanged."""
        if isinstance(value, tf.distribute.DistributedValues):
            return self._strategy.experimental_local_results(value)[place]
        return value

    @property
    def is_one_process(self) -> bool:
        """Return whether all replicas are in this process."""
        return len(self.devices) == self.count


_replicas: dict[Any, Replicas] = {}


def replicas_of(strategy: Any = None) -> Replicas:
    """Return the replicas of a strategy.

    Args:
        strategy: a strategy of `tf.distribute`. None stands for the strategy whose scope is entered, or that
            of the program's processes, or all accelerators or CPU devices of this process.

    Raises:
        TransformArgumentError: the strategy does not run one copy of a function on each device.
    """
    if strategy is None:
        strategy = tf.distribute.get_strategy() if tf.distribute.has_strategy() else cluster.strategy
    if strategy is None:
        key: Any = tuple(_local_devices())
        if key not in _replicas:
            _replicas[key] = Replicas(tf.distribute.MirroredStrategy(list(key)))
        return _replicas[key]
    if not isinstance(strategy, _KINDS):
        kinds = ", ".join(kind.__name__ for kind in _KINDS)
        raise TransformArgumentError(f"shard_map takes a {kinds}, and not a {type(strategy).__name__}")
    if strategy not in _replicas:
        _replicas[strategy] = Replicas(strategy)
    return _replicas[strategy]


_KINDS = (
    tf.distribute.MirroredStrategy,
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.OneDeviceStrategy,
)


def _local_devices() -> list[str]:
    every = tf.config.list_logical_devices()
    accelerators = [device.name for device in every if device.device_type != "CPU"]
    return accelerators or [device.name for device in every]


def replica_count(strategy: Any = None) -> int:
    """Return the number of copies that `shard_map` makes of a function: one for each device of each process.

    Args:
        strategy: as for `shard_map`.

    See https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#num_replicas_in_sync.
    """
    return replicas_of(strategy).count


__all__ = ["Replicas", "replica_count", "replicas_of"]
