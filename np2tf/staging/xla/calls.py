"""Calls of compiled code in microseconds: no rewriting by Grappler, stop signs, borrowed inputs, results
without a copy.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.eager import context, execute
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.tensors.graph_queries import is_noted_block
from np2tf.arrays.tensors.tapes import may_record

# -- graph rewrites ------------------------------------------------------------------------------------------
# Calls of functions whose arithmetic Grappler, TensorFlow's optimizer of graphs, leaves as it is.
#
# Grappler computes as if numbers were real: it makes ``x <= 0`` of ``~(x > 0)``, which differs for NaN,
# `expm1` of ``exp(x) - 1``, and drops ``x + 0.0``. docs/floating-point.md shows what that changed.


@cache
def _options_without_rewrites(
    executor_type: str | None, serialized_config: bytes
) -> context.FunctionCallOptions:
    settings = config_pb2.ConfigProto.FromString(serialized_config)
    options = settings.graph_options.rewrite_options
    off = rewriter_config_pb2.RewriterConfig.OFF
    options.constant_folding = options.arithmetic_optimization = options.remapping = off
    return context.FunctionCallOptions(executor_type, settings)


def exact_call_options() -> context.FunctionCallOptions:
    """Return the options of a call, from here and now, in which no arithmetic is rewritten."""
    options = context.context().function_call_options
    return _options_without_rewrites(options.executor_type, options.config_proto_serialized)


@contextmanager
def exact_calls() -> Iterator[None]:
    """Functions that are called within are not rewritten. A graph made within notes that in its calls."""
    here = context.context()
    before = here.function_call_options
    here.function_call_options = exact_call_options()
    try:
        yield
    finally:
        here.function_call_options = before


# -- stop signs ----------------------------------------------------------------------------------------------
# Stop signs: the loops of compiled code end when another thread sets the sign of a call.
#
# Neither XLA nor TensorFlow can interrupt a program. But the input of a call may have the memory of an
# array of ours, and a loop that reads another element of it in each iteration must read that memory each
# time. So each long loop also tests now and then whether the sign is set. A call whose sign is set ends
# within some hundred iterations, and its results are thrown away.

#: The number of elements of a sign: a power of two, and more than TensorFlow makes a constant of a graph.
_SIZE = 256
#: The sign is read once in so many iterations of a loop over numbers.
ITERATIONS = 256
#: What counts as numbers: arrays of at most so many elements.
_FEW = 64
#: Operations that take no time, that take time for what they read only, and for what they write only.
_FREE = frozenset({"Placeholder", "PlaceholderWithDefault", "Identity", "Const", "Shape", "Reshape"})
_READS = frozenset({"Slice", "StridedSlice", "GatherV2", "GatherNd", "XlaDynamicSlice"})
_WRITES = frozenset({"XlaDynamicUpdateSlice", "TensorScatterUpdate"})
_WITH_FUNCTIONS = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase"}
    | {"PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient"}
)
#: TensorFlow shares the memory of arrays with this alignment only.
_ALIGNMENT = 64


class StopSign:
    """The stop sign of a call.

    Attributes:
        tensor: the input of the call, which has the memory of the sign.
    """

    __slots__ = ("_elements", "tensor")

    def __init__(self) -> None:
        memory = np.zeros(8 * _SIZE + _ALIGNMENT, np.uint8)
        first = -memory.ctypes.data % _ALIGNMENT
        self._elements = memory[first : first + 8 * _SIZE].view(np.int64)
        self.tensor = ops.EagerTensor(self._elements, context.context().device_name, None)

    @property
    def is_set(self) -> bool:
        """True if the call has been stopped."""
        return bool(self._elements[0])

    def set(self) -> None:
        """Stop the call."""
        self._elements[:] = 1


@cache
def unset_sign() -> tf.Tensor:
    """Return the tensor that stands for the sign of each call in graphs. It is never set.

    It is made late: the first tensor of a process starts TensorFlow, which a program may configure before.
    """
    with tf.init_scope(), tf.device("CPU:0"):
        return StopSign().tensor


def is_light(graph: tf.Graph) -> bool:
    """Return whether an iteration with this graph is so short that the sign need not be read each time."""
    for op in graph.get_operations():
        if is_noted_block(op):
            continue  # whose graphs are looked at by themselves
        if op.type in _WITH_FUNCTIONS:
            return False
        if op.type in _FREE:
            continue
        computed = () if op.type in _WRITES else op.outputs
        given = () if op.type in _READS else op.inputs[1:] if op.type in _WRITES else op.inputs
        sizes = [tensor.shape.num_elements() for tensor in (*given, *computed)]
        if any(size is None or size > _FEW for size in sizes):
            return False
    return True


def stoppable_loop(
    test: Callable[..., tf.Tensor], body: Callable[..., Any], variables: Sequence[tf.Tensor], shapes: Any
) -> Sequence[tf.Tensor]:
    """Do the same as ``tf.while_loop(test, body, variables, shapes)``, and end if the sign is set.

    The sign is read before every so many iterations, which an inner loop does. In a loop over numbers,
    reading it each time takes up to a third of the time.

    Args:
        variables: the first is the number of the iteration, an int64 of shape ().
    """

    def iterate(*variables: tf.Tensor) -> Sequence[tf.Tensor]:
        end = variables[0] + ITERATIONS
        return tf.while_loop(
            lambda *now: tf.logical_and(test(*now), now[0] < end), body, list(variables), shapes
        )

    return tf.while_loop(
        lambda *now: tf.logical_and(test(*now), is_unset(now[0] // ITERATIONS)), iterate, variables, shapes
    )


def is_unset(counter: tf.Tensor) -> tf.Tensor:
    """Return whether the call goes on; `counter` is another number each time, an int64 of shape ()."""
    place = tf.bitwise.bitwise_and(counter, tf.constant(_SIZE - 1, tf.int64))
    element = gen_array_ops.Slice(
        input=unset_sign(), begin=tf.reshape(place, [1]), size=tf.constant([1], tf.int64)
    )
    return tf.equal(tf.reshape(element, []), tf.constant(0, tf.int64))


# -- fast call -----------------------------------------------------------------------------------------------
# Calls a traced function with little overhead: a call should cost microseconds.


class ConcreteCall:
    """Calls a concrete function without binding its arguments by name and type again.

    If a gradient tape records, the usual call is made, because the tape must see it.

    Args:
        function: the function of TensorFlow.
        captures: the tensors that its graph captures.
        late: returns the tensors that are captured at the call, in the order in which the graph captures
            them.
    """

    def __init__(
        self, function: Any, captures: Iterable[tf.Tensor], late: Callable[[], Sequence[tf.Tensor]]
    ) -> None:
        self.function = function
        self._captures = list(captures)
        sign = unset_sign()
        places = [k for k, tensor in enumerate(self._captures) if tensor is sign]
        self._stop_place = places[0] if places else None
        self._late = late
        self._name = function.name.decode() if isinstance(function.name, bytes) else function.name
        self._count = len(function.outputs)
        self._context = context.context()
        self._attributes = tuple(itertools.chain(*exact_call_options().as_attrs().items()))

    @property
    def can_be_stopped(self) -> bool:
        """True if the function has loops that end at a stop sign."""
        return self._stop_place is not None and not may_record()

    def __call__(self, inputs: list[tf.Tensor], sign: tf.Tensor | None = None) -> Sequence[tf.Tensor]:
        """Return the outputs of the function, whose arithmetic nothing rewrites.

        Once `sign` is set, they mean nothing.
        """
        if may_record():
            with exact_calls():
                return self.function(*inputs)
        return self.execute(self.operands(inputs, sign))

    def operands(self, inputs: list[tf.Tensor], sign: tf.Tensor | None = None) -> list[tf.Tensor]:
        """Return the inputs and the captures of a call, some of which only the calling thread knows."""
        captures = self._captures
        if sign is not None and self._stop_place is not None:
            captures = [*captures]
            captures[self._stop_place] = sign
        return [*inputs, *captures, *self._late()]

    def execute(self, operands: list[tf.Tensor]) -> Sequence[tf.Tensor]:
        """Return the outputs for these operands; any thread may run this."""
        return execute.execute(self._name, self._count, operands, self._attributes, self._context)


def borrow_memory(array: np.ndarray) -> tf.Tensor:
    """Return a tensor of an array's contents that may share its memory, for the duration of one call only."""
    if not array.flags.c_contiguous:
        array = array.copy()
    return ops.EagerTensor(array, context.context().device_name, None)


def input_of(array: Any, may_borrow: bool) -> tf.Tensor:
    """Return an array as an input of a call.

    Args:
        array: an array on the host or on TensorFlow, or a NumPy scalar.
        may_borrow: whether the input may share the memory of an array on the host, because no reference to it
            outlives the call.
    """
    if may_borrow and isinstance(array, np.ndarray):
        return borrow_memory(array)
    return array.tensor if is_array(array) else tf.convert_to_tensor(array)


# -- zero copy results ---------------------------------------------------------------------------------------
# Turns large results of XLA programs into arrays over the tensors' own memory, without a copy.
#
# Copying costs as much as a sum of the same size in NumPy, and more in new memory: 32 MB that XLA makes in
# 4 ms reached the caller after 16 ms with a copy, and after 8 ms without. The array is np.ndarray and may
# be written to, because no other object sees its memory. This must be certain: TensorFlow may let a result
# that is an input, or a constant of the program, share its memory.

#: Smaller results are copied. A copy is cheap (up to 1 MB no difference was measured, at 8 MB a seventh), and
#: a copied array owns its memory, so that it can be resized in place.
LEAST_BYTES = 4 << 20


class ZeroCopyResults:
    """Passes the results of one XLA program to the caller.

    The first two results of each output are copied, and the first tensor is kept until the second comes: if
    both have the same memory, the program returns a constant, which must not be changed.
    """

    def __init__(self) -> None:
        self._first: dict[int, tf.Tensor] = {}
        self._is_new: dict[int, bool] = {}

    def array(self, place: int, outputs: Iterable[tf.Tensor], inputs: Iterable[Any]) -> np.ndarray:
        """Return the array of the output at `place`, which belongs to the caller from now on."""
        outputs = list(outputs)
        value = outputs[place]
        view = np.asarray(memoryview(value))
        if view.nbytes < LEAST_BYTES or not self._is_known_to_be_new(place, value, view):
            return np.array(view)
        other_tensors = [*inputs, *outputs[:place], *outputs[place + 1 :]]
        if any(np.may_share_memory(view, tensor._numpy()) for tensor in other_tensors):
            return np.array(view)
        memory = (ctypes.c_char * view.nbytes).from_address(view.ctypes.data)
        memory.tensor = value  # type: ignore[attr-defined]  # which frees the memory when it is deleted
        return np.ndarray(view.shape, view.dtype, memory)  # type: ignore[arg-type]

    def _is_known_to_be_new(self, place: int, value: tf.Tensor, seen_array: np.ndarray) -> bool:
        if place not in self._is_new:
            first = self._first.pop(place, None)
            if first is None:
                self._first[place] = value
                return False
            self._is_new[place] = not np.may_share_memory(seen_array, first._numpy())
            return False
        return self._is_new[place]
