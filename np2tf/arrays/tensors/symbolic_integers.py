"""Staged integers with known bounds, and small constants made once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from np2tf.arrays.tensors.graphs import default_graph
from np2tf.core.late import tf

# -- small constants -----------------------------------------------------------------------------------------
# Small constant operands of kernels, made once: in the process for eager code, in each graph for its own.

_constants: dict[Any, Any] = {}


def constant(value: Any, dtype: tf.DType | None = None) -> Any:
    """Return an integer or a tuple of integers as a small constant on the host, which is made once."""
    dtype = dtype or tf.int64
    key = (value, dtype)
    graph = None if tf.executing_eagerly() else default_graph()
    if graph is None:
        tensor = _constants.get(key)
        if tensor is None:
            if len(_constants) > 20_000:
                _constants.clear()
            with tf.init_scope(), tf.device("CPU:0"):
                tensor = _constants[key] = tf.constant(value, dtype)
        return tensor
    if (
        graph._get_control_flow_context() is not None
    ):  # in TensorFlow 1's loops a constant is known only inside
        return tf.constant(value, dtype)
    constants = graph_constants(graph)
    tensor = constants.get(key)
    if tensor is None:
        tensor = constants[key] = tf.constant(value, dtype)
    return tensor


def graph_constants(graph: Any) -> dict[Any, Any]:
    """Return the constants of a graph that are made once.

    They are an attribute of the graph: another reference to its tensors would keep it alive.
    """
    constants = getattr(graph, "_np2tf_constants", None)
    if constants is None:
        constants = graph._np2tf_constants = {}
    return constants


# -- symint --------------------------------------------------------------------------------------------------
# Symbolic integers: a staged integer together with the known facts about its value.
#
# A loop variable over ``range(1, n)`` is known to lie in [1, n-1], and ``i + 2`` to be two more than ``i``.
# That is enough to omit bounds checks, and to see that ``x[i:i + 3]`` has three elements, so that it is a
# slice of static size. (Intervals and affine offsets: the classic range analysis of optimising compilers.)

#: An end of an interval that is not known.
UNKNOWN = None


@dataclass(frozen=True, eq=False)
class SymInt:
    """A staged integer: an int64 tensor without axes, inclusive bounds, and the distance from a root."""

    tensor: tf.Tensor
    low: int | None = UNKNOWN
    high: int | None = UNKNOWN
    root: Any = None
    offset: int = 0
    #: True if the value comes from a multiplication, shift or power of a loop-carried integer. Python's
    #: integers do not overflow, but int64 does, so that such a value must not be carried around a loop.
    may_overflow: bool = False

    @classmethod
    def fresh(cls, tensor: tf.Tensor, low: int | None = None, high: int | None = None) -> SymInt:
        """Return a symbolic integer that is its own root."""
        return cls(tensor, low, high, object(), 0)

    def in_range(self, length: int) -> bool:
        """Return whether 0 <= self < length is certain."""
        return self.low is not None and self.high is not None and self.low >= 0 and self.high < length

    @property
    def excludes_zero(self) -> bool:
        """Return whether the integer is certainly not zero."""
        return (self.low is not None and self.low > 0) or (self.high is not None and self.high < 0)

    def plus(self, amount: int) -> SymInt:
        """Return ``self + amount``."""
        low = None if self.low is None else self.low + amount
        high = None if self.high is None else self.high + amount
        tensor = self.tensor + constant(amount, self.tensor.dtype)
        return replace(self, tensor=tensor, low=low, high=high, offset=self.offset + amount)


#: An integer that is known while staging, or a staged integer.
Int = int | SymInt


def tensor_of(value: Int) -> tf.Tensor:
    """Return an integer, staged or not, as an int64 tensor."""
    return value.tensor if isinstance(value, SymInt) else constant(value)


def distance(start: Int, stop: Int) -> int | None:
    """Return stop - start if it is known while staging, else None."""
    if isinstance(start, int) and isinstance(stop, int):
        return stop - start
    if (
        isinstance(start, SymInt)
        and isinstance(stop, SymInt)
        and start.root is not None
        and start.root is stop.root
    ):
        return stop.offset - start.offset
    return None


def extent(start: Int, stop: Int) -> tf.Tensor:
    """Return the number of elements between two places: 0 if `stop` is not after `start`."""
    return tf.maximum(tensor_of(stop) - tensor_of(start), 0)


def lower_bound(value: Int) -> int | None:
    """Return the least value that `value` can have."""
    return value if isinstance(value, int) else value.low


def upper_bound(value: Int) -> int | None:
    """Return the greatest value that `value` can have."""
    return value if isinstance(value, int) else value.high


def combine(operator: str, left: Int, right: Int, tensor: tf.Tensor) -> SymInt:
    """Return the staged integer ``left operator right``, whose value is `tensor`, with the known bounds."""
    overflow = any(isinstance(side, SymInt) and side.may_overflow for side in (left, right))
    if operator in ("add", "subtract") and isinstance(left, SymInt) and isinstance(right, int):
        amount = right if operator == "add" else -right
        return replace(left.plus(amount), tensor=tensor)
    if operator == "add" and isinstance(left, int) and isinstance(right, SymInt):
        return replace(right.plus(left), tensor=tensor)
    ends = _interval(operator, left, right)
    if ends is None:
        overflow = overflow or operator in ("multiply", "power", "left_shift")
        return replace(SymInt.fresh(tensor), may_overflow=overflow)
    return replace(SymInt.fresh(tensor, *ends), may_overflow=overflow and max(map(abs, ends)) >= 2**62)


def _interval(operator: str, left: Int, right: Int) -> tuple[int, int] | None:
    a, b, c, d = lower_bound(left), upper_bound(left), lower_bound(right), upper_bound(right)
    if operator == "remainder" and isinstance(right, int) and right > 0:
        return 0, right - 1
    if operator == "bitwise_and":
        # If an operand has no sign bit, the result has none, and no more bits than the operand.
        ends = [
            top for least, top in ((a, b), (c, d)) if least is not None and least >= 0 and top is not None
        ]
        return (0, min(ends)) if ends else None
    if a is None or b is None or c is None or d is None:
        return None
    if operator == "add":
        return a + c, b + d
    if operator == "subtract":
        return a - d, b - c
    if operator == "multiply":
        products = (a * c, a * d, b * c, b * d)
        return min(products), max(products)
    if operator == "floor_divide" and c > 0:
        quotients = (a // c, a // d, b // c, b // d)
        return min(quotients), max(quotients)
    if operator in ("left_shift", "right_shift") and c == d and 0 <= c < 64:
        return (a << c, b << c) if operator == "left_shift" else (a >> c, b >> c)
    if operator.startswith("bitwise_") and a >= 0 and c >= 0:
        return 0, 2 ** max(b, d).bit_length() - 1
    if operator == "minimum":
        return min(a, c), min(b, d)
    if operator == "maximum":
        return max(a, c), max(b, d)
    return None
