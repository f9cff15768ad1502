"""The operations of a trace: made from a table of earlier ones, counted against time, number and memory, and
kept if NumPy would have run them.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.python.util import tf_stack

from np2tf.arrays.tensors.symbolic_integers import constant, graph_constants
from np2tf.core.errors import TraceSizeError, TracingTimeError

# -- trace limit ---------------------------------------------------------------------------------------------
# The limit of one trace: of time, of operations, and of memory.
#
# Each operation that the trace creates is counted, wherever it is created: in unrolled loops, in the bodies
# of loops and branches, in callees, and in graphs that are thrown away. What becomes of the graph
# afterwards (the conversion for TensorFlow's runtime, XLA's compilation, which nothing can interrupt) takes
# time and memory in proportion to its operations.

#: The number of operations that a trace may create. On an idle machine 1,000 operations take about 0.1 s to
#: trace and 0.4 s to compile, and 70 MB of memory. The graph of a transformer with 24 layers has 5,000.
MOST_OPERATIONS = 40_000
#: A trace may make the process larger by this share of the machine's memory, or by LEAST_BYTES.
SHARE_OF_MEMORY, LEAST_BYTES = 1 / 8, 1 << 30
#: The clock is read once in so many operations, and the process's memory once in so many.
_CLOCK, _MEMORY = 32, 1024


class TraceLimit:
    """The limit of one trace, which is given up at `deadline` (by `time.monotonic`; None for never)."""

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._operations = 0
        self._least_bytes = _resident_bytes()
        self._error: TracingTimeError | TraceSizeError | None = None

    def note_operation(self) -> None:
        """Count an operation; raise TracingTimeError or TraceSizeError if the trace exceeds the limit."""
        self._operations += 1
        if self._error is not None or self._operations % _CLOCK == 0:
            self.check()

    def check(self) -> None:
        """End a trace that exceeds the limit, by TracingTimeError or TraceSizeError."""
        self._error = self._error or self._find_error()
        if self._error is not None:
            # Whatever is tried instead in the same trace ends at once, too.
            raise type(self._error)(self._error.reason)

    def _find_error(self) -> TracingTimeError | TraceSizeError | None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            return TracingTimeError("tracing it takes longer than it has run so far")
        if self._operations > MOST_OPERATIONS:
            return TraceSizeError(f"tracing it makes more than {MOST_OPERATIONS} operations")
        if self._operations % _MEMORY == 0:
            grown_by = _resident_bytes() - self._least_bytes
            if grown_by > max(SHARE_OF_MEMORY * _memory_of_machine(), LEAST_BYTES):
                return TraceSizeError(f"tracing it takes {grown_by >> 20} MB of memory")
        return None


class _Current(threading.local):
    """The limit of the trace of this thread."""

    limit: TraceLimit | None = None


_current = _Current()


@contextmanager
def limited(limit: TraceLimit) -> Iterator[None]:
    """Count the operations that this thread creates within the block."""
    before, _current.limit = _current.limit, limit
    try:
        yield
    finally:
        _current.limit = before


def note_operation() -> None:
    """Count an operation of this thread's trace, if there is one; end a trace that exceeds its limit."""
    if _current.limit is not None:
        _current.limit.note_operation()


def check_limit() -> None:
    """End this thread's trace if it exceeds its limit."""
    if _current.limit is not None:
        _current.limit.check()


def _resident_bytes() -> int:
    """Return the memory that the process has in use; 0 on systems that do not say so."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _memory_of_machine() -> int:
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0


# -- op creation ---------------------------------------------------------------------------------------------
# Creates the operations of a graph from a table of earlier operations, while a function is traced.
#
# For each operation of a graph, TensorFlow reads the operation's definition, infers the attributes from the
# operands, and encodes them. That takes two thirds of the time of an operation, and the outcome depends
# only on the dtypes of the tensors and on the values of the other operands. So TensorFlow does it once in a
# process for each operation with such operands, and the table has the results.


class _Recipe(NamedTuple):
    """The inputs and attributes of an operation, as TensorFlow has inferred them from the operands."""

    #: For each input of the definition: the parameter, whether it is a list of inputs, and their dtype.
    inputs: tuple[tuple[str, bool, tf.DType], ...]
    input_types: list[tf.DType]
    attributes: dict[str, Any]
    definition: Any
    output_structure: list[Any]


class _Modules(NamedTuple):
    """Parts of TensorFlow that create operations."""

    library: Any
    infer: Any
    ops: Any
    encode: Any
    invokes_callbacks: Any
    func_graph: type
    tensor: Any


_MOST_RECIPES = 20_000
_INTEGERS = (int, bool)
_SEQUENCES = (list, tuple, tf.TensorShape)
#: Arrays of one number of these kinds, and vectors of at most so many integers, are small constants.
_NUMBER_KINDS, _FEW = "biufc", 32
#: The types of operands that become tensors.
_OPERANDS = (*_INTEGERS, float, *_SEQUENCES)
_VALUES = (int, bool, str, bytes, type(None), tf.DType)
#: None is the recipe of operations that TensorFlow has to create.
_recipes: dict[tuple[Any, ...], _Recipe | None] = {}
_lock = threading.Lock()
_users = 0


@contextmanager
def table_of_operations() -> Iterator[None]:
    """Create operations by the table within the block.

    The functions of TensorFlow that create operations and constants are replaced within the block, also for
    other threads. The operations are the same, and equal small constants of a graph are one constant.
    """
    global _users
    modules = _modules()
    with _lock:
        _users += 1
        modules.library._apply_op_helper = _create_operation
        modules.ops._create_graph_constant = _create_constant
        tf_stack.extract_stack = _frames_of_caller
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                modules.library._apply_op_helper = modules.infer
                modules.ops._create_graph_constant = modules.encode
                tf_stack.extract_stack = _extract_stack


@cache
def _modules() -> _Modules:
    names = ("op_def_library", "ops", "op_callbacks", "func_graph", "tensor")
    library, ops, callbacks, graphs, tensors = (
        importlib.import_module(f"tensorflow.python.framework.{name}") for name in names
    )
    return _Modules(
        library,
        library._apply_op_helper,
        ops,
        ops._create_graph_constant,
        callbacks.should_invoke_op_callbacks,
        graphs.FuncGraph,
        tensors.Tensor,
    )


def _create_operation(op_type: str, name: str | None = None, **operands: Any) -> Any:
    """Create an operation as TensorFlow's `_apply_op_helper` does, with the same arguments and result."""
    note_operation()
    modules = _modules()
    graph = modules.ops.get_default_graph()
    key = _key_of(op_type, operands, modules) if isinstance(graph, modules.func_graph) else None
    if key is None or modules.invokes_callbacks():
        return modules.infer(op_type, name, **operands)
    recipe = _recipes.get(key)
    if recipe is None:
        result = modules.infer(op_type, name, **operands)
        if key not in _recipes:
            if len(_recipes) > _MOST_RECIPES:
                _recipes.clear()
            _recipes[key] = _recipe_of(result, operands, modules)
        return result
    inputs: list[Any] = []
    for parameter, is_list, dtype in recipe.inputs:
        operand = operands[parameter]
        if is_list:
            inputs += [_tensor_of(element, dtype) for element in operand]
        else:
            inputs.append(_tensor_of(operand, dtype))
    operation = graph._create_op_internal(
        op_type,
        inputs,
        name=name,
        input_types=list(recipe.input_types),
        attrs=dict(recipe.attributes),
        op_def=recipe.definition,
    )
    return recipe.output_structure, recipe.definition.is_stateful, operation, operation.outputs


def _create_constant(value: Any, dtype: Any, shape: Any, *details: Any, **keywords: Any) -> tf.Tensor:
    """Create a constant as TensorFlow's `_create_graph_constant` does; equal small ones are created once."""
    note_operation()
    modules = _modules()
    graph = modules.ops.get_default_graph()
    part = _part_of_constant(value) if shape is None and isinstance(graph, modules.func_graph) else None
    if part is None or _is_in_scope(graph) or modules.invokes_callbacks():
        return modules.encode(value, dtype, shape, *details, **keywords)
    constants = graph_constants(graph)
    key = type(value), part, dtype
    tensor = constants.get(key)
    if tensor is None:
        tensor = constants[key] = modules.encode(value, dtype, shape, *details, **keywords)
    return tensor


def _part_of_constant(value: Any) -> Any:
    """Return the part of a key for the value of a small constant; None for other values."""
    kind = type(value)
    if kind in _INTEGERS:
        return value
    if kind is float:
        return value.hex()  # 0.0 is equal to -0.0
    if kind is np.ndarray and not value.shape and value.dtype.kind in _NUMBER_KINDS:
        return value.dtype, value.tobytes()
    if kind in (list, tuple) and len(value) <= _FEW and all(type(element) is int for element in value):
        return tuple(value)
    return None


def _is_in_scope(graph: Any) -> bool:
    """Return whether new operations have a device, belong to a loop of TensorFlow 1, or wait for others."""
    return bool(
        list(graph._device_function_stack.peek_objs())
        or graph._control_dependencies_stack
        or graph._get_control_flow_context() is not None
    )


def _key_of(op_type: str, operands: dict[str, Any], modules: _Modules) -> tuple[Any, ...] | None:
    """Return what decides the attributes of an operation, or None if the table cannot have the operation."""
    key: list[Any] = [op_type]
    for parameter, operand in operands.items():
        part = _part_of(operand, modules)
        if part is None:
            return None
        key += parameter, part
    return tuple(key)


def _part_of(operand: Any, modules: _Modules) -> Any:
    """Return the part of a key for an operand: the dtype of a tensor, else the type and the value."""
    if isinstance(operand, modules.tensor):
        return operand.dtype
    kind = type(operand)
    if kind in _VALUES:
        return kind, operand
    if kind is float:
        return kind, operand.hex()  # 0.0 is equal to -0.0
    if kind is tf.TensorShape:
        return kind, operand.rank and tuple(operand)
    if kind is list or kind is tuple:
        parts = [_part_of(element, modules) for element in operand]
        return None if any(part is None for part in parts) else (kind, *parts)
    return None


def _recipe_of(result: Any, operands: dict[str, Any], modules: _Modules) -> _Recipe | None:
    """Return how operations like the created one are made, or None if TensorFlow has to make them."""
    output_structure, _, operation, _ = result
    definition, node = operation.op_def, operation.node_def
    types = [tensor.dtype for tensor in operation.inputs]
    inputs = []
    place = 0
    for argument in definition.input_arg:
        parameter = argument.name if argument.name in operands else f"{argument.name}_"
        operand = operands[parameter]
        is_list = bool(argument.number_attr or argument.type_list_attr)
        elements = operand if is_list else (operand,)
        dtypes = set(types[place : place + len(elements)])
        are_convertible = all(
            isinstance(element, modules.tensor) or type(element) in _OPERANDS for element in elements
        )
        if argument.is_ref or len(dtypes) > 1 or not are_convertible:
            return None
        inputs.append((parameter, is_list, next(iter(dtypes), None)))
        place += len(elements)
    attributes = {attribute.name: node.attr[attribute.name] for attribute in definition.attr}
    return _Recipe(tuple(inputs), types, attributes, definition, output_structure)


def _tensor_of(operand: Any, dtype: tf.DType) -> tf.Tensor:
    """Return an operand as a tensor of the graph, as TensorFlow converts it."""
    kind = type(operand)
    if kind in _INTEGERS:
        return constant(operand, dtype)
    if kind is float:
        return tf.constant(operand, dtype)
    if kind not in _SEQUENCES:
        return operand
    if all(type(element) in _INTEGERS for element in operand):
        return constant(tuple(operand), dtype)
    return tf.convert_to_tensor(operand, dtype)


# -- stack traces --------------------------------------------------------------------------------------------
# TensorFlow keeps the whole stack of Python calls with each operation, and XLA with each instruction, for as
# long as the process lives: 70 frames of np2tf's and TensorFlow's own for one line of the program.


class ProgramFrames(tf_stack.StackTraceFilter):
    """Within the block, operations of this thread keep the program's own frames of the stack only.

    The operations of one call of the program share their frames: to read the stack takes up to a tenth of the
    time of creating an operation.
    """

    def __init__(self) -> None:
        self.internal_set = _internal_files().left_out_of_extension
        self._caller: FrameType | None = None
        self._instruction = -1
        self._frames: Any = None

    def __exit__(self, *details: object) -> None:
        self._caller = self._frames = None
        super().__exit__(*details)

    def frames(self, caller: FrameType | None, stacklevel: int) -> Any:
        """Return TensorFlow's summary of the stack that calls a frame."""
        files = _internal_files().every
        while caller is not None and caller.f_code.co_filename in files:
            caller = caller.f_back
        instruction = -1 if caller is None else caller.f_lasti
        if self._frames is None or caller is not self._caller or instruction != self._instruction:
            self._caller, self._instruction = caller, instruction
            self._frames = _extract_stack(stacklevel)
        return self._frames

    def update(self) -> None:
        """The set of files is the same for all traces."""

    def get_filtered_filenames(self) -> frozenset[str]:
        """Return the files whose frames are left out."""
        return _internal_files().left_out


def _frames_of_caller(stacklevel: int = 1) -> Any:
    """Return TensorFlow's summary of the stack, as `tf_stack.extract_stack` does."""
    transform = tf_stack._source_filter_stacks[tf_stack._get_thread_key()][-1]
    if type(transform) is ProgramFrames:
        return transform.frames(sys._getframe(1), stacklevel)
    return _extract_stack(stacklevel + 1)


_extract_stack = tf_stack.extract_stack


#: Frames that stay: TensorFlow drops the innermost frames, which are its own, from what the filter leaves.
#: XLA ends the process where no frame is left; that of a trace always is.
_KEPT = ("tensorflow/python/framework/ops.py", "framework/func_graph.py", "compile/concrete_function.py")


class _InternalFiles(NamedTuple):
    """np2tf's and TensorFlow's files, and those whose frames are left out, also as TensorFlow needs them."""

    every: frozenset[str]
    left_out: frozenset[str]
    left_out_of_extension: Any


@cache
def _internal_files() -> _InternalFiles:
    names = {str(path) for path in Path(__file__).parents[2].rglob("*.py")}
    names |= {
        str(getattr(module, "__file__", ""))
        for name, module in sys.modules.copy().items()
        if name.startswith("tensorflow.python.")
    }
    left_out = {name for name in names if not name.replace(os.sep, "/").endswith(_KEPT)}
    of_extension = tf_stack._tf_stack.PyBindFileSet()
    of_extension.update_to(left_out)
    return _InternalFiles(frozenset(names), frozenset(left_out), of_extension)


# -- unused results ------------------------------------------------------------------------------------------
# Operations with unused results that NumPy would run: the graph must not drop their errors.
#
# TensorFlow runs only operations that the results of a graph need. An array whose length depends on data
# may not fit an operation, which is known only when the operation runs: NumPy raises even if the result is
# not used.

#: The types of operations that raise if the lengths of their inputs do not fit.
_CHECKS = {
    *("Reshape", "BroadcastTo", "ConcatV2", "Pack", "MatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"),
    *("AddV2", "Sub", "Mul", "RealDiv", "FloorDiv", "FloorMod", "Pow", "Maximum", "Minimum", "Atan2"),
    *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr"),
    *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "SelectV2"),
}


def unused_checks(graph: tf.Graph, outputs: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the results of operations that may raise for a length, and that no output needs.

    They must become outputs, because the optimiser drops operations that only control dependencies need.
    """
    checks = [op for op in graph.get_operations() if op.type in _CHECKS and _may_fail(op)]
    if not checks:
        return []
    live_ops = {output.op for output in outputs}
    stack = list(live_ops)
    while stack:
        op = stack.pop()
        new = {tensor.op for tensor in op.inputs} | set(op.control_inputs)
        stack += new - live_ops
        live_ops |= new
    return [op.outputs[0] for op in checks if op not in live_ops]


def _may_fail(op: tf.Operation) -> bool:
    return any(not tensor.shape.is_fully_defined() for tensor in op.inputs)
