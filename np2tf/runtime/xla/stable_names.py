"""Traced functions with the same names in every process, so that XLA's own cache finds what it has compiled.

With ``TF_XLA_FLAGS=--tf_xla_persistent_cache_directory=DIR`` TensorFlow keeps what XLA compiles, and finds
it by the whole program, in which functions are named by a number that counts up in the process. Here times
decide when something is compiled, so that these numbers would hardly ever be the same twice.
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
#: A trace has so many numbers of its own.
_ROOM = 10**6


class _State(threading.local):
    numbers: Iterator[int] | None = None


_state = _State()
_met: Counter[Any] = Counter()
_counted = ops.uid


def _uid() -> int:
    numbers = _state.numbers
    return _counted() if numbers is None else next(numbers)


@contextmanager
def stable_names(*of: Any) -> Iterator[None]:
    """Name what is traced in the with block by `of`, if XLA's cache is on; `of` reads the same everywhere."""
    if _FLAG not in os.environ.get("TF_XLA_FLAGS", ""):
        yield
        return
    ops.uid = _uid
    told = repr(of)
    _met[told] += 1
    # Numbers that count up in the process never get there, and 60 bits are enough for any two traces.
    digest = blake2b(f"{told} {_met[told]}".encode("utf-8", "backslashreplace"), digest_size=5).digest()
    before, start = _state.numbers, (1 + int.from_bytes(digest, "big")) * _ROOM
    _state.numbers = itertools.count(start)
    try:
        yield
    finally:
        _state.numbers = before
