"""Programs on several devices and in several processes, by `tf.distribute`.

`shard_map` runs a NumPy function on blocks of its arguments, a block on each device of each process. May
import the transforms and the run time. Starting processes, which `np2tf run --workers` does, stays out.
"""

from np2tf.distribute.cluster import initialize as initialize
from np2tf.distribute.cluster import process_count as process_count
from np2tf.distribute.cluster import process_index as process_index
from np2tf.distribute.cluster import set_cpu_devices as set_cpu_devices
from np2tf.distribute.replicas import replica_count as replica_count
from np2tf.distribute.shard_map import shard_map as shard_map
from np2tf.transform_errors import LostWorkerError as LostWorkerError

__all__ = [
    "LostWorkerError",
    "initialize",
    "process_count",
    "process_index",
    "replica_count",
    "set_cpu_devices",
    "shard_map",
]
