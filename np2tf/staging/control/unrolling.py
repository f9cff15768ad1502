"""The limit for loops that are written out in a graph although every iteration has arrays of other shapes.

A large loop in which an array grows runs on the host, and the functions that it calls are compiled once for
all lengths. Loops whose iterations have equal shapes are not limited: they are usually over the layers of a
network, and their functions would gain nothing apart.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import StagingError, UnrollingError

#: The number of operations that a loop with changing shapes may have when it is written out. Tracing and
#: compiling 1000 operations takes about 2 seconds.
MOST_OPS = 5000


class LoopSize:
    """The operations of a loop that is being written out.

    Attributes:
        is_staging: whether it becomes a part of a graph.

    Args:
        why: the reason for which the loop is written out, if it was not meant to be. Then its size is limited
            whatever its shapes are, and the reason is raised again.
    """

    def __init__(self, iterable: Any, length: int | None = None, why: StagingError | None = None) -> None:
        self._why = why
        self.is_staging = current_scope() is not None and not tf.executing_eagerly()
        if not self.is_staging:
            return
        if length is None and hasattr(type(iterable), "__len__"):
            length = len(iterable)
        self._length = length
        self._graph = default_graph()
        # The number of operations before the loop, and after each iteration.
        self._ends = [self._count_ops()]

    def note_iteration(self) -> None:
        """Note the end of an iteration; refuse a loop with too many operations whose arrays change shape."""
        if not self.is_staging:
            return
        self._ends.append(self._count_ops())
        count = len(self._ends) - 1
        if count < 2:
            return
        left = max(self._length - count, 0) if self._length is not None else 0
        total = self._ends[-1] - self._ends[0] + left * (self._ends[-1] - self._ends[-2])
        if total <= MOST_OPS:
            return
        if self._shapes(count) - self._shapes(count - 1):
            raise UnrollingError(
                f"a loop's arrays change shape in every iteration, and the loop would become {total} "
                "graph operations"
            )
        if self._why is not None:
            raise self._why

    def _count_ops(self) -> int:
        return int(self._graph.version)

    def _shapes(self, iteration: int) -> set[tuple[int | None, ...]]:
        """Return the shapes of the arrays that one iteration computes."""
        first, last = self._ends[iteration - 1 : iteration + 1]
        shapes = {
            output.shape
            for operation in self._graph.get_operations()[first:last]
            for output in operation.outputs
            if output.shape.rank
        }
        return {tuple(shape.as_list()) for shape in shapes}
