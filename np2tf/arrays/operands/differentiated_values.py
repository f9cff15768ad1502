"""Values that a transform differentiates, which must not leave TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.operands.numpy_warnings import called_package, program_location
from np2tf.arrays.tensors.tapes import are_recorded
from np2tf.core.errors import LeftTensorFlowError

# -- followed tensors ----------------------------------------------------------------------------------------
# Tensors that a transform differentiates: they must not leave TensorFlow, where their derivative would be
# lost.
#
# A gradient tape of the program's own is not protected in this way, because its user works with tensors.


def are_followed(values: Iterable[Any]) -> bool:
    """Return whether a transform of eager code differentiates one of these tensors; other values are passed
    over.
    """
    return bool(transform_depth.depth) and are_recorded(values)


def refuse_tensors(name: str | None, values: Iterable[Any]) -> None:
    """Check that no tensor is being differentiated, because `name` takes them to the host.

    If `name` is None, the function of another package that the program has called is named.

    Raises:
        LeftTensorFlowError: a transform differentiates one of them.
    """
    if are_followed(values):
        function = name or called_package() or "a function that takes np.ndarray"
        raise LeftTensorFlowError(
            f"{function} runs on NumPy, which would lose its operand's derivative; write it "
            "with NumPy functions that TensorFlow has, apply np2tf.stop_gradient to the operand if its "
            "derivative is zero, or give the derivative with np2tf.custom_vjp",
            program_location(),
        )


# -- differentiated values -----------------------------------------------------------------------------------
# Arrays and numbers that a transform differentiates (see `np2tf.arrays.operands.differentiated_values`).


def is_followed(value: Any) -> bool:
    """Return whether a transform differentiates an array, a number or a tensor."""
    return any_followed((value,))


def any_followed(values: Iterable[Any]) -> bool:
    """Return whether a transform differentiates one of the values, also in lists, tuples and dicts."""
    return bool(transform_depth.depth) and are_followed(_tensors(values))


def any_recorded(values: Iterable[Any]) -> bool:
    """Return whether a tape records what is computed with one of the values, also in staged code."""
    return are_recorded(_tensors(values))


def refuse_to_leave(name: str | None, values: Iterable[Any]) -> None:
    """Check that no value is being differentiated, because `name` takes the values to the host.

    If `name` is None, the function of another package that the program has called is named.

    Raises:
        LeftTensorFlowError: a transform differentiates one of them.
    """
    if transform_depth.depth:
        refuse_tensors(name, _tensors(values))


def refuse_host_result(name: str, args: Iterable[Any], result: Any) -> None:
    """Check the arguments of a function of NumPy that has computed `result`. Integers have no derivative.

    Raises:
        LeftTensorFlowError: `result` is inexact, and a transform differentiates an argument.
    """
    if transform_depth.depth and _is_inexact(result):
        refuse_to_leave(name, args)


def _tensors(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values, also of lists, tuples and dicts, with the tensors of arrays."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())
        else:
            yield value.tensor if is_array(value) else value


def _is_inexact(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_is_inexact, result))
    return not isinstance(result, (np.ndarray, np.generic)) or result.dtype.kind not in "biu"
