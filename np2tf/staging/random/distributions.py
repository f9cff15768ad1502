"""Bounded integers and normal numbers from random bits, to NumPy's last bit."""

from __future__ import annotations

import functools
import math
import platform
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.framework import config

from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_min, reduce_sum
from np2tf.staging.random.sources import (
    WORD_COUNT,
    BufferedWords,
    Source,
    Words32,
    Words64,
    mask_bits,
    multiply,
    shift_right,
    u64,
)

# -- bounded integers ----------------------------------------------------------------------------------------
# Integers below a bound, by rejection: by Lemire's multiplication, or by masking the lowest bits.
#
# See [Lemire, Fast random integer generation in an interval (2019)](https://doi.org/10.1145/3230636).

#: Up to this many integers, all candidates are compared with each other.
_MAX_COMPARED = 24
_HALF, _WORD = 2**32 - 1, 2**64 - 1
#: Returns the next integer from 0 to the greatest, both included.
BoundedInteger = Callable[[Source, tf.Tensor], tf.Tensor]
#: Returns whether the integers are valid, and the integers.
_AtOnce = Callable[[], tuple[tf.Tensor, tf.Tensor]]


def by_multiplication(source: Source, limit: tf.Tensor) -> tf.Tensor:
    """Return a bounded integer by the method of `Generator`."""
    return _of_width(source, limit, _scaled_half, _scaled_word)


def by_mask(source: Source, limit: tf.Tensor) -> tf.Tensor:
    """Return a bounded integer by the method of `RandomState`."""
    return _of_width(
        source, limit, lambda s, m: _draw_masked(s.half, s, m), lambda s, m: _draw_masked(s.word, s, m)
    )


def _of_width(source: Source, limit: tf.Tensor, half: BoundedInteger, word: BoundedInteger) -> tf.Tensor:
    """Return a bounded integer from 32 bits if they suffice, else from 64. A bound of zero takes no bits."""
    static_limit = tf.get_static_value(limit)
    if static_limit is not None:
        if static_limit == 0:
            return u64(0)
        return half(source, limit) if static_limit <= _HALF else word(source, limit)

    def wide() -> list[tf.Tensor]:
        return source.choose(limit > u64(_HALF), lambda: [word(source, limit)], lambda: [half(source, limit)])

    return source.choose(limit > u64(0), wide, lambda: [u64(0)])[0]


def _scaled_half(source: Source, limit: tf.Tensor) -> tf.Tensor:
    span = limit + u64(1)
    # 2**32 modulo the span; a span of 2**32 itself rejects nothing.
    threshold = tf.math.floormod(u64(2**32) - span, span)

    def good(product: tf.Tensor) -> tf.Tensor:
        return mask_bits(product, _HALF) >= threshold

    (product,) = source.until(good, lambda: [source.half() * span], [u64(0)])
    return shift_right(product, 32)


def _scaled_word(source: Source, limit: tf.Tensor) -> tf.Tensor:
    span = limit + u64(1)
    is_every_word = tf.equal(span, u64(0))
    divisor = tf.where(is_every_word, u64(1), span)
    threshold = tf.math.floormod(u64(_WORD) - limit, divisor)

    def draw() -> list[tf.Tensor]:
        word = source.word()
        low, high = multiply(word, span)
        return [low, tf.where(is_every_word, word, high)]

    def good(low: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return is_every_word | (low >= threshold)

    return source.until(good, draw, [u64(0), u64(0)])[1]


def _draw_masked(bits: Callable[[], tf.Tensor], source: Source, limit: tf.Tensor) -> tf.Tensor:
    mask = limit
    for shift in (1, 2, 4, 8, 16, 32):
        mask = tf.bitwise.bitwise_or(mask, shift_right(mask, shift))

    def draw() -> list[tf.Tensor]:
        return [tf.bitwise.bitwise_and(bits(), mask)]

    return source.until(lambda value: value <= limit, draw, [u64(0)])[0]


def integers(source: Source, draw_bounded: BoundedInteger, limit: tf.Tensor, count: int | None) -> tf.Tensor:
    """Return `count` integers from 0 to `limit`; a single number if no count is given."""

    def draw_number() -> tf.Tensor:
        return tf.bitcast(draw_bounded(source, limit), tf.int64)

    if count is None:
        return draw_number()

    def draw_in_order() -> list[tf.Tensor]:
        return [source.repeat_into(count, draw_number, tf.int64)]

    at_once = _at_once(source, draw_bounded, tf.get_static_value(limit), count)
    if at_once is None:
        return draw_in_order()[0]
    before = dict(source.parts)
    suffices, values = at_once()
    after, source.parts = source.parts, before

    def found_at_once() -> list[tf.Tensor]:
        source.parts = after
        return [tf.bitcast(values, tf.int64)]

    return source.choose(suffices, found_at_once, draw_in_order)[0]


def _at_once(source: Source, draw_bounded: BoundedInteger, limit: Any, count: int) -> _AtOnce | None:
    """Return a function that draws `count` integers at once, or None if they must be drawn one by one."""
    if count < 2 or limit is None or not 0 < limit <= _HALF:
        return None
    if draw_bounded is by_multiplication and isinstance(source, BufferedWords):
        return partial(_scaled_at_once, source, int(limit), count)
    if draw_bounded is by_mask and isinstance(source, Words32) and count <= _MAX_COMPARED:
        return partial(_masked_at_once, source, int(limit), count)
    return None


def _scaled_at_once(source: BufferedWords, limit: int, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return whether no integer is rejected, and the integers, which are valid in this case."""
    products = source.halves(count) * u64(limit + 1)
    threshold = (2**32 - limit - 1) % (limit + 1)
    return reduce_all(mask_bits(products, _HALF) >= u64(threshold)), shift_right(products, 32)


def _masked_at_once(source: Words32, limit: int, count: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return whether `count` of three times as many candidates are accepted, and the accepted integers."""
    trial_count, position = 3 * count + 8, source.parts[WORD_COUNT]
    values = mask_bits(source.halves(trial_count), (1 << limit.bit_length()) - 1)
    accepted = values <= u64(limit)
    place = tf.range(trial_count, dtype=tf.int64)
    # The number accepted up to each candidate; there are few enough to compare all with each other.
    number = reduce_sum(tf.cast(accepted & (place[:, None] >= place), tf.int64), 1)
    ordinals = tf.range(1, count + 1, dtype=tf.int64)
    first = reduce_sum(tf.cast(number < ordinals[:, None], tf.int64), 1)
    source.parts[WORD_COUNT] = position + first[-1] + 1
    return number[-1] >= count, tf.gather(values, first)


def permutation(source: Source, draw_bounded: BoundedInteger, count: int, stop: int = 1) -> tf.Tensor:
    """Return the numbers below `count`, shuffled from the end down to `stop`."""

    def step(i: tf.Tensor, order: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        j = tf.bitcast(draw_bounded(source, tf.bitcast(i, tf.uint64)), tf.int64)
        value_at_j, value_at_i = tf.gather(order, j), tf.gather(order, i)
        order = gen_xla_ops.xla_dynamic_update_slice(order, value_at_j[None], i[None])
        return i - 1, gen_xla_ops.xla_dynamic_update_slice(order, value_at_i[None], j[None])

    start = [tf.constant(count - 1, tf.int64), tf.range(count, dtype=tf.int64)]
    return source.repeat(lambda i, _: i >= stop, step, start)[1]


def few_of_many(source: Source, draw_bounded: BoundedInteger, count: int, population: int) -> tf.Tensor:
    """Return `count` different numbers below `population`, by Floyd's algorithm; they are not shuffled."""

    def step(k: tf.Tensor, values: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        last = k + (population - count)
        value = tf.bitcast(draw_bounded(source, tf.bitcast(last, tf.uint64)), tf.int64)
        new = tf.where(reduce_any(tf.equal(values, value)), last, value)
        return k + 1, gen_xla_ops.xla_dynamic_update_slice(values, new[None], k[None])

    start = [tf.constant(0, tf.int64), tf.fill([count], tf.constant(-1, tf.int64))]
    return source.repeat(lambda k, _: k < count, step, start)[1]


# -- logarithm -----------------------------------------------------------------------------------------------
# ``log1p`` of numbers between -1 and 0, with the same last bit as the C library's function.
#
# XLA's own ``log1p`` differs in the last bits. The method is that of most C libraries: 1 + x is 2**k times
# a number near 1, whose logarithm is a polynomial in s = f / (2 + f). C libraries for processors with fused
# multiply-add omit some roundings of the polynomial. A comparison finds out which of the two methods this
# machine's library uses; if it uses neither, NumPy draws normal numbers.

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_COEFFICIENTS = (
    *(6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01),
    *(2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01),
    1.479819860511658591e-01,
)
#: The upper halves of 0.2929, of the root of 2 without its exponent, of 2**-29 and of 2**-54.
_NEAR, _ROOT, _SMALL, _SMALLEST = 0x3FD2BEC3, 0x6A09E, 0x3E200000, 0x3C900000
_FRACTION_BITS, _ONE_BITS, _HALF_BITS = 0x000FFFFFFFFFFFFF, 0x3FF << 52, 0x3FE << 52
#: A multiplication whose product is rounded before a later addition.
Product = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def log1p(x: tf.Tensor, product: Product, fused: bool | None = None) -> tf.Tensor:
    """Return ``log1p`` of numbers x with -1 < x <= 0."""
    times = _Times(product, fuses() if fused is None else fused)
    magnitude = mask_bits(_upper(x), 0x7FFFFFFF)
    near = magnitude <= _NEAR
    one = tf.ones_like(x)
    u = tf.where(near, one, one + x)
    k, fraction = shift_right(_upper(u), 20) - 1023, mask_bits(_upper(u), 0xFFFFF)
    correction = (x - (u - 1.0)) / u
    small = fraction < _ROOT
    exponent = tf.where(small, tf.constant(_ONE_BITS, tf.int64), tf.constant(_HALF_BITS, tf.int64))
    u = tf.bitcast(
        tf.bitwise.bitwise_or(mask_bits(tf.bitcast(u, tf.int64), _FRACTION_BITS), exponent), tf.float64
    )
    k = tf.where(small, k, k + 1)
    fraction = tf.where(small, fraction, shift_right(0x100000 - fraction, 2))
    f = tf.where(near, x, u - 1.0)
    half_square = times(times(0.5, f), f)
    exponents = tf.cast(k, tf.float64)
    low, high = times(exponents, _LN2_LOW) + correction, times(exponents, _LN2_HIGH)
    # For a tiny f two terms are enough, and for f = 0 none.
    cubic = times(half_square, 1.0 - times(0.66666666666666666, f))
    for_few_terms = tf.where(tf.equal(f, 0.0), high + low, high - ((cubic - low) - f))
    s = f / (2.0 + f)
    bent = times(s, half_square + _series(times(s, s), times))
    for_many_terms = high - ((half_square - (bent + low)) - f)
    result = tf.where(
        near, f - (half_square - bent), tf.where(tf.equal(fraction, 0), for_few_terms, for_many_terms)
    )
    result = tf.where(magnitude < _SMALL, x - times(times(x, x), 0.5), result)
    return tf.where(magnitude < _SMALLEST, x, result)


class _Times:
    """Multiplies with rounding. If `fused`, `plus` adds to a product before it is rounded."""

    def __init__(self, product: Product, fused: bool) -> None:
        self._product = product
        self._is_fused = fused

    def __call__(self, a: Any, b: Any) -> tf.Tensor:
        factors = tf.convert_to_tensor(a, tf.float64), tf.convert_to_tensor(b, tf.float64)
        return self._product(*factors)

    def plus(self, a: tf.Tensor, b: Any, c: tf.Tensor) -> tf.Tensor:
        """Return ``a * b + c``."""
        product = self(a, b)
        if not self._is_fused:
            return product + c
        total = product + c
        virtual = total - product
        error = (product - (total - virtual)) + (c - virtual)
        return total + (error + self._rounded_off(a, b, product))

    def _rounded_off(self, a: tf.Tensor, b: Any, product: tf.Tensor) -> tf.Tensor:
        """Return the error of a rounded product, by Dekker's splitting."""
        a_upper, a_lower = self._split(a)
        b_upper, b_lower = self._split(tf.convert_to_tensor(b, tf.float64))
        error = (self(a_upper, b_upper) - product) + self(a_upper, b_lower) + self(a_lower, b_upper)
        return error + self(a_lower, b_lower)

    def _split(self, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        product = self(a, 2.0**27 + 1.0)
        upper = product - (product - a)
        return upper, a - upper


def _series(z: tf.Tensor, times: _Times) -> tf.Tensor:
    a, b, c, d, e, f, g = _COEFFICIENTS
    z2 = times(z, z)
    z4 = times(z2, z2)
    total = times.plus(z, a, times(z2, times.plus(z, c, tf.constant(b, tf.float64))))
    total = times.plus(z4, times.plus(z, e, tf.constant(d, tf.float64)), total)
    return times.plus(times(z4, z2), times.plus(z, g, tf.constant(f, tf.float64)), total)


def _upper(x: tf.Tensor) -> tf.Tensor:
    """Return the upper half of the bits."""
    return shift_right(tf.bitcast(x, tf.int64), 32)


@functools.cache
def _detect_fusion() -> bool | None:
    """Return whether the C library uses fused multiply-add; None if it uses another method."""
    random = np.random.Generator(np.random.PCG64(1))
    samples = np.concatenate([-random.random(30_000), -(2.0 ** -random.uniform(0, 60, 10_000))])
    logarithms = np.array([math.log1p(x) for x in samples])
    with tf.init_scope(), tf.device("CPU"):
        for is_fused in (True, False):
            result = log1p(tf.constant(samples), tf.multiply, is_fused).numpy()
            if np.array_equal(result, logarithms):
                return is_fused
    return None


def log1p_is_known() -> bool:
    """Return whether `log1p` here equals the C library's function."""
    return _detect_fusion() is not None


def fuses() -> bool:
    """Return whether the C library omits roundings of the polynomial."""
    return bool(_detect_fusion())


# -- normal --------------------------------------------------------------------------------------------------
# Normal numbers: by Marsaglia and Tsang's ziggurat, and by Marsaglia's polar method.
#
# See [Marsaglia, Tsang, The ziggurat method for generating random variables
# (2000)](https://doi.org/10.18637/jss.v005.i08).

#: The start of the ziggurat's tail, and its reciprocal.
_TAIL, _OVER_TAIL = 3.6541528853610087963519472518, 0.27366123732975827203338247596
#: A generous bound for the difference between exponentials of different libraries.
_MARGIN = 1e-12
_LAYERS = 256
#: The number of trials at once; about every 85th trial needs more than one word.
_ROW = 32
_RABS = 2**52 - 1


@functools.cache
def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each layer: the integers below which a number is certain, the width per integer, the height.

    NumPy itself provides the tables: it is given the bits from which it makes a number.
    """
    source = np.random.PCG64(0)
    generator = np.random.Generator(source)
    inverse, modulus = pow(0x2360ED051FC65DA44385DF649FCCF645, -1, 2**128), 2**128
    state = source.state
    increment = state["state"]["inc"]

    def number_from_bits(layer: int, rabs: int) -> tuple[float, bool]:
        """Return the number that NumPy makes from these bits, and whether it has taken no others."""
        word = layer | rabs << 9
        state["state"]["state"] = (word - increment) * inverse % modulus
        source.state = state
        number = generator.standard_normal()
        return number, source.state["state"]["state"] == word

    certain, widths = [], []
    for layer in range(_LAYERS):
        low, high = 0, 2**52
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if number_from_bits(layer, middle)[1] else (low, middle)
        certain.append(high if number_from_bits(layer, 0)[1] else 0)
        # So near to zero every layer accepts the number.
        widths.append(number_from_bits(layer, 2**40)[0] / 2.0**40)
    heights = [math.exp(-0.5 * (width * 2.0**52) ** 2) for width in widths]
    heights[0] = 1.0
    return np.array(certain, np.uint64), np.array(widths), np.array(heights)


@functools.cache
def ziggurat_is_the_hosts() -> bool:
    """Return whether the graph makes the same numbers by the ziggurat as NumPy's compiled code on this
    machine.
    """
    return platform.machine() in ("x86_64", "AMD64") and log1p_is_known()


@functools.cache
def log_is_the_hosts() -> bool:
    """Return whether XLA's logarithm of a number is the C library's, as the polar method needs it."""
    if platform.machine() not in ("x86_64", "AMD64") or config.list_physical_devices("GPU"):
        return False
    samples = np.random.Generator(np.random.PCG64(0)).random(4096)

    def log_of_each(values: tf.Tensor) -> tf.Tensor:
        return tf.map_fn(tf.math.log, values)

    with tf.init_scope():
        logarithms = tf.function(log_of_each, jit_compile=True, autograph=False)(tf.constant(samples)).numpy()
    return bool(np.array_equal(logarithms, [math.log(value) for value in samples]))


def ziggurat(source: Source, product: Product) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a number, and whether it is in doubt because it depends on the last digits of an exponential."""
    heights = tf.constant(tables()[2])

    def trial() -> list[tf.Tensor]:
        """Return a number, its layer and integer, and whether one word suffices for it."""
        return _of_word(source.word(), product)

    def wedge(number: tf.Tensor, layer: tf.Tensor) -> list[tf.Tensor]:
        upper, lower = tf.gather(heights, layer - 1), tf.gather(heights, layer)
        height = (upper - lower) * source.double() + lower
        density = tf.exp(-0.5 * number * number)
        return [number, height < density, tf.abs(height - density) < _MARGIN]

    def tail(integer: tf.Tensor) -> list[tf.Tensor]:
        def draw() -> list[tf.Tensor]:
            logarithms = log1p(-source.doubles(2), product)
            return [product(tf.constant(-_OVER_TAIL, tf.float64), logarithms[0]), -logarithms[1]]

        def good(beyond: tf.Tensor, exponential: tf.Tensor) -> tf.Tensor:
            return exponential + exponential > product(beyond, beyond)

        beyond, _ = source.until(good, draw, [tf.constant(0.0, tf.float64)] * 2)
        number = _TAIL + beyond
        negative = mask_bits(shift_right(integer, 8), 1) > u64(0)
        return [tf.where(negative, -number, number), tf.constant(True), tf.constant(False)]

    def step(_: tf.Tensor, doubt: tf.Tensor, *candidate: tf.Tensor) -> list[tf.Tensor]:
        """Finish a hard trial. If it rejects the number, try again."""
        number, layer, integer, _good = candidate
        number, is_done, more = source.choose(layer > 0, lambda: wedge(number, layer), lambda: tail(integer))
        again = source.choose(is_done, lambda: [number, layer, integer, is_done], trial)
        return [again[3], doubt | more, *again]

    first = trial()
    result = source.repeat(lambda is_done, *_: ~is_done, step, [first[3], tf.constant(False), *first])
    return result[2], result[1]


def ziggurats(source: Source, count: int, product: Product) -> tuple[tf.Tensor, tf.Tensor]:
    """Return `count` numbers, and whether any of them is in doubt."""
    if isinstance(source, Words64):
        return _ziggurats_in_rows(source, count, product)
    array = tf.TensorArray(tf.float64, count, element_shape=())

    def step(k: tf.Tensor, doubt: tf.Tensor, array: tf.TensorArray) -> tuple[Any, ...]:
        number, more = ziggurat(source, product)
        return k + 1, doubt | more, array.write(k, number)

    start = [tf.constant(0), tf.constant(False), array]
    _, doubt, array = source.repeat(lambda k, *_: k < count, step, start)
    return array.stack(), doubt


def _ziggurats_in_rows(source: Words64, count: int, product: Product) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the numbers of `_ziggurats`, made in rows: 99 of 100 numbers need one word each."""
    row = min(count, _ROW)
    places = tf.range(row, dtype=tf.int64)

    def step(k: tf.Tensor, doubt: tf.Tensor, numbers: tf.Tensor) -> list[tf.Tensor]:
        position = source.parts[WORD_COUNT]
        row_of_numbers, _, _, good = _of_word(source.at(position + places), product)
        number_count = tf.minimum(reduce_min(tf.where(good, tf.constant(row, tf.int64), places)), count - k)
        # The numbers behind the first hard number are overwritten later.
        numbers = gen_xla_ops.xla_dynamic_update_slice(numbers, row_of_numbers, k[None])
        source.parts[WORD_COUNT], k = position + number_count, k + number_count

        def hard() -> list[tf.Tensor]:
            number, more = ziggurat(source, product)
            return [k + 1, more, gen_xla_ops.xla_dynamic_update_slice(numbers, number[None], k[None])]

        is_hard = (number_count < row) & (k < count)
        k, more, numbers = source.choose(is_hard, hard, lambda: [k, tf.constant(False), numbers])
        return [k, doubt | more, numbers]

    start = [tf.constant(0, tf.int64), tf.constant(False), tf.zeros(count + row, tf.float64)]
    _, doubt, numbers = source.repeat(lambda k, *_: k < count, step, start)
    return numbers[:count], doubt


def _of_word(word: tf.Tensor, product: Product) -> list[tf.Tensor]:
    """Return numbers, their layers and integers, and whether one word suffices for each."""
    certain, widths, _ = (tf.constant(table) for table in tables())
    layer = tf.cast(mask_bits(word, 0xFF), tf.int32)
    integer = mask_bits(shift_right(word, 9), _RABS)
    size = product(tf.cast(tf.bitcast(integer, tf.int64), tf.float64), tf.gather(widths, layer))
    number = tf.where(mask_bits(word, 0x100) > u64(0), -size, size)
    return [number, layer, integer, integer < tf.gather(certain, layer)]


def polar(source: Source, product: Product) -> tf.Tensor:
    """Return a number. The method makes pairs, so the second number of a pair is kept in the state."""

    kept = source.parts["has_gauss"][0] > u64(0)
    zero = tf.constant(0.0, tf.float64)

    def step(*_: tf.Tensor) -> list[tf.Tensor]:
        uniforms = source.doubles(2)
        a, b = 2.0 * uniforms[0] - 1.0, 2.0 * uniforms[1] - 1.0
        square = product(a, a) + product(b, b)
        factor = tf.sqrt(-2.0 * tf.math.log(square) / square)
        inside = (square < 1.0) & tf.not_equal(square, 0.0)
        return [inside, product(factor, a), product(factor, b)]

    _, second_number, number = source.repeat(lambda is_done, *_: ~is_done, step, [kept, zero, zero])
    number = tf.where(kept, tf.bitcast(source.parts["gauss"][0], tf.float64), number)
    source.parts["has_gauss"] = tf.stack([tf.cast(~kept, tf.uint64), u64(0)])
    source.parts["gauss"] = tf.bitcast(second_number, tf.uint64)[None]
    return number
