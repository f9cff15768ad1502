"""What ran where: the counters of `np2tf.counts`, over the length of a with block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from np2tf.counts import Counts, counts


@contextmanager
def collect() -> Iterator[Counts]:
    """Count what runs in the with block; the result is complete when the block ends."""
    before = Counts(counts.compiled, counts.graph, counts.eager, counts.host, list(counts.fallbacks))
    found = Counts()
    try:
        yield found
    finally:
        found.compiled = counts.compiled - before.compiled
        found.graph = counts.graph - before.graph
        found.eager = counts.eager - before.eager
        found.host = counts.host - before.host
        found.fallbacks = counts.fallbacks[len(before.fallbacks) :]
