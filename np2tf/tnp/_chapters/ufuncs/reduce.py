"""`reduce` and `accumulate` of ufuncs on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.staging import NoGraphFormError, ShapeNeededError
from np2tf.tnp._array.ndarray import wrap_tensor
from np2tf.tnp._chapters.reductions import cumulative, extremes, reductions, truth
from np2tf.tnp._chapters.ufuncs.reduceat import reduceat
from np2tf.tnp._operands.axis_arguments import normalize_axes, normalize_axis, rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import ufunc_loop
from np2tf.tnp._ufuncs import table as ufuncs
from np2tf.tnp._ufuncs.associative import scan, tree_reduce
from np2tf.tnp._ufuncs.tensor_ufunc import Ufunc

_ASSOCIATIVE = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "gcd",
    "lcm",
    "hypot",
    "logaddexp",
    "logaddexp2",
)
#: The associative ufuncs that round, so that results depend on the order of operations. NumPy accumulates
#: these, except in graphs and where a gradient tape may record.
_ROUNDING_UFUNCS = frozenset({"hypot", "logaddexp", "logaddexp2"})


def _operand(ufunc: Ufunc, array: Any, dtype: Any) -> tuple[tf.Tensor, np.dtype[Any]]:
    """Return the operand in the dtype in which the ufunc computes, and the dtype of the result."""
    x = as_tensor(array)
    input_dtype = np.dtype(x.dtype.as_numpy_dtype)
    loop = ufunc_loop(ufunc.numpy, (input_dtype, input_dtype), dtype)
    # A logical function is associative over truth values only.
    return cast(x, loop[-1] if ufunc.__name__.startswith("logical_") else loop[0]), loop[-1]


def _known_length(x: tf.Tensor, axis: int) -> int:
    """Return the length of an axis.

    Raises:
        StagingError: the length is unknown.
    """
    if x.shape[axis] is None:
        raise ShapeNeededError("a ufunc's reduction along an axis of unknown length")
    return int(x.shape[axis])


def _reduce(ufunc: Ufunc) -> Callable[..., Any]:
    """Return the method `reduce` of an associative ufunc."""

    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        if initial is not None or where is not True:
            raise NoGraphFormError(f"initial= and where= of {ufunc.__name__}.reduce")
        x, result_dtype = _operand(ufunc, array, dtype)
        for along in sorted(normalize_axes(axis, rank_of(x)), reverse=True):
            if _known_length(x, along) == 0:
                if ufunc.identity is None:
                    raise ValueError(
                        f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
                    )
                shape = [1 if k == along else n for k, n in enumerate(x.shape)]
                x = tf.fill(shape, tf.constant(np.array(ufunc.identity).astype(x.dtype.as_numpy_dtype)))
            x = tree_reduce(ufunc.implementation, x, along, keepdims)
        return wrap_tensor(cast(x, result_dtype))

    return reduce


def _accumulate(ufunc: Ufunc) -> Callable[..., Any]:
    """Return the method `accumulate` of an associative ufunc."""

    def accumulate(array: Any, axis: int = 0, dtype: Any = None) -> Any:
        x, result_dtype = _operand(ufunc, array, dtype)
        _refuse_number(x)
        along = normalize_axis(axis, rank_of(x))
        _known_length(x, along)
        if (
            ufunc.__name__ in _ROUNDING_UFUNCS
            and tf.executing_eagerly()
            and not record.could_possibly_record()
        ):
            raise NoGraphFormError(
                f"{ufunc.__name__}.accumulate in eager code, which would round in another order than NumPy,"
            )
        return wrap_tensor(cast(scan(ufunc.implementation, x, along), result_dtype))

    return accumulate


def _refuse_number(array: Any) -> None:
    """Refuse to accumulate an operand without axes.

    Raises:
        TypeError: the operand has no axes.
    """
    if rank_of(as_tensor(array)) == 0:
        raise TypeError("cannot accumulate on a scalar")


def _refusing_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a running sum or product as a method of the ufunc, which refuses operands without axes."""

    def accumulate(array: Any, **kwargs: Any) -> Any:
        _refuse_number(array)
        return function(array, **kwargs)

    return accumulate


def _install() -> None:
    """Register the methods of the ufuncs."""
    for name in _ASSOCIATIVE:
        ufunc = getattr(ufuncs, name)
        Ufunc.reducers[name] = _reduce(ufunc)
        Ufunc.accumulators[name] = _accumulate(ufunc)
    Ufunc.reducers |= {
        "add": reductions.sum,
        "multiply": reductions.prod,
        "maximum": extremes.max,
        "minimum": extremes.min,
        "logical_and": truth.all,
        "logical_or": truth.any,
    }
    Ufunc.segments = staticmethod(reduceat)
    Ufunc.accumulators |= {
        "add": _refusing_numbers(cumulative.cumsum),
        "multiply": _refusing_numbers(cumulative.cumprod),
    }


_install()
