"""Python's own library and PYTHONPATH, whose folders come first and may hide modules of the library."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def folders_before_the_library() -> list[str]:
    """Return the folders of PYTHONPATH."""
    if sys.flags.ignore_environment:
        return []
    return [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]


@contextmanager
def library_first() -> Iterator[None]:
    """Import modules of Python's library in the with block although a folder of PYTHONPATH hides them."""
    before = list(sys.path)
    library = os.path.dirname(os.__file__)
    sys.path.sort(key=lambda folder: not folder.startswith(library) or "site-packages" in folder)
    try:
        yield
    finally:
        sys.path[:] = before
