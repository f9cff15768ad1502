"""Random bits in the graph: PCG64 and MT19937 on 128-bit words, or a buffer that NumPy has filled."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.staging.xla.calls import exact_calls
from np2tf.staging.xla.placement import OF_INPUT

# -- words ---------------------------------------------------------------------------------------------------
# Arithmetic on 128-bit integers in two halves, and products that are rounded before they are added.

LOW_32 = 0xFFFFFFFF
#: (low, high)
Wide = tuple[tf.Tensor, tf.Tensor]


def u64(value: int) -> tf.Tensor:
    """Return a constant of 64 bits."""
    return tf.constant(value, tf.uint64)


def shift_right(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Return the value shifted to the right."""
    return tf.bitwise.right_shift(value, tf.constant(bits, value.dtype))


def shift_left(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Return the value shifted to the left; bits beyond its width are lost."""
    return tf.bitwise.left_shift(value, tf.constant(bits, value.dtype))


def mask_bits(value: tf.Tensor, mask: int) -> tf.Tensor:
    """Return the bits under a mask."""
    return tf.bitwise.bitwise_and(value, tf.constant(mask, value.dtype))


def multiply(a: tf.Tensor, b: tf.Tensor) -> Wide:
    """Return the whole product of two words."""
    a_low, a_high = mask_bits(a, LOW_32), shift_right(a, 32)
    b_low, b_high = mask_bits(b, LOW_32), shift_right(b, 32)
    low, cross_product = a_low * b_low, a_high * b_low
    middle = cross_product + shift_right(low, 32)
    high_cross_sum = a_low * b_high + mask_bits(middle, LOW_32)
    return a * b, a_high * b_high + shift_right(middle, 32) + shift_right(high_cross_sum, 32)


def times(a: Wide, b: Wide) -> Wide:
    """Return the product modulo 2**128."""
    low, high = multiply(a[0], b[0])
    return low, high + a[0] * b[1] + a[1] * b[0]


def plus(a: Wide, b: Wide) -> Wide:
    """Return the sum modulo 2**128."""
    low = a[0] + b[0]
    return low, a[1] + b[1] + tf.cast(low < a[0], tf.uint64)


def wide(value: int) -> Wide:
    """Return a constant of 128 bits."""
    return u64(value % 2**64), u64(value // 2**64)


def rounded_product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return a finite product that is rounded before a later addition.

    A compiler may fuse a multiplication with the following addition, and omit the rounding between them. Here
    comparisons are between the two, and the compiler cannot omit one of them.
    """
    least, greatest = (tf.constant(limit, tf.float64) for limit in (tf.float64.min, tf.float64.max))
    return tf.maximum(tf.minimum(a * b, greatest), least)


# -- packing -------------------------------------------------------------------------------------------------
# Packs small tensors into one vector, because XLA handles each variable of a loop by itself, which takes
# time.

#: The largest number of elements of a tensor that is packed.
_SMALL = 4


class Packing:
    """Packs values into a vector of 64-bit words, and unpacks them again."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._like = [
            value if isinstance(value, tf.TensorArray) else tf.convert_to_tensor(value) for value in values
        ]
        self._inside = [_is_small(value) for value in self._like]

    def pack(self, values: Sequence[Any]) -> list[Any]:
        """Return the vector, followed by the values that are not in it."""
        words = [_words(value) for value, inside in zip(values, self._inside, strict=True) if inside]
        values_beside = [value for value, inside in zip(values, self._inside, strict=True) if not inside]
        return [tf.concat(words, 0) if words else tf.zeros(0, tf.uint64), *values_beside]

    def unpack(self, packed_values: Sequence[Any]) -> list[Any]:
        """Return the values from the result of `pack`."""
        vector, values_beside, start = packed_values[0], iter(packed_values[1:]), 0
        values = []
        for like, inside in zip(self._like, self._inside, strict=True):
            if not inside:
                values.append(next(values_beside))
                continue
            size = like.shape.num_elements()
            values.append(_value(vector[start : start + size], like))
            start += size
        return values


def _is_small(value: Any) -> bool:
    if isinstance(value, tf.TensorArray) or not value.shape.is_fully_defined():
        return False
    return value.shape.num_elements() <= _SMALL and value.dtype != tf.uint32


def _words(value: Any) -> tf.Tensor:
    value = tf.reshape(tf.convert_to_tensor(value), [-1])
    if value.dtype in (tf.float64, tf.int64):
        return tf.bitcast(value, tf.uint64)
    return tf.cast(value, tf.uint64)


def _value(words: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    if like.dtype in (tf.float64, tf.int64):
        words = tf.bitcast(words, like.dtype)
    return tf.reshape(tf.cast(words, like.dtype), like.shape)


# -- sources -------------------------------------------------------------------------------------------------
# Sources of random bits in the graph: PCG64 and MT19937 in operations on integers.
#
# See [O'Neill, PCG (2014)](https://www.pcg-random.org/paper.html) and [Matsumoto, Nishimura, Mersenne
# Twister (1998)](https://doi.org/10.1145/272991.272995).

_PCG_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MT_SIZE, _MT_SHIFT = 624, 397
#: The counts of numbers that are made from whole keys at once: for fewer, most of a key would be unused.
_AT_ONCE = range(64, 2**14)


#: The functions that `Source.call_shared` has traced.
_functions: dict[Hashable, Any] = {}


class Source:
    """Random bits from a state that changes as bits are taken.

    Attributes:
        parts: the present state, by the names of its parts.
        constants: tensors that the bits depend on and that no draw changes.
    """

    def __init__(self, parts: dict[str, tf.Tensor], constants: Sequence[tf.Tensor] = ()) -> None:
        self.parts = dict(parts)
        self.constants = tuple(constants)
        self._names = list(parts)

    @classmethod
    def unfold(cls, parts: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Return NumPy's state in the graph's format."""
        return parts

    @classmethod
    def fold(cls, parts: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Return the graph's state in NumPy's format."""
        return parts

    def word(self) -> tf.Tensor:
        """Return the next 64 bits."""
        raise NotImplementedError

    def half(self) -> tf.Tensor:
        """Return the next 32 bits, in a word of 64."""
        raise NotImplementedError

    def double(self) -> tf.Tensor:
        """Return the next number from [0, 1)."""
        return fraction(self.word())

    def doubles(self, count: int) -> tf.Tensor:
        """Return the next `count` numbers from [0, 1)."""
        return self.repeat_into(count, self.double, tf.float64)

    def repeat_into(self, count: int, draw_value: Callable[[], tf.Tensor], dtype: tf.DType) -> tf.Tensor:
        """Return an array of the results of `count` calls of `draw_value`."""
        if count <= 1:
            return tf.stack([draw_value()]) if count else tf.zeros(0, dtype)
        array = tf.TensorArray(dtype, count, element_shape=())

        def step(k: tf.Tensor, array: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
            return k + 1, array.write(k, draw_value())

        return self.repeat(lambda k, _: k < count, step, (tf.constant(0), array))[1].stack()

    def repeat(
        self, is_going_on: Callable[..., tf.Tensor], step: Callable[..., Any], values: Sequence[Any]
    ) -> Any:
        """Run `tf.while_loop` over values and the state."""
        count, start = len(self._names), [*self._state(), *values]
        packing = Packing(start)

        def test(*packed_values: Any) -> tf.Tensor:
            return is_going_on(*packing.unpack(packed_values)[count:])

        def body(*packed_values: Any) -> list[Any]:
            state = packing.unpack(packed_values)
            self._enter(state[:count])
            after = step(*state[count:])
            return packing.pack([*self._state(), *after])

        after = packing.unpack(tf.while_loop(test, body, packing.pack(start)))
        self._enter(after[:count])
        return after[count:]

    def until(
        self, good: Callable[..., tf.Tensor], draw: Callable[[], list[tf.Tensor]], like: Sequence[tf.Tensor]
    ) -> list[tf.Tensor]:
        """Draw until the values are good; `like` are tensors of their types."""

        def step(_: tf.Tensor, *before: tf.Tensor) -> list[tf.Tensor]:
            values = draw()
            return [good(*values), *values]

        start = [tf.constant(False), *like]
        outputs: list[tf.Tensor] = self.repeat(lambda is_done, *_: ~is_done, step, start)
        return outputs[1:]

    def choose(self, test: tf.Tensor, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
        """Run `tf.cond` with branches that may take bits, and return lists of tensors."""
        before, count = self._state(), len(self._names)

        def side(make: Callable[[], Any]) -> list[tf.Tensor]:
            self._enter(before)
            results = make()
            values = [*self._state(), *results]
            packings.append(Packing(values))
            return packings[0].pack(values)

        packings: list[Packing] = []
        tensors = tf.cond(test, lambda: side(then), lambda: side(otherwise))
        after = packings[0].unpack(tensors)
        self._enter(after[:count])
        return after[count:]

    def call_shared(
        self, key: Hashable, make: Callable[..., list[tf.Tensor]], operands: Sequence[tf.Tensor] = ()
    ) -> list[tf.Tensor]:
        """Return the result of `make` for this source, by a function that is traced once per process.

        Args:
            key: identifies the function among all functions of sources.
        """
        state = self._state()
        arguments = [*state, *self.constants, *operands]
        specs = tuple(tf.TensorSpec(part.shape, part.dtype) for part in arguments)
        function_key = type(self), tuple(self._names), specs, key
        function = _functions.get(function_key)
        if function is None:

            def run(*inputs: tf.Tensor) -> list[tf.Tensor]:
                parts = dict(zip(self._names, inputs, strict=False))
                last = len(inputs) - len(operands)
                source = type(self)(parts, inputs[len(parts) : last])
                results = make(source, *inputs[last:])
                return [*source._state(), *results]

            with tf.init_scope():
                function = tf.function(run, autograph=False).get_concrete_function(*specs)
            _functions[function_key] = function
        with exact_calls():
            after = function(*arguments)
        self._enter(after[: len(state)])
        return list(after[len(state) :])

    def _state(self) -> list[tf.Tensor]:
        return [self.parts[name] for name in self._names]

    def _enter(self, state: Sequence[tf.Tensor]) -> None:
        self.parts = dict(zip(self._names, state, strict=True))


class OfWords64(Source):
    """A source of words of 64 bits; 32 bits are half a word.

    Attributes:
        place: the name of the part of the state that selects the next word.
    """

    place: str

    def half(self) -> tf.Tensor:
        """Return the next 32 bits: the lower half of a word, then the upper half."""
        has_half, upper = self.parts["has_uint32"][0] > 0, self.parts["uinteger"]
        before = self.parts[self.place]
        # Choosing afterwards is faster than branching.
        word = self.word()
        self.parts[self.place] = tf.where(has_half, before, self.parts[self.place])
        self.parts["uinteger"] = tf.where(has_half, upper, tf.stack([shift_right(word, 32), u64(0)]))
        self.parts["has_uint32"] = tf.stack([tf.cast(~has_half, tf.uint64), u64(0)])
        return tf.where(has_half, upper[0], mask_bits(word, LOW_32))


class OfWords32(Source):
    """A source of words of 32 bits, two of which are needed for most purposes."""

    def word(self) -> tf.Tensor:
        """Return the next 64 bits: the upper half first."""
        upper = self.half()
        return shift_left(upper, 32) + self.half()

    def double(self) -> tf.Tensor:
        """Return the next number from [0, 1), made of 27 and of 26 bits."""
        upper = shift_right(self.half(), 5)
        return fraction_of_halves(upper, shift_right(self.half(), 6))


class Pcg64(OfWords64):
    """O'Neill's PCG XSL RR 128/64."""

    place = "state"

    def word(self) -> tf.Tensor:
        """Return the next 64 bits."""
        state = plus(times(_pair(self.parts["state"]), wide(_PCG_MULTIPLIER)), _pair(self.parts["inc"]))
        self.parts["state"] = tf.stack(state)
        return _output(state)

    def doubles(self, count: int) -> tf.Tensor:
        """Return the next numbers at once: the state after k steps is a linear function of the first
        state.
        """
        if count <= 1:
            return super().doubles(count)
        multiplier, increment = wide(_PCG_MULTIPLIER), _pair(self.parts["inc"])
        low, high = plus(times(_pair(self.parts["state"]), multiplier), increment)
        low, high = low[None], high[None]
        step_count = 1
        while step_count < count:
            # (multiplier, increment) takes a state `step_count` steps ahead.
            more = plus(times((low, high), multiplier), increment)
            low, high = tf.concat([low, more[0]], 0), tf.concat([high, more[1]], 0)
            increment = plus(times(increment, multiplier), increment)
            multiplier = times(multiplier, multiplier)
            step_count *= 2
        low, high = low[:count], high[:count]
        self.parts["state"] = tf.stack([low[-1], high[-1]])
        return fraction(_output((low, high)))


class Mt19937(OfWords32):
    """The Mersenne Twister of Matsumoto and Nishimura."""

    @classmethod
    def unfold(cls, parts: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Return the state with the key that words are taken from, and the key after it."""
        keys = tf.concat([parts["key"], _twist(parts["key"])], 0)
        parts_beside = {name: part for name, part in parts.items() if name not in ("key", "pos")}
        return {"keys": keys, "place": tf.stack([parts["pos"][0], u64(0)]), **parts_beside}

    @classmethod
    def fold(cls, parts: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        """Return the state with the key that words are taken from, in NumPy's format."""
        place, second = parts["place"][0], parts["place"][1] > u64(0)
        keys = parts["keys"]
        parts_beside = {name: part for name, part in parts.items() if name not in ("keys", "place")}
        key = tf.where(second, keys[_MT_SIZE:], keys[:_MT_SIZE])
        return {"key": key, "pos": tf.stack([place, u64(0)]), **parts_beside}

    def half(self) -> tf.Tensor:
        """Return the next 32 bits.

        To avoid a branch, the number at the same place of the next key is made as well.
        """
        keys, place = self.parts["keys"], tf.bitcast(self.parts["place"], tf.int64)
        spent = place[0] >= _MT_SIZE
        at = tf.where(spent, tf.constant(0, tf.int64), place[0])
        now = tf.where(spent, 1 - place[1], place[1]) * _MT_SIZE
        then = _MT_SIZE - now
        # `keys[…]` would make XLA compile the program again for every state.
        number = tf.gather(keys, now + at)
        last, late = at + 1 >= _MT_SIZE, at + _MT_SHIFT >= _MT_SIZE
        lower = tf.gather(keys, tf.where(last, then, now + at + 1))
        word_ahead = tf.gather(keys, tf.where(late, then - _MT_SIZE, now) + at + _MT_SHIFT)
        next_number = _mix(number, lower, word_ahead)
        self.parts["keys"] = gen_xla_ops.xla_dynamic_update_slice(keys, next_number[None], (then + at)[None])
        self.parts["place"] = tf.bitcast(tf.stack([at + 1, now // _MT_SIZE]), tf.uint64)
        return tf.cast(_temper(number), tf.uint64)

    def doubles(self, count: int) -> tf.Tensor:
        """Return the next numbers at once, because whole keys can be made at once."""
        words, spare = 2 * count, _MT_SIZE
        if count not in _AT_ONCE:
            return super().doubles(count)
        parts = self.fold(self.parts)
        keys = [parts["key"]]
        while spare * (len(keys) - 1) < words:
            keys.append(_twist(keys[-1]))
        start = tf.cast(parts["pos"][0], tf.int64)
        pairs = tf.cast(
            _temper(tf.gather(tf.concat(keys, 0), start + tf.range(words, dtype=tf.int64))), tf.uint64
        )
        stop = start + words
        number = (stop - 1) // _MT_SIZE
        parts["key"] = tf.gather(tf.stack(keys), number)
        parts["pos"] = tf.stack([tf.cast(stop - number * _MT_SIZE, tf.uint64), u64(0)])
        self.parts = self.unfold(parts)
        return fraction_of_halves(shift_right(pairs[::2], 5), shift_right(pairs[1::2], 6))


def _pair(part: tf.Tensor) -> Wide:
    return part[0], part[1]


def _output(state: Wide) -> tf.Tensor:
    """Return the xor of the halves, rotated by the upper six bits."""
    low, high = state
    xor, turn = tf.bitwise.bitwise_xor(low, high), shift_right(high, 58)
    back = mask_bits(u64(64) - turn, 63)
    return tf.bitwise.bitwise_or(tf.bitwise.right_shift(xor, turn), tf.bitwise.left_shift(xor, back))


def fraction_of_halves(upper: tf.Tensor, lower: tf.Tensor) -> tf.Tensor:
    """Return a number from [0, 1) of 27 and of 26 bits."""
    # Whole numbers below 2**53: every step is exact.
    whole = shift_left(upper, 26) + lower
    return tf.cast(tf.bitcast(whole, tf.int64), tf.float64) * 2.0**-53


def _temper(key: tf.Tensor) -> tf.Tensor:
    key = tf.bitwise.bitwise_xor(key, shift_right(key, 11))
    key = tf.bitwise.bitwise_xor(key, mask_bits(shift_left(key, 7), 0x9D2C5680))
    key = tf.bitwise.bitwise_xor(key, mask_bits(shift_left(key, 15), 0xEFC60000))
    return tf.bitwise.bitwise_xor(key, shift_right(key, 18))


def _twist(key: tf.Tensor) -> tf.Tensor:
    """Return the next key. Each number depends on three numbers, of which two are old for the first 227."""
    first, lag = _MT_SIZE - _MT_SHIFT, 2 * (_MT_SIZE - _MT_SHIFT)
    a = _mix(key[:first], key[1 : first + 1], key[_MT_SHIFT:])
    b = _mix(key[first:lag], key[first + 1 : lag + 1], a)
    c = _mix(key[lag:-1], key[lag + 1 :], b[: _MT_SIZE - 1 - lag])
    last = _mix(key[-1:], a[:1], b[_MT_SHIFT - 1 - first : _MT_SHIFT - first])
    return tf.concat([a, b, c, last], 0)


def _mix(upper: tf.Tensor, lower: tf.Tensor, word_ahead: tf.Tensor) -> tf.Tensor:
    word = mask_bits(upper, 0x80000000) + mask_bits(lower, 0x7FFFFFFF)
    odd = tf.where(mask_bits(word, 1) > 0, tf.constant(0x9908B0DF, tf.uint32), tf.constant(0, tf.uint32))
    return tf.bitwise.bitwise_xor(tf.bitwise.bitwise_xor(word_ahead, shift_right(word, 1)), odd)


def fraction(word: tf.Tensor) -> tf.Tensor:
    """Return a number from [0, 1) of the upper 53 bits."""
    return tf.cast(tf.bitcast(shift_right(word, 11), tf.int64), tf.float64) * 2.0**-53


#: The name of a bit generator -> its bits in the graph.
SOURCES: dict[str, type[Source]] = {"PCG64": Pcg64, "MT19937": Mt19937}


# -- buffer sources ------------------------------------------------------------------------------------------
# Sources of random bits that read a buffer of raw words, which NumPy has drawn before the graph runs.
#
# A word is one load from the buffer, whereas the sources in `sources` compute it. The buffer may be too
# short for a call. Then the graph continues with words derived from the words in the buffer, so that every
# loop ends. The caller sees by the count of words that the call has drawn wrongly, and repeats it with a
# longer buffer.

#: The part of the state that counts the words taken; its initial value is the position of the call's first
#: word.
WORD_COUNT = "taken"


class BufferedWords(Source):
    """Reads words from a buffer; `parts["taken"]` is the position of the next word."""

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
