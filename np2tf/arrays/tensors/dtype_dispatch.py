"""Conversions between numbers that ``tf.cast`` rounds or wraps in another way than NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.front.residency import surroundings
from np2tf.arrays.tensors.axis_reductions import reduce_all
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.tapes import may_record

# -- casts ---------------------------------------------------------------------------------------------------

_TWO_63 = float(2**63)


def _takes_the_lowest() -> bool:
    with np.errstate(invalid="ignore"):
        integers = np.array([np.nan, np.inf, -np.inf]).astype(np.int64)
    return bool((integers == np.iinfo(np.int64).min).all())


#: True if this CPU converts numbers out of range to the lowest integer. XLA gives the nearest integer, or 0
#: for NaN.
_LOWEST = _takes_the_lowest()


def to_signed(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Convert floating-point numbers to signed integers. Out of range the result is that of NumPy on this
    CPU.
    """
    if dtype.size < 4:
        # CPUs, and so NumPy, convert to 32 bits and keep the low bits.
        return tf.cast(to_signed(x, tf.int32), dtype)
    if not _LOWEST or tf.executing_eagerly():
        return tf.cast(x, dtype)
    if x.dtype.size < 4:
        x = tf.cast(x, tf.float32)
    low = tf.constant(float(dtype.min), x.dtype)
    fits = tf.greater_equal(x, low) & tf.less(x, -low)
    return tf.where(fits, tf.cast(x, dtype), tf.constant(dtype.min, dtype))


def to_half(x: tf.Tensor) -> tf.Tensor:
    """Convert float64 to float16 with a single rounding.

    tf.cast goes by way of float32 and rounds twice. Here the first rounding is to odd: towards zero, with the
    last bit set if any bits were cut off. Then the second rounding has the same choice as from the original
    number.
    """
    single = tf.cast(x, tf.float32)
    back = tf.cast(single, tf.float64)
    inexact = tf.not_equal(back, x) & tf.equal(x, x)
    bits = tf.bitcast(single, tf.int32)
    towards_zero = bits - tf.cast(tf.greater(tf.abs(back), tf.abs(x)), tf.int32)
    odd = tf.bitcast(tf.bitwise.bitwise_or(towards_zero, 1), tf.float32)
    return tf.cast(tf.where(inexact, odd, single), tf.float16)


def to_unsigned(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Convert floating-point numbers to unsigned integers. Negative numbers wrap."""
    if dtype != tf.uint64:
        return tf.cast(to_signed(x, tf.int32 if dtype.size < 4 else tf.int64), dtype)
    if x.dtype == tf.float16:
        x = tf.cast(x, tf.float32)
    half = tf.constant(_TWO_63, x.dtype)
    large = tf.greater_equal(x, half)
    low = tf.bitcast(to_signed(tf.where(large, x - half, x), tf.int64), tf.uint64)
    return tf.where(large, tf.bitwise.bitwise_xor(low, tf.constant(2**63, tf.uint64)), low)


# -- dtype dispatch ------------------------------------------------------------------------------------------
# The choice of the TensorFlow function for a dtype, made once, at import.
#
# TensorFlow lacks some functions for some dtypes, or gives another result than NumPy for them. A *kernel*
# is a function over tensors that chooses, by the dtype of its first operand, the function that has NumPy's
# result.

Function = Callable[..., Any]

#: The optimiser of graphs knows nothing of the values of these operations.
_OPAQUE = frozenset({"Placeholder", "PlaceholderWithDefault"})

SIGNED_INTEGERS = (tf.int8, tf.int16, tf.int32, tf.int64)
UNSIGNED_INTEGERS = (tf.uint8, tf.uint16, tf.uint32, tf.uint64)
COMPLEX = (tf.complex64, tf.complex128)
#: A floating dtype -> the signed integers of the same size, for bitcasts.
BITS = {tf.float16: tf.int16, tf.bfloat16: tf.int16, tf.float32: tf.int32, tf.float64: tf.int64}


def kernel(
    default: Function,
    *,
    boolean: Function | None = None,
    signed: Function | None = None,
    unsigned: Function | None = None,
    half: Function | None = None,
    complex: Function | None = None,
) -> Function:
    """Return a function that calls the variant for the dtype of its operand, or `default` if there is none.

    Without `unsigned`, the variant for signed integers is called for all integers.
    """
    table: dict[tf.DType, Function] = {}
    rows = (
        ((tf.bool,), boolean),
        (SIGNED_INTEGERS, signed),
        (UNSIGNED_INTEGERS, unsigned or signed),
        ((tf.float16,), half),
        (COMPLEX, complex),
    )
    for dtypes, function in rows:
        if function is not None:
            table.update(dict.fromkeys(dtypes, function))

    def call(first: tf.Tensor, *operands: tf.Tensor) -> Any:
        return table.get(first.dtype, default)(first, *operands)

    return call


def compute_in(function: Function, wide: tf.DType) -> Function:
    """Return `function` computed in the dtype `wide`, with its results cast back to the dtype of the
    operands.
    """

    def call(*operands: tf.Tensor) -> Any:
        narrow = operands[0].dtype
        result = function(*[tf.cast(operand, wide) for operand in operands])
        return (
            tuple(tf.cast(part, narrow) for part in result)
            if type(result) is tuple
            else tf.cast(result, narrow)
        )

    return call


def compute_in_double(function: Function) -> Function:
    """Return `function` computed in float64."""
    return compute_in(function, tf.float64)


def real(function: Function, complex: Function | None = None) -> Function:
    """Return a function of real numbers that computes float16 in float32, as NumPy does."""
    return kernel(function, half=compute_in(function, tf.float32), complex=complex)


def apply_to_parts(function: Function) -> Function:
    """Return `function` applied to the real and to the imaginary part."""
    return lambda x: tf.complex(function(tf.math.real(x)), function(tf.math.imag(x)))


def conjugate(x: tf.Tensor) -> tf.Tensor:
    """Return the complex conjugate; real numbers are returned unchanged."""
    return tf.math.conj(x) if x.dtype.is_complex else x


def identity(x: tf.Tensor) -> tf.Tensor:
    """Return the operand itself. Tensors do not change, so that no copy is needed."""
    return x


def gather_parts(x: tf.Tensor, index: Any, axis: int) -> tf.Tensor:
    """Return parts of `x` along an axis. The gradient is a tensor, while TensorFlow's is a
    `tf.IndexedSlices`.
    """
    if axis == 0 and (x.dtype.is_floating or x.dtype.is_complex) and may_be_differentiated():
        x = tf.reshape(x, tf.shape(x))  # the gradient of a reshape is a tensor
    return tf.gather(x, index, axis=axis)


def may_be_differentiated() -> bool:
    """Return whether a gradient of the current code may be computed."""
    return not tf.executing_eagerly() or (surroundings.has_tensorflow() and not surroundings.has_no_tape())


def needs_derivatives() -> bool:
    """Return whether operations of the current code need their own derivatives.

    In a trace for XLA that no tape follows they do not. Gradients of this trace then need another trace.
    """
    scope = current_scope()
    if tf.executing_eagerly() or scope is None:
        return may_be_differentiated()
    trace = scope.trace
    if not trace.xla or trace.at_once or not trace.gaps.is_allowed or may_record():
        return True
    trace.gaps.is_taken = True
    return False


def constant(value: Any, like: tf.Tensor) -> tf.Tensor:
    """Return a number in the dtype of `like`."""
    return hidden_from_others(tf.constant(value, like.dtype))


def are_within(x: tf.Tensor, limit: Callable[[float], float] | None = None) -> bool:
    """Return whether all parts of eager numbers are finite, and within a limit if there is one."""
    if "CPU" in x.device:
        numbers = np.asarray(x)
        real = numbers.reshape(-1).view(numbers.real.dtype)
        if limit is None:
            return bool(np.isfinite(real).all())
        top = limit(float(np.finfo(real.dtype).max))
        return not len(real) or bool(np.minimum.reduce(real) >= -top and np.maximum.reduce(real) <= top)
    size = tf.maximum(tf.abs(tf.math.real(x)), tf.abs(tf.math.imag(x)))
    top = size.dtype.max if limit is None else limit(float(size.dtype.max))
    return bool(reduce_all(size <= constant(top, size)))


def hide_from_optimiser(x: tf.Tensor) -> tf.Tensor:
    """Return x hidden from the graph optimiser, which reorders products with constants and so changes
    rounding.
    """
    return x if tf.executing_eagerly() else gen_array_ops.PlaceholderWithDefault(input=x, shape=x.shape)


def hidden_from_others(x: tf.Tensor, integers: bool = False) -> tf.Tensor:
    """Return an operand of arithmetic, hidden from the optimiser of a graph that np2tf does not build.

    There TensorFlow's arithmetic rewrites are on, and they need to see the operations or constants that the
    operands are: it merges constants, takes common factors out of sums, makes ``x <= 0`` of ``~(x > 0)``.

    Args:
        integers: whether integers are hidden, too. Most rewrites are right for them; ``max(-x)`` is not
            ``-min(x)`` where ``-x`` overflows.
    """
    if not isinstance(x, tf.Tensor) or tf.executing_eagerly() or (x.dtype.is_integer and not integers):
        return x
    scope = current_scope()
    if scope is not None and not scope.trace.is_compiled_later:
        return x
    return x if not hasattr(x, "numpy") and x.op.type in _OPAQUE else hide_from_optimiser(x)


def xla_may_compile() -> bool:
    """Return whether XLA may compile the current code: on CPUs its maximum and minimum ignore NaN."""
    scope = current_scope()
    return not tf.executing_eagerly() and (scope is None or scope.trace.xla or scope.trace.is_compiled_later)


def _prevails(a: tf.Tensor, b: tf.Tensor, compare: Function) -> tf.Tensor:
    """Return where a is the result. Of two zeros NumPy takes the second, or in float16 the first.

    Of equal numbers a is the result if that matters, so that it has the whole gradient, as in `tf.maximum`.
    """
    is_result = compare(a, b) | tf.not_equal(a, a)
    if a.dtype == tf.float16:
        return is_result | tf.equal(a, b)
    if not needs_derivatives():
        return is_result
    return is_result | tf.equal(*(tf.bitcast(x, BITS[x.dtype]) for x in (a, b)))


def maximum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the larger of two numbers; NaN if one of them is NaN."""
    if a.dtype.is_integer or not xla_may_compile():
        return tf.maximum(a, b)
    return tf.where(_prevails(a, b, tf.greater), a, b)


def minimum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the smaller of two numbers; NaN if one of them is NaN."""
    if a.dtype.is_integer or not xla_may_compile():
        return tf.minimum(a, b)
    return tf.where(_prevails(a, b, tf.less), a, b)


def broadcast_together(*operands: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Broadcast the operands to their common shape, which custom gradients need."""
    static = operands[0].shape
    for operand in operands[1:]:
        static = tf.broadcast_static_shape(static, operand.shape)
    if all(operand.shape == static for operand in operands) and static.is_fully_defined():
        return operands
    if static.is_fully_defined():
        return tuple(tf.broadcast_to(operand, static) for operand in operands)
    shape = tf.shape(operands[0])
    for operand in operands[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(operand))
    return tuple(tf.broadcast_to(operand, shape) for operand in operands)


def power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a**b``. A power of 0 has derivatives by the base, also if the exponent is 0 or 1."""
    return _power(*broadcast_together(a, b)) if needs_derivatives() else tf.pow(a, b)


@tf.custom_gradient
def _power(a: tf.Tensor, b: tf.Tensor) -> Any:
    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        zero, one = constant(0, a), constant(1, a)
        # The factor is 0 where the exponent is, but not if the power to -1 were infinite.
        of_base = b * power(a, tf.where(tf.equal(b, zero), zero, b - one))
        is_positive = tf.greater(a, zero)
        logarithm = tf.where(is_positive, tf.math.log(tf.where(is_positive, a, one)), zero)
        return upstream * of_base, upstream * (power(a, b) * logarithm)

    return tf.pow(a, b), gradient


def constant_function(value: bool) -> Function:
    """Return a function that returns `value` for every element."""
    return lambda x: tf.fill(tf.shape(x), value)


def numpy_dtype(x: tf.Tensor) -> np.dtype[Any]:
    """Return the dtype of a tensor as NumPy's."""
    return np.dtype(x.dtype.as_numpy_dtype)


def width(x: tf.Tensor) -> int:
    """Return the number of bits of one element."""
    return numpy_dtype(x).itemsize * 8


def as_signed(function: Function) -> Function:
    """Return `function` of uint64 computed on the same bits as int64, which is right if only the low bits
    matter.
    """

    def call(*operands: tf.Tensor) -> tf.Tensor:
        return tf.bitcast(function(*[tf.bitcast(operand, tf.int64) for operand in operands]), tf.uint64)

    return call
