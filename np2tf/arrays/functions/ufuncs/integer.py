"""Integer arithmetic with NumPy's meaning: division by zero gives 0, and shifts may exceed the width."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_bitwise_ops

from np2tf.arrays.operands.numpy_warnings import warn_arithmetic
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.dtype_dispatch import (
    SIGNED_INTEGERS,
    UNSIGNED_INTEGERS,
    as_signed,
    compute_in,
    constant,
    width,
)
from np2tf.core.errors import ValueNeededError


def _is_harmless(b: tf.Tensor) -> bool:
    """Return whether the divisor is a single number, known to be neither 0 nor -1."""
    value = tf.get_static_value(b) if b.shape.rank == 0 else None
    return value is not None and value not in (0, -1)


def _safe_divisor(b: tf.Tensor) -> tf.Tensor:
    """Return the divisor with 1 in the place of 0 and of -1, for which the division can trap on CPUs."""
    is_unsafe = tf.equal(b, constant(0, b))
    if b.dtype not in UNSIGNED_INTEGERS:
        is_unsafe |= tf.equal(b, constant(-1, b))
    return tf.where(is_unsafe, constant(1, b), b)


def floor_divide(a: tf.Tensor, b: tf.Tensor, name: str = "floor_divide") -> tf.Tensor:
    """Return the quotient rounded down; 0 if the divisor is 0."""
    if _is_harmless(b):
        return tf.math.floordiv(a, b)
    quotient = tf.math.floordiv(a, _safe_divisor(b))
    if b.dtype not in UNSIGNED_INTEGERS:
        is_minus_one = tf.equal(b, constant(-1, b))
        warn_arithmetic("over", is_minus_one & tf.equal(a, constant(a.dtype.min, a)), name)
        quotient = tf.where(is_minus_one, -quotient, quotient)
    by_zero = tf.equal(b, constant(0, b))
    warn_arithmetic("divide", by_zero, name)
    return tf.where(by_zero, constant(0, a), quotient)


def remainder(a: tf.Tensor, b: tf.Tensor, name: str = "remainder") -> tf.Tensor:
    """Return the remainder with the divisor's sign; 0 if the divisor is 0."""
    if _is_harmless(b):
        return tf.math.floormod(a, b)
    warn_arithmetic("divide", tf.equal(b, constant(0, b)), name)
    return _remainder(a, b)


def _remainder(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    # The remainder of the division by 1, -1 and 0 is 0.
    return tf.math.floormod(a, _safe_divisor(b))


def divmod(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return quotient and remainder. As in NumPy, there is a single warning."""
    return floor_divide(a, b, "divmod"), _remainder(a, b)


def fmod(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the remainder with the dividend's sign; 0 if the divisor is 0."""
    if a.dtype in UNSIGNED_INTEGERS:
        return remainder(a, b, "fmod")
    warn_arithmetic("divide", tf.equal(b, constant(0, b)), "fmod")
    divisor = _safe_divisor(b)
    return a - tf.truncatediv(a, divisor) * divisor


def _is_known_to_fit(a: tf.Tensor, shift: tf.Tensor) -> bool:
    value = tf.get_static_value(shift) if shift.shape.rank == 0 else None
    return value is not None and bool(0 <= value < width(a))


def _is_in_range(a: tf.Tensor, shift: tf.Tensor) -> tf.Tensor:
    fits = tf.less(shift, constant(width(a), shift))
    return fits if shift.dtype in UNSIGNED_INTEGERS else fits & tf.greater_equal(shift, constant(0, shift))


def left_shift(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a << b``; 0 if b is not less than the width."""
    if _is_known_to_fit(a, b):
        return tf.bitwise.left_shift(a, b)
    fits = _is_in_range(a, b)
    result = tf.bitwise.left_shift(a, tf.where(fits, b, constant(0, b)))
    return tf.where(fits, result, constant(0, a))


def right_shift(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a >> b``; 0 or -1 by the sign if b is not less than the width."""
    if _is_known_to_fit(a, b):
        return tf.bitwise.right_shift(a, b)
    fits = _is_in_range(a, b)
    result = tf.bitwise.right_shift(a, tf.where(fits, b, constant(width(a) - 1, b)))
    return tf.where(fits, result, constant(0, a)) if a.dtype in UNSIGNED_INTEGERS else result


def negative(a: tf.Tensor) -> tf.Tensor:
    """Return ``-a`` of unsigned integers, which wrap."""
    # The graph optimiser would turn 0 - a into a negation, which TensorFlow lacks for unsigned integers.
    return tf.bitwise.invert(a) + constant(1, a)


def subtract(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a - b`` of unsigned integers; in a graph as a sum, because TensorFlow cannot negate them."""
    return a - b if tf.executing_eagerly() else a + negative(b)


def bitwise_count(a: tf.Tensor) -> tf.Tensor:
    """Return the number of 1 bits of the absolute value."""
    return gen_bitwise_ops.PopulationCount(x=a if a.dtype in UNSIGNED_INTEGERS else tf.abs(a))


_UNSIGNED_LIKE = dict(zip(SIGNED_INTEGERS, UNSIGNED_INTEGERS))


def _magnitude(a: tf.Tensor) -> tf.Tensor:
    """Return the absolute value as an unsigned integer, which also holds that of the lowest integer."""
    return a if a.dtype in UNSIGNED_INTEGERS else tf.bitcast(tf.abs(a), _UNSIGNED_LIKE[a.dtype])


def _euclid(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    zero = constant(0, a)
    shape = tf.broadcast_static_shape(a.shape, b.shape)
    a, b = a + tf.zeros_like(b), b + tf.zeros_like(a)

    def step(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        is_done = tf.equal(b, zero)
        remainder = tf.math.floormod(a, tf.where(is_done, constant(1, b), b))
        return tf.where(is_done, a, b), tf.where(is_done, zero, remainder)

    return tf.while_loop(lambda a, b: reduce_any(tf.not_equal(b, zero)), step, (a, b), (shape, shape))[0]


def gcd(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the greatest common divisor, by Euclid's algorithm."""
    return tf.bitcast(_euclid(_magnitude(a), _magnitude(b)), a.dtype)


def lcm(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the least common multiple."""
    first, second = _magnitude(a), _magnitude(b)
    return tf.bitcast(tf.math.floordiv(first, _safe_divisor(_euclid(first, second))) * second, a.dtype)


def reciprocal(a: tf.Tensor) -> tf.Tensor:
    """Return 1/a rounded to zero, which is not zero only for 1 and -1. For 0 return NumPy's result on this
    CPU.
    """
    is_zero = tf.equal(a, constant(0, a))
    has_one = tf.equal(a, constant(1, a))
    if a.dtype not in UNSIGNED_INTEGERS:
        has_one |= tf.equal(a, constant(-1, a))
    result = tf.where(has_one, a, constant(0, a))
    if tf.executing_eagerly() and not np.asarray(is_zero).any():
        return result
    of_zero, is_invalid = _RECIPROCALS_OF_0[a.dtype]
    warn_arithmetic("divide", is_zero, "reciprocal")
    warn_arithmetic("invalid", is_zero & is_invalid, "reciprocal")
    return tf.where(is_zero, constant(of_zero, a), result)


def _reciprocal_of_0(dtype: tf.DType) -> tuple[int, bool]:
    """Return NumPy's integer for an infinity on this CPU, and whether NumPy reports it as invalid."""
    zero = np.zeros(1, dtype.as_numpy_dtype)
    with np.errstate(all="ignore"):
        result = int(np.reciprocal(zero)[0])
    try:
        with np.errstate(divide="ignore", invalid="raise"):
            np.reciprocal(zero)
    except FloatingPointError:
        return result, True
    return result, False


_RECIPROCALS_OF_0 = {dtype: _reciprocal_of_0(dtype) for dtype in (*SIGNED_INTEGERS, *UNSIGNED_INTEGERS)}


def positive_power(a: tf.Tensor, exponent: int) -> tf.Tensor:
    """Return ``a ** exponent`` for a known exponent, by squaring. The result wraps."""
    result = None
    while exponent:
        if exponent & 1:
            result = a if result is None else result * a
        exponent >>= 1
        if exponent:
            a = a * a
    return tf.ones_like(a) if result is None else result


def power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a ** b``, which wraps.

    Raises:
        ValueError: an exponent is negative.
        StagingError: exponents are known only at run time, and may be negative.
    """
    if b.dtype not in UNSIGNED_INTEGERS:
        exponents = tf.get_static_value(b)
        if exponents is None:
            raise ValueNeededError("an integer power whose exponent may be negative")
        if np.any(exponents < 0):
            raise ValueError("Integers to negative integer powers are not allowed.")
    return nonnegative_power(a, b)


def _power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Square and multiply over the bits of the exponents, up to the highest bit of any exponent."""

    def step(result: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, ...]:
        odd = tf.not_equal(tf.bitwise.bitwise_and(b, constant(1, b)), constant(0, b))
        return tf.where(odd, result * a, result), a * a, tf.bitwise.right_shift(b, constant(1, b))

    shape = tf.broadcast_static_shape(a.shape, b.shape)
    start = tf.ones_like(a) * tf.cast(tf.ones_like(b), a.dtype)
    return tf.while_loop(
        lambda result, a, b: reduce_any(tf.not_equal(b, constant(0, b))),
        step,
        (start, a, b),
        (shape, a.shape, b.shape),
    )[0]


_power_of_small = compute_in(_power, tf.int64)


def nonnegative_power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a ** b`` for b that is never negative, computed in int64: only the low bits matter."""
    if a.dtype == tf.uint64:
        return tf.bitcast(_power(tf.bitcast(a, tf.int64), b), tf.uint64)
    return _power(a, b) if a.dtype == tf.int64 else _power_of_small(a, b)


#: A dtype for which TensorFlow has no matrix product -> the function that computes the product.
MATMUL = {
    **{dtype: compute_in(tf.matmul, tf.int32) for dtype in (tf.int8, tf.uint8, tf.int16, tf.uint16)},
    tf.uint32: compute_in(tf.matmul, tf.int64),
    tf.uint64: as_signed(tf.matmul),
    tf.float16: compute_in(tf.matmul, tf.float32),
    tf.bool: lambda a, b: tf.not_equal(tf.matmul(tf.cast(a, tf.int32), tf.cast(b, tf.int32)), 0),
}
