"""One copy of a function on each device of each process, and the groups of devices that exchange arrays."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.arrays.dispatch.placement import local_devices
from np2tf.core.errors import NotStagedError, TransformArgumentError
from np2tf.transforms.sharding.cluster import cluster

__all__ = [
    "Group",
    "Replicas",
    "replica_count",
    "replicas_of",
]


# -- groups --------------------------------------------------------------------------------------------------
# Groups of devices, in one process or several, that compute sums and exchange arrays.
#
# The operations are TensorFlow's collective operations, which its strategies use as well. A group's
# operations wait for one another by their key: an operation has the same key on all devices, and another
# key than other operations of the group.

#: The dtypes that TensorFlow's collective operations have.
_DTYPES = frozenset({tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int32, tf.int64})
#: Other dtypes, and the dtypes that hold all their values.
_WIDER = {
    **dict.fromkeys((tf.bool, tf.int8, tf.int16, tf.uint8, tf.uint16), tf.int32),
    tf.uint32: tf.int64,
}
_COMPLEX = frozenset({tf.complex64, tf.complex128})


class Group:
    """Devices that exchange arrays.

    Args:
        key: the number of the group, the same in all processes.
        devices: the names of this process's devices in the group.
        first: the number of this process's first device among the devices of all processes.
        size: the number of devices in all processes.
    """

    def __init__(self, key: int, devices: Sequence[str], first: int, size: int) -> None:
        self._key, self._devices, self._first, self.size = key, tuple(devices), first, size

    def sum(self, x: tf.Tensor, place: int, key: int) -> tf.Tensor | None:
        """Return the sum of the tensors of all devices; None if TensorFlow has none for the dtype.

        Args:
            x: the tensor of a device, of the same shape and dtype on all devices.
            place: the place of the device among this process's devices.
        """
        if x.dtype in _COMPLEX:
            total = self.sum(_pairs(x), place, key)
            assert total is not None
            return tf.complex(total[..., 0], total[..., 1])
        if x.dtype not in _DTYPES:
            return None
        with tf.device(self._devices[place]):
            return tf.raw_ops.CollectiveReduceV2(  # type: ignore[no-any-return]
                input=x, merge_op="Add", final_op="Id", **self._options(place, 2 * key)
            )

    def stack(self, x: tf.Tensor, place: int, key: int) -> tf.Tensor:
        """Return the tensors of all devices, stacked along a new first axis in the order of the replicas.

        Args:
            x, place, key: as for `sum`.

        Raises:
            StagingError: TensorFlow has no operation for the dtype.
        """
        if x.dtype in _COMPLEX:
            pairs = self.stack(_pairs(x), place, key)
            return tf.complex(pairs[..., 0], pairs[..., 1])
        if x.dtype in _WIDER:
            return tf.cast(self.stack(tf.cast(x, _WIDER[x.dtype]), place, key), x.dtype)
        if x.dtype == tf.uint64:
            return tf.bitcast(self.stack(tf.bitcast(x, tf.int64), place, key), tf.uint64)
        if x.dtype not in _DTYPES:
            raise NotStagedError(f"arrays of {x.dtype.name} cannot be sent from device to device")
        rows = self._gather(tf.reshape(x, [1, -1]), place, 2 * key)
        # TensorFlow gathers in an order of its own, by the names of the devices as texts.
        numbers = self._gather(tf.constant([self._first + place]), place, 2 * key + 1)
        rows = tf.gather(rows, tf.argsort(numbers))
        return tf.reshape(rows, tf.concat([[self.size], tf.shape(x)], 0))

    def _gather(self, row: tf.Tensor, place: int, key: int) -> tf.Tensor:
        with tf.device(self._devices[place]):
            return tf.raw_ops.CollectiveGatherV2(input=row, **self._options(place, key))  # type: ignore[no-any-return]

    def _options(self, place: int, key: int) -> dict[str, Any]:
        return {
            "group_size": self.size,
            "group_key": self._key,
            "instance_key": key,
            "ordering_token": [self._tokens[place].handle],
            "communication_hint": "auto",
            "timeout_seconds": cluster.timeout,
        }

    @functools.cached_property
    def _tokens(self) -> list[tf.Variable]:
        """Variables that keep the operations of a device in order, and operations of two devices apart."""
        tokens = []
        for device in self._devices:
            with tf.init_scope(), tf.device(device):
                tokens.append(tf.Variable(0.0, trainable=False))
        return tokens


def _pairs(x: tf.Tensor) -> tf.Tensor:
    """Return complex numbers as pairs of real numbers along a new last axis."""
    return tf.stack([tf.math.real(x), tf.math.imag(x)], axis=-1)


# -- replicas ------------------------------------------------------------------------------------------------
# The replicas of a strategy of TensorFlow: one copy of a function on each device of each process.


class Replicas:
    """The replicas of a strategy.

    Attributes:
        devices: the names of this process's devices.
        count: the number of replicas in all processes.
        first: the number of the first replica of this process.
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
        key: Any = tuple(local_devices())
        if key not in _replicas:
            _replicas[key] = Replicas(tf.distribute.MirroredStrategy(list(key)))
        return _replicas[key]
    if not isinstance(strategy, _KINDS):
        kinds = ", ".join(kind.__name__ for kind in _KINDS)
        raise TransformArgumentError(f"shard_map takes a {kinds}, not a {type(strategy).__name__}")
    if strategy not in _replicas:
        _replicas[strategy] = Replicas(strategy)
    return _replicas[strategy]


_KINDS = (
    tf.distribute.MirroredStrategy,
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.distribute.OneDeviceStrategy,
)


def replica_count(strategy: Any = None) -> int:
    """Return the number of copies that `shard_map` makes of a function: one for each device of each process.

    Args:
        strategy: as for `shard_map`.

    See https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy#num_replicas_in_sync.
    """
    return replicas_of(strategy).count
