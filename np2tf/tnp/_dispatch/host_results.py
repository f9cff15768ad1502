"""Functions that NumPy computes from numbers or on the host, and the place of the arrays that they make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from np2tf.staging import ValueNeededError
from np2tf.tnp._dispatch.op import OPS
from np2tf.tnp._dispatch.residency import has_array, has_tensor, wrap_result
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._tensor.storage import current_scope

#: Arrays of at most so many elements become constants of a graph; the graph computes longer arrays.
SMALL = 65536


def known_value(value: Any) -> Any:
    """Return `value` converted for NumPy. Slices are converted, too.

    Raises:
        StagingError: a value is not known while staging.
    """
    if isinstance(value, slice):
        return slice(known_value(value.start), known_value(value.stop), known_value(value.step))
    if isinstance(value, tuple):
        return tuple(map(known_value, value))
    if current_scope() is not None and has_array((value,)) and not has_tensor((value,)):
        raise ValueNeededError("the value of an array is needed while staging")
    return to_numpy(value)


def host_only(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of NumPy that always runs on the host. Its operands must be known on the host."""

    @functools.wraps(numpy)
    def call(*args: Any, **kwargs: Any) -> Any:
        return wrap_result(
            numpy(*map(known_value, args), **{name: known_value(item) for name, item in kwargs.items()})
        )

    call.numpy = numpy  # type: ignore[attr-defined]
    call.host_only = True  # type: ignore[attr-defined]
    OPS[numpy] = call
    return call
