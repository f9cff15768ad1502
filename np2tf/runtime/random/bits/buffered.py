"""Sources of random bits over a buffer of raw words that NumPy has drawn before the graph runs.

A word is one load from the buffer, where `sources` computes it. The buffer may be too short for a call. Then
the graph goes on with words made of those in the buffer, so that no loop waits in vain; the caller sees by
the count of words that the call has drawn wrongly, and repeats it with a longer buffer.
"""

from __future__ import annotations

import tensorflow as tf

from np2tf.runtime.random.bits.sources import OfWords32, OfWords64, Source, fraction, fraction_of_halves
from np2tf.runtime.random.bits.words import LOW_32, mask_bits, shift_right, u64
from np2tf.runtime.xla.dynamic_shapes import OF_INPUT

#: The part of the state that counts the words taken; its value at first is where the call's words begin.
TAKEN = "taken"


class BufferedWords(Source):
    """Words of a buffer; `parts["taken"]` is the position of the next one.

    Attributes:
        dtype: of the words.
    """

    dtype: tf.DType

    def raw(self) -> tf.Tensor:
        """The next word."""
        taken = self.parts[TAKEN]
        self.parts[TAKEN] = taken + 1
        return self.at(taken)

    def raws(self, count: int) -> tf.Tensor:
        """The next words, so many."""
        taken = self.parts[TAKEN]
        self.parts[TAKEN] = taken + count
        return self.at(taken + tf.range(count, dtype=tf.int64))

    def halves(self, count: int) -> tf.Tensor:
        """The next 32 bits, so many times; each in a word of 64."""
        raise NotImplementedError

    def at(self, positions: tf.Tensor) -> tf.Tensor:
        """The words at positions, which may be beyond the end of the buffer."""
        (words,) = self.constants
        length = tf.size(words, tf.int64)
        again = tf.math.floordiv(positions, length)
        # An odd factor: another permutation of the words for every time that the buffer is begun anew.
        with tf.name_scope(OF_INPUT):
            found = tf.gather(words, positions - again * length)
        return found * tf.cast(2 * again + 1, self.dtype)


class Words64(OfWords64, BufferedWords):
    """A bit generator that makes words of 64 bits, such as PCG64; 32 bits are half a word."""

    dtype, place = tf.uint64, TAKEN

    def word(self) -> tf.Tensor:
        """The next 64 bits."""
        return self.raw()

    def halves(self, count: int) -> tf.Tensor:
        """The same, so many times."""
        kept, upper, taken = self.parts["has_uint32"][0] > 0, self.parts["uinteger"], self.parts[TAKEN]
        words = self.at(taken + tf.range((count + 1) // 2, dtype=tf.int64))
        halves = tf.reshape(tf.stack([mask_bits(words, LOW_32), shift_right(words, 32)], 1), [-1])
        needed = tf.where(kept, count // 2, (count + 1) // 2)
        last = tf.gather(halves, tf.maximum(2 * needed - 1, 0))
        self.parts[TAKEN] = taken + tf.cast(needed, tf.int64)
        self.parts["uinteger"] = tf.where(needed > 0, tf.stack([last, u64(0)]), upper)
        odd = tf.constant(count % 2 == 1)
        self.parts["has_uint32"] = tf.stack([tf.cast(tf.not_equal(kept, odd), tf.uint64), u64(0)])
        behind = tf.concat([upper[:1], halves], 0)
        return tf.where(kept, behind[:count], halves[:count])

    def doubles(self, count: int) -> tf.Tensor:
        """All at once."""
        return fraction(self.raws(count))


class Words32(OfWords32, BufferedWords):
    """A bit generator that makes words of 32 bits: MT19937."""

    dtype = tf.uint32

    def half(self) -> tf.Tensor:
        """The next 32 bits."""
        return tf.cast(self.raw(), tf.uint64)

    def halves(self, count: int) -> tf.Tensor:
        """The same, so many times."""
        return tf.cast(self.raws(count), tf.uint64)

    def doubles(self, count: int) -> tf.Tensor:
        """All at once."""
        halves = tf.reshape(self.halves(2 * count), [count, 2])
        return fraction_of_halves(shift_right(halves[:, 0], 5), shift_right(halves[:, 1], 6))


#: The name of a bit generator -> how words from its `random_raw` become bits.
BUFFERED: dict[str, type[BufferedWords]] = {
    "PCG64": Words64,
    "PCG64DXSM": Words64,
    "SFC64": Words64,
    "Philox": Words64,
    "MT19937": Words32,
}
