"""The outputs of a compiled function: described while tracing, and the result made of them after a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import Order, lay_out
from np2tf.arrays.array.ndarray import (
    chain_of,
    is_array,
    scalar,
    storage_of,
    tensor_array,
    tensor_scalar,
)
from np2tf.arrays.array.view_transforms import check_host_view, replace_ends, run_time_ends, view_on_host
from np2tf.arrays.operands.path_dependent import kind_of_number
from np2tf.arrays.tensors.storage import GappedLayout, Storage, resolve_stand_ins, staging_for_xla
from np2tf.core.errors import AliasingError, ReturnedValueError
from np2tf.staging.compile.open_arrays import OpenArrays
from np2tf.staging.random.streams import Draws
from np2tf.staging.trace.operations import unused_checks
from np2tf.staging.trace.provenance import refuse_hidden_sharing
from np2tf.staging.trace.trace import Trace
from np2tf.staging.trace.write_back import Outcome
from np2tf.staging.values.carried_values import Undefined, flatten, memory_order
from np2tf.staging.values.output import EffectLog
from np2tf.staging.values.staged_list import holds_lists, python_lists
from np2tf.staging.values.text import DeferredText
from np2tf.staging.xla.calls import ZeroCopyResults


@dataclass(frozen=True)
class ResultSpec:
    """The way to make one leaf of the result from the outputs: the output, and the path to view it
    through.
    """

    # "constant", "argument", "array", "choice", "number", "tensor", or "text" (its place is behind its
    # tensors)
    kind: str
    place: int = -1
    constant: Any = None
    path: tuple[Any, ...] = ()
    order: Order = None
    weak: type | None = None
    #: The outputs that are the run-time ends of slices in the path, and whether the part is copied.
    ends: tuple[int, int] = (0, 0)
    is_copied: bool = False


@dataclass(frozen=True)
class Outputs:
    """What the outputs of a graph are, in their order.

    Attributes:
        rebuild: puts the leaves of the function's result together again.
        results: the way to make each leaf.
        is_plain: whether the caller gets the result unchanged.
        written_places: the places of the arrays that the code writes, whose new contents are the last of the
            first `count` outputs.
        prints: whether it prints in a graph, so that the next output depends on all prints.
        log: the effects that XLA's code has written into the next outputs, `log_values`; None if there are
            none.
        states: the outputs that are the final states of random streams.
        may_fail: whether the last output is true if NumPy would have raised an error.
        lends: whether the graph may borrow the memory of its inputs, because it returns no raw tensors.
    """

    rebuild: Callable[[list[Any]], Any]
    results: list[ResultSpec]
    is_plain: bool
    written_places: list[int]
    count: int
    prints: bool
    log: EffectLog | None
    log_values: slice
    states: slice
    may_fail: bool
    lends: bool


def collect_outputs(
    result: Any, storages: list[Storage], written_places: list[int], trace: Trace, draws: Draws
) -> tuple[Outputs, list[tf.Tensor]]:
    """Return what the outputs of a traced function are, and the outputs."""
    leaves, rebuild, _ = flatten(result)
    outputs: list[tf.Tensor] = []
    places: dict[Any, int] = {}
    results = [describe_result(leaf, storages, leaves, outputs, places) for leaf in leaves]
    outputs += [storages[k].value for k in written_places]
    count = len(outputs)
    log = trace.effects.log if trace.xla else None
    log_tensors = log.flush() if log else []
    states = draws.finals()
    violation, order = trace.violations.value, trace.effects.order.value
    may_fail, prints = (tensor.op.type != "Const" for tensor in (violation, order))
    outputs += [order] if prints else []
    log_values = slice(len(outputs), len(outputs) + len(log_tensors))
    outputs += log_tensors
    final_states = slice(len(outputs), len(outputs) + len(states))
    outputs += states
    if not trace.xla:
        outputs += unused_checks(violation.graph, [*outputs, violation])
    return Outputs(
        rebuild=(lambda values: python_lists(rebuild(values))) if holds_lists(result) else rebuild,
        results=results,
        is_plain=type(result) is not Outcome,
        written_places=written_places,
        count=count,
        prints=prints,
        log=log,
        log_values=log_values,
        states=final_states,
        may_fail=may_fail,
        lends=all(spec.kind != "tensor" for spec in results),
    ), [*outputs, violation] if may_fail else outputs


def describe_result(
    leaf: Any,
    storages: list[Storage],
    leaves: list[Any],
    outputs: list[tf.Tensor],
    places: dict[Any, int],
) -> ResultSpec:
    """Return the way to make one leaf of the result, and add its tensors to the outputs.

    Args:
        places: the outputs that already have the memory of a returned array, by its storage.
    """
    if isinstance(leaf, Undefined):
        bool(leaf)
    leaf = resolve_stand_ins(leaf)
    if is_array(leaf):
        if type(leaf) is scalar:
            number = ResultSpec("number", len(outputs), weak=leaf.weak, constant=kind_of_number(leaf))
            outputs += [leaf.tensor] if leaf.alternatives is None else leaf.alternatives.all_tensors()
            return number
        if storage_of(leaf) in storages:
            check_host_view(chain_of(leaf))
            ends = _append_ends(outputs, chain_of(leaf))
            return ResultSpec("argument", storages.index(storage_of(leaf)), path=chain_of(leaf), ends=ends)
        refuse_hidden_sharing(leaf, leaves, storages)
        identity = storage_of(leaf).identity
        if identity is not None and not chain_of(leaf):
            number, originals = identity
            choice_key = "choice", storage_of(leaf)
            if choice_key not in places:
                places[choice_key] = len(outputs)
                outputs += [leaf.tensor, number]
            choices = tuple(storages.index(storage) if storage in storages else -1 for storage in originals)
            return ResultSpec("choice", places[choice_key], constant=choices, order=memory_order(leaf))
        shared = (
            sum(
                1
                for shared_leaf in leaves
                if is_array(shared_leaf) and storage_of(shared_leaf) is storage_of(leaf)
            )
            > 1
        )
        if shared:
            check_host_view(chain_of(leaf))
        if shared and storage_of(leaf).identity is not None:
            raise AliasingError("the function returns an array that data choose, together with a view of it")
        # XLA returns the whole of an array that is cut at a run-time length.
        is_part = staging_for_xla() and _is_dynamic_slice(leaf)
        key = storage_of(leaf) if shared or is_part else object()
        if key not in places:
            places[key] = len(outputs)
            outputs.append(storage_of(leaf).value if shared or is_part else leaf.tensor)
        if shared or is_part:
            memory = storage_of(leaf).order
            assert not isinstance(memory, GappedLayout)  # only arguments have gaps
            ends = _append_ends(outputs, chain_of(leaf))
            is_copy = is_part and not shared
            return ResultSpec("array", places[key], None, chain_of(leaf), memory, None, ends, is_copy)
        return ResultSpec("array", places[key], order=memory_order(leaf))
    if isinstance(leaf, DeferredText):
        outputs += leaf.values.tensors
        return ResultSpec("text", len(outputs), constant=leaf)
    if isinstance(leaf, tf.Tensor):
        outputs.append(leaf)
        return ResultSpec("tensor", len(outputs) - 1)
    if isinstance(leaf, np.ndarray):
        raise ReturnedValueError("compiled code returns a NumPy array")
    return ResultSpec("constant", constant=leaf)


def rebuild_result(
    spec: ResultSpec,
    arrays: Sequence[Any],
    inputs: Sequence[tf.Tensor],
    outputs: Sequence[tf.Tensor],
    bases: dict[int, Any],
    on_tensors: bool,
    open_arrays: OpenArrays,
    zero_copy: ZeroCopyResults | None,
) -> Any:
    """Return one leaf of the result of a call.

    Args:
        bases: the arrays that have been made of outputs so far.
        on_tensors: whether new arrays are tensors.
        zero_copy: makes arrays of XLA's results without a copy; None if arrays must be copied.
    """
    if spec.kind == "constant":
        return spec.constant
    if spec.kind == "tensor":
        return outputs[spec.place]
    if spec.kind == "text":
        count = len(spec.constant.values.tensors)
        return spec.constant.of([output.numpy() for output in outputs[spec.place - count : spec.place]])
    path = replace_ends(spec.path, [int(end) for end in outputs[slice(*spec.ends)]])
    if spec.kind == "argument":
        # The valid part of an open array is the whole of the caller's array.
        whole = open_arrays.is_whole(spec.place, spec.path)
        return arrays[spec.place] if whole else _view_of(arrays[spec.place], path)
    if spec.kind == "number":
        value, weak = outputs[spec.place], spec.weak
        if spec.constant is not None:
            value, weak = spec.constant.chosen(outputs[spec.place :])
        if weak is not None:
            return weak(value.numpy())
        return tensor_scalar(value) if on_tensors else value.numpy()[()]
    if spec.kind == "choice":
        number = int(outputs[spec.place + 1])
        if number >= 0 and spec.constant[number] >= 0:
            return arrays[spec.constant[number]]
    if spec.place not in bases:
        value = outputs[spec.place]
        if on_tensors:
            bases[spec.place] = lay_out(value, spec.order)
        elif zero_copy is None or spec.is_copied:
            bases[spec.place] = _in_order(np.array(memoryview(value)), spec.order)
        else:
            bases[spec.place] = _in_order(zero_copy.array(spec.place, outputs, inputs), spec.order)
    view = _view_of(bases[spec.place], path)
    return view.copy("K") if spec.is_copied else view


def _in_order(array: np.ndarray, order: Order) -> np.ndarray:
    """Return an array in C order with its axes in another memory order."""
    if order is None:
        return array
    pattern = np.empty([array.shape[k] for k in order], array.dtype).transpose(np.argsort(order))
    result = np.empty_like(pattern)  # in the pattern's memory order, and with memory of its own
    result[...] = array
    return result


def _is_dynamic_slice(array: Any) -> bool:
    """Return whether an array is a slice, with a run-time length, of an array whose shape is known."""
    path = chain_of(array)
    if not path or not run_time_ends(path[-1:]):
        return False
    return storage_of(array).value.shape.is_fully_defined() and not array.tensor.shape.is_fully_defined()


def _append_ends(outputs: list[tf.Tensor], path: Sequence[Any]) -> tuple[int, int]:
    """Add the run-time ends of slices in a path to the outputs, and return their range."""
    first = len(outputs)
    outputs += [end.tensor for end in run_time_ends(path)]
    return first, len(outputs)


def _view_of(array: Any, path: tuple[Any, ...]) -> Any:
    """Return `array` seen through a chain of view transforms, sharing its memory."""
    if not path:
        return array
    if not is_array(array) and isinstance(array, np.ndarray):
        return view_on_host(array, path)
    if isinstance(array, tf.Tensor):
        array = tensor_array(array)
    for transform in path:
        array = array.view_through(transform)
    return array
