"""``np.vectorize(f)(x)`` in a function that a transform runs: derivatives go through the calls of f."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.tnp._operands.differentiated_values import is_followed


def map_elements(original: np.vectorize, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `original`, whose function is `function`, for each element of the broadcast arguments.

    As in NumPy, the first result gives the dtype, unless `otypes` gives it.

    See https://numpy.org/doc/stable/reference/generated/numpy.vectorize.html.
    """
    if kwargs or not any(map(is_followed, args)):
        return original(*args, **kwargs)
    arrays = tnp.broadcast_arrays(*args)
    results = [function(*elements) for elements in zip(*(array.ravel() for array in arrays), strict=True)]
    if not results:
        return original(*args)
    is_tuple = isinstance(results[0], tuple)
    outputs = zip(*results, strict=True) if is_tuple else [results]
    parts = tuple(
        _join(output, arrays[0].shape, dtype)
        for output, dtype in zip(outputs, original.otypes or _dtypes(results[0]), strict=True)
    )
    return parts if is_tuple else parts[0]


def _dtypes(result: Any) -> list[Any]:
    return [tnp.asarray(part).dtype for part in (result if isinstance(result, tuple) else (result,))]


def _join(numbers: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return tnp.stack([tnp.asarray(number) for number in numbers]).astype(dtype).reshape(shape)
