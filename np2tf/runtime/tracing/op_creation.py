"""Creates the operations of a graph from a table of earlier operations, while a function is traced.

For each operation of a graph, TensorFlow reads the operation's definition, infers the attributes from the
operands, and encodes them. That takes two thirds of the time of an operation, and the outcome depends only on
the dtypes of the tensors and on the values of the other operands. So TensorFlow does it once in a process for
each operation with such operands, and the table has the results.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import tensorflow as tf

from np2tf.runtime.tracing.trace_limit import note_operation
from np2tf.tnp._tensor.small_constants import constant, graph_constants


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
    other threads. The operations are the same, and equal integer constants of a graph are one constant.
    """
    global _users
    modules = _modules()
    with _lock:
        _users += 1
        modules.library._apply_op_helper = _create_operation
        modules.ops._create_graph_constant = _create_constant
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                modules.library._apply_op_helper = modules.infer
                modules.ops._create_graph_constant = modules.encode


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
    """Create a constant as TensorFlow's `_create_graph_constant` does; equal integers are created once."""
    note_operation()
    modules = _modules()
    graph = modules.ops.get_default_graph()
    is_simple = type(value) in _INTEGERS and shape is None and isinstance(graph, modules.func_graph)
    if not is_simple or _is_in_scope(graph) or modules.invokes_callbacks():
        return modules.encode(value, dtype, shape, *details, **keywords)
    constants = graph_constants(graph)
    key = type(value), value, dtype
    tensor = constants.get(key)
    if tensor is None:
        tensor = constants[key] = modules.encode(value, dtype, shape, *details, **keywords)
    return tensor


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
