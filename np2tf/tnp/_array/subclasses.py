"""The base class of classes that a program derives from `tnp.ndarray`."""

from __future__ import annotations

from typing import Any

import numpy as np

from np2tf.lazy import LazyModule
from np2tf.tnp._front.operand_kinds import without_tensors

_arrays: Any = LazyModule("np2tf.tnp._array.ndarray")


@without_tensors
class SubclassBase(np.ndarray):
    """np.ndarray, with methods that accept `tnp.ndarray` in the place of np.ndarray."""

    def view(self, *args: Any, **kwargs: Any) -> Any:
        """Return a new view of this array, as another dtype or another class.

        See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.view.html.
        """
        keywords = {name: _numpys(value) for name, value in kwargs.items()}
        return super().view(*map(_numpys, args), **keywords)


def _numpys(kind: Any) -> Any:
    return np.ndarray if kind is _arrays.ndarray else kind
