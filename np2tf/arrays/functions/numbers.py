"""Rounding and clipping, parts of complex numbers, and functions that replace special values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.dispatch.op import OPS, Array, Int, Operand, attach, op
from np2tf.arrays.front.flags import promote_in_any_mode
from np2tf.arrays.functions.creation import asarray
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.functions.ufuncs.comparison import EXTREMES
from np2tf.arrays.functions.ufuncs.real import bessel_i0, remainder, sine_quotient
from np2tf.arrays.operands.axes import difference_along, normalize_axis, rank_of, slice_along
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.promotion import inexact_type, kind_of, result_type, ufunc_loop
from np2tf.arrays.operands.staged_numbers import settle_numbers
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX, apply_to_parts, constant
from np2tf.core.errors import NoGraphFormError, ValueNeededError

__all__ = [
    "angle",
    "around",
    "clip",
    "fix",
    "i0",
    "imag",
    "nan_to_num",
    "real",
    "real_if_close",
    "round",
    "sinc",
    "unwrap",
]


def _round_tensor(x: tf.Tensor, decimals: int) -> tf.Tensor:
    if decimals == 0:
        return tf.round(x)
    factor = constant(10.0 ** abs(decimals), x)
    if decimals > 0:
        return tf.round(x * factor) / factor
    return tf.round(x / factor) * factor


def _round(a: tf.Tensor, decimals: Any) -> tf.Tensor:
    decimals = 0 if decimals is None else int(decimals)
    if a.dtype == tf.bool:
        if decimals != 0:
            raise NoGraphFormError("rounding booleans to decimals")
        return cast(a, np.float16)
    if a.dtype in COMPLEX:
        return apply_to_parts(lambda part: _round_tensor(part, decimals))(a)
    if not a.dtype.is_integer:
        return _round_tensor(a, decimals)
    return a if decimals >= 0 else cast(_round_tensor(cast(a, np.float64), decimals), a.dtype.as_numpy_dtype)


@op(np.round, method=True)
def round(a: Array, decimals: Int = 0, out: Any = None) -> tf.Tensor:
    """Round to a number of decimals; halves are rounded to even."""
    return _round(a, decimals)


@op(np.around)
def around(a: Array, decimals: Int = 0, out: Any = None) -> tf.Tensor:
    """Round to a number of decimals, as `round` does."""
    return _round(a, decimals)


@op(np.fix)
def fix(x: Array, out: Any = None) -> tf.Tensor:
    """Round towards 0."""
    if x.dtype.is_integer or x.dtype == tf.bool:
        return x
    return tf.where(x < constant(0, x), tf.math.ceil(x), tf.floor(x))


_CLIP: np.ufunc = np._core.umath.clip  # type: ignore[attr-defined]


def _clip_tensor(a: Any, low: Any, high: Any) -> tf.Tensor:
    kind = kind_of(a)
    if isinstance(kind, np.dtype) and kind.kind in "iu":
        # A Python integer that no element can pass is no limit, and need not fit the dtype.
        low = None if type(low) is int and low <= np.iinfo(kind).min else low
        high = None if type(high) is int and high >= np.iinfo(kind).max else high
    if low is None and high is None:
        return as_tensor(a)
    limits = [limit for limit in (low, high) if limit is not None]
    ufunc = _CLIP if len(limits) == 2 else np.maximum if high is None else np.minimum
    operands = settle_numbers(ufunc, (a, *limits))
    result_dtype = ufunc_loop(ufunc, tuple(map(kind_of, operands)))[-1]
    result, *bounds = (as_tensor(operand, result_dtype) for operand in operands)
    if low is not None:
        result = EXTREMES["maximum"](result, bounds.pop(0))
    return result if high is None else EXTREMES["minimum"](result, bounds.pop(0))


@op(np.clip)
def clip(
    a: Operand,
    a_min: Operand = np._NoValue,
    a_max: Operand = np._NoValue,
    out: Any = None,
    *,
    min: Operand = np._NoValue,
    max: Operand = np._NoValue,
) -> tf.Tensor:
    """Limit the elements of an array to an interval."""
    if (a_min is np._NoValue) != (a_max is np._NoValue):
        raise TypeError("clip() missing 1 required positional argument")
    limits = [a_min, a_max]
    if a_min is np._NoValue:
        limits = [None if limit is np._NoValue else limit for limit in (min, max)]
    elif min is not np._NoValue or max is not np._NoValue:
        raise ValueError(
            "Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden."
        )
    return _clip_tensor(a, *limits)


def _clip_method(self: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    return clip(self, min, max, out=out, **kwargs)


attach("clip", _clip_method)


@op(np.nan_to_num)
def _nan_to_num(
    x: Array, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> tf.Tensor:
    """Replace NaN and infinities by numbers, in a new array."""
    if x.dtype in COMPLEX:
        return apply_to_parts(lambda part: _replace_special(part, nan, posinf, neginf))(x)
    return _replace_special(x, nan, posinf, neginf) if x.dtype.is_floating else x


def _replace_special(x: tf.Tensor, nan: Any, posinf: Any, neginf: Any) -> tf.Tensor:
    dtype = x.dtype.as_numpy_dtype
    limits = np.finfo(dtype)
    high = as_tensor(limits.max if posinf is None else posinf, dtype)
    low = as_tensor(limits.min if neginf is None else neginf, dtype)
    number = as_tensor(nan, dtype)
    for value in [value for value in (number, high, low) if value.shape.rank != 0]:
        pairs = zip(reversed(value.shape.as_list()), reversed(x.shape.as_list()), strict=False)
        if rank_of(value) > rank_of(x) or any(n not in (1, None, m) and m is not None for n, m in pairs):
            raise ValueError(f"could not broadcast input array from shape {value.shape} into shape {x.shape}")
    infinity = constant(np.inf, x)
    finite = tf.where(tf.equal(x, infinity), high, tf.where(tf.equal(x, -infinity), low, x))
    return tf.where(tf.math.is_nan(x), number, finite)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace NaN and infinities by numbers."""
    result = _nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    if copy or (not isinstance(x, np.ndarray) and not is_array(x)):
        return result
    x[...] = result
    return x


OPS[np.nan_to_num] = nan_to_num


@op(np.real_if_close)
def real_if_close(a: Array, tol: Any = 100) -> tf.Tensor:
    """Return the real parts of complex numbers if all imaginary parts are close to 0, else the numbers."""
    if a.dtype not in COMPLEX:
        return a
    parts = tf.get_static_value(tf.math.imag(a))
    if parts is None:
        raise ValueNeededError("whether complex numbers are real is known only at run time")
    close = tol if tol <= 1 else tol * np.finfo(a.dtype.as_numpy_dtype).eps
    return tf.math.real(a) if np.all(np.absolute(parts) < close) else a


@op(np.angle)
def angle(z: Array, deg: bool = False) -> tf.Tensor:
    """Return the angles of complex numbers in the plane."""
    parts = (tf.math.imag(z), tf.math.real(z)) if z.dtype in COMPLEX else (0, z)
    result = ufuncs.arctan2.compute(parts)
    return result * constant(180 / math.pi, result) if deg else result


@op(np.i0)
def i0(x: Array) -> tf.Tensor:
    """Return the modified Bessel function of the first kind of order 0."""
    if x.dtype in COMPLEX:
        raise TypeError("i0 not supported for complex values")
    return bessel_i0(x if x.dtype.is_floating else cast(x, np.float64))


@op(np.sinc)
def sinc(x: Array) -> tf.Tensor:
    """Return ``sin(pi * x) / (pi * x)``, and 1 for 0."""
    x = cast(x, inexact_type(x))
    return sine_quotient(x * constant(math.pi, x))


def _part(val: Any, name: str) -> Any:
    if isinstance(val, (tf.Tensor, tf.Variable)):
        val = tensor_array(as_tensor(val))
    elif isinstance(val, (list, tuple)):
        val = asarray(val)
    return getattr(val, name)


def real(val: Any) -> Any:
    """The real part, a view; of real numbers the array itself."""
    return _part(val, "real")


def imag(val: Any) -> Any:
    """Return the imaginary part as a view; for real numbers, zeros that cannot be written to."""
    return _part(val, "imag")


@op(np.unwrap)
@promote_in_any_mode
def unwrap(p: Array, discont: Any = None, axis: Int = -1, *, period: Operand = 2 * math.pi) -> tf.Tensor:
    """Remove jumps of more than half a period from a sequence of phases."""
    along = normalize_axis(axis, rank_of(p))
    steps = difference_along(p, along)
    dtype = result_type(steps, period)
    if dtype.kind != "f":
        raise NoGraphFormError("unwrapping integers")
    steps, whole = cast(steps, dtype), as_tensor(period, dtype)
    half = whole / tf.constant(2, whole.dtype)
    limit = half if discont is None else as_tensor(discont, dtype)
    residues = remainder(steps + half, whole) - half
    residues = tf.where((residues == -half) & (steps > 0), half, residues)
    correction = tf.where(tf.abs(steps) < limit, tf.zeros((), steps.dtype), residues - steps)
    p = cast(p, dtype)
    phases = slice_along(p, along, 1, None) + tf.cumsum(correction, along)
    return tf.concat([slice_along(p, along, None, 1), phases], along)


OPS |= {np.real: real, np.imag: imag}
