"""What a lane does besides computing: effects among its operations, and random draws."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core.errors import NotStagedError, StagingError, TransformError
from np2tf.staging.control.attributes import attributes_within
from np2tf.staging.random.states import bit_generator, global_state, is_generator, restorer, snapshot
from np2tf.staging.trace.captures import current, dependencies_of
from np2tf.staging.trace.trace import Trace
from np2tf.staging.trace.traced_arguments import same_contents
from np2tf.staging.values.containers import guard_closures

__all__ = [
    "refuse_draws",
]


# -- lane operations -----------------------------------------------------------------------------------------
# The operations of a lane that has been traced into a throw-away graph, and its effects among them.

BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
#: Operations with a state that a lane may use: they only read.
_READS = frozenset({"ReadVariableOp", "ResourceGather"})
#: Errors that end the attempt to run lanes together. If the function is to blame, its lanes raise them again.
FAILURES = (
    *(StagingError, TransformError, ValueError, TypeError, NotImplementedError, LookupError),
    *(ArithmeticError, AttributeError, NameError, tf.errors.OpError, np.exceptions.AxisError),
)


def effects_among(
    operations: Sequence[tf.Operation], further_types: frozenset[str] = frozenset()
) -> list[str]:
    """Return the types of the operations that do more than compute.

    Args:
        operations: the operations of a lane, also in its loops and branches.
        further_types: the types of further operations that count as computing.
    """
    types = _READS | LOOPS | BRANCHES | further_types
    return sorted({op.type for op in operations if op.op_def.is_stateful and op.type not in types})


def operations_within(operations: Sequence[tf.Operation]) -> list[tf.Operation]:
    """Return operations, and the operations in the functions that loops and branches among them run."""
    every: list[tf.Operation] = []
    graphs: list[Any] = []
    stack = list(operations)
    while stack:
        op = stack.pop()
        every.append(op)
        for value in _functions_of(op):
            if not any(value is graph for graph in graphs):
                graphs.append(value)
                stack.extend(value.get_operations())
    return every


def _functions_of(operation: tf.Operation) -> list[Any]:
    """Return the graphs of an operation's functions; raise NotImplementedError if one cannot be read."""
    graphs = []
    for name in operation.node_def.attr:
        attribute = operation.node_def.attr[name]
        for reference in [attribute.func] if attribute.HasField("func") else attribute.list.func:
            function = operation.graph._get_function(reference.name)
            graph = getattr(function, "graph", None)
            if graph is None:
                raise NotImplementedError(f"the function {reference.name} cannot be inspected")
            graphs.append(graph)
    return graphs


def dependents_of(operations: Sequence[tf.Operation], sources: Sequence[tf.Tensor]) -> set[Any]:
    """Return the tensors that depend on some of them, as references."""
    references = {tensor.ref() for tensor in sources}
    for operation in operations:  # (in the order in which they were made)
        if any(tensor.ref() in references for tensor in operation.inputs):
            references.update(tensor.ref() for tensor in operation.outputs)
    return references


def watched_run(trace: Trace, function: Any, run: Callable[[], Any]) -> tuple[Any, str]:
    """Return the result of a part of a trace whose writes are undone.

    Returns:
        The result, and what from outside it has written to: "an array" or "an object"; empty for nothing.

    Raises:
        StagingError: it changes something that cannot be undone.
    """
    guard, objects = guard_closures(function), attributes_within(trace, function)
    before = objects.read()
    with staging_scope(trace) as scope:
        try:
            result, after = objects.run_apart(run)
        finally:
            has_written = scope.writes.keys() - {trace.violations} or list(scope.poisoned_storages)
            scope.undo()
            guard.check()
    if has_written or len(before) != len(after):
        return result, "an array"
    return result, "" if all(map(same_contents, before, after)) else "an object"


# -- draws ---------------------------------------------------------------------------------------------------
# Draws of random numbers by lanes in a graph that np2tf does not build: all lanes would draw the same.


@contextmanager
def refuse_draws(function: Any, arguments: Sequence[Any]) -> Iterator[None]:
    """Refuse a function that draws from one of NumPy's streams of random numbers in the with block.

    Args:
        arguments: its arguments, which may be generators.

    Raises:
        NotStagedError: it has drawn; the streams are as before.
    """
    generators = [global_state(), *_generators_of(function), *filter(is_generator, arguments)]
    before = [snapshot(bit_generator(generator)) for generator in generators]
    restorers = [restorer(generator, set()) for generator in generators]
    yield
    if [snapshot(bit_generator(generator)) for generator in generators] != before:
        for restore in restorers:
            restore()
        raise NotStagedError(
            "a function that vmap applies to rows draws random numbers, drawn once for all rows in a graph; "
            "draw them outside of vmap, or use the keys of np2tf.random"
        )


def _generators_of(function: Any) -> list[Any]:
    """Return the generators that a function reads by name, and the attributes of the object of a method."""
    owner = function.__self__ if isinstance(function, types.MethodType) else None
    function = getattr(function, "__func__", function)
    values = list(vars(owner).values()) if hasattr(owner, "__dict__") else []
    if type(function) is types.FunctionType:
        values += current(dependencies_of(function).captures)
    values = [value.__self__ if isinstance(value, types.BuiltinMethodType) else value for value in values]
    return [value for value in values if is_generator(value)]
