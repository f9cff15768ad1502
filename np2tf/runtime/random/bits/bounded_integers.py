"""Integers below a bound, by rejection: by Lemire's multiplication, or by masking the lowest bits.

See [Lemire, Fast random integer generation in an interval (2019)](https://doi.org/10.1145/3230636).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.runtime.random.bits.buffer_sources import WORD_COUNT, BufferedWords, Words32
from np2tf.runtime.random.bits.sources import Source
from np2tf.runtime.random.bits.words import mask_bits, multiply, shift_right, u64
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_any, reduce_sum

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
