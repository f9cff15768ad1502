"""Arrays from outside in a graph that somebody else builds, such as that of a plain `tf.function`.

Such a graph holds what an array was when it was built. It can neither write to the array nor see what is
written to it later; `np2tf.jit` can do both.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tensorflow as tf


_NP2TF = str(Path(__file__).parents[2])


class ForeignGraphWarning(UserWarning):
    """A graph that np2tf does not build has another idea of an array than the program."""


class Foreign:
    """What one such graph has made of an array.

    Attributes:
        graph: the graph, as a weak reference.
        value: the array's value in it.
    """

    __slots__ = ("graph", "value")

    def __init__(self, graph: Any, value: tf.Tensor) -> None:
        self.graph = weakref.ref(graph)
        self.value = value


@contextmanager
def not_foreign(cells: Iterable[Any]) -> Iterator[None]:
    """Within the with block np2tf builds a graph of its own, in which these cells are inputs."""
    before = [(cell, cell.foreign) for cell in cells]
    try:
        yield
    finally:
        for cell, foreign in before:
            cell.foreign = foreign


def tell(code: str) -> None:
    """Warn at the user's line, also in code that AutoGraph has made of the user's."""
    from tensorflow.python.util import tf_stack

    told = {
        "NP2TF537": "an array from outside of a tf.function is written to in it: only its graph sees that",
        "NP2TF538": "a tf.function has read this array while it was traced, and will not see what is written",
    }
    frames = [one for one in tf_stack.extract_stack() if not one.filename.startswith(_NP2TF)]
    text = f"{code} {told[code]}; np2tf.jit follows writes"
    warnings.warn_explicit(text, ForeignGraphWarning, frames[-1].filename, frames[-1].lineno)
