"""Loops that are not compiled, but tell how long the program goes on: loops over lists, dictionaries and few
numbers, often the outermost ones. follow is their entry in the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import Any

import numpy as np

from np2tf.core.faults import note_fault
from np2tf.staging.tiers.outlook import IteratorProgress, running

#: The name by which code follows the iterable of a loop.
FOLLOW = "_np2tf_follow"
#: A loop is followed in its first runs: one that begins often is no outermost one.
_MOST_RUNS = 8
#: A loop over more elements is followed by no generator, which takes 30 ns an element.
_MOST_ELEMENTS = 10_000
#: The types over which a loop is followed, and those of iterators that tell how many elements are left.
_VIEWS = tuple(map(type, ({}.keys(), {}.values(), {}.items())))
_SIZED: tuple[type, ...] = (list, tuple, range, dict, np.ndarray, *_VIEWS)
_ITERATORS = frozenset(map(type, map(iter, ([], (), range(1), {}, {}.values(), {}.items()))))
_OF_SEQUENCES = type(iter(np.zeros(1)))

#: place of a loop -> how often it has begun
_runs: dict[str, int] = {}
#: The places of loops that are followed no longer.
often: set[str] = set()


def follow(iterable: Any, key: str, may_end_early: bool) -> Any:
    """Return the iterable of a loop, or an iterator over it whose progress tells how long the loop takes."""
    if key in often:
        return iterable
    runs = _runs[key] = _runs.get(key, 0) + 1
    if runs > _MOST_RUNS:
        often.add(key)
    try:
        return _followed(iterable, may_end_early)
    except Exception as error:
        note_fault(error)
        return iterable


def _followed(iterable: Any, may_end_early: bool) -> Iterable[Any]:
    kind = type(iterable)
    if kind not in (enumerate, zip, *_SIZED):
        return iterable  # type: ignore[no-any-return]
    iterator = iter(iterable)
    count = _left_of(iterator) if all(map(_tells, _sources(iterator))) else 0
    if not 1 < count <= _MOST_ELEMENTS:
        return iterable  # type: ignore[no-any-return]
    elements = _each(iterator)
    running.follow(IteratorProgress(elements, count, may_end_early, _left_of))
    return elements


def _each(iterator: Iterator[Any]) -> Any:
    yield from iterator


def _left_of(iterator: Any) -> int:
    """Return how many elements an iterator has left."""
    return min(map(length_hint, _sources(iterator)), default=0)


def _sources(iterator: Any) -> tuple[Any, ...]:
    """Return the iterators behind an `enumerate` or `zip`; for any other, this iterator."""
    if type(iterator) not in (enumerate, zip):
        return (iterator,)
    reduction: Any = iterator.__reduce__()
    return reduction[1] if type(iterator) is zip else reduction[1][:1]  # type: ignore[no-any-return]


def _tells(iterator: Any) -> bool:
    """Return whether an iterator tells how many elements are left, without code of the program."""
    if type(iterator) is _OF_SEQUENCES:
        reduction: Any = iterator.__reduce__()
        return type(reduction[1][0]) is np.ndarray
    return type(iterator) in _ITERATORS
