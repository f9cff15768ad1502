"""The counters of `np2tf.core.counts` over the duration of a with block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from np2tf.core.counts import NUMBERS, Counts, counts


@contextmanager
def collect() -> Iterator[Counts]:
    """Count operations and calls in the with block; the result is complete when the block ends."""
    numbers = {name: getattr(counts, name) for name in NUMBERS}
    calls = {fallback.key: fallback.calls for fallback in counts.fallbacks}
    result = Counts()
    try:
        yield result
    finally:
        for name, before in numbers.items():
            setattr(result, name, getattr(counts, name) - before)
        for fallback in counts.fallbacks:
            more = fallback.calls - calls.get(fallback.key, 0)
            if more:
                result.fell_back(replace(fallback, calls=more))
