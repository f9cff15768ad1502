"""One draw of a staged function: its arguments and form, ahead of the graph, in the graph, or by a call back
to the host.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, tensor_array, tensor_scalar, weak_scalar
from np2tf.arrays.functions.random_draws import draw_followed
from np2tf.arrays.functions.take_put import take
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.differentiated_values import any_recorded
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_sum
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.containers import SEARCHED_CONTAINERS
from np2tf.core.errors import RandomUseError
from np2tf.staging.random import distributions, states
from np2tf.staging.random.sources import Source, rounded_product
from np2tf.staging.values.array_stand_in import STAND_INS
from np2tf.staging.values.text import CapturedValues

if TYPE_CHECKING:
    from np2tf.staging.random.streams import Draws, Stream


# -- arguments -----------------------------------------------------------------------------------------------
# The arguments of a draw, and the form of its result: dtype, shape, and Python's, NumPy's or array type.

_UNKNOWN = "a draw gives something that no tensor can hold"
#: Name of a method that draws floats -> the parameters that are broadcast.
_FLOATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("uniform",), ("low", "high")),
    **dict.fromkeys(("normal", "gumbel", "laplace", "logistic"), ("loc", "scale")),
    "lognormal": ("mean", "sigma"),
    **dict.fromkeys(("exponential", "rayleigh"), ("scale",)),
    "beta": ("a", "b"),
    "chisquare": ("df",),
    "f": ("dfnum", "dfden"),
    "gamma": ("shape", "scale"),
    "noncentral_chisquare": ("df", "nonc"),
    "noncentral_f": ("dfnum", "dfden", "nonc"),
    **dict.fromkeys(("pareto", "power", "weibull"), ("a",)),
    "standard_gamma": ("shape",),
    "standard_t": ("df",),
    "triangular": ("left", "mode", "right"),
    "vonmises": ("mu", "kappa"),
    "wald": ("mean", "scale"),
}
_INTEGERS: dict[str, tuple[str, ...]] = {
    "binomial": ("n", "p"),
    "geometric": ("p",),
    "hypergeometric": ("ngood", "nbad", "nsample"),
    "logseries": ("p",),
    "negative_binomial": ("n", "p"),
    "poisson": ("lam",),
    "zipf": ("a",),
    "integers": ("low", "high"),
    "randint": ("low", "high"),
}
#: The parameters after the parameters that are broadcast, in NumPy's order.
_LAST_PARAMETERS = {"integers": ("size", "dtype", "endpoint"), "randint": ("size", "dtype")}


@dataclass(frozen=True)
class Form:
    """The form of a draw's result.

    Attributes:
        weak: the class of a Python number; None for an array or a NumPy scalar.
        is_scalar: whether the result is a number, and no array.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    weak: type | None
    is_scalar: bool

    @classmethod
    def of(cls, sample: Any) -> Form:
        """Return the form of a sample result, or raise StagingError if no tensor can hold it."""
        array = np.asarray(sample)
        if isinstance(sample, (str, bytes)) or not has_tf_dtype(array.dtype):
            raise RandomUseError(_UNKNOWN)
        weak = type(sample) if type(sample) in (int, float, bool) else None
        return cls(array.dtype, array.shape, weak, not isinstance(sample, np.ndarray))

    def wrap(self, tensor: tf.Tensor) -> Any:
        """Return the number or array of a tensor, as staged code sees it."""
        if not self.is_scalar:
            return tensor_array(tensor)
        return tensor_scalar(tensor) if self.weak is None else weak_scalar(tensor, self.weak)


def is_known(value: Any) -> bool:
    """Return whether an argument contains no staged value."""
    if SEARCHED_CONTAINERS.find(value) is not None:
        return all(map(is_known, SEARCHED_CONTAINERS.items(value)))
    if type(value) in STAND_INS or isinstance(value, (tf.Tensor, tf.Variable)):
        return False
    return not is_array(value)


def bind_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments by parameter, or raise StagingError if parameters are unknown or do not fit."""
    params = _FLOATS.get(name) or _INTEGERS.get(name)
    if params is None:
        raise RandomUseError(f"`{name}` gets an argument that is known only at run time")
    order = (*params, *_LAST_PARAMETERS.get(name, ("size",)))
    if len(args) > len(order) or not set(kwargs) <= set(order):
        raise RandomUseError(f"`{name}` gets arguments that NumPy's method does not have")
    return {**dict(zip(order, args, strict=False)), **kwargs}


def form_of_staged(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Form:
    """Return the form of a draw with staged parameters, or raise StagingError if it depends on data."""
    arguments = bind_arguments(name, args, kwargs)
    size, kind = arguments.pop("size", None), arguments.pop("dtype", int)
    arguments.pop("endpoint", None)
    if not is_known((size, kind)):
        raise RandomUseError(f"the shape of what `{name}` draws depends on data")
    shapes = [as_tensor(argument).shape for argument in arguments.values() if argument is not None]
    if not all(shape.is_fully_defined() for shape in shapes):
        raise RandomUseError(f"the shape of what `{name}` draws depends on data")
    common = np.broadcast_shapes(*(tuple(shape.as_list()) for shape in shapes))
    shape = common if size is None else tuple(np.atleast_1d(size).tolist())
    scalar = size is None and common == ()
    if name in _FLOATS:
        return Form(np.dtype(float), shape, float if scalar else None, scalar)
    dtype = np.dtype(kind)
    python = {"i": int, "b": bool}.get(dtype.kind) if kind in (int, bool) else None
    return Form(dtype, shape, python if scalar and name != "integers" else None, scalar)


# -- selecting -----------------------------------------------------------------------------------------------
# Draws that choose from an array or reorder it: the graph draws positions and indexes the array.

#: (the name of a method, its arguments) -> its result.
Draw = Callable[..., Any]


def _permutation_of_array(draw: Draw, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, axis = _bind_arguments(args, kwargs, "x", "axis")
    if is_known(x):
        return NotImplemented
    _check(x, "permutation")
    return take(x, draw("permutation", x.shape[axis or 0]), axis=axis or 0)


def _shuffle(draw: Draw, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, axis = _bind_arguments(args, kwargs, "x", "axis")
    _check(x, "shuffle")
    rows = take(x, draw("permutation", x.shape[axis or 0]), axis=axis or 0)
    x[...] = rows
    return x


def _choice_from_array(draw: Draw, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names: tuple[str, ...] = ("a", "size", "replace", "p")
    if isinstance(stream.like, np.random.Generator):
        names = (*names, "axis", "shuffle")
    arguments = dict(zip(names, args, strict=False)) | kwargs
    x = arguments.pop("a")
    if is_known(x):
        return NotImplemented
    _check(x, "choice")
    axis = arguments.pop("axis", 0)
    return take(x, draw("choice", x.shape[axis], **arguments), axis=axis)


def _bind_arguments(args: tuple[Any, ...], kwargs: dict[str, Any], *names: str) -> list[Any]:
    arguments = dict(zip(names, args, strict=False)) | kwargs
    return [arguments.get(name) for name in names]


def _check(x: Any, name: str) -> None:
    if not is_array(x) or not x.shape or not isinstance(x.shape[0], int):
        raise RandomUseError(f"`{name}` of something other than an array of known length")


SELECTION_METHODS: dict[str, Callable[..., Any]] = {
    "permutation": _permutation_of_array,
    "shuffle": _shuffle,
    "choice": _choice_from_array,
}


# -- native --------------------------------------------------------------------------------------------------
# Draws in the graph itself: the supported methods and generators.

#: If numbers must be made one by one, NumPy makes more numbers than these by a call back. The call
#: takes 100 µs, an integer in the graph 0.4 µs, a normal number 1 µs.
_MAX_INTEGERS, _MAX_NORMALS = 512, 128
#: Products with larger numbers may be infinite.
_LARGE = 1e300
#: The tolerance for the sum of probabilities (NumPy allows 1.5e-8), and for numbers near a boundary.
_MOST_FROM_ONE, _DOUBT = 1e-8, 1e-15
#: NumPy's code for other processors may omit the rounding of products.
ROUNDS = platform.machine() in ("x86_64", "AMD64")


def draw_in_graph(
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
        legacy: whether the generator is a `RandomState`.
    """

    def __init__(self, stream: Stream, form: Form) -> None:
        self.source = stream.bits()
        self.form = form
        self.legacy = states.is_legacy(stream.like)
        self._bound_method = distributions.by_mask if self.legacy else distributions.by_multiplication

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
            return [distributions.integers(source, way, limit, count)]

        key = "integers", way, None if static_limit is None else int(static_limit), count
        return self.reshape(self.source.call_shared(key, make, [limit])[0])

    def permutation(self, count: int, by_mask: bool = False) -> tf.Tensor:
        """Return the numbers below `count`, shuffled."""
        way = distributions.by_mask if by_mask else self._bound_method

        def make(source: Source) -> list[tf.Tensor]:
            return [distributions.permutation(source, way, count)]

        return self.source.call_shared(("permutation", way, count), make)[0]

    def few_of_many(self, count: int, population: int) -> tf.Tensor:
        """Return `count` different numbers below `population`, not shuffled."""
        way = self._bound_method

        def make(source: Source) -> list[tf.Tensor]:
            return [distributions.few_of_many(source, way, count, population)]

        return self.source.call_shared(("few_of_many", way, count, population), make)[0]

    def normal(self) -> tf.Tensor | None:
        """Return standard normal numbers; None if the graph cannot make NumPy's numbers, or makes them
        slowly.
        """
        source = self.source
        if (self.count or 0) > _MAX_NORMALS:
            return None
        if self.legacy:
            if not distributions.log_is_the_hosts():
                return None

            (number,) = source.call_shared(("polar", self.count), self._polar)
            return self.reshape(number)
        if not distributions.ziggurat_is_the_hosts():
            return None
        number, doubt = source.call_shared(("ziggurat", self.count), self._ziggurat)
        record_violation(doubt)
        return self.reshape(number)

    def _polar(self, source: Source) -> list[tf.Tensor]:
        def draw_pair() -> tf.Tensor:
            return distributions.polar(source, rounded_product)

        return [draw_pair() if self.count is None else source.repeat_into(self.count, draw_pair, tf.float64)]

    def _ziggurat(self, source: Source) -> list[tf.Tensor]:
        if self.count is None:
            return list(distributions.ziggurat(source, rounded_product))
        return list(distributions.ziggurats(source, self.count, rounded_product))


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


def _exponential(drawing: Drawing, scale: Any = 1.0, size: Any = None) -> tf.Tensor | None:
    # XLA's logarithm of many numbers is another than of one.
    if not drawing.legacy or drawing.count is not None or not distributions.log_is_the_hosts():
        return None
    scale = _real(scale)
    record_violation(~((scale < _LARGE) & (tf.bitcast(scale, tf.int64) >= 0)))
    return rounded_product(scale, -tf.math.log(1.0 - drawing.uniform()))


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
    if not is_known((a, replace, shuffle)) or axis:
        return None
    if not isinstance(a, (int, np.integer)):
        elements = np.asarray(a)
        if elements.ndim != 1 or not len(elements) or not has_tf_dtype(elements.dtype):
            return None
        places = _choice(drawing, len(elements), size, replace, p, axis, shuffle)
        return None if places is None else tf.gather(tf.constant(elements), places)
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
    "exponential": _exponential,
    "integers": _integers,
    "randint": _integers,
    "permutation": _permutation,
    "choice": _choice,
}


# -- drawing -------------------------------------------------------------------------------------------------
# One draw of a staged function: before the graph runs, in the graph, or by a call back to the host.


def draw(draws: Draws, stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of NumPy's method, drawn at every call; refuse a result that no graph can hold."""
    if kwargs.pop("out", None) is not None:
        raise RandomUseError(f"`{name}` draws into its own array")
    method = SELECTION_METHODS.get(name)
    if method is not None:
        result = method(
            lambda generator, *arguments, **keywords: draw(draws, stream, generator, arguments, keywords),
            stream,
            args,
            kwargs,
        )
        if result is not NotImplemented:
            return result
    if any_recorded((args, kwargs)):
        result = draw_followed(name, lambda *standard: draw(draws, stream, name, standard, {}), args, kwargs)
        if result is NotImplemented:
            raise RandomUseError(f"the derivative of what `{name}` draws is not known")
        return result

    def numpys(generator: Any) -> Any:
        return getattr(generator, name)(*args, **kwargs)

    is_weighted = (
        name == "choice" and not is_known(kwargs.get("p")) and is_known((args, {**kwargs, "p": None}))
    )
    if is_weighted:
        evenly = {**kwargs, "p": None}
        form = Form.of(stream.sample(lambda generator: generator.choice(*args, **evenly)))
    elif is_known((args, kwargs)):
        sample = stream.sample(numpys)
        form = Form.of(sample)
        ahead = draws.draw_ahead(stream, name, numpys, sample)
        if ahead is not None:
            return form.wrap(ahead)
    else:
        form = form_of_staged(name, args, kwargs)
    if staging_for_xla():
        values = draw_in_graph(stream, name, args, kwargs, form)
        if values is not None:
            return form.wrap(values)
    return form.wrap(_draw_on_host(stream, name, args, kwargs, form))


def _draw_on_host(
    stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], form: Form
) -> tf.Tensor:
    """Draw by NumPy itself, on the host, from the state that the graph passes."""
    scope = current_scope()
    assert scope is not None
    if scope.trace.xla:
        raise RandomUseError(f"it draws with `{name}`, which only a graph can do")
    captures = CapturedValues((args, kwargs), depth=2)
    state = stream.numpys_state()
    names, dtype = list(state), form.dtype

    def run(*inputs: np.ndarray) -> list[np.ndarray]:
        parts = dict(zip(names, inputs, strict=False))
        arguments, keywords = captures.of(inputs[len(names) :])
        after, result = stream.draw(parts, lambda generator: getattr(generator, name)(*arguments, **keywords))
        return [*(after[name] for name in names), np.asarray(result, dtype)]

    types = [*(tensor.dtype for tensor in state.values()), tf.as_dtype(dtype)]
    *after, values = tf.numpy_function(run, [*state.values(), *captures.tensors], types)
    stream.store(
        {name: tf.ensure_shape(part, state[name].shape) for name, part in zip(names, after, strict=True)}
    )
    return tf.ensure_shape(values, form.shape)
