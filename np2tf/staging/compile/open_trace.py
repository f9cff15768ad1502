"""Traces a jitted function apart from its calls, over arrays whose lengths may be unknown.

The graph stands alone: it has no effects, draws no random numbers, and holds the arrays that the function
reads by name. A check that would discard a compiled call makes the graph itself fail; under XLA it is a
further result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import order_of_memory
from np2tf.arrays.array.ndarray import array_over, is_array, tensor_scalar
from np2tf.arrays.tensors.storage import Storage, resolve_stand_ins, staging_scope
from np2tf.core.errors import ContainerChangeError, ExportError
from np2tf.staging.compile.preparation import PreparedCall
from np2tf.staging.trace.trace import Trace
from np2tf.staging.trace.write_back import Outcome
from np2tf.staging.values.carried_values import check_returned, flatten
from np2tf.staging.values.staged_list import holds_lists, python_lists
from np2tf.staging.values.text import DeferredText

#: The length that an unknown axis has in the arrays that stand for the arguments.
EXAMPLE_LENGTH = 2
#: Python's and NumPy's numbers that a graph may return.
_NUMBERS = (bool, int, float, complex, np.generic)


def example(spec: tf.TensorSpec) -> np.ndarray:
    """Return an array that stands for the arguments of a kind."""
    return np.zeros([EXAMPLE_LENGTH if n is None else n for n in spec.shape], spec.dtype.as_numpy_dtype)


def stage_open(
    call: PreparedCall,
    function: Callable[..., Any],
    tensors: Sequence[tf.Tensor],
    bound_count: int,
    constant: Callable[[Any], tf.Tensor],
    handles: bool,
    device: str | None = None,
) -> Any:
    """Trace the function in the present graph, and return its result with tensors in it.

    For XLA, return a pair: this result, and a boolean that is true if NumPy would raise an error; or None.

    Args:
        call: the call, prepared with arrays that stand for the tensors.
        tensors: the graph's tensors for the arguments of the call.
        bound_count: the number of arguments before these, which the graph holds as they are.
        constant: makes the tensor of an array that the function reads by name.
        handles: whether the function handles exceptions, so that the graph must not miss any.
        device: the kind of device for which XLA compiles the graph; None for a graph of TensorFlow's kernels.

    Raises:
        StagingError: if the function cannot be staged, or needs this process when the graph runs.
    """
    signature = call.signature
    argument_tensors = {
        id(array): tensor for array, tensor in zip(call.args[bound_count:], tensors, strict=True)
    }
    trace = Trace(xla=device is not None, device=device)
    trace.is_compiled_later = True
    trace.handles = handles
    if signature.generators:
        raise ExportError("the function draws from a random stream, which exists only in this process")
    arguments, captures = [], []
    for array in signature.arrays:
        tensor = argument_tensors.get(id(array))
        storage = Storage(constant(array) if tensor is None else tensor)
        storage.argument = True
        storage.order = order_of_memory(array)
        if tensor is None:
            captures.append(storage)
        staged_argument = (
            tensor_scalar(storage.value) if array.ndim == 0 and tensor is not None else array_over(storage)
        )
        trace.add_input(array, staged_argument)
        arguments.append(staged_argument)
    with staging_scope(trace) as root:
        trace.root = root
        result = check_returned(call.body(function, unknown_lengths=True)(arguments, signature.numbers))
        if type(result) is Outcome:
            raise ContainerChangeError("the function changes or returns a list, dict or object from outside")
        if any(storage.is_poisoned or storage in root.writes for storage in captures):
            raise ExportError("the function writes to an array that it reads by name")
        outputs = _tensors_of(result)
        if trace.effects.log is not None:
            raise ExportError("the function prints, warns or logs, which only this process can do")
    violation = trace.violations.value
    if trace.xla:
        # XLA has no operation that fails, so that a last result has to tell.
        return outputs, None if violation.op.type == "Const" else violation
    if violation.op.type != "Const":
        text = "np2tf: for these values NumPy raises an error, or gives an array of another dtype"
        check = tf.Assert(tf.logical_not(violation), [text])
        with tf.control_dependencies([check]):
            outputs = tf.nest.map_structure(tf.identity, outputs)
    return outputs


def _tensors_of(result: Any) -> Any:
    """Return a function's result with a tensor for each array and number, or raise ExportError."""
    leaves, rebuild, _ = flatten(result)
    outputs = rebuild([_tensor_of(resolve_stand_ins(leaf)) for leaf in leaves])
    return python_lists(outputs) if holds_lists(result) else outputs


def _tensor_of(leaf: Any) -> tf.Tensor:
    if is_array(leaf):
        return tf.identity(leaf.tensor)
    if isinstance(leaf, tf.Tensor):
        return leaf
    if isinstance(leaf, _NUMBERS):
        return tf.constant(np.asarray(leaf))  # Python's numbers have NumPy's default dtypes
    kind = "text of values" if isinstance(leaf, DeferredText) else f"{type(leaf).__name__} object"
    raise ExportError(f"a {kind} is returned, but a saved model returns only arrays and numbers")
