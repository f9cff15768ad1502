"""The arrays that a loop runs over, if its iterable shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

#: kind of loop (`np2tf.imports.loops.items`) -> the types of its iterables, outermost first
_TYPES: dict[str, tuple[type, ...]] = {
    "items": (),
    "enumerate": (enumerate,),
    "zip": (zip,),
    "enumerate zip": (enumerate, zip),
    "reversed": (reversed,),
}


def arrays_of(iterable: Any, kind: str) -> tuple[np.ndarray, ...] | None:
    """Return the arrays from which all elements of a loop come that has not begun; None if there are other
    elements.
    """
    found = [iterable]
    for expected in _TYPES[kind]:
        (iterator,) = found
        if type(iterator) is not expected:
            return None
        given: Any = iterator.__reduce__()[1]
        if expected is enumerate:
            inner, first = given
            if first != 0:
                return None
            found = [inner]
        else:
            found = list(given)
    if kind in ("enumerate", "zip", "enumerate zip"):
        found = [_iterated_array(iterator) for iterator in found]
    if all(type(array) is np.ndarray and array.ndim for array in found):
        return tuple(found)
    return None


#: The type of an iterator over an array.
_ITERATOR = type(iter(np.zeros(1)))


def _iterated_array(iterator: Any) -> Any:
    """Return the array behind an iterator at its beginning; None for other iterators."""
    if type(iterator) is not _ITERATOR:
        return None
    made: Any = iterator.__reduce__()
    return made[1][0] if made[2:] in ((), (0,)) else None
