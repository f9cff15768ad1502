"""Sources of random bits that read a buffer of raw words, which NumPy has drawn before the graph runs.

A word is one load from the buffer, whereas the sources in `sources` compute it. The buffer may be too short
for a call. Then the graph continues with words derived from the words in the buffer, so that every loop ends.
The caller sees by the count of words that the call has drawn wrongly, and repeats it with a longer buffer.
"""

from __future__ import annotations

import tensorflow as tf

from np2tf.runtime.random.bits.sources import OfWords32, OfWords64, Source, fraction, fraction_of_halves
from np2tf.runtime.random.bits.words import LOW_32, mask_bits, shift_right, u64
from np2tf.runtime.xla.dynamic_shapes import OF_INPUT

#: The part of the state that counts the words taken; its initial value is the position of the call's first
#: word.
WORD_COUNT = "taken"


class BufferedWords(Source):
    """Reads words from a buffer; `parts["taken"]` is the position of the next word.

    Attributes:
        dtype: the dtype of the words.
    """

    dtype: tf.DType

    def raw(self) -> tf.Tensor:
        """Return the next word."""
        position = self.parts[WORD_COUNT]
        self.parts[WORD_COUNT] = position + 1
        return self.at(position)

    def raws(self, count: int) -> tf.Tensor:
        """Return the next `count` words."""
        position = self.parts[WORD_COUNT]
        self.parts[WORD_COUNT] = position + count
        return self.at(position + tf.range(count, dtype=tf.int64))

    def halves(self, count: int) -> tf.Tensor:
        """Return the next `count` groups of 32 bits, each in a word of 64."""
        raise NotImplementedError

    def at(self, positions: tf.Tensor) -> tf.Tensor:
        """Return the words at positions that may be beyond the end of the buffer."""
        (words,) = self.constants
        length = tf.size(words, tf.int64)
        again = tf.math.floordiv(positions, length)
        # An odd factor permutes the words differently each time that the buffer starts again.
        with tf.name_scope(OF_INPUT):
            values = tf.gather(words, positions - again * length)
        return values * tf.cast(2 * again + 1, self.dtype)


class Words64(OfWords64, BufferedWords):
    """A bit generator that makes words of 64 bits, such as PCG64; 32 bits are half a word."""

    dtype, place = tf.uint64, WORD_COUNT

    def word(self) -> tf.Tensor:
        """Return the next 64 bits."""
        return self.raw()

    def halves(self, count: int) -> tf.Tensor:
        """Return the next `count` groups of 32 bits."""
        has_half, upper = self.parts["has_uint32"][0] > 0, self.parts["uinteger"]
        position = self.parts[WORD_COUNT]
        words = self.at(position + tf.range((count + 1) // 2, dtype=tf.int64))
        halves = tf.reshape(tf.stack([mask_bits(words, LOW_32), shift_right(words, 32)], 1), [-1])
        word_count = tf.where(has_half, count // 2, (count + 1) // 2)
        last = tf.gather(halves, tf.maximum(2 * word_count - 1, 0))
        self.parts[WORD_COUNT] = position + tf.cast(word_count, tf.int64)
        self.parts["uinteger"] = tf.where(word_count > 0, tf.stack([last, u64(0)]), upper)
        odd = tf.constant(count % 2 == 1)
        self.parts["has_uint32"] = tf.stack([tf.cast(tf.not_equal(has_half, odd), tf.uint64), u64(0)])
        behind = tf.concat([upper[:1], halves], 0)
        return tf.where(has_half, behind[:count], halves[:count])

    def doubles(self, count: int) -> tf.Tensor:
        """Return the next `count` numbers from [0, 1), all at once."""
        return fraction(self.raws(count))


class Words32(OfWords32, BufferedWords):
    """A bit generator that makes words of 32 bits: MT19937."""

    dtype = tf.uint32

    def half(self) -> tf.Tensor:
        """Return the next 32 bits."""
        return tf.cast(self.raw(), tf.uint64)

    def halves(self, count: int) -> tf.Tensor:
        """Return the next `count` groups of 32 bits."""
        return tf.cast(self.raws(count), tf.uint64)

    def doubles(self, count: int) -> tf.Tensor:
        """Return the next `count` numbers from [0, 1), all at once."""
        halves = tf.reshape(self.halves(2 * count), [count, 2])
        return fraction_of_halves(shift_right(halves[:, 0], 5), shift_right(halves[:, 1], 6))


#: Name of a bit generator -> the source that makes bits of the words from its `random_raw`.
BUFFERED_SOURCES: dict[str, type[BufferedWords]] = {
    "PCG64": Words64,
    "PCG64DXSM": Words64,
    "SFC64": Words64,
    "Philox": Words64,
    "MT19937": Words32,
}
