"""Elementary functions of float64 as polynomials, which XLA vectorises on CPUs.

XLA on CPUs calls the C library for these functions, once for each element, which takes from 2 ns (log) to 11
ns (tan) for an element. The code below takes 0.3 to 1.5 ns, and NumPy takes 0.5 to 11 ns. The errors are
below 3 units in the last place. Float32 is computed in float64. TensorFlow's functions remain for small
arrays, for code that a tape may differentiate, and on other devices.

Each polynomial interpolates at Chebyshev nodes, and was computed with 60 digits. The arguments are reduced
by the method of Cody and Waite, "Software Manual for the Elementary Functions" (1980). No step may depend on
``(x + c) - c`` being computed as written, since TensorFlow simplifies this expression.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from np2tf.arrays.tensors.axis_reductions import reduce_max
from np2tf.arrays.tensors.dtype_dispatch import needs_derivatives
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import current_scope

Function = Callable[..., tf.Tensor]

#: For arrays with fewer elements, the longer code is not worth its time.
LEAST = 16
#: Up to this angle, the products of the quotient and the parts of pi/2 below are exact.
_LARGEST_ANGLE = 1.6e6
#: XLA takes time exponential in the length of a chain of conditionals that depend on each other: no graph has
#: more of them than this, its further angles are left to the C library.
_MOST_GUARDS = 4
_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.478427660368898e-32)
_LN2 = (0.6931471803691238, 1.9082149292705877e-10)
#: Angles as two floats whose sum is more exact.
_PI, _HALF, _QUARTER = (
    (angle, error * angle / math.pi)
    for angle, error in ((math.pi / k, 1.2246467991473532e-16) for k in (1, 2, 4))
)
_SIN = (
    *(-0.16666666666666666, 0.008333333333330936, -0.00019841269836740532),
    *(2.7557316093198404e-06, -2.5051129896450185e-08, 1.5917988979397435e-10),
)
_COS = (
    *(0.041666666666666664, -0.0013888888888887389, 2.48015872987544e-05),
    *(-2.755731726587808e-07, 2.087614504941318e-09, -1.138254464534925e-11),
)
#: ``log((1 + s) / (1 - s)) = 2 s + s z P(z)`` with ``z = s * s``.
_LOG = (
    *(0.666666666666667, 0.3999999999989889, 0.28571428626253836, 0.22222211089379496),
    *(0.1818289243253687, 0.15331611722055008, 0.14617807153417325),
)
_ARCTAN = (
    *(-0.3333333333333333, 0.1999999999999548, -0.14285714284657894, 0.11111111014561013),
    *(-0.09090904549884611, 0.07692182535116648, -0.06664502215671447, 0.058580687568615106),
    *(-0.05085030492810941, 0.03921955253255129, -0.019162068915902577),
)
_ARCSIN = (
    *(0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531247),
    *(0.02237217294214989, 0.017352392720869973, 0.013971212973552933, 0.011479177415184906),
    *(
        0.01032281435018578,
        0.005457506718640358,
        0.01740087944269402,
        -0.014851887071247204,
        0.028757851367421566,
    ),
)
#: Powers with integer exponents up to this are products; each factor adds half a unit in the last place.
MOST_FACTORS = 12


def is_vectorised(x: tf.Tensor) -> bool:
    """Return whether polynomials compute the functions of `x`.

    If they do, the function sets `gapped` of the trace, because the gradients of the polynomials differ from
    the gradients of TensorFlow's functions.
    """
    scope = current_scope()
    if scope is None or x.dtype not in (tf.float64, tf.float32) or scope.trace.device != "cpu":
        return False
    size = x.shape.num_elements() if x.shape.is_fully_defined() else None
    if size is not None and size < LEAST:
        return False
    return not needs_derivatives()


def _vectorise(function: Function, own_function: Function, wide: bool = True) -> Function:
    """Return a function that calls `own_function`, which uses polynomials, where these are faster, else
    TensorFlow's `function`. `wide` says that `own_function` also computes float32.
    """

    def call(x: tf.Tensor, *further_operands: tf.Tensor) -> tf.Tensor:
        if not (wide or x.dtype == tf.float64) or not is_vectorised(x):
            return function(x, *further_operands)
        operands = [tf.cast(operand, tf.float64) for operand in (x, *further_operands)]
        return tf.cast(own_function(*operands), x.dtype)

    return call


def _polynomial(x: tf.Tensor, coefficients: Sequence[float]) -> tf.Tensor:
    """Return the value of a polynomial, from the constant term upwards, by Estrin's scheme, whose chains of
    dependent operations are short.
    """
    terms: list[tf.Tensor | float] = list(coefficients)
    while True:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [low + high * x for low, high in pairs] + terms[len(terms) // 2 * 2 :]
        if len(terms) == 1:
            return terms[0]
        x = x * x


def _float(value: float) -> tf.Tensor:
    return tf.constant(value, tf.float64)


def _bits(x: tf.Tensor) -> tf.Tensor:
    return tf.bitcast(x, tf.int64)


def _shift_bits(bits: tf.Tensor, places_to_the_left: int) -> tf.Tensor:
    places = tf.constant(abs(places_to_the_left), tf.int64)
    return (
        tf.bitwise.left_shift(bits, places)
        if places_to_the_left > 0
        else tf.bitwise.right_shift(bits, places)
    )


def _with_sign_of(magnitude: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    return tf.where(_bits(x) < 0, -magnitude, magnitude)


# -- sines ------------------------------------------------------------------------------------------------


def _reduce_angle(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the number of quarter turns nearest to an angle, and sine and cosine of the remaining angle."""
    nearest = tf.round(x * (2 / math.pi))
    first, second, third, fourth = (nearest * part for part in _HALF_PI)
    rough = x - first
    angle = rough - second
    rounding_error = (rough - angle) - second
    angle = angle + ((rounding_error - third) - fourth)
    square = angle * angle
    sine = angle + angle * square * _polynomial(square, _SIN)
    sine = tf.where(tf.equal(x, 0.0), x, sine)  # keeps the sign of zero
    half = 0.5 * square
    near = 1.0 - half
    cosine = near + (((1.0 - near) - half) + square * square * _polynomial(square, _COS))
    return tf.cast(nearest, tf.int64), sine, cosine


def _sine_of_turned(x: tf.Tensor, quarters: int) -> tf.Tensor:
    """Return the sine of `x` plus the given number of quarter turns."""
    turns, sine, cosine = _reduce_angle(x)
    turns = turns + quarters
    result = tf.where(tf.not_equal(tf.bitwise.bitwise_and(turns, 1), 0), cosine, sine)
    sign = _shift_bits(tf.bitwise.bitwise_and(turns, 2), 62)
    return tf.bitcast(tf.bitwise.bitwise_xor(_bits(result), sign), tf.float64)


def _tan(x: tf.Tensor) -> tf.Tensor:
    turns, sine, cosine = _reduce_angle(x)
    is_odd = tf.not_equal(tf.bitwise.bitwise_and(turns, 1), 0)
    return tf.where(is_odd, -cosine, sine) / tf.where(is_odd, sine, cosine)


def _of_angles(own_function: Function, function: Function) -> Function:
    """Return a function that calls `own_function` if all angles are small enough to reduce, else
    `function`.
    """

    def call(x: tf.Tensor) -> tf.Tensor:
        graph = default_graph()
        guards = getattr(graph, "_np2tf_angle_guards", 0)
        if guards >= _MOST_GUARDS:
            return function(x)
        graph._np2tf_angle_guards = guards + 1
        are_small = reduce_max(tf.abs(x)) < _LARGEST_ANGLE
        result = tf.cond(are_small, lambda: own_function(x), lambda: function(x))
        result.set_shape(x.shape)
        return result

    return _vectorise(function, call)


sin = _of_angles(lambda x: _sine_of_turned(x, 0), tf.sin)
cos = _of_angles(lambda x: _sine_of_turned(x, 1), tf.cos)
tan = _of_angles(_tan, tf.tan)


# -- logarithms -------------------------------------------------------------------------------------------


def _log(x: tf.Tensor) -> tf.Tensor:
    bits = _bits(x)
    exponent = _shift_bits(bits - _bits(_float(math.sqrt(0.5))), -52)
    f = tf.bitcast(bits - _shift_bits(exponent, 52), tf.float64) - 1.0
    power = tf.cast(exponent, tf.float64)
    s = f / (2.0 + f)
    square = s * s
    half = 0.5 * f * f
    correction = s * (half + square * _polynomial(square, _LOG)) + power * _LN2[1]
    result = power * _LN2[0] - ((half - correction) - f)
    result = tf.where(x < 0.0, _float(np.nan), result)
    # Vector units take subnormal numbers for zeros, as they do in TensorFlow's logarithm.
    result = tf.where(tf.equal(x, 0.0), _float(-np.inf), result)
    return tf.where(x < np.inf, result, x)


def _log1p(x: tf.Tensor) -> tf.Tensor:
    near = 1.0 + x
    correction = (x - (near - 1.0)) / near
    result = _log(near) + tf.where(tf.math.is_finite(correction), correction, _float(0.0))
    return tf.where(tf.equal(x, 0.0), x, result)


log = _vectorise(tf.math.log, _log, wide=False)
log1p = _vectorise(tf.math.log1p, _log1p, wide=False)


# -- inverse functions ------------------------------------------------------------------------------------


def _angle(long: tf.Tensor, short: tf.Tensor) -> tf.Tensor:
    """Return the angle between the long leg and the hypotenuse of a right triangle, at most pi/4."""
    is_wide = short > math.tan(math.pi / 8) * long
    ratio = tf.where(is_wide, short - long, short) / tf.where(is_wide, short + long, long)
    square = ratio * ratio
    angle = ratio + ratio * square * _polynomial(square, _ARCTAN)
    return tf.where(is_wide, _QUARTER[0] + (angle + _QUARTER[1]), angle)


def _arctan(x: tf.Tensor) -> tf.Tensor:
    size, one = tf.abs(x), tf.ones_like(x)
    is_steep = size > one
    angle = _angle(tf.where(is_steep, size, one), tf.where(is_steep, one, size))
    return _with_sign_of(tf.where(is_steep, _HALF[0] - (angle - _HALF[1]), angle), x)


def _arctan2(y: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    height, width = tf.abs(y), tf.abs(x)
    is_steep = height > width
    long, short = tf.where(is_steep, height, width), tf.where(is_steep, width, height)
    # Large legs are made smaller, so that their sum is finite. Two zeros have no quotient, and two infinities
    # have none: their angles are the angles of (0, 1) and (1, 1).
    scale = tf.where(long > 1e300, _float(2.0**-60), _float(1.0))
    are_infinite = tf.math.is_inf(short)
    long = tf.where(are_infinite | tf.equal(long, 0.0), _float(1.0), long * scale)
    short = tf.where(are_infinite, _float(1.0), short * scale)
    angle = _angle(long, short)
    angle = tf.where(is_steep, _HALF[0] - (angle - _HALF[1]), angle)
    angle = tf.where(_bits(x) < 0, _PI[0] - (angle - _PI[1]), angle)
    return tf.where(tf.math.is_nan(x) | tf.math.is_nan(y), x + y, _with_sign_of(angle, y))


def _near_half(size: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return whether a sine is over 1/2, and its angle; for a sine over 1/2, half of the complement."""
    is_large = size > 0.5
    square = tf.where(is_large, 0.5 * (1.0 - size), size * size)
    root = tf.where(is_large, tf.sqrt(square), size)
    return is_large, root + root * square * _polynomial(square, _ARCSIN)


def _arcsin(x: tf.Tensor) -> tf.Tensor:
    is_large, angle = _near_half(tf.abs(x))
    return _with_sign_of(tf.where(is_large, _HALF[0] - (2.0 * angle - _HALF[1]), angle), x)


def _arccos(x: tf.Tensor) -> tf.Tensor:
    is_large, angle = _near_half(tf.abs(x))
    double = 2.0 * angle
    far = tf.where(x < 0.0, _PI[0] - (double - _PI[1]), double)
    return tf.where(is_large, far, _HALF[0] - (_with_sign_of(angle, x) - _HALF[1]))


arctan = _vectorise(tf.atan, _arctan)
arctan2 = _vectorise(tf.atan2, _arctan2)
arcsin = _vectorise(tf.asin, _arcsin)
arccos = _vectorise(tf.acos, _arccos)


# -- powers -----------------------------------------------------------------------------------------------


def is_product_of_roots(exponent: float) -> bool:
    """Return whether an exponent is a multiple of a half, and not too large."""
    return 0 < abs(exponent) <= MOST_FACTORS and float(2 * exponent).is_integer()


def power(x: tf.Tensor, exponent: float) -> tf.Tensor:
    """Raise to a power by products and a square root, if `is_vectorised` and `is_product_of_roots` hold."""
    whole, is_odd = divmod(round(2 * abs(exponent)), 2)
    one = tf.constant(1, x.dtype)
    factors = []
    if is_odd:
        # pow gives no NaN for -inf, and no negative number for -0.0.
        x = tf.where(tf.equal(x, 0.0) | tf.equal(x, -np.inf), tf.abs(x), x)
        factors.append(tf.sqrt(x) if exponent > 0 else one / tf.sqrt(x))
    if exponent > 0:
        factors += _power(x, whole)
    else:
        # The square of an inverse: its denominator vanishes only where the result is infinite.
        if whole >= 2:
            inverse = one / _product(_power(x, whole // 2))
            factors.append(inverse * inverse)
        if whole % 2:
            factors.append(one / x)
    return _product(factors)


def _power(x: tf.Tensor, exponent: int) -> list[tf.Tensor]:
    """Return the factors of an integer power: `x` squared repeatedly."""
    factors = []
    while exponent:
        if exponent % 2:
            factors.append(x)
        exponent //= 2
        if exponent:
            x = x * x
    return factors


def _product(factors: Sequence[tf.Tensor]) -> tf.Tensor:
    return functools.reduce(tf.multiply, factors)
