"""Objects whose `__array__` gives an array of ours, which NumPy's own functions refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from np2tf.tnp.conversion import to_numpy

#: NumPy's words for an object that made no np.ndarray of itself.
_REFUSAL = "__array__ method not producing an array"


class _Converting:
    """An object as NumPy takes it: what it makes of itself is np.ndarray, and all else is its own affair."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return to_numpy(self._original.__array__(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _converting(value: Any) -> Any:
    made_here = hasattr(type(value), "__array__") and not isinstance(value, (np.ndarray, np.generic))
    return _Converting(value) if made_here else value


def calling(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Call a function of NumPy's; once more where it refused what an object makes of itself."""
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        if _REFUSAL not in str(error):
            raise
    return function(*map(_converting, args), **{name: _converting(one) for name, one in kwargs.items()})
