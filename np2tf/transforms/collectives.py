"""Collectives: operations over all lanes of a `vmap` or `pmap` with an axis name.

Lanes run one after another, so a lane does not know the values of the others. A lane stops at its first
collective. When all lanes have stopped there, the collective is computed, and every lane runs again with the
result. So a function with n collectives runs n + 1 times for each lane, and must compute the same each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tensorflow.python.eager import record

from np2tf import tnp
from np2tf.tnp._array.ndarray import is_array
from np2tf.transform_errors import AxisNameError, TransformArgumentError
from np2tf.transforms.core.recordings import recordings
from np2tf.transforms.core.structures import Structure

#: Lanes -> result of a collective in each lane.
Combine = Callable[[Sequence[Any]], Sequence[Any]]


class _Stopped(BaseException):
    """Raised by a collective in a lane that must wait for the others. (User code cannot catch it by
    accident.)
    """

    def __init__(self, axis: _Axis, value: Any, combine: Combine, name: str) -> None:
        super().__init__(name)
        self.axis, self.value, self.combine, self.name = axis, value, combine, name


class _Axis:
    """An axis with a name, while its lanes run.

    Attributes:
        name, size: the name of the axis, and the number of lanes.
        lane: the lane that runs now.
        met: the number of collectives that this lane has met.
        known: for each collective, the results in the lanes.
    """

    def __init__(self, name: Any, size: int) -> None:
        self.name, self.size = name, size
        self.lane = self.met = 0
        self.known: list[Sequence[Any]] = []
        self.recordings = recordings.depth


class _Axes(threading.local):
    def __init__(self) -> None:
        self.stack: list[_Axis] = []


_axes = _Axes()


@contextmanager
def _entered(axis: _Axis) -> Iterator[None]:
    _axes.stack.append(axis)
    try:
        yield
    finally:
        _axes.stack.pop()


def run_lanes(lane: Callable[[int], Any], size: int, name: Any) -> list[Any]:
    """Return the results of ``lane(0)``, …, ``lane(size - 1)``, which may use collectives over the axis
    `name`.

    Raises:
        TransformArgumentError: some lanes meet a collective that others do not meet.
    """
    if name is None:
        return [lane(k) for k in range(size)]
    axis = _Axis(name, size)
    with _entered(axis):
        while True:
            results: list[Any] = []
            stopped: list[_Stopped] = []
            for k in range(size):
                axis.lane, axis.met = k, 0
                try:
                    results.append(lane(k))
                except _Stopped as one:
                    if one.axis is not axis:
                        raise
                    stopped.append(one)
            if not stopped:
                return results
            if results or len({one.name for one in stopped}) > 1:
                raise TransformArgumentError(
                    f"a collective over the axis {name!r} is met in some lanes only: "
                    f"{sorted({one.name for one in stopped})}; call it in every lane, outside of branches"
                )
            axis.known.append(stopped[0].combine([one.value for one in stopped]))


def _find(name: Any) -> _Axis:
    for axis in reversed(_axes.stack):
        if axis.name == name:
            return axis
    raise AxisNameError(f"unbound axis name: {name!r}; give vmap(f, axis_name={name!r}) around the call")


def _collective(name: str, x: Any, axis_name: Any, combine: Combine) -> Any:
    if isinstance(axis_name, (tuple, list)):
        for one in axis_name:
            x = _collective(name, x, one, combine)
        return x
    axis = _find(axis_name)
    axis.met += 1
    if axis.met <= len(axis.known):
        return axis.known[axis.met - 1][axis.lane]
    _refuse_inner_derivative(name, x, axis)
    raise _Stopped(axis, x, combine, name)


def _refuse_inner_derivative(name: str, x: Any, axis: _Axis) -> None:
    """Refuse a collective of values that are differentiated lane by lane, because it would be a constant."""
    if recordings.depth <= axis.recordings:
        return
    tensors = [leaf.tensor for leaf in Structure(x).leaves if is_array(leaf)]
    if tensors and record.should_record_backprop(tensors):
        raise TransformArgumentError(
            f"{name} over the axis {axis.name!r} is called in a function that is differentiated inside the "
            "vmap; differentiate outside: grad(lambda x: vmap(f, axis_name=…)(x).sum())"
        )


def _leafwise(combine: Callable[[Sequence[Any]], Any]) -> Combine:
    """Return a collective whose result is the same in all lanes, made leaf by leaf."""

    def every(values: Sequence[Any]) -> Sequence[Any]:
        structure = Structure(values[0])
        leaves = [structure.leaves, *[structure.leaves_of(value, "the operand") for value in values[1:]]]
        result = structure.build([combine(parts) for parts in zip(*leaves, strict=True)])
        return [result] * len(values)

    return every


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = tnp.add(total, part)
    return total


def _pairwise(name: str) -> Callable[[Sequence[Any]], Any]:
    def fold(parts: Sequence[Any]) -> Any:
        found = parts[0]
        for part in parts[1:]:
            found = getattr(tnp, name)(found, part)
        return found

    return fold


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
    return _collective("psum", x, axis_name, _leafwise(_sum))


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
    return _collective("pmean", x, axis_name, _leafwise(lambda parts: _sum(parts) / len(parts)))


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
    return _collective("pmax", x, axis_name, _leafwise(_pairwise("maximum")))


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
    join = tnp.concatenate if tiled else tnp.stack
    return _collective("all_gather", x, axis_name, _leafwise(lambda parts: join(list(parts), axis=axis)))


def axis_index(axis_name: Any) -> int:
    """Return the number of the lane along a named axis.

    Args:
        axis_name: the name that `vmap` or `pmap` has got.

    Returns:
        An int from 0 to the number of lanes - 1.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html.
    """
    return _find(axis_name).lane
