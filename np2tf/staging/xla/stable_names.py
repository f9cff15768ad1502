"""Gives traced functions the same names in every process, so that XLA's own cache finds compiled programs.

With ``TF_XLA_FLAGS=--tf_xla_persistent_cache_directory=DIR`` TensorFlow stores compiled programs. The key is
the whole program, in which functions are named by a number that counts up in the process. In np2tf measured
times decide when a function is compiled, so these numbers would hardly ever repeat.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from tensorflow.python.framework import ops

_FLAG = "tf_xla_persistent_cache_directory"
#: The number of function numbers that each trace reserves.
_ROOM = 10**6


class _State(threading.local):
    numbers: Iterator[int] | None = None


_state = _State()
_name_counts: Counter[Any] = Counter()
_original_uid = ops.uid


def _uid() -> int:
    numbers = _state.numbers
    return _original_uid() if numbers is None else next(numbers)


@contextmanager
def stable_names(*of: Any, is_wanted: bool = False) -> Iterator[bool]:
    """Name the functions traced in the with block by `of`, if XLA's cache is on, or the trace is to be
    stored; its `repr` must be the same everywhere.

    Yields whether these are the first names by `of`.
    """
    if not is_wanted and _FLAG not in os.environ.get("TF_XLA_FLAGS", ""):
        yield False
        return
    ops.uid = _uid
    text = repr(of)
    _name_counts[text] += 1
    # The process's own numbers never get so high, and 60 bits are enough to tell any two traces apart.
    digest = blake2b(
        f"{text} {_name_counts[text]}".encode("utf-8", "backslashreplace"), digest_size=5
    ).digest()
    before, start = _state.numbers, (1 + int.from_bytes(digest, "big")) * _ROOM
    _state.numbers = itertools.count(start)
    try:
        yield _name_counts[text] == 1
    finally:
        _state.numbers = before


def note_names(*of: Any) -> None:
    """Record that functions have been loaded that another process has named by `of`."""
    _name_counts[repr(of)] += 1
