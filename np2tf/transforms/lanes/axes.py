"""Axes with names, the lanes that run along them, and collectives over them (psum, all_gather, ...)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, wrap_tensor
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.tapes import are_recorded
from np2tf.core.errors import AxisNameError, NotStagedError, TransformArgumentError
from np2tf.transforms.recordings import recordings
from np2tf.transforms.values import TREES, Structure

# -- axes ----------------------------------------------------------------------------------------------------
# Axes with names, and the lanes that run along them.
#
# A lane does not know the values of other lanes while it runs or is staged. It stops at its first
# collective. When all lanes have stopped there, the collective is computed, and every lane runs again with
# the result. So a function with n collectives runs n + 1 times for each lane, and must compute the same
# each time.


@dataclass(frozen=True)
class Combine:
    """The two forms of a collective's operation on the values that one leaf has in the lanes.

    Args:
        lanes: the values of the lanes -> the result, which is the same for all lanes.
        of_stack: an array of the values, with the lanes along its first axis -> the result.
        of_stacks: returns the operation for values with one more first axis, which stays; None if the
            operation itself does it.
        of_sum: the sum of the values and the number of lanes -> the result; None if the sum is not enough.
    """

    lanes: Callable[[Sequence[Any]], Any]
    of_stack: Callable[[Any], Any]
    of_stacks: Callable[[], Combine] | None = None
    of_sum: Callable[[Any, int], Any] | None = None

    def at_depth(self, depth: int) -> Combine:
        """Return the operation for values with `depth` more first axes."""
        combine = self
        for _ in range(depth):
            combine = combine if combine.of_stacks is None else combine.of_stacks()
        return combine


@dataclass(frozen=True)
class LaneCall:
    """A call of `vmap`.

    Args:
        run: the function of a lane, ready to be staged.
        structure: the structure of the arguments, with their leaves.
        slices: for each leaf the axis of the lanes, or None for a leaf that all lanes get whole.
    """

    run: Callable[..., Any]
    function: Any
    structure: Structure
    slices: Sequence[int | None]


class Axis(Protocol):
    """An axis with a name, over which collectives compute; `lane` is the number of the lane that runs now."""

    name: Any
    lane: Any

    def collective(self, name: str, x: Any, combine: Combine, inner: Sequence[StagedLanes]) -> Any:
        """Return the result of a collective in the lane that runs now.

        Args:
            x: the operand in this lane, a nested value.
            combine: how the leaves of the operands are joined.
            inner: the lanes inside the axis that are staged together, the outermost first.
        """


@contextmanager
def enter_axis(level: Axis | StagedLanes) -> Iterator[None]:
    """Let collectives in the with block find an axis by its name, or know that lanes are staged together."""
    _axes.stack.append(level)
    try:
        yield
    finally:
        _axes.stack.pop()


class LaneStop(BaseException):
    """Raised by a collective in a lane that must wait for the other lanes. (User code cannot catch it by
    accident.)

    Attributes:
        value: the operand in this lane, a nested value.
        combine: how the leaves of the operands are joined.
        stacks: for each leaf the number of its first axes along which the lanes of inner axes are, because
            they have stopped together.
        depth: the number of inner axes whose lanes have stopped together.
    """

    def __init__(
        self, axis: Axis, value: Any, combine: Combine, name: str, stacks: Sequence[int], depth: int = 0
    ) -> None:
        super().__init__(name)
        self.axis, self.value, self.combine, self.name = axis, value, combine, name
        self.stacks, self.depth = stacks, depth

    @property
    def combines(self) -> list[Combine]:
        """The operation for each leaf."""
        return [self.combine.at_depth(depth) for depth in self.stacks]


class NamedAxis:
    """An axis with a name, while its lanes run.

    Attributes:
        name, size: the name of the axis, and the number of lanes; None if it is known only at run time.
        lane: the number of the lane that runs now: an int, or a staged int if all lanes are staged together.
        met_count: the number of collectives that this lane has met.
        results: the result of each collective, the same in all lanes, and the stop that it belongs to.
    """

    def __init__(self, name: Any, size: int | None) -> None:
        self.name, self.size = name, size
        self.lane: Any = 0
        self.met_count = 0
        self.results: list[tuple[Any, LaneStop]] = []
        self.recordings = recordings.depth

    def begin(self, lane: Any) -> None:
        """Begin to run a lane."""
        self.lane, self.met_count = lane, 0

    def collective(self, name: str, x: Any, combine: Combine, inner: Sequence[StagedLanes]) -> Any:
        """Return the result of a collective, if all lanes have met it; stop the lane otherwise."""
        if not all(lanes.may_stop for lanes in inner):
            raise NotStagedError(f"{name} over the axis {self.name!r}, which is around a vmap over rows")
        self.met_count += 1
        if self.met_count <= len(self.results):
            result, stop = self.results[self.met_count - 1]
            if stop.depth != len(inner):
                raise NotStagedError(
                    f"{name} is reached by all lanes together, and then by single lanes that run again"
                )
            return _own_part(result, stop, inner)
        refuse_inner_derivative(name, x, self.name, self.recordings)
        raise LaneStop(self, x, combine, name, [0] * len(Structure(x, TREES).leaves))


@dataclass(frozen=True)
class StagedLanes:
    """Lanes that are staged once for all of them.

    Attributes:
        lane: the staged number of the lane.
        may_stop: whether the lanes can stop together at a collective over an axis around them.
    """

    lane: Any
    may_stop: bool = True


class _Axes(threading.local):
    def __init__(self) -> None:
        self.stack: list[Axis | StagedLanes] = []


_axes = _Axes()


def is_within_an_axis() -> bool:
    """Return whether lanes of an axis with a name are running, whose values collectives may need."""
    return bool(_axes.stack)


class MetCounts:
    """The numbers of collectives that the lanes of all axes have met: each trace of inner lanes starts with
    the same numbers.
    """

    def __init__(self) -> None:
        self._counts = [(axis, axis.met_count) for axis in _axes.stack if isinstance(axis, NamedAxis)]

    def restore(self) -> None:
        """Give the axes their numbers again."""
        for axis, count in self._counts:
            axis.met_count = count


def run_lanes(lane: Callable[[int], Any], size: int, name: Any) -> list[Any]:
    """Return the results of ``lane(0)``, …, ``lane(size - 1)``, which may use collectives over the axis
    `name`.

    Raises:
        TransformArgumentError: some lanes meet a collective that other lanes do not meet.
    """
    if name is None:
        return [lane(k) for k in range(size)]
    axis = NamedAxis(name, size)
    with enter_axis(axis):
        while True:
            results: list[Any] = []
            stops: list[LaneStop] = []
            for k in range(size):
                axis.begin(k)
                try:
                    results.append(lane(k))
                except LaneStop as stop:
                    if stop.axis is not axis:
                        raise
                    stops.append(stop)
            if not stops:
                return results
            if results or len({(stop.name, *stop.stacks) for stop in stops}) > 1:
                raise TransformArgumentError(
                    f"a collective over the axis {name!r} is reached in some lanes only:  "
                    f"{sorted({stop.name for stop in stops})}; call it in every lane, outside of branches"
                )
            axis.results.append((_combine(stops), stops[0]))


def _combine(stops: Sequence[LaneStop]) -> Any:
    structure = Structure(stops[0].value, TREES)
    columns_of_others = [structure.leaves_of(stop.value, "the operand") for stop in stops[1:]]
    columns = zip(structure.leaves, *columns_of_others, strict=True)
    combines = stops[0].combines
    return structure.build([combine.lanes(parts) for combine, parts in zip(combines, columns, strict=True)])


def find_axis(name: Any) -> tuple[Axis, list[StagedLanes]]:
    """Return the axis of a name, and the lanes inside it that are staged together, the outermost first."""
    inner: list[StagedLanes] = []
    for level in reversed(_axes.stack):
        if isinstance(level, StagedLanes):
            inner.insert(0, level)
        elif level.name == name:
            return level, inner
    raise AxisNameError(f"unbound axis name: {name!r}; give vmap(f, axis_name={name!r}) around the call")


def _own_part(result: Any, stop: LaneStop, inner: Sequence[StagedLanes]) -> Any:
    """Return the part of a collective's result that belongs to this lane of the inner axes."""
    structure = Structure(result, TREES)
    leaves = list(structure.leaves)
    for place, depth in enumerate(stop.stacks):
        for lanes in inner if depth else ():
            leaves[place] = wrap_tensor(tf.gather(as_tensor(leaves[place]), lanes.lane))
    return structure.build(leaves)


def refuse_inner_derivative(name: str, x: Any, axis_name: Any, depth: int) -> None:
    """Refuse a collective of values that are differentiated lane by lane, because it would be a constant.

    Args:
        depth: the number of derivatives that were being computed when the axis was made.

    Raises:
        TransformArgumentError: a derivative inside the axis follows the operand.
    """
    if recordings.depth <= depth:
        return
    tensors = [leaf.tensor for leaf in Structure(x, TREES).leaves if is_array(leaf)]
    if are_recorded(tensors):
        raise TransformArgumentError(
            f"{name} over the axis {axis_name!r} is called in a function that is differentiated inside the "
            "vmap; differentiate outside: grad(lambda x: vmap(f, axis_name=…)(x).sum())"
        )


# -- collectives ---------------------------------------------------------------------------------------------
# Collectives: operations over all lanes of a `vmap` or `pmap`, or all replicas, of an axis with a name.


def _sum(parts: Sequence[Any]) -> Any:
    return functools.reduce(tnp.add, parts)


def _sum_stacked(stack: Any) -> Any:
    return tnp.sum(stack, axis=0, dtype=stack.dtype)


_SUM = Combine(_sum, _sum_stacked, of_sum=lambda total, count: total)
_MEAN = Combine(
    lambda parts: _sum(parts) / len(parts),
    lambda stack: _sum_stacked(stack) / stack.shape[0],
    of_sum=lambda total, count: total / count,
)
_MAX = Combine(lambda parts: functools.reduce(tnp.maximum, parts), lambda stack: tnp.max(stack, axis=0))


def _gather(axis: int, tiled: bool) -> Combine:
    def of_stacks() -> Combine:
        return _gather(axis + 1 if axis >= 0 else axis, tiled)

    if not tiled:
        return Combine(
            lambda parts: tnp.stack(list(parts), axis=axis),
            lambda stack: tnp.moveaxis(stack, 0, axis),
            of_stacks,
        )

    def tile(stack: Any) -> Any:
        lengths = list(stack.shape[1:])
        place = range(len(lengths))[axis]
        lengths[place] *= len(stack)
        return tnp.reshape(tnp.moveaxis(stack, 0, place), lengths)

    return Combine(lambda parts: tnp.concatenate(list(parts), axis=axis), tile, of_stacks)


def psum(x: Any, axis_name: Any) -> Any:
    """Return the sum of `x` over all lanes of a named axis.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the `axis_name` of a `vmap` or `pmap`, or a tuple of names.

    Returns:
        A value of the structure and shapes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html.
    """
    return _collective("psum", x, axis_name, _SUM)


def pmean(x: Any, axis_name: Any) -> Any:
    """Return the mean of `x` over all lanes of a named axis.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the `axis_name` of a `vmap` or `pmap`, or a tuple of names.

    Returns:
        A value of the structure and shapes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html.
    """
    return _collective("pmean", x, axis_name, _MEAN)


def pmax(x: Any, axis_name: Any) -> Any:
    """Return the largest `x` of all lanes of a named axis, element by element.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the `axis_name` of a `vmap` or `pmap`, or a tuple of names.

    Returns:
        A value of the structure, shapes and dtypes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmax.html.
    """
    return _collective("pmax", x, axis_name, _MAX)


def all_gather(x: Any, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Any:
    """Return the values of `x` in all lanes of a named axis, along a new axis.

    Args:
        x: an array of any shape and dtype, or a nested value of these.
        axis_name: the `axis_name` of a `vmap` or `pmap`, or a tuple of names.
        axis: the place of the new axis.
        tiled: whether the values are joined along the existing axis `axis` instead.

    Returns:
        A value of the structure of `x`, the same in all lanes: arrays with one more axis, as long as the
        number of lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_gather.html.
    """
    return _collective("all_gather", x, axis_name, _gather(axis, tiled))


def axis_index(axis_name: Any) -> Any:
    """Return the number of the lane along a named axis.

    Args:
        axis_name: the `axis_name` of a `vmap` or `pmap`.

    Returns:
        An int from 0 to the number of lanes - 1; a staged int where all lanes are staged together.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html.
    """
    return find_axis(axis_name)[0].lane


def _collective(name: str, x: Any, axis_name: Any, combine: Combine) -> Any:
    if isinstance(axis_name, (tuple, list)):
        for single_name in axis_name:
            x = _collective(name, x, single_name, combine)
        return x
    axis, inner = find_axis(axis_name)
    return axis.collective(name, x, combine, inner)
