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
    iterables = [iterable]
    for iterator_type in _TYPES[kind]:
        (iterator,) = iterables
        if type(iterator) is not iterator_type:
            return None
        arguments: Any = iterator.__reduce__()[1]
        if iterator_type is enumerate:
            inner, first = arguments
            if first != 0:
                return None
            iterables = [inner]
        else:
            iterables = list(arguments)
    if kind in ("enumerate", "zip", "enumerate zip"):
        iterables = [_iterated_array(iterator) for iterator in iterables]
    if all(type(array) is np.ndarray and array.ndim for array in iterables):
        return tuple(iterables)
    return None


#: The type of an iterator over an array.
_ITERATOR = type(iter(np.zeros(1)))


def _iterated_array(iterator: Any) -> Any:
    """Return the array behind an iterator at its beginning; None for other iterators."""
    if type(iterator) is not _ITERATOR:
        return None
    reduction: Any = iterator.__reduce__()
    return reduction[1][0] if reduction[2:] in ((), (0,)) else None
