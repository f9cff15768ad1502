"""Traced functions as bytes, which another process loads without a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.core.framework import function_pb2
from tensorflow.python.eager import context
from tensorflow.python.framework import function_def_to_graph

from np2tf.staging.xla.calls import unset_sign

#: Operations that call Python functions of this process.
_CALLBACKS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})


class NotStorableError(Exception):
    """Raised if a function needs something of this process."""


class GraphFile(NamedTuple):
    """A traced function as plain data.

    Attributes:
        library: the definitions of the function and of all functions that it calls, serialized.
        outputs: the dtypes of its outputs.
        can_be_stopped: whether its last input is a stop sign.
    """

    name: str
    library: bytes
    outputs: tuple[int, ...]
    can_be_stopped: bool

    @classmethod
    def of(cls, function: Any) -> GraphFile:
        """Return a concrete function of TensorFlow as data.

        Raises:
            NotStorableError: if it captures tensors of this process, or calls back to Python.
        """
        graph = function.graph
        captures = list(graph.external_captures)
        if graph.deferred_external_captures or len(captures) > 1:
            raise NotStorableError("it captures tensors")
        if captures and captures[0] is not unset_sign():
            raise NotStorableError("it captures a tensor")
        name = _text(function.name)
        library = function_pb2.FunctionDefLibrary(function=_definitions(name))
        outputs = tuple(output.dtype.as_datatype_enum for output in function.outputs)
        return cls(name, library.SerializeToString(deterministic=True), outputs, bool(captures))


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _definitions(name: str) -> list[function_pb2.FunctionDef]:
    """Return the definitions of a function and of all functions that it calls."""
    here = context.context()
    found: dict[str, function_pb2.FunctionDef] = {}
    names = [name]
    while names:
        latest = names.pop()
        if latest in found:
            continue
        definition = found[latest] = here.get_function_def(latest)
        for node in definition.node_def:
            if node.op in _CALLBACKS:
                raise NotStorableError("it calls Python")
            names += _called_functions(node)
    return list(found.values())


def _called_functions(node: Any) -> Iterator[str]:
    if context.context().has_function(node.op):
        yield node.op
    for attribute in node.attr.values():
        if attribute.HasField("func"):
            yield attribute.func.name
        for function in attribute.list.func:
            yield function.name


class LoadedFunction:
    """A function that was traced in another process.

    Attributes:
        name: its name for TensorFlow.
        outputs: the dtypes of its outputs.
        external_captures: the tensors that it takes besides its inputs.
    """

    def __init__(self, file: GraphFile) -> None:
        """Define the function in TensorFlow, or raise tf.errors.OpError if another function has its name."""
        here = context.context()
        for definition in function_pb2.FunctionDefLibrary.FromString(file.library).function:
            here.add_function_def(definition)  # also if it is there: its owner may remove it
        self.name = file.name
        self.outputs = [tf.as_dtype(dtype) for dtype in file.outputs]
        self.external_captures = [unset_sign()] if file.can_be_stopped else []

    @property
    def graph(self) -> tf.Graph:
        """The graph, made again from its definition."""
        return function_def_to_graph.function_def_to_graph(context.context().get_function_def(self.name))
