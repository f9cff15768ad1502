"""Normal numbers: by Marsaglia and Tsang's ziggurat, and by Marsaglia's polar method.

See [Marsaglia, Tsang, The ziggurat method for generating random variables
(2000)](https://doi.org/10.18637/jss.v005.i08).
"""

from __future__ import annotations

import functools
import math
import platform
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.runtime.random.bits.buffer_sources import WORD_COUNT, Words64
from np2tf.runtime.random.bits.logarithm import Product, log1p, log1p_is_known
from np2tf.runtime.random.bits.sources import Source
from np2tf.runtime.random.bits.words import mask_bits, shift_right, u64
from np2tf.tnp._tensor.reductions_of_axes import reduce_min

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
def polar_is_the_hosts() -> bool:
    """Return whether the same holds for the polar method: XLA's logarithm must equal the C library's."""
    if platform.machine() not in ("x86_64", "AMD64") or tf.config.list_physical_devices("GPU"):
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
