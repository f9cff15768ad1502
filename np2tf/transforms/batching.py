"""`vmap` and `pmap`: a function applied to every slice of its arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf import tnp
from np2tf.runtime.environment.raw_tensors import ragged
from np2tf.staging import NotStagedError
from np2tf.tnp._array.ndarray import tensor_array
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._ragged.object_arrays import is_object_array
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transform_errors import TransformArgumentError
from np2tf.transforms.core.functions import check_callable, name_like, runnable_for
from np2tf.transforms.core.leaves import Form, as_array, dtype_of
from np2tf.transforms.core.mapped_axes import length_of, mapped_axes
from np2tf.transforms.core.structures import TREES, Structure, broadcast_prefix
from np2tf.transforms.lanes import together
from np2tf.transforms.lanes.axes import is_within_an_axis, run_lanes
from np2tf.transforms.lanes.compiled_batches import CompiledBatch, compiled_batch
from np2tf.transforms.lanes.rows import RowLanes, run_rows
from np2tf.transforms.lanes.stacking import along_first_axis, differing_results, stack
from np2tf.transforms.lanes.together import Lanes, run_together


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
        in_axes: for each positional argument the axis to slice, or None for an argument that all lanes get
            whole; an entry may be nested like its argument. One int is for all. Arguments given by name are
            sliced along axis 0.
        out_axes: the axis of the results along which they are stacked, nested like the result; None for a
            result that is equal in all lanes, which is returned once.
        axis_name: a name by which `psum`, `pmean`, `pmax` and `all_gather` refer to the lanes.
        axis_size: the number of lanes; it is needed if no argument is sliced.

    Returns:
        A function with the arguments of `fun`, whose arrays have one axis more. It returns what a Python loop
        over the lanes and ``np.stack`` would return.

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
        A function as `vmap` returns it, with the same values.

    Raises:
        TransformError: on a call, as for `vmap`.

    See https://docs.jax.dev/en/latest/_autosummary/jax.pmap.html.
    """
    check_callable(fun, "pmap")

    def spread(*args: Any, **kwargs: Any) -> Any:
        devices = _devices()

        def place(lane: int) -> AbstractContextManager[Any]:
            is_one_device = len(devices) == 1 or not tf.executing_eagerly()
            return nullcontext() if is_one_device else tf.device(devices[lane % len(devices)])

        return _batch(fun, args, kwargs, (in_axes, out_axes, axis_name, axis_size), place)

    return name_like(spread, fun, "pmap")  # type: ignore[no-any-return]


def _anywhere(lane: int) -> AbstractContextManager[Any]:
    return nullcontext()


def _devices() -> list[str]:
    every = tf.config.list_logical_devices()
    accelerators = [device.name for device in every if device.device_type != "CPU"]
    return accelerators or [device.name for device in every]


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
            raise NotStagedError("the lanes of a vmap cannot be staged together")
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
