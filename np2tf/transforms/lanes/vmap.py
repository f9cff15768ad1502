"""vmap and pmap: a function applied to every slice of its arguments, and the results stacked."""

from __future__ import annotations

import copy
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.dispatch.placement import local_devices
from np2tf.arrays.front.flags import transform_depth, uses_numpy_rules
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.ragged import RaggedArray, is_object_array, object_array
from np2tf.arrays.tensors.axis_reductions import reduce_all
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import (
    NotStagedError,
    RaggedRowsError,
    StagingError,
    TransformArgumentError,
    TransformError,
)
from np2tf.core.settings import config
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.process.boundary import ragged
from np2tf.staging.tiers.call_context import is_recording
from np2tf.transforms.arguments import length_of, mapped_axes
from np2tf.transforms.lanes import together
from np2tf.transforms.lanes.axes import is_within_an_axis, run_lanes
from np2tf.transforms.lanes.rows import RowLanes, run_rows
from np2tf.transforms.lanes.together import Lanes, run_together
from np2tf.transforms.recordings import recordings
from np2tf.transforms.runnable import check_callable, name_like, origin_of, runnable_for
from np2tf.transforms.values import (
    TREES,
    Form,
    Structure,
    as_array,
    broadcast_prefix,
    dtype_of,
    map_leaves,
    shape_of,
    with_rows,
)

__all__ = [
    "along_first_axis",
    "differing_results",
    "stack",
]


# -- stacking ------------------------------------------------------------------------------------------------
# The results of lanes that have run one by one, stacked: dense arrays, or rows of different lengths.


def stack(results: Sequence[Any], out_axes: Any, form: Form, has_rows: bool) -> Any:
    """Return the results of all lanes, stacked.

    Args:
        has_rows: whether the lanes got rows of different lengths, so that the results may have different
            lengths.

    Raises:
        TransformArgumentError: the results differ in their structure or shape.
    """
    structure = Structure(results[0], TREES)
    if isinstance(out_axes, list):
        out_axes = tuple(out_axes)
    entries = broadcast_prefix(out_axes, results[0], "vmap out_axes")
    rows = [
        structure.leaves,
        *[structure.leaves_of(result, "the result of each lane") for result in results[1:]],
    ]
    stacks = [
        _join(parts, axis, form, has_rows)
        for parts, axis in zip(zip(*rows, strict=True), entries, strict=True)
    ]
    return form.build(structure, stacks)


def differing_results() -> TransformArgumentError:
    """Return the error about lanes whose results differ although they have no axis."""
    return TransformArgumentError(
        "vmap has mapped output but out_axes is None: the results of the lanes differ; give an axis"
    )


def along_first_axis(rows: Any, axis: Any) -> Any:
    """Return rows of different lengths; raise RaggedRowsError for another axis than the first."""
    if axis != 0:
        raise RaggedRowsError(f"results of different lengths are stacked along axis 0, not along axis {axis}")
    return rows


def _join(parts: Sequence[Any], axis: Any, form: Form, has_rows: bool) -> Any:
    if axis is None:
        first = parts[0]
        if any(part is not first and not _are_equal(part, first) for part in parts):
            raise differing_results()
        return first
    if any(type(part) is RaggedArray or is_object_array(part) for part in parts):
        return along_first_axis(_joined_rows(parts), axis)
    if any(dtype_of(part) is None for part in parts):
        raise TransformArgumentError(f"vmap cannot stack results of type {type(parts[0]).__name__}")
    shapes = {tuple(shape_of(part)) for part in parts}
    if len(shapes) > 1:
        if not has_rows or () in shapes:
            raise TransformArgumentError(
                f"the results of the lanes have different shapes, {sorted(shapes)}, and cannot be stacked"
            )
        return along_first_axis(_joined_rows(parts), axis)
    return (np if form.is_host and not any(map(is_array, parts)) else tnp).stack(list(parts), axis=axis)


def _joined_rows(parts: Sequence[Any]) -> Any:
    """Return rows of different lengths as a ragged array, or on the host as an object array.

    Raises:
        RaggedRowsError: rows on TensorFlow have different dtypes or numbers of axes.
    """
    if not any(type(part) is RaggedArray or is_array(part) for part in parts):
        return object_array(parts)
    tensors = [part.ragged_tensor if type(part) is RaggedArray else as_tensor(part) for part in parts]
    dtypes = sorted({tensor.dtype.name for tensor in tensors})
    if len(dtypes) > 1:
        raise RaggedRowsError(
            f"the results of the lanes have the dtypes {dtypes}; return arrays of one dtype"
        )
    ranks = sorted({tensor.shape.rank for tensor in tensors})
    if len(ranks) > 1:
        raise RaggedRowsError(f"the results of the lanes have different numbers of axes: {ranks}")
    return RaggedArray.of_tensor(tf.ragged.stack(tensors), may_be_dense=True)


def _are_equal(first: Any, second: Any) -> bool:
    if dtype_of(first) is None:
        return bool(first == second)
    tensors = map_leaves(lambda leaf: leaf.tensor if is_array(leaf) else leaf, (first, second))
    return bool(reduce_all(tf.equal(*tensors))) if tf.executing_eagerly() else first is second


# -- compiled batches ----------------------------------------------------------------------------------------
# Calls of `vmap` outside of compiled functions, which are compiled as well if their lanes take long.
#
# A lane that differentiates runs TensorFlow's operations one by one, which takes milliseconds. Many such
# lanes are compiled at the first call; fewer lanes are compiled when they have taken as long as compiling
# takes. Lanes of plain NumPy code stay on the host.

#: So many lanes are compiled at the first call.
MANY_LANES = 32
#: The seconds that fewer lanes must have taken.
SECONDS = 1.0
#: Functions with the same code, made anew for each call, are compiled so many times.
AFRESH = 2
#: The number of batches that are kept compiled.
_MOST_BATCHES = 64


class CompiledBatch:
    """The compiled form of one `vmap`.

    Args:
        stage: the batched function, which refuses to be staged if its lanes cannot run together.
        code: the code of the user's function; None if it has none.
    """

    def __init__(self, stage: Callable[..., Any], code: Any) -> None:
        self._code = code
        self._jitted_function = JittedFunction(stage, "compile")
        self._is_refused = self._has_run = self._differentiates = False
        self._seconds = 0.0

    def is_due(self, fun: Any, form: Form, size: int) -> bool:
        """Return whether a call with so many lanes should be compiled."""
        if self._is_refused or config.jit == "off" or not uses_numpy_rules():
            return False
        if current_scope() is not None or not tf.executing_eagerly():
            return False
        if form.is_host and origin_of(fun) is fun and not self._differentiates:
            return False
        if self._has_run:
            return True
        return (size >= MANY_LANES or self._seconds > SECONDS) and _compiled_codes[self._code] < AFRESH

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the time of the with block, in which lanes run one by one."""
        before, count = time.perf_counter(), recordings.count
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - before
            self._differentiates |= recordings.count > count

    def run(self, args: Sequence[Any], kwargs: dict[str, Any], form: Form) -> tuple[Any] | None:
        """Return the result in a tuple; None if the call cannot be compiled. Nothing has then happened."""
        try:
            args = [map_leaves(with_rows, arg) for arg in args]
            kwargs = {name: map_leaves(with_rows, value) for name, value in kwargs.items()}
        except RaggedRowsError:
            self._is_refused = True
            return None
        if transform_depth.depth or is_recording():  # so that the tape sees all that the results need
            args = [map_leaves(as_array, arg) for arg in args]
            kwargs = {name: map_leaves(as_array, value) for name, value in kwargs.items()}
        with _not_following():
            compiler = self._jitted_function._compiler
            if not self._has_run:
                _compiled_codes[self._code] += 1
            try:
                compiler.lower(tuple(args), kwargs)
            except (StagingError, TransformError, ValueError, TypeError, LookupError, tf.errors.OpError):
                self._is_refused = True
                return None
            self._has_run = True
            return (form.of(compiler.call(tuple(args), kwargs)),)


@contextmanager
def _not_following() -> Iterator[None]:
    """Let jitted functions run compiled in the with block, although a transform is running them."""
    before, transform_depth.depth = transform_depth.depth, 0
    try:
        yield
    finally:
        transform_depth.depth = before


_batches: OrderedDict[Any, tuple[Any, CompiledBatch]] = OrderedDict()
#: Code of a function -> how many batches of it have been compiled.
_compiled_codes: Counter[Any] = Counter()


def compiled_batch(fun: Any, options: Any, stage: Callable[..., Any]) -> CompiledBatch:
    """Return the compiled form of a `vmap`: one object for each function with options."""
    root, made_by, inner = origin_of(fun), [], fun
    while inner is not root:
        made_by.append(inner.made_by[1:])
        inner = inner.made_by[0]
    key = id(root), repr(made_by), repr(options)
    if key in _batches:
        _batches.move_to_end(key)
        return _batches[key][1]
    batch = CompiledBatch(stage, (getattr(root, "__code__", type(root)), key[1:]))
    _batches[key] = root, batch  # (which keeps the id valid)
    if len(_batches) > _MOST_BATCHES:
        _batches.popitem(last=False)
    return batch


# -- batching ------------------------------------------------------------------------------------------------
# `vmap` and `pmap`: a function applied to every slice of its arguments.


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable | None = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that applies `fun` to every slice of its arguments, and stacks the results.

    Args:
        fun: a function of arrays of any shapes and dtypes, or of nested values of these, that returns the
            same.
        in_axes: for each positional argument the axis to slice, or None for an argument that every lane gets
            whole; an entry may be nested like its argument. One int applies to all arguments. Keyword
            arguments are sliced along axis 0.
        out_axes: the axis along which to stack the results, nested like the result; None for a result that is
            equal in all lanes, which is returned once.
        axis_name: a name by which `psum`, `pmean`, `pmax` and `all_gather` refer to the lanes.
        axis_size: the number of lanes; it is needed if no argument is sliced.

    Returns:
        A function with the arguments of `fun`, with one more axis for each array. It returns what a Python
        loop over the lanes and ``np.stack`` would return.

    Raises:
        TransformError: on a call, if axes and arguments do not fit together.

    See https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html.
    """
    check_callable(fun, "vmap")

    axes = (in_axes, out_axes, axis_name, axis_size)

    def stage(*args: Any, **kwargs: Any) -> Any:
        return _batch(fun, args, kwargs, axes, _anywhere, must_be_together=True)

    def map_lanes(*args: Any, **kwargs: Any) -> Any:
        is_alone = current_scope() is None and not is_within_an_axis()
        batch = compiled_batch(fun, axes, stage) if is_alone else None
        return _batch(fun, args, kwargs, axes, _anywhere, batch)

    return name_like(map_lanes, fun, "vmap")  # type: ignore[no-any-return]


def pmap(
    fun: Callable[..., Any],
    axis_name: Hashable | None = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that applies `fun` to every slice of its arguments, spread over TensorFlow's devices.

    The devices are the accelerators that TensorFlow lists; without accelerators, its logical CPUs. Lane k
    runs on device k modulo the number of devices.

    Args:
        fun, axis_name, in_axes, out_axes, axis_size: as for `vmap`.

    Returns:
        A function like that of `vmap`, with the same values.

    Raises:
        TransformError: on a call, as for `vmap`.

    See https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html.
    """
    check_callable(fun, "pmap")

    def spread(*args: Any, **kwargs: Any) -> Any:
        devices = local_devices()

        def place(lane: int) -> AbstractContextManager[Any]:
            is_one_device = len(devices) == 1 or not tf.executing_eagerly()
            return nullcontext() if is_one_device else tf.device(devices[lane % len(devices)])

        return _batch(fun, args, kwargs, (in_axes, out_axes, axis_name, axis_size), place)

    return name_like(spread, fun, "pmap")  # type: ignore[no-any-return]


def _anywhere(lane: int) -> AbstractContextManager[Any]:
    return nullcontext()


def _batch(
    fun: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    axes: tuple[Any, Any, Any, int | None],
    place: Callable[[int], AbstractContextManager[Any]],
    batch: CompiledBatch | None = None,
    must_be_together: bool = False,
) -> Any:
    in_axes, out_axes, axis_name, axis_size = axes
    form = Form((args, kwargs))
    structure = Structure((args, kwargs), TREES)
    if any(type(leaf) in ragged for leaf in structure.leaves):
        structure.leaves = [as_array(leaf) if type(leaf) in ragged else leaf for leaf in structure.leaves]
        args, kwargs = structure.build(structure.leaves)
    slices = mapped_axes(in_axes, args, kwargs, "vmap")
    size = length_of(slices, structure.leaves, "vmap", axis_size)
    if batch is not None and batch.is_due(fun, form, size):
        result = batch.run(args, kwargs, form)
        if result is not None:
            return result[0]
    run = runnable_for(fun, form)
    if _needs_rows(structure.leaves, slices, size):
        rows = run_rows(RowLanes(run, fun, structure, slices), axis_name)
        return _move_axes(rows.structure, rows.leaves, rows.equal, out_axes, form)

    def lane(k: int) -> Any:
        leaves = [
            _whole(leaf, form) if axis is None else _slice(leaf, axis, k, form)
            for leaf, axis in zip(structure.leaves, slices, strict=True)
        ]
        own_args, own_kwargs = structure.build(leaves)
        with place(k):
            return run(*own_args, **own_kwargs)

    if not size:
        return _of_no_lanes(lambda: run(*args, **kwargs))
    if size >= together.FEW_LANES and current_scope() is not None:
        joint_result = run_together(Lanes(run, fun, structure, slices, size), axis_name)
        if joint_result is not None:
            return _move_axes(joint_result.structure, joint_result.rows, joint_result.equal, out_axes, form)
        if must_be_together:
            raise NotStagedError("the lanes of a vmap cannot be compiled together")
    with nullcontext() if batch is None else batch.measure():
        results = run_lanes(lane, size, axis_name)
    has_rows = any(
        axis is not None and (type(leaf) is RaggedArray or is_object_array(leaf))
        for leaf, axis in zip(structure.leaves, slices, strict=True)
    )
    return stack(results, out_axes, form, has_rows)


def _needs_rows(leaves: Sequence[Any], slices: Sequence[int | None], size: Any) -> bool:
    """Return whether lanes are staged whose rows, or whose number, are known only at run time."""
    if tf.executing_eagerly() and current_scope() is None:
        return False
    return not isinstance(size, int) or any(
        type(leaf) is RaggedArray for leaf, axis in zip(leaves, slices, strict=True) if axis is not None
    )


def _move_axes(
    structure: Structure, leaves: Sequence[Any], equal: Sequence[bool], out_axes: Any, form: Form
) -> Any:
    """Return the results of all lanes along the axes that the caller wants them to be stacked along."""
    if isinstance(out_axes, list):
        out_axes = tuple(out_axes)
    entries = broadcast_prefix(out_axes, structure.build(structure.leaves), "vmap out_axes")
    results = []
    for rows, axis, is_equal in zip(leaves, entries, equal, strict=True):
        if axis is None and not is_equal:
            raise differing_results()
        if type(rows) is RaggedArray:
            results.append(rows[0] if axis is None else along_first_axis(rows, axis))
        else:
            results.append(rows[0] if axis is None else as_tensor(tnp.moveaxis(tensor_array(rows), 0, axis)))
    return form.build(structure, results)


def _of_no_lanes(call: Callable[[], Any]) -> Any:
    raise TransformArgumentError(
        "vmap over an axis of length 0 has no lane that shows the shape of the result; return early for "
        "empty arguments"
    )


def _slice(leaf: Any, axis: int, k: int, form: Form) -> Any:
    """Return a copy of one slice, so that writes to it do not reach the argument."""
    key = (*[slice(None)] * axis, k)
    if type(leaf) is RaggedArray:
        part = leaf[k]
        return part.copy() if type(part) is RaggedArray else as_array(part)
    if form.is_host:
        part = leaf[key]
        if leaf.dtype == object:
            return part.copy() if _is_dense(part) else copy.deepcopy(part)
        return part if not part.shape else np.array(part)
    part = tnp.asarray(as_array(leaf))[key]
    return as_array(part)


def _is_dense(part: Any) -> bool:
    return type(part) is np.ndarray and part.dtype != object


def _whole(leaf: Any, form: Form) -> Any:
    if form.is_host:
        return np.array(leaf) if type(leaf) is np.ndarray and dtype_of(leaf) is not None else leaf
    return as_array(leaf)
