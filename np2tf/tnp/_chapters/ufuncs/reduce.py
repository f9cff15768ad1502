"""`reduce` and `accumulate` of ufuncs on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.staging import NoGraphFormError, ShapeNeededError
from np2tf.tnp._array.ndarray import wrap_tensor
from np2tf.tnp._chapters.creation.casts import astype
from np2tf.tnp._chapters.reductions import cumulative, extremes, reductions, truth
from np2tf.tnp._chapters.reductions.primitives import apply_where
from np2tf.tnp._chapters.ufuncs.reduceat import reduceat
from np2tf.tnp._operands.axis_arguments import normalize_axes, normalize_axis, rank_of
from np2tf.tnp._operands.conversion import as_tensor, as_view, cast
from np2tf.tnp._operands.promotion import promotion_kind
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
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
#: The associative ufuncs of which an operand may be repeated.
_IDEMPOTENT = frozenset(
    {
        "bitwise_and",
        "bitwise_or",
        "logical_and",
        "logical_or",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "gcd",
        "lcm",
    }
)
#: The associative ufuncs that round, so that results depend on the order of operations. NumPy accumulates
#: these, except in graphs and where a gradient tape may record.
_ROUNDING_UFUNCS = frozenset({"hypot", "logaddexp", "logaddexp2"})


def _in_dtype(array: Any, dtype: np.dtype[Any]) -> Any:
    """Return the operand in the dtype in which NumPy computes; a selection stays a selection."""
    return array if promotion_kind(array) == dtype else astype(as_view(array), dtype)


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
        axis: Any,
        dtype: np.dtype[Any],
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        x = as_tensor(_in_dtype(array, dtype))
        start = None if initial is None else _initial(initial, dtype)
        neutral = ufunc.identity if initial is None else start
        if where is not True:
            if neutral is None:
                raise ValueError(
                    f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where "
                    "mask one has to specify 'initial'"
                )
            if initial is not None and ufunc.__name__ not in _IDEMPOTENT:
                neutral = ufunc.identity
                if neutral is None:
                    raise NoGraphFormError(f"initial= and where= of {ufunc.__name__}.reduce")
            x = apply_where(x, where, neutral)
        axes = normalize_axes(axis, rank_of(x))
        if ufunc.__name__ == "lcm" and len(axes) > 1:
            raise ValueError(
                "reduction operation 'lcm' is not reorderable, so at most one axis may be specified"
            )
        if 0 in [_known_length(x, along) for along in axes]:
            if neutral is None:
                raise ValueError(
                    f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
                )
            shape = tf.shape(reduce_any(tf.zeros_like(x, tf.bool), axes, bool(keepdims)))
            return wrap_tensor(tf.fill(shape, as_tensor(ufunc.identity if start is None else start, dtype)))
        for along in sorted(axes, reverse=True):
            x = tree_reduce(ufunc.implementation, x, along, keepdims)
        result = x if start is None else ufunc.implementation(start, x)
        return wrap_tensor(cast(result, dtype))

    return reduce


def _initial(value: Any, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return the number from which a reduction starts, as NumPy converts it to the dtype of the reduction.

    Raises:
        ValueError: the value has axes.
    """
    start = as_tensor(value)
    if rank_of(start) != 0:
        raise ValueError("setting an array element with a sequence.")
    return cast(start, dtype)


def _accumulate(ufunc: Ufunc) -> Callable[..., Any]:
    """Return the method `accumulate` of an associative ufunc."""

    def accumulate(array: Any, axis: int, dtype: np.dtype[Any]) -> Any:
        x = as_tensor(_in_dtype(array, dtype))
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
        return wrap_tensor(cast(scan(ufunc.implementation, x, along), dtype))

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


def _without_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of NumPy as the method `reduce` of the ufunc, which has a dtype."""

    def reduce(array: Any, dtype: np.dtype[Any], **kwargs: Any) -> Any:
        return function(_in_dtype(array, dtype), **kwargs)

    return reduce


def _with_initial(
    function: Callable[..., Any], combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
) -> Callable[..., Any]:
    """Return `all` or `any` as the method `reduce` of the ufunc, which starts from a truth value."""

    def reduce(array: Any, dtype: np.dtype[Any], initial: Any = None, **kwargs: Any) -> Any:
        result = function(array, **kwargs)
        if initial is None:
            return result
        return wrap_tensor(combine(as_tensor(result), _initial(initial, dtype)))

    return reduce


def _install() -> None:
    """Register the methods of the ufuncs."""
    for name in _ASSOCIATIVE:
        ufunc = getattr(ufuncs, name)
        Ufunc.reducers[name] = _reduce(ufunc)
        Ufunc.accumulators[name] = _accumulate(ufunc)
    Ufunc.reducers |= {
        "add": reductions.sum,
        "multiply": reductions.prod,
        "maximum": _without_dtype(extremes.max),
        "minimum": _without_dtype(extremes.min),
        "logical_and": _with_initial(truth.all, tf.logical_and),
        "logical_or": _with_initial(truth.any, tf.logical_or),
    }
    Ufunc.segments = staticmethod(reduceat)
    Ufunc.accumulators |= {
        "add": _refusing_numbers(cumulative.cumsum),
        "multiply": _refusing_numbers(cumulative.cumprod),
    }


_install()
