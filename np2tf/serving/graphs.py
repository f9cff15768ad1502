"""Functions traced for saving: the graph of a NumPy function, which stands alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.imports.functions.jitted_functions import jitted_of
from np2tf.runtime.compilation.open_trace import example, stage_open
from np2tf.runtime.compilation.prepared_call import PreparedCall
from np2tf.runtime.xla.op_placement import ops_of
from np2tf.staging import ExportError
from np2tf.tnp._operands.conversion import as_tensor

#: Operations that call a function of Python, and thus run in the process alone that has made the graph.
_CALLBACKS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
#: Arrays of so many bytes are saved as variables: a graph as text holds two gigabytes at most.
_LARGE = 1 << 20


class OpenGraph:
    """A NumPy function as graphs over arrays of unknown lengths: one graph for each signature.

    Attributes:
        tf_function: the `tf.function` that has the graphs.
        variables: the large arrays that the function reads by name.

    Args:
        function: a jitted, translated or plain NumPy function.
        jit_compile: whether XLA compiles the graph.
    """

    def __init__(self, function: Callable[..., Any], jit_compile: bool | None = None) -> None:
        self._jitted_function, self._bound_arguments = jitted_of(function)
        self.variables: list[tf.Variable] = []
        self._variables_by_id: dict[int, tuple[Any, tf.Variable]] = {}
        self._call: tuple[PreparedCall, Callable[..., Any]] | None = None
        self._concrete_functions: dict[Any, Any] = {}
        self.tf_function = tf.function(self._stage, autograph=False, jit_compile=jit_compile)

    def _stage(self, *tensors: tf.Tensor) -> Any:
        assert self._call is not None
        # Arguments that are bound to the function are read by name, as far as the graph is concerned.
        call, function = self._call
        handles = self._jitted_function._compiler.handles_exceptions
        return stage_open(call, function, tensors, len(self._bound_arguments), self._constant, handles)

    def add(self, specs: Sequence[tf.TensorSpec]) -> Any:
        """Trace the function for a signature, and return its concrete function.

        Raises:
            StagingError: if the function cannot be staged, or needs this process when the graph runs.
        """
        args = (*self._bound_arguments, *map(example, specs))

        def trace(call: PreparedCall, function: Callable[..., Any]) -> Any:
            self._call = call, function
            return self.tf_function.get_concrete_function(*specs)

        concrete_function = self._jitted_function._compiler.trace_apart(args, trace)
        callbacks = sorted(_CALLBACKS & ops_of(concrete_function.graph))
        if callbacks:
            raise ExportError(f"the graph calls functions of Python ({', '.join(callbacks)})")
        self._concrete_functions[_kinds(specs)] = concrete_function
        return concrete_function

    def callable(self) -> Any:
        """Return a `tf.function` that calls the graphs; TensorFlow traces it again when it is saved."""
        function = tf.function(
            lambda *tensors: self._concrete_functions[_kinds(tensors)](*tensors), autograph=False
        )
        for concrete in self._concrete_functions.values():
            function.get_concrete_function(*concrete.structured_input_signature[0])
        return function

    def _constant(self, array: Any) -> tf.Tensor:
        """Return the tensor of an array that the function reads by name."""
        if array.nbytes < _LARGE:
            return tf.constant(as_tensor(array).numpy() if not isinstance(array, np.ndarray) else array)
        entry = self._variables_by_id.get(id(array))
        if entry is None:
            with tf.init_scope():
                entry = self._variables_by_id[id(array)] = (
                    array,
                    tf.Variable(as_tensor(array), trainable=False),
                )
            self.variables.append(entry[1])
        return entry[1].read_value()


def _kinds(tensors: Sequence[Any]) -> tuple[Any, ...]:
    return tuple((tensor.dtype, tuple(tensor.shape)) for tensor in tensors)


__all__ = ["OpenGraph"]
