"""Arrays among a call's inputs whose values the code needs, so that they become its constants.

`np.roll(f, shifts[k])` can be compiled only if the numbers are known: a trace that meets such a value begins
again, with the array as a constant. The code serves calls with equal contents.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.core.errors import TraceAgain

#: Larger arrays are no constants, because their contents are compared in every call.
_MOST_BYTES = 2**16
#: Indices, shifts and masks: integers and booleans. Other numbers are data, which differ from call to call.
_KINDS = "iub"


class ArraysNeeded(TraceAgain):
    """Raised if a value is needed that depends only on such arrays. The trace begins again.

    Attributes:
        places: their places among the arrays of the call.
    """

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__("the values of arrays are needed")
        self.places = places


class FixedArrays:
    """The inputs of a trace that may become constants.

    Args:
        arrays: the arrays of the call.
        tensors: the tensors that stand for them.
        exceptions: the places of those that are constants already, or whose lengths are inputs.
    """

    def __init__(
        self, arrays: Sequence[Any], tensors: Sequence[tf.Tensor], exceptions: Collection[int]
    ) -> None:
        self._places = {
            id(tensor): k
            for k, (array, tensor) in enumerate(zip(arrays, tensors))
            if k not in exceptions and _may_be_constant(array)
        }

    def need(self, tensor: tf.Tensor) -> None:
        """Raise ArraysNeeded if a tensor depends on such arrays, and on nothing else that may vary."""
        places: set[int] = set()
        stack, seen = [tensor], {id(tensor)}
        while stack:
            part = stack.pop()
            if hasattr(part, "numpy"):
                continue  # a constant from outside of the graph
            operands = list(part.op.inputs)
            if part.op.type == "Placeholder":
                place = self._places.get(id(part))
                if place is not None:
                    places.add(place)
                    continue
                outer = _captured(part)
                if outer is None:
                    return  # a variable of a loop, a number, or a large array
                operands = [outer]
            new = [operand for operand in operands if id(operand) not in seen]
            seen.update(map(id, new))
            stack += new
        if places:
            raise ArraysNeeded(frozenset(places))


def _may_be_constant(array: Any) -> bool:
    return type(array) is np.ndarray and array.dtype.kind in _KINDS and array.nbytes <= _MOST_BYTES


def _captured(placeholder: tf.Tensor) -> tf.Tensor | None:
    """Return the tensor outside of a loop or branch that a placeholder stands for; None for other ones."""
    captures = getattr(placeholder.graph, "captures", ())
    return next((outer for outer, inner in captures if inner is placeholder), None)
