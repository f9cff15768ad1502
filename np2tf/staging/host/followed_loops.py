"""Loops that are not compiled, but tell how long the program goes on: loops over lists, dictionaries and few
numbers, often the outermost ones. follow is their entry in the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import Any

import numpy as np

from np2tf.staging.tiers.outlook import IteratorProgress, running

#: The name by which code follows the iterable of a loop.
FOLLOW = "_np2tf_follow"
#: A loop is followed in its first runs: one that begins often is no outermost one.
_MOST_RUNS = 8
#: Types whose iterators tell how many elements are left, and iterators over such iterators.
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_SIZED: tuple[type, ...] = (list, tuple, range, dict, np.ndarray, *_VIEWS)
_OVER_ITERATORS = (enumerate, zip)

#: place of a loop -> how often it has begun
_runs: dict[str, int] = {}
#: The places of loops that are followed no longer.
_often: set[str] = set()


def follow(iterable: Any, key: str, may_end_early: bool) -> Any:
    """Return the iterable of a loop, or an iterator over it whose progress tells how long the loop takes."""
    if key in _often:
        return iterable
    runs = _runs[key] = _runs.get(key, 0) + 1
    if runs > _MOST_RUNS:
        _often.add(key)
    try:
        return _followed(iterable, may_end_early)
    except Exception:  # of an iterable's own methods; the loop itself raises it where it belongs
        return iterable


def _followed(iterable: Any, may_end_early: bool) -> Iterable[Any]:
    kind, sources = type(iterable), ()
    iterator: Iterator[Any]
    if kind in _OVER_ITERATORS:
        iterator = iterable
        arguments = iterable.__reduce__()[1]
        sources = arguments[:1] if kind is enumerate else arguments
    elif kind in _SIZED:
        iterator = iter(iterable)
    else:
        return iterable  # type: ignore[no-any-return]
    count = min(length_hint(source, 0) for source in sources or (iterator,))
    if count > 1:
        running.follow(IteratorProgress(iterator, sources, count, may_end_early))
    return iterator
