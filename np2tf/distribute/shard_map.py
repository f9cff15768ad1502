"""`shard_map`: a function on blocks of its arguments, a block on each device of each process."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf

from np2tf.distribute.blocks import Blocks
from np2tf.distribute.compiled_replicas import CompiledReplicas
from np2tf.distribute.replica_axis import ReplicaAxis, key_of
from np2tf.distribute.replicas import Replicas, replicas_of
from np2tf.distribute.segments import SegmentError, Segments
from np2tf.distribute.varying import Varying
from np2tf.runtime.compilation.concrete_function import DiscardedCall
from np2tf.runtime.tracing.trace import Trace, trace_of
from np2tf.staging import NotStagedError
from np2tf.tnp._array.ndarray import wrap_tensor
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transform_errors import ReplicaError, TransformArgumentError
from np2tf.transforms.core.functions import check_callable, name_like, runnable
from np2tf.transforms.core.leaves import Form, as_array, dtype_of, shape_of
from np2tf.transforms.core.mapped_axes import mapped_axes
from np2tf.transforms.core.recordings import recordings
from np2tf.transforms.core.structures import TREES, Structure, broadcast_prefix
from np2tf.transforms.lanes.axes import enter_axis, run_lanes


def shard_map(
    fun: Callable[..., Any],
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = "replicas",
    strategy: Any = None,
) -> Callable[..., Any]:
    """Return a function that applies `fun` to blocks of its arguments, a block on each device.

    Every process of the program calls the function with the same arguments and gets the same result. There is
    one replica of `fun` for each device; replica k gets the k-th block of equal length. `psum`, `pmean`,
    `pmax`, `all_gather` and `axis_index` in `fun` refer to the replicas by the name of the axis.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        in_axes: for each positional argument the axis that is cut into blocks, or None for an argument that
            all replicas get whole; an entry may be nested like its argument. One int or None is for all.
            Arguments given by name are cut along axis 0. The length of the axis is a multiple of the number
            of replicas.
        out_axes: the axis of the results along which the blocks are joined, nested like the result; None for
            a result that is the same in all replicas, such as a `psum`.
        axis_name: the name of the axis.
        strategy: a MirroredStrategy, MultiWorkerMirroredStrategy or OneDeviceStrategy of TensorFlow. None
            takes the strategy whose scope is enter_axis, or all devices of all processes of the program.

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
        replicas: the replicas.
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
            fun: the function.
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
            raise NotStagedError("the replicas meet different numbers of collectives")
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
        variance = Varying(tf.compat.v1.get_default_graph(), axis.sources) if None in first.entries else None
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
        structure: its structure.
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


__all__ = ["shard_map"]
