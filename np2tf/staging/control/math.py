"""`np2tf.math`: Python's `math`, with functions that also take numbers known only at run time.

For Python numbers they are `math`'s own functions. A staged argument outside of a function's domain, or a
result too large for a float, discards the compiled call; on the host `math` then raises.

See https://docs.python.org/3/library/math.html.
"""

from __future__ import annotations

import math as _math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, weak_scalar
from np2tf.arrays.functions.ufuncs import real as floats
from np2tf.arrays.operands.differentiated_values import is_followed
from np2tf.arrays.operands.staged_numbers import is_weak, weak_kind
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_max
from np2tf.arrays.tensors.dtype_dispatch import power
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import ValueNeededError
from np2tf.staging.control.builtins import float as as_float
from np2tf.staging.control.builtins import is_staged, whole

_FLOATS: dict[str, Callable[..., tf.Tensor]] = {
    "sqrt": floats.sqrt,
    "exp": tf.exp,
    "expm1": tf.math.expm1,
    "log1p": tf.math.log1p,
    "log2": lambda x: _log2(x),
    "log10": lambda x: _log10(x),
    "sin": tf.sin,
    "cos": tf.cos,
    "tan": tf.tan,
    "asin": tf.asin,
    "acos": tf.acos,
    "atan": tf.atan,
    "atan2": tf.atan2,
    "sinh": tf.sinh,
    "cosh": tf.cosh,
    "tanh": tf.tanh,
    "asinh": tf.asinh,
    "acosh": tf.acosh,
    "atanh": tf.atanh,
    "erf": tf.math.erf,
    "erfc": tf.math.erfc,
    "fabs": tf.abs,
    "pow": power,
    "hypot": lambda *xs: _hypot(xs),
    "degrees": lambda x: x * (180 / _math.pi),
    "radians": lambda x: x * (_math.pi / 180),
    "fmod": floats.fmod,
    "log": lambda x, *base: tf.math.log(x) / tf.math.log(base[0]) if base else tf.math.log(x),
}
#: Squares of smaller numbers lose bits, or are zero.
_TINY = 1e-140
_POWERS = [float(f"1e{k}") for k in range(-307, 309)]


def _log2(x: tf.Tensor) -> tf.Tensor:
    """Return the exponent plus the logarithm of the fraction, so that powers of two give whole numbers."""
    bits = tf.bitcast(x, tf.int64)
    exponent = tf.bitwise.bitwise_and(tf.bitwise.right_shift(bits, 52), 0x7FF) - 1023
    fraction = tf.bitcast(
        tf.bitwise.bitwise_or(tf.bitwise.bitwise_and(bits, 0xFFFFFFFFFFFFF), 1023 << 52), tf.float64
    )
    exact = tf.cast(exponent, tf.float64) + tf.math.log(fraction) / _math.log(2)
    plain = tf.math.log(x) / _math.log(2)
    return _with_value(plain, exact, (x >= 2.0**-1022) & tf.math.is_finite(x))


def _log10(x: tf.Tensor) -> tf.Tensor:
    """Return a quotient of logarithms; powers of ten give whole numbers."""
    result = tf.math.log(x) / _math.log(10)
    nearest = tf.round(result)
    place = tf.cast(tf.where(tf.abs(nearest) < 307, nearest, 0.0), tf.int32) + 307
    return _with_value(result, nearest, tf.gather(tf.constant(_POWERS, tf.float64), place) == x)


def _with_value(result: tf.Tensor, exact: tf.Tensor, where: tf.Tensor) -> tf.Tensor:
    """Return `exact` where the condition holds, with the derivative of `result`. (The difference is
    exact.)
    """
    return result + tf.stop_gradient(tf.where(where, exact - result, 0.0))


def _hypot(xs: Sequence[tf.Tensor]) -> tf.Tensor:
    """Return the root of the sum of squares, infinite if a number is, even if another number is NaN.

    Tiny numbers are scaled, because their squares would be zero.
    """
    result = tf.sqrt(tf.add_n([x * x for x in xs]))
    sizes = tf.abs(tf.stack(xs))
    largest = reduce_max(tf.where(tf.math.is_nan(sizes), tf.zeros_like(sizes), sizes))
    is_tiny = (largest > 0.0) & (largest < _TINY)
    scale = tf.where(is_tiny, largest, 1.0)
    root = scale * tf.sqrt(tf.add_n([tf.square(x / scale) for x in xs]))
    return tf.where(tf.math.is_inf(largest), largest, _with_value(result, root, is_tiny))


_INTEGERS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "floor": tf.floor,
    "ceil": tf.math.ceil,
    "trunc": lambda x: tf.where(x < 0, tf.math.ceil(x), tf.floor(x)),
}
_TESTS: dict[str, Callable[[tf.Tensor], tf.Tensor]] = {
    "isnan": tf.math.is_nan,
    "isinf": tf.math.is_inf,
    "isfinite": tf.math.is_finite,
}


def _staged_value(name: str, args: tuple[Any, ...]) -> Any:
    if name in _INTEGERS and is_weak(args[0]) and weak_kind(args[0]) is int:
        return args[0]
    tensors = [
        as_float(arg).tensor if is_staged(arg) else tf.constant(float(arg), tf.float64) for arg in args
    ]
    if name in _TESTS:
        return weak_scalar(_TESTS[name](*tensors), bool)
    if name in _INTEGERS:
        return whole(_INTEGERS[name](*tensors))
    if name not in _FLOATS:
        raise ValueNeededError(f"math.{name} of a number known only at run time")
    result = _FLOATS[name](*tensors)
    # As in C: a NaN result of numbers means an argument outside of the domain, an infinite result of finite
    # numbers a pole or an overflow.
    nan_in = reduce_any([tf.math.is_nan(tensor) for tensor in tensors])
    finite_in = reduce_all([tf.math.is_finite(tensor) for tensor in tensors])
    record_violation((tf.math.is_nan(result) & ~nan_in) | (tf.math.is_inf(result) & finite_in))
    return weak_scalar(result, float)


def _followed_value(name: str, builtin: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return the same for numbers that a transform differentiates; `builtin` raises errors of the domain."""
    values = [arg.contents()[()] if is_array(arg) else arg for arg in args]
    if name in _INTEGERS or name in _TESTS:
        return builtin(*values)  # its derivative is zero
    if name not in _FLOATS:
        return builtin(*args)
    builtin(*values)
    tensors = [
        as_float(arg).tensor if is_followed(arg) else tf.constant(float(arg), tf.float64) for arg in args
    ]
    return weak_scalar(_FLOATS[name](*tensors), float)


def _function(name: str) -> Callable[..., Any]:
    builtin = getattr(_math, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and any(map(is_staged, args)):
            return _staged_value(name, args)
        if not kwargs and any(map(is_followed, args)):
            return _followed_value(name, builtin, args)
        return builtin(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = builtin.__doc__
    return call


_functions: dict[str, Any] = {}


def __getattr__(name: str) -> Any:
    attribute = getattr(_math, name)
    if not callable(attribute):
        return attribute
    return _functions.setdefault(name, _function(name))
