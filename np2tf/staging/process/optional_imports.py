"""TensorFlow's import without the libraries that it imports only where they are installed.

TensorFlow Lite imports JAX, and Keras imports Matplotlib, to offer functions for users of both. They take a
fifth of TensorFlow's import. A program of NumPy that np2tf compiles has no use for these functions.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_OPTIONAL = frozenset({"jax", "matplotlib"})


class _LeavesOut:
    """A finder for which the optional libraries are not installed, in the thread that has made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Raise ModuleNotFoundError for an optional library; find nothing else."""
        if name in _OPTIONAL and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@contextmanager
def optional_libraries_left_out() -> Iterator[None]:
    """Import no optional library in this thread within the block, unless the program has imported it."""
    finder: Any = _LeavesOut()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
