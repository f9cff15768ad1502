"""shard_map: a function on blocks of its arguments, a block on each device of each process."""

from __future__ import annotations

import functools
import itertools
import re
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, wrap_tensor
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import LostWorkerError, NotStagedError, ReplicaError, TransformArgumentError
from np2tf.staging.compile.compiler import Compiler
from np2tf.staging.compile.concrete_function import ConcreteFunction, DiscardedCall
from np2tf.staging.compile.preparation import share_memory
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.staging.xla.placement import COLLECTIVES
from np2tf.transforms.arguments import length_of, mapped_axes
from np2tf.transforms.lanes.axes import enter_axis, run_lanes
from np2tf.transforms.recordings import recordings
from np2tf.transforms.runnable import check_callable, name_like, runnable
from np2tf.transforms.sharding.cluster import cluster
from np2tf.transforms.sharding.replicas import Replicas, replicas_of
from np2tf.transforms.sharding.segments import ReplicaAxis, SegmentError, Segments, key_of
from np2tf.transforms.values import TREES, Form, Structure, as_array, broadcast_prefix, dtype_of, shape_of

__all__ = [
    "Blocks",
    "CompiledReplicas",
    "Varying",
    "shard_map",
]


# -- varying -------------------------------------------------------------------------------------------------
# The tensors of a graph that may differ from replica to replica.
#
# A tensor varies if it is computed from a block of an argument or from the number of the replica, unless a
# collective operation in between has made it the same everywhere.

_LOOPS = frozenset({"While", "StatelessWhile"})
_BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

#: For each node whether its outputs vary: one answer for all of them, or one for each.
_Varies = dict[str, "bool | list[bool]"]


class Varying:
    """The tensors of a graph that vary.

    Args:
        sources: the tensors that vary because of what they are.

    Raises:
        ReplicaError: a collective operation is in a loop or branch that some replicas may not enter.
    """

    def __init__(self, graph: tf.Graph, sources: Iterable[tf.Tensor]) -> None:
        definition = graph.as_graph_def()
        self._functions = {function.signature.name: function for function in definition.library.function}
        self._sums: dict[tuple[str, tuple[bool, ...]], list[bool]] = {}
        self._varies: _Varies = {tensor.op.name: True for tensor in sources}
        self._propagate(definition.node, self._varies)

    def has(self, tensor: tf.Tensor) -> bool:
        """Return whether a tensor of the graph varies."""
        return _look_up(f"{tensor.op.name}:{tensor.value_index}", self._varies)

    def _propagate(self, nodes: Sequence[Any], varies: _Varies) -> None:
        """Add the nodes of a graph or function to `varies`, until nothing changes."""
        sources = frozenset(varies)
        is_settled = False
        while not is_settled:
            is_settled = True
            for node in nodes:
                if node.name in sources:
                    continue
                inputs = [_look_up(name, varies) for name in node.input if not name.startswith("^")]
                outputs = self._outputs(node, inputs)
                if varies.get(node.name, False) != outputs:
                    varies[node.name], is_settled = outputs, False

    def _outputs(self, node: Any, inputs: list[bool]) -> bool | list[bool]:
        if node.op in COLLECTIVES or not any(inputs):
            return False
        if node.op in _LOOPS:
            return self._of_loop(node, inputs)
        if node.op in _BRANCHES:
            bodies = _bodies(node)
            if inputs[0]:
                self._refuse_collectives(bodies)
                return True
            columns = [self._of_function(body, inputs[1:]) for body in bodies]
            return [any(column) for column in zip(*columns, strict=True)]
        if node.op in _CALLS:
            return self._of_function(node.attr["f"].func.name, inputs)
        return True

    def _of_loop(self, node: Any, inputs: list[bool]) -> bool | list[bool]:
        body, test = node.attr["body"].func.name, node.attr["cond"].func.name
        state = inputs
        while True:
            if any(self._of_function(test, state)):
                self._refuse_collectives([body])
                return True
            after = [old or new for old, new in zip(state, self._of_function(body, state), strict=True)]
            if after == state:
                return state
            state = after

    def _of_function(self, name: str, inputs: Sequence[bool]) -> list[bool]:
        key = name, tuple(inputs)
        if key not in self._sums:
            function = self._functions[name]
            varies: _Varies = {
                arg.name: flag for arg, flag in zip(function.signature.input_arg, inputs, strict=True)
            }
            self._propagate(function.node_def, varies)
            results = [function.ret[arg.name] for arg in function.signature.output_arg]
            self._sums[key] = [_look_up(result, varies) for result in results]
        return self._sums[key]

    def _refuse_collectives(self, names: Iterable[str]) -> None:
        for name in names:
            function = self._functions[name]
            if any(node.op in COLLECTIVES for node in function.node_def):
                raise ReplicaError(
                    "a collective is in a loop or branch whose test depends on the replica, so that some "
                    "replicas would wait for others for ever; make the test the same everywhere "
                    "(`np2tf.pmax` of it), or call the collective outside"
                )
            self._refuse_collectives(body for node in function.node_def for body in _bodies(node))


def _bodies(node: Any) -> list[str]:
    """Return the names of the functions that a node may call."""
    names = [value.func.name for value in node.attr.values() if value.HasField("func")]
    return names + [function.name for value in node.attr.values() for function in value.list.func]


def _look_up(reference: str, varies: Mapping[str, bool | list[bool]]) -> bool:
    """Return whether a tensor varies: "node", "node:1" in a graph, "node:output:1" in a function."""
    name, *places = reference.split(":")
    answer = varies.get(name, False)
    return answer if isinstance(answer, bool) else answer[int(places[-1]) if places else 0]


# -- blocks --------------------------------------------------------------------------------------------------
# The blocks into which the arguments of a call are cut, one for each replica.


class Blocks:
    """The arguments of a call, cut into blocks.

    An argument may be a `tf.distribute.DistributedValues`, such as an element of a distributed dataset: it
    has the blocks of this process's replicas.

    Args:
        in_axes: as for `shard_map`.

    Raises:
        TransformArgumentError: axes and arguments do not fit together, or an axis cannot be cut evenly.
    """

    def __init__(
        self, in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], replicas: Replicas
    ) -> None:
        self._replicas = replicas
        self._is_distributed = any(isinstance(arg, tf.distribute.DistributedValues) for arg in args)
        #: The arguments of each replica of this process, with its own part of distributed values.
        self._calls = [(tuple(replicas.local_value(arg, k) for arg in args), kwargs) for k in replicas.places]
        first_args, _ = self._calls[0]
        self._axes = mapped_axes(in_axes, first_args, kwargs, "shard_map")
        place = 0
        for arg, part in zip(args, first_args, strict=True):
            count = len(Structure(part, TREES).leaves)
            if isinstance(arg, tf.distribute.DistributedValues):
                self._axes[place : place + count] = [None] * count
            place += count
        leaves = Structure(self._calls[0], TREES).leaves
        self._length = 0
        if any(axis is not None for axis in self._axes):
            length = length_of(self._axes, leaves, "shard_map")
            self._length, remainder = divmod(length, replicas.count)
            if remainder:
                raise TransformArgumentError(
                    f"shard_map cannot cut an axis of length {length} into {replicas.count} equal blocks; "
                    f"leave out {remainder} elements, or add {replicas.count - remainder}"
                )

    def local_calls(self) -> tuple[Any, ...]:
        """Return the positional arguments and the arguments by name of each replica of this process."""
        calls = tuple(
            self._call(call, self._replicas.first + place) for place, call in enumerate(self._calls)
        )
        structure = Structure(calls, TREES)
        return structure.build(_apart(structure.leaves))  # type: ignore[no-any-return]

    def host_call(self, number: int) -> Any:
        """Return copies of the arguments of any replica, on the host.

        Raises:
            TransformArgumentError: the blocks of other processes are not known here.
        """
        if self._is_distributed:
            raise TransformArgumentError(
                "NumPy raises an error for the values in a replica; run the function on NumPy to see it"
            )
        structure = Structure(self._call(self._calls[0], number))
        return structure.build(
            [np.array(leaf) if type(leaf) is np.ndarray else leaf for leaf in structure.leaves]
        )

    def _call(self, call: Any, number: int) -> Any:
        structure = Structure(call, TREES)
        return structure.build(
            [
                leaf if axis is None else self._block(leaf, axis, number)
                for leaf, axis in zip(structure.leaves, self._axes, strict=True)
            ]
        )

    def _block(self, leaf: Any, axis: int, number: int) -> Any:
        place = (*[slice(None)] * axis, slice(number * self._length, (number + 1) * self._length))
        if isinstance(leaf, np.ndarray) and not is_array(leaf):
            return leaf[place]
        return tnp.asarray(as_array(leaf))[place]


def _apart(leaves: list[Any]) -> list[Any]:
    """Return leaves of which no two share memory, unless they are the same array."""
    arrays = {id(leaf): leaf for leaf in leaves if type(leaf) is np.ndarray}
    if not share_memory([*arrays.values()]):
        return leaves
    copies = {key: array.copy() for key, array in arrays.items()}
    return [copies.get(id(leaf), leaf) for leaf in leaves]


# -- compiled replicas ---------------------------------------------------------------------------------------
# The compiled form of the replicas of one process: one graph, whose parts run on the process's devices.

#: TensorFlow's errors in a collective operation if another process has ended or does not answer.
_LOST_ERRORS = (
    tf.errors.UnavailableError,
    tf.errors.DeadlineExceededError,
    tf.errors.AbortedError,
    tf.errors.CancelledError,
)


class CompiledReplicas(Compiler):
    """The compiler of replicas. It never runs them on the host, where they would not meet other processes."""

    _is_followed = False

    def __init__(self, stage: Callable[..., Any]) -> None:
        super().__init__(JittedFunction(stage, "compile"))

    def run(self, calls: tuple[Any, ...]) -> Any:
        """Return the result of the replicas for the arguments of each.

        Raises:
            StagingError: the function cannot be compiled.
            DiscardedCall: NumPy raises an error for these values, in all processes alike.
            LostWorkerError: another process has ended, or does not answer.
        """
        compilation = self._code_for(calls, {})
        _check_effects(compilation.function)
        try:
            return self._execute(compilation, time.perf_counter())
        except _LOST_ERRORS as error:
            if cluster.count == 1:
                raise
            raise _lost_worker(error) from None


def _check_effects(function: ConcreteFunction) -> None:
    if not function.changes_arguments:
        return
    raise ReplicaError(
        "a replica changes an array, list, dict or object that is not an argument, and the replicas would "
        "disagree about its value; return the new value"
    )


def _lost_worker(error: Exception) -> LostWorkerError:
    numbers = sorted({int(number) for number in re.findall(r"/task:(\d+)", str(error))} - {cluster.index})
    subject = f"worker {numbers[0]}" if len(numbers) == 1 else "another worker"
    fault = (
        f"has not answered for {cluster.timeout:g} s"
        if isinstance(error, tf.errors.DeadlineExceededError)
        else "has ended or cannot be reached"
    )
    return LostWorkerError(
        f"{subject} of {cluster.count} {fault} (this is worker {cluster.index}); look at its output for the "
        "reason, and start all workers again"
    )


# -- shard map -----------------------------------------------------------------------------------------------
# `shard_map`: a function on blocks of its arguments, a block on each device of each process.


def shard_map(
    fun: Callable[..., Any],
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = "replicas",
    strategy: Any = None,
) -> Callable[..., Any]:
    """Return a function that applies `fun` to blocks of its arguments, one block per device.

    Every process of the program calls the function with the same arguments and gets the same result. There is
    one replica of `fun` for each device; replica k gets the k-th block of equal length. `psum`, `pmean`,
    `pmax`, `all_gather` and `axis_index` in `fun` refer to the replicas by the name of the axis.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        in_axes: for each positional argument the axis to cut into blocks, or None for an argument that every
            replica gets whole; an entry may be nested like its argument. One int or None applies to all.
            Keyword arguments are cut along axis 0. The length of the axis must be a multiple of the number of
            replicas.
        out_axes: the axis along which to join the blocks of the results, nested like the result; None for a
            result that is the same in all replicas, such as a `psum`.
        axis_name: the name of the axis.
        strategy: a MirroredStrategy, MultiWorkerMirroredStrategy or OneDeviceStrategy of TensorFlow. None:
            the strategy in scope, else all devices of all processes.

    Returns:
        A function with the arguments of `fun`. It is compiled at the first call with new shapes.

    Raises:
        TransformError: on a call, if axes and arguments do not fit together, or if a result with the axis
            None depends on the replica.
        StagingError: on a call, if `fun` cannot be compiled.
        LostWorkerError: on a call, if another process has ended.

    See https://docs.jax.dev/en/latest/_autosummary/jax.shard_map.html.
    """
    check_callable(fun, "shard_map")

    @functools.cache
    def of(strategy: Any) -> _ShardedFunction:
        return _ShardedFunction(fun, in_axes, out_axes, axis_name, replicas_of(strategy))

    def map_blocks(*args: Any, **kwargs: Any) -> Any:
        if recordings.depth:
            raise TransformArgumentError(
                "shard_map cannot be differentiated from outside; take the gradient inside: "
                'shard_map(lambda w, x: psum(grad(loss)(w, x), "replicas"), …)'
            )
        in_scope = strategy is None and tf.distribute.has_strategy()
        return of(tf.distribute.get_strategy() if in_scope else strategy).call(args, kwargs)

    return name_like(map_blocks, fun, "shard_map")  # type: ignore[no-any-return]


#: The functions by a number, which stands for them where they are staged.
_sharded_functions: WeakValueDictionary[int, _ShardedFunction] = WeakValueDictionary()
_numbers = itertools.count()


def _stage(number: int, fun: Callable[..., Any], calls: Sequence[Any]) -> Any:
    return _sharded_functions[number].stage(fun, calls)


class _ShardedFunction:
    """A function on the replicas of a strategy.

    Args:
        fun, in_axes, out_axes, axis_name: as for `shard_map`.
    """

    def __init__(
        self, fun: Callable[..., Any], in_axes: Any, out_axes: Any, axis_name: Any, replicas: Replicas
    ) -> None:
        self._fun, self._replicas, self._axis_name = fun, replicas, axis_name
        self._in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        self._out_axes = tuple(out_axes) if isinstance(out_axes, list) else out_axes
        code = getattr(fun, "__code__", None)
        self._label = (
            f"{getattr(fun, '__qualname__', type(fun).__name__)}:{getattr(code, 'co_firstlineno', 0)}"
        )

        self._uses_segments = True
        number = next(_numbers)
        _sharded_functions[number] = self

        def stage(*calls: Any) -> Any:
            # The values in this closure are inputs of the compiled code: the function with what it reads.
            return _stage(number, fun, calls)

        self._compiler = CompiledReplicas(stage)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result for the arguments of all replicas."""
        blocks = Blocks(self._in_axes, args, kwargs, self._replicas)
        if current_scope() is not None:
            return self.stage(self._fun, blocks.local_calls())
        form = Form((args, kwargs))
        try:
            return form.of(self._result_of(blocks))
        except (DiscardedCall, tf.errors.OpError) as error:
            result = self._on_host(blocks)  # raises NumPy's error
            if isinstance(error, tf.errors.OpError) and not self._replicas.is_one_process:
                raise  # (other processes have no result)
            return form.of(result)

    def _result_of(self, blocks: Blocks) -> Any:
        try:
            return self._compiler.run(blocks.local_calls())
        except SegmentError:
            self._uses_segments = False
            return self._compiler.run(blocks.local_calls())

    def stage(self, fun: Callable[..., Any], calls: Sequence[Any]) -> Any:
        """Stage all replicas of this process, each on its device, and return the joint result.

        Args:
            calls: the positional arguments and the arguments by name of each replica.
        """
        scope = current_scope()
        assert scope is not None
        trace, replicas = trace_of(scope), self._replicas
        if trace.xla:
            raise NotStagedError("an XLA program runs on one device, and replicas run on several")
        axis, run = ReplicaAxis(self._axis_name, replicas, self._label), runnable(fun)
        # A draw from a stream of NumPy would give all processes the same numbers.
        draws, trace.draws = trace.draws, None
        results, counts = [], set()
        try:
            for place, (args, kwargs) in enumerate(calls):
                with tf.device(replicas.devices[place]), enter_axis(axis):
                    axis.begin(place)
                    structure = Structure((args, kwargs), TREES)
                    axes = mapped_axes(self._in_axes, args, kwargs, "shard_map")
                    leaves = [
                        leaf if cut_axis is None else axis.vary(leaf)
                        for leaf, cut_axis in zip(structure.leaves, axes, strict=True)
                    ]
                    result = self._replica(trace, axis, functools.partial(_on_copies, run, structure, leaves))
                    results.append(self._join_blocks(result, axis))
                    counts.add(axis.met_count)
        finally:
            trace.draws = draws
        if len(counts) > 1:
            raise NotStagedError("the replicas reach different numbers of collectives")
        self._agree_on_violations(trace)
        return self._join_replicas(results, axis)

    def _replica(self, trace: Trace, axis: ReplicaAxis, call: Callable[[], Any]) -> Any:
        """Stage a replica, and return its result."""
        if not self._uses_segments or trace.throw_aways:
            return call()
        axis.segments = Segments(trace, self._fun, call)
        try:
            return axis.segments.run(axis.combine_stop)
        finally:
            axis.segments = None

    def _join_blocks(self, result: Any, axis: ReplicaAxis) -> _Result:
        structure = Structure(result)
        entries = broadcast_prefix(self._out_axes, result, "shard_map out_axes")
        leaves = []
        for leaf, entry in zip(structure.leaves, entries, strict=True):
            if entry is None or self._replicas.is_one_process:
                leaves.append(leaf)
            else:
                leaves.append(axis.gather(leaf, _axis_in(entry, leaf)))
        return _Result(structure, entries, leaves)

    def _join_replicas(self, results: Sequence[_Result], axis: ReplicaAxis) -> Any:
        """Return the result of all replicas, from the results of this process's replicas."""
        first = results[0]
        variance = Varying(default_graph(), axis.sources) if None in first.entries else None
        leaves = []
        for k, (leaf, entry) in enumerate(zip(first.leaves, first.entries, strict=True)):
            if entry is None:
                if dtype_of(leaf) is not None and variance is not None and variance.has(as_tensor(leaf)):
                    raise ReplicaError(
                        f"result {k + 1} of {len(first.leaves)} depends on the replica, but its entry in "
                        "out_axes is None; give an axis, or return its `np2tf.psum`, `pmean` or `pmax`"
                    )
                leaves.append(leaf)
            elif self._replicas.is_one_process:
                with tf.device(self._replicas.devices[0]):
                    parts = [as_tensor(result.leaves[k]) for result in results]
                    leaves.append(wrap_tensor(tf.concat(parts, _axis_in(entry, leaf))))
            else:
                leaves.append(wrap_tensor(leaf))
        return first.structure.build(leaves)

    def _agree_on_violations(self, trace: Trace) -> None:
        """Let all processes discard the call if one of them has to."""
        violation = trace.violations.value
        if self._replicas.is_one_process or violation.op.type == "Const":
            return
        key = key_of(self._label, "violations")
        total = self._replicas.processes.sum(tf.cast(violation, tf.int32), 0, key)
        trace.violations.write(tf.greater(total, 0))

    def _on_host(self, blocks: Blocks) -> Any:
        """Return the result that NumPy computes for all replicas, one by one, or raise its error."""
        count = self._replicas.count

        def lane(number: int) -> Any:
            args, kwargs = blocks.host_call(number)
            return self._fun(*args, **kwargs)

        results = run_lanes(lane, count, self._axis_name)
        structure = Structure(results[0])
        entries = broadcast_prefix(self._out_axes, results[0], "shard_map out_axes")
        columns = zip(
            *[structure.leaves_of(result, "the result of each replica") for result in results], strict=True
        )
        return structure.build(
            [
                parts[0] if entry is None else np.concatenate([np.asarray(part) for part in parts], entry)
                for parts, entry in zip(columns, entries, strict=True)
            ]
        )


def _on_copies(run: Callable[..., Any], structure: Structure, leaves: Sequence[Any]) -> Any:
    """Return the result of a function for copies of arguments, so that its writes stay inside."""
    args, kwargs = structure.build([as_array(leaf) for leaf in leaves])
    return run(*args, **kwargs)


@dataclass(frozen=True)
class _Result:
    """The result of a replica.

    Args:
        entries: the entry of `out_axes` for each leaf.
        leaves: the leaves; a leaf that is joined from several processes has the blocks of all replicas.
    """

    structure: Structure
    entries: list[Any]
    leaves: list[Any]


def _axis_in(entry: Any, leaf: Any) -> int:
    """Return the axis along which the blocks of a leaf are joined."""
    rank = len(shape_of(leaf))
    if dtype_of(leaf) is None:
        raise TransformArgumentError(
            f"shard_map cannot join results of type {type(leaf).__name__}; give None"
        )
    if not -rank <= entry < rank:
        raise TransformArgumentError(
            f"shard_map joins the results along axis {entry}, and a result has {rank} axes; return it with "
            "an axis (`x[None]`), or its `np2tf.psum` with None in out_axes"
        )
    return entry % rank
