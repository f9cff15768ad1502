"""Programs on several devices and in several processes, by `tf.distribute`.

`shard_map` runs a NumPy function on blocks of its arguments, a block on each device of each process.
`np2tf run --workers` starts the processes.
"""

from __future__ import annotations

from np2tf.core.errors import LostWorkerError as LostWorkerError
from np2tf.transforms.sharding.cluster import initialize as initialize
from np2tf.transforms.sharding.cluster import process_count as process_count
from np2tf.transforms.sharding.cluster import process_index as process_index
from np2tf.transforms.sharding.cluster import set_cpu_devices as set_cpu_devices
from np2tf.transforms.sharding.replicas import replica_count as replica_count
from np2tf.transforms.sharding.shard_map import shard_map as shard_map

__all__ = [
    "LostWorkerError",
    "initialize",
    "process_count",
    "process_index",
    "replica_count",
    "set_cpu_devices",
    "shard_map",
]
