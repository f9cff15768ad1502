"""Collectives: operations over all lanes of a `vmap` or `pmap` with an axis name.

A lane does not know the values of other lanes while it runs or is staged. It stops at its first collective.
When all lanes have stopped there, the collective is computed, and every lane runs again with the result. So a
function with n collectives runs n + 1 times for each lane, and must compute the same each time.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from tensorflow.python.eager import record

from np2tf import tnp
from np2tf.tnp._array.ndarray import is_array
from np2tf.transform_errors import AxisNameError, TransformArgumentError
from np2tf.transforms.core.recordings import recordings
from np2tf.transforms.core.structures import Structure


@dataclass(frozen=True)
class Combine:
    """The two forms of a collective's operation on the values that one leaf has in the lanes.

    Args:
        lanes: the values of the lanes -> the result, which is the same for all lanes.
        of_stack: an array of the values, with the lanes along its first axis -> the result.
        of_sum: the sum of the values and the number of lanes -> the result; None if the sum is not enough.
    """

    lanes: Callable[[Sequence[Any]], Any]
    of_stack: Callable[[Any], Any]
    of_sum: Callable[[Any, int], Any] | None = None


class Axis(Protocol):
    """An axis with a name, over which collectives compute.

    Attributes:
        name: the name.
        lane: the number of the lane that runs now.
    """

    name: Any
    lane: Any

    def collective(self, name: str, x: Any, combine: Combine) -> Any:
        """Return the result of a collective in the lane that runs now.

        Args:
            name: the name of the collective.
            x: the operand in this lane, a nested value.
            combine: how the leaves of the operands are joined.
        """


@contextmanager
def enter_axis(axis: Axis) -> Iterator[None]:
    """Let collectives in the with block find an axis by its name."""
    _axes.stack.append(axis)
    try:
        yield
    finally:
        _axes.stack.pop()


class LaneStop(BaseException):
    """Raised by a collective in a lane that must wait for the other lanes. (User code cannot catch it by
    accident.)

    Attributes:
        axis: the axis of the collective.
        value: the operand in this lane, a nested value.
        combine: how the leaves of the operands are joined.
        name: the name of the collective.
    """

    def __init__(self, axis: NamedAxis, value: Any, combine: Combine, name: str) -> None:
        super().__init__(name)
        self.axis, self.value, self.combine, self.name = axis, value, combine, name


class NamedAxis:
    """An axis with a name, while its lanes run.

    Attributes:
        name, size: the name of the axis, and the number of lanes.
        lane: the number of the lane that runs now: an int, or a staged int if all lanes are staged together.
        met_count: the number of collectives that this lane has met.
        results: the result of each collective, the same in all lanes.
    """

    def __init__(self, name: Any, size: int) -> None:
        self.name, self.size = name, size
        self.lane: Any = 0
        self.met_count = 0
        self.results: list[Any] = []
        self.recordings = recordings.depth

    def begin(self, lane: Any) -> None:
        """Begin to run a lane."""
        self.lane, self.met_count = lane, 0

    def collective(self, name: str, x: Any, combine: Combine) -> Any:
        """Return the result of a collective, if all lanes have met it; stop the lane otherwise."""
        self.met_count += 1
        if self.met_count <= len(self.results):
            return self.results[self.met_count - 1]
        refuse_inner_derivative(name, x, self.name, self.recordings)
        raise LaneStop(self, x, combine, name)


class _Axes(threading.local):
    def __init__(self) -> None:
        self.stack: list[Axis] = []


_axes = _Axes()


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
            if results or len({stop.name for stop in stops}) > 1:
                raise TransformArgumentError(
                    f"a collective over the axis {name!r} is met in some lanes only: "
                    f"{sorted({stop.name for stop in stops})}; call it in every lane, outside of branches"
                )
            axis.results.append(_combine(stops))


def _combine(stops: Sequence[LaneStop]) -> Any:
    structure = Structure(stops[0].value)
    columns_of_others = [structure.leaves_of(stop.value, "the operand") for stop in stops[1:]]
    columns = zip(structure.leaves, *columns_of_others, strict=True)
    return structure.build([stops[0].combine.lanes(parts) for parts in columns])


def _find(name: Any) -> Axis:
    for axis in reversed(_axes.stack):
        if axis.name == name:
            return axis
    raise AxisNameError(f"unbound axis name: {name!r}; give vmap(f, axis_name={name!r}) around the call")


def _collective(name: str, x: Any, axis_name: Any, combine: Combine) -> Any:
    if isinstance(axis_name, (tuple, list)):
        for single_name in axis_name:
            x = _collective(name, x, single_name, combine)
        return x
    return _find(axis_name).collective(name, x, combine)


def refuse_inner_derivative(name: str, x: Any, axis_name: Any, depth: int) -> None:
    """Refuse a collective of values that are differentiated lane by lane, because it would be a constant.

    Args:
        name: the name of the collective.
        x: its operand.
        axis_name: the name of the axis.
        depth: the number of derivatives that were being computed when the axis was made.

    Raises:
        TransformArgumentError: a derivative inside the axis follows the operand.
    """
    if recordings.depth <= depth:
        return
    tensors = [leaf.tensor for leaf in Structure(x).leaves if is_array(leaf)]
    if tensors and record.should_record_backprop(tensors):
        raise TransformArgumentError(
            f"{name} over the axis {axis_name!r} is called in a function that is differentiated inside the "
            "vmap; differentiate outside: grad(lambda x: vmap(f, axis_name=…)(x).sum())"
        )


def _sum(parts: Sequence[Any]) -> Any:
    return functools.reduce(tnp.add, parts)


def _sum_stacked(stack: Any) -> Any:
    return tnp.sum(stack, axis=0, dtype=stack.dtype)


_SUM = Combine(_sum, _sum_stacked, lambda total, count: total)
_MEAN = Combine(
    lambda parts: _sum(parts) / len(parts),
    lambda stack: _sum_stacked(stack) / len(stack),
    lambda total, count: total / count,
)
_MAX = Combine(lambda parts: functools.reduce(tnp.maximum, parts), lambda stack: tnp.max(stack, axis=0))


def _gather(axis: int, tiled: bool) -> Combine:
    if not tiled:
        return Combine(
            lambda parts: tnp.stack(list(parts), axis=axis), lambda stack: tnp.moveaxis(stack, 0, axis)
        )

    def tile(stack: Any) -> Any:
        lengths = list(stack.shape[1:])
        place = range(len(lengths))[axis]
        lengths[place] *= len(stack)
        return tnp.reshape(tnp.moveaxis(stack, 0, place), lengths)

    return Combine(lambda parts: tnp.concatenate(list(parts), axis=axis), tile)


def psum(x: Any, axis_name: Any) -> Any:
    """Return the sum of `x` over all lanes of a named axis.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

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
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

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
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

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
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.
        axis: the place of the new axis.
        tiled: whether the values are joined along the existing axis `axis` instead.

    Returns:
        A value of the structure of `x`, the same in all lanes: arrays with one axis more, whose length is the
        number of lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_gather.html.
    """
    return _collective("all_gather", x, axis_name, _gather(axis, tiled))


def axis_index(axis_name: Any) -> Any:
    """Return the number of the lane along a named axis.

    Args:
        axis_name: the name that `vmap` or `pmap` has got.

    Returns:
        An int from 0 to the number of lanes - 1; a staged int where all lanes are staged together.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html.
    """
    return _find(axis_name).lane
