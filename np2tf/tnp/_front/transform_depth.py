"""The transforms (`np2tf.transforms`) whose functions this thread is running."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _TransformDepth(threading.local):
    """The number of these transforms, one inside another."""

    depth = 0


transform_depth = _TransformDepth()


@contextmanager
def differentiate_block() -> Iterator[None]:
    """Run the block as a part of a function that is being differentiated.

    Jitted functions run operation by operation, callees are translated, and values that are being
    differentiated may not leave TensorFlow.
    """
    transform_depth.depth += 1
    try:
        yield
    finally:
        transform_depth.depth -= 1
