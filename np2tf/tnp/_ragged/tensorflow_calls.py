"""TensorFlow's functions of ragged arrays: they get the ragged tensor.

TensorFlow asks a dispatcher only about a call that has failed. The dispatcher here answers if a ragged array
is among the arguments, so that all other calls fail as before.
"""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from tensorflow.python.util import dispatch

from np2tf.pytree.registry import STRUCTURES
from np2tf.tnp._ragged.ragged_array import RaggedArray


class _RaggedDispatcher(dispatch.GlobalOpDispatcher):  # type: ignore[misc]
    """Calls a function of TensorFlow again, with ragged tensors for ragged arrays."""

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        """Return the result of the call; NOT_SUPPORTED if no ragged array is among the arguments."""
        values = _unwrap((tuple(args), dict(kwargs)))
        if not any(isinstance(leaf, tf.RaggedTensor) for leaf in _changes(values, (args, kwargs))):
            return self.NOT_SUPPORTED
        return op(*values[0], **values[1])


def _unwrap(value: Any) -> Any:
    return value.tensor if type(value) is RaggedArray else STRUCTURES.replace_items(_unwrap, value)


def _changes(values: Any, before: Any) -> list[Any]:
    pairs = zip(STRUCTURES.flatten(values)[0], STRUCTURES.flatten(before)[0])
    return [value for value, original in pairs if value is not original]


@functools.cache
def register() -> None:
    """Let TensorFlow's functions take ragged arrays."""
    _RaggedDispatcher().register()
