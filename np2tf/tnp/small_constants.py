"""Small constant operands of eager kernels, made once."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

_constants: dict[Any, Any] = {}


def constant(value: Any, dtype: tf.DType = tf.int64) -> Any:
    """A small constant operand on the host; made once."""
    key = (value, dtype)
    found = _constants.get(key)
    if found is None:
        if len(_constants) > 20_000:
            _constants.clear()
        with tf.init_scope(), tf.device("CPU:0"):
            found = _constants[key] = tf.constant(value, dtype)
    return found
