"""Pauses Python's garbage collector where very many objects are made that stay.

All of np2tf may import this package, which imports nothing of np2tf. Code that needs another module of np2tf
must stay out.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_collecting() -> Iterator[None]:
    """Collect no cyclic garbage within the block.

    A translation, a trace, and the import of TensorFlow make so many objects that the oldest generation is
    collected several times. Each collection walks up to half a million objects, which takes a quarter of the
    time of tracing, and a fifth of the time of the import.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
