"""NumPy's number types as functions: ``np.float64(x)`` of an array on TensorFlow stays on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.tnp._chapters.creation.arrays import asarray
from np2tf.tnp._dispatch.residency import has_tensor


def number_type(kind: type[np.generic]) -> Callable[..., Any]:
    """Return the function to call in the place of a type of NumPy's; other types than numbers' stay.

    See https://numpy.org/doc/stable/reference/arrays.scalars.html.
    """
    if not issubclass(kind, (np.number, np.bool_)):
        return kind

    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or not has_tensor(args):
            return kind(*args, **kwargs)
        array: Any = asarray(args[0], kind)
        return array[()]

    return convert
