"""Counters of what ran where: whatever runs something adds to them, `np2tf.runtime.stats` reads them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Counts:
    """Calls so far in this process.

    Attributes:
        compiled: calls of jitted functions that ran as one XLA program.
        graph: calls of jitted functions that ran as a graph (loops in it may be compiled).
        eager: TensorFlow operations run one at a time.
        host: calls of jitted functions that ran on the host, and operations handed to NumPy from tensors.
        fallbacks: why functions ran unjitted, one text each.
    """

    compiled: int = 0
    graph: int = 0
    eager: int = 0
    host: int = 0
    fallbacks: list[str] = field(default_factory=list)


counts = Counts()
