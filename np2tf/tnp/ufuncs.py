"""NumPy's universal functions: one row each, the TensorFlow function that computes it.

NumPy's loop (`dtypes.ufunc_loop`) has already chosen the dtypes: an implementation gets tensors of the loop's input
dtypes and its result is cast to the loop's output dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp.ndarray import ndarray, tensor_array
from np2tf.tnp.ufunc import Ufunc

_TABLE: dict[str, Callable[..., Any]] = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "divide": tf.divide,
    "floor_divide": tf.math.floordiv,
    "remainder": tf.math.floormod,
    "power": tf.pow,
    "matmul": tf.matmul,
    "negative": tf.negative,
    "positive": tf.identity,
    "absolute": tf.abs,
    "invert": tf.bitwise.invert,
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "left_shift": tf.bitwise.left_shift,
    "right_shift": tf.bitwise.right_shift,
    "divmod": lambda a, b: (tf.math.floordiv(a, b), tf.math.floormod(a, b)),
    "less": tf.less,
    "less_equal": tf.less_equal,
    "greater": tf.greater,
    "greater_equal": tf.greater_equal,
    "equal": tf.equal,
    "not_equal": tf.not_equal,
    "sqrt": tf.sqrt,
    "exp": tf.exp,
    "sin": tf.sin,
    "cos": tf.cos,
    "minimum": tf.minimum,
    "maximum": tf.maximum,
}


def full_like_bool(array: ndarray, value: bool) -> ndarray:
    """A boolean array of `array`'s shape: what ``==`` against something that is no number answers."""
    return tensor_array(tf.fill(tf.shape(array.tensor), value))


add: Any
globals().update({name: Ufunc(getattr(np, name), function) for name, function in _TABLE.items()})
