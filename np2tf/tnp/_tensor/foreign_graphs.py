"""Arrays from outside in a graph that np2tf does not build, such as the graph of a plain `tf.function`.

Such a graph holds the value that an array had when the graph was built. It cannot write to the array, and
does not see later writes. `np2tf.jit` does both.
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
    """A foreign graph and the program see different values of an array."""


class ForeignValue:
    """The value of an array in one foreign graph.

    Attributes:
        graph: the graph, as a weak reference.
        value: the array's value in the graph.
    """

    __slots__ = ("graph", "value")

    def __init__(self, graph: Any, value: tf.Tensor) -> None:
        self.graph = weakref.ref(graph)
        self.value = value


@contextmanager
def as_graph_inputs(storages: Iterable[Any]) -> Iterator[None]:
    """Build a graph of np2tf in the `with` block; the given storages are inputs of it, and not foreign."""
    before = [(storage, storage.foreign) for storage in storages]
    try:
        yield
    finally:
        for storage, foreign in before:
            storage.foreign = foreign


def warn(code: str) -> None:
    """Warn at the user's line, also in code that AutoGraph has generated from the user's code.

    Args:
        code: the code of the diagnostic.
    """
    from tensorflow.python.util import tf_stack

    messages = {
        "NP2TF537": "an array from outside of a tf.function is written to in it: only its graph sees that",
        "NP2TF538": "a tf.function has read this array while it was traced, and will not see what is written",
    }
    frames = [frame for frame in tf_stack.extract_stack() if not frame.filename.startswith(_NP2TF)]
    text = f"{code} {messages[code]}; np2tf.jit follows writes"
    warnings.warn_explicit(text, ForeignGraphWarning, frames[-1].filename, frames[-1].lineno)
