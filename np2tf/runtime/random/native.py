"""Draws in the graph itself: the supported methods and generators."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.random import states
from np2tf.runtime.random.arguments import Form, is_known
from np2tf.runtime.random.bits import bounded_integers, normal
from np2tf.runtime.random.bits.sources import Source
from np2tf.runtime.random.bits.words import rounded_product
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_any, reduce_sum

if TYPE_CHECKING:
    from np2tf.runtime.random.streams import Stream

#: If numbers must be made one by one, NumPy makes more numbers than these by a call back. The call
#: takes 100 µs, an integer in the graph 0.4 µs, a normal number 1 µs.
_MAX_INTEGERS, _MAX_NORMALS = 512, 128
#: Products with larger numbers may be infinite.
_LARGE = 1e300
#: The tolerance for the sum of probabilities (NumPy allows 1.5e-8), and for numbers near a boundary.
_MOST_FROM_ONE, _DOUBT = 1e-8, 1e-15
#: NumPy's code for other processors may omit the rounding of products.
ROUNDS = platform.machine() in ("x86_64", "AMD64")


def draw(
    stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], form: Form
) -> tf.Tensor | None:
    """Return the result of the method, made by operations on integers; None if the graph cannot make it."""
    method = _METHODS.get(name)
    if method is None or not stream.makes_bits:
        return None
    drawing = Drawing(stream, form)
    result = method(drawing, *args, **kwargs)
    if result is None:
        return None
    stream.store(drawing.source.parts)
    stream.stop_late()
    return result


class Drawing:
    """One draw in the graph.

    Attributes:
        source: the source of bits.
        form: the form of the result.
        legacy: whether the generator is a `RandomState`.
    """

    def __init__(self, stream: Stream, form: Form) -> None:
        self.source = stream.bits()
        self.form = form
        self.legacy = states.is_legacy(stream.like)
        self._bound_method = bounded_integers.by_mask if self.legacy else bounded_integers.by_multiplication

    @property
    def count(self) -> int | None:
        """The number of numbers to draw; None for a single number."""
        return None if self.form.shape == () else int(np.prod(self.form.shape))

    def reshape(self, numbers: tf.Tensor) -> tf.Tensor:
        """Return the numbers in the shape of the result."""
        return tf.reshape(numbers, self.form.shape)

    def uniform(self) -> tf.Tensor:
        """Return numbers from [0, 1)."""
        count = self.count

        def make(source: Source) -> list[tf.Tensor]:
            return [source.double() if count is None else source.doubles(count)]

        return self.reshape(self.source.call_shared(("uniform", count), make)[0])

    def integers(self, limit: tf.Tensor) -> tf.Tensor:
        """Return integers from 0 to `limit`, both included."""
        count, way, static_limit = self.count, self._bound_method, tf.get_static_value(limit)

        def make(source: Source, limit: tf.Tensor) -> list[tf.Tensor]:
            limit = limit if static_limit is None else tf.constant(static_limit)
            return [bounded_integers.integers(source, way, limit, count)]

        key = "integers", way, None if static_limit is None else int(static_limit), count
        return self.reshape(self.source.call_shared(key, make, [limit])[0])

    def permutation(self, count: int, by_mask: bool = False) -> tf.Tensor:
        """Return the numbers below `count`, shuffled."""
        way = bounded_integers.by_mask if by_mask else self._bound_method

        def make(source: Source) -> list[tf.Tensor]:
            return [bounded_integers.permutation(source, way, count)]

        return self.source.call_shared(("permutation", way, count), make)[0]

    def few_of_many(self, count: int, population: int) -> tf.Tensor:
        """Return `count` different numbers below `population`, not shuffled."""
        way = self._bound_method

        def make(source: Source) -> list[tf.Tensor]:
            return [bounded_integers.few_of_many(source, way, count, population)]

        return self.source.call_shared(("few_of_many", way, count, population), make)[0]

    def normal(self) -> tf.Tensor | None:
        """Return standard normal numbers; None if the graph cannot make NumPy's numbers, or makes them
        slowly.
        """
        source = self.source
        if (self.count or 0) > _MAX_NORMALS:
            return None
        if self.legacy:
            if not normal.polar_is_the_hosts():
                return None

            (number,) = source.call_shared(("polar", self.count), self._polar)
            return self.reshape(number)
        if not normal.ziggurat_is_the_hosts():
            return None
        number, doubt = source.call_shared(("ziggurat", self.count), self._ziggurat)
        record_violation(doubt)
        return self.reshape(number)

    def _polar(self, source: Source) -> list[tf.Tensor]:
        def draw_pair() -> tf.Tensor:
            return normal.polar(source, rounded_product)

        return [draw_pair() if self.count is None else source.repeat_into(self.count, draw_pair, tf.float64)]

    def _ziggurat(self, source: Source) -> list[tf.Tensor]:
        if self.count is None:
            return list(normal.ziggurat(source, rounded_product))
        return list(normal.ziggurats(source, self.count, rounded_product))


def _random(drawing: Drawing, size: Any = None, dtype: Any = float) -> tf.Tensor | None:
    return drawing.uniform() if np.dtype(dtype) == np.float64 else None


def _rand(drawing: Drawing, *size: int) -> tf.Tensor | None:
    return drawing.uniform()


def _uniform(drawing: Drawing, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> tf.Tensor | None:
    if not ROUNDS:
        return None
    low, high = _real(low), _real(high)
    span = high - low
    if not drawing.legacy:
        record_violation(reduce_any(span < 0.0))
    record_violation(reduce_any(~(tf.abs(span) < _LARGE)))
    return low + rounded_product(span, drawing.uniform())


def _standard_normal(drawing: Drawing, size: Any = None, dtype: Any = float) -> tf.Tensor | None:
    return drawing.normal() if np.dtype(dtype) == np.float64 else None


def _randn(drawing: Drawing, *size: int) -> tf.Tensor | None:
    return drawing.normal()


def _normal(drawing: Drawing, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> tf.Tensor | None:
    numbers = drawing.normal()
    if numbers is None:
        return None
    loc, scale = _real(loc), _real(scale)
    negative = tf.bitcast(scale, tf.int64) < 0
    record_violation(reduce_any(negative | ~(scale < _LARGE)))
    return loc + rounded_product(scale, numbers)


def _integers(
    drawing: Drawing, low: Any, high: Any = None, size: Any = None, dtype: Any = int, endpoint: bool = False
) -> tf.Tensor | None:
    has_many = (drawing.count or 0) > _MAX_INTEGERS
    if has_many or np.dtype(dtype) != np.int64 or not is_known(endpoint):
        return None
    low, high = (0, low) if high is None else (low, high)
    low, high = as_tensor(low), as_tensor(high)
    if low.shape.rank or high.shape.rank or not (low.dtype.is_integer and high.dtype.is_integer):
        return None
    low, high = tf.cast(low, tf.int64), tf.cast(high, tf.int64)
    last = high if endpoint else high - 1
    record_violation(last < low)
    limit = tf.bitcast(last - low, tf.uint64)
    return drawing.integers(limit) + low


def _permutation(drawing: Drawing, x: Any, axis: int = 0) -> tf.Tensor | None:
    if not isinstance(x, (int, np.integer)) or x > _MAX_INTEGERS:
        return None
    return drawing.permutation(int(x), by_mask=True)


def _choice(
    drawing: Drawing,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
) -> tf.Tensor | None:
    if not isinstance(a, (int, np.integer)) or not is_known((replace, shuffle)):
        return None
    if (drawing.count or 0) > _MAX_INTEGERS:
        return None
    if p is not None:
        return _draw_weighted(drawing, p, int(a)) if replace else None
    if replace:
        return drawing.integers(tf.constant(int(a) - 1, tf.uint64))
    count = drawing.count if drawing.count is not None else 1
    if drawing.legacy:
        if a > _MAX_INTEGERS:
            return None
        return drawing.reshape(drawing.permutation(int(a))[:count])
    if count > _MAX_INTEGERS or (a > 10_000 and count > a // (50 if shuffle else 20)):
        return None
    indices = drawing.few_of_many(count, int(a))
    if shuffle:
        indices = tf.gather(indices, drawing.permutation(count))
    return drawing.reshape(indices)


def _draw_weighted(drawing: Drawing, p: Any, count: int) -> tf.Tensor | None:
    if is_known(p):
        # The steps equal NumPy's to the last bit.
        steps = np.array(p, float).cumsum()
        steps = tf.constant(steps / steps[-1])
        number = drawing.uniform()[..., None]
        return reduce_sum(tf.cast(number >= steps, tf.int64), -1)
    chances = _real(p)
    if chances.shape != (count,) or not count:
        return None
    steps = tf.cumsum(chances)
    total = steps[-1]
    # NumPy refuses probabilities that do not sum up to one.
    record_violation(~(reduce_all(chances >= 0.0) & (tf.abs(total - 1.0) < _MOST_FROM_ONE)))
    distance = drawing.uniform()[..., None] - steps / total
    # NumPy adds in another order. If the order decides the result, NumPy must draw.
    record_violation(reduce_any(tf.abs(distance[..., :-1]) < count * _DOUBT))
    return reduce_sum(tf.cast(distance >= 0.0, tf.int64), -1)


def _real(value: Any) -> tf.Tensor:
    return tf.cast(as_tensor(value), tf.float64)


_METHODS: dict[str, Callable[..., tf.Tensor | None]] = {
    "random": _random,
    "random_sample": _random,
    "rand": _rand,
    "uniform": _uniform,
    "standard_normal": _standard_normal,
    "randn": _randn,
    "normal": _normal,
    "integers": _integers,
    "randint": _integers,
    "permutation": _permutation,
    "choice": _choice,
}
