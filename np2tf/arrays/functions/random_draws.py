"""Random draws whose arguments or results are tensors: recorded while staging, a call back in other
graphs.
"""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, tensor_array, tensor_scalar
from np2tf.arrays.dispatch.op import write_back
from np2tf.arrays.dispatch.placement import wrap_result
from np2tf.arrays.front.flags import transform_depth
from np2tf.arrays.front.random_generators import Generator
from np2tf.arrays.functions.take_put import take
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.operands.differentiated_values import any_followed, is_followed, refuse_to_leave
from np2tf.arrays.operands.numpy_warnings import ask_numpy
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import RandomUseError

# -- followed draws ------------------------------------------------------------------------------------------
# Random draws with parameters that a transform differentiates: a standard number is drawn, moved and
# scaled.
#
# The stream of numbers stays NumPy's, and so do the results. This is the reparametrisation of Kingma and
# Welling (2014), https://arxiv.org/abs/1312.6114.

Draw = Callable[..., Any]


def _affine(standard: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * standard


#: Distribution -> its parameters with the standard values, and the number made of a standard number.
_FORMULAS: Mapping[str, tuple[dict[str, float], Callable[..., Any]]] = {
    **dict.fromkeys(("gumbel", "laplace", "logistic", "normal"), ({"loc": 0.0, "scale": 1.0}, _affine)),
    **dict.fromkeys(("exponential", "rayleigh"), ({"scale": 1.0}, operator.mul)),
    "uniform": ({"low": 0.0, "high": 1.0}, lambda standard, low, high: low + (high - low) * standard),
}


def draw_followed(name: str, draw: Draw, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Draw by NumPy's `draw` with arguments that a transform differentiates; return NotImplemented if the
    derivative by an argument is not known.
    """
    if name in _FORMULAS:
        defaults, formula = _FORMULAS[name]
        arguments = {**dict(zip((*defaults, "size"), args, strict=False)), **kwargs}
        parameters = [arguments.pop(parameter, default) for parameter, default in defaults.items()]
        size = arguments.pop("size", None)
        if not arguments:
            shape = np.broadcast_shapes(*map(np.shape, parameters)) if size is None else size
            standard = draw(*defaults.values(), shape or None)
            return formula(wrap_result(standard), *parameters)
    elif name in ("choice", "permutation", "shuffle") and args and is_followed(args[0]):
        values, *further = args
        axis = kwargs.get("axis", further[0] if further and name != "choice" else 0)
        is_known = not any_followed((*further, *kwargs.values())) and (name != "choice" or len(further) < 4)
        if is_array(values) and values.ndim and is_known:
            return _draw_elements(name, draw, values, axis, further, kwargs)
    return NotImplemented


def _draw_elements(
    name: str, draw: Draw, values: Any, axis: int, further: list[Any], kwargs: dict[str, Any]
) -> Any:
    """Draw places as NumPy draws elements, and return the elements; `shuffle` writes them."""
    count = values.shape[axis]
    if name == "choice":
        keywords = {key: value for key, value in kwargs.items() if key != "axis"}
        return take(values, draw(count, *further, **keywords), axis=axis)
    places = np.arange(count)
    places = draw(places) if name == "permutation" else _shuffle(draw, places)
    elements = take(values, places, axis=axis)
    if name == "permutation":
        return elements
    values[...] = elements
    return values


def _shuffle(draw: Draw, places: np.ndarray) -> np.ndarray:
    draw(places)
    return places


# -- graph draws ---------------------------------------------------------------------------------------------
# Random numbers in a graph that np2tf does not stage: under a plain `tf.function`, in `Dataset.map`.
#
# The graph calls back to the host, where NumPy's own stream goes on: every run of the graph draws anew, and
# after ``np.random.seed(k)`` it draws what NumPy draws.


def draw_in_graph(name: str, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Add a draw to the graph: by NumPy's function of the global state, or by a bound method of a generator.

    The arguments may hold tensors and arrays of integers.

    Raises:
        RandomUseError: the draw cannot be made in a graph.
    """
    leaves = tf.nest.flatten((args, kwargs))
    places = [k for k, leaf in enumerate(leaves) if is_array(leaf) or tf.is_tensor(leaf)]
    tensors = [tf.convert_to_tensor(leaves[k]) for k in places]
    if kwargs.get("out") is not None or not all(tensor.dtype.is_integer for tensor in tensors):
        raise _refusal(name, "with arrays of the graph among its arguments")

    def call(function: Callable[..., Any], values: Any) -> Any:
        filled = list(leaves)
        for k, value in zip(places, values):
            filled[k] = value
        positional, by_name = tf.nest.pack_sequence_as((args, kwargs), filled)
        return function(*positional, **by_name)

    trial = _trial(name, draw, lambda function: call(function, map(_example, tensors)))
    dtype = tf.as_dtype(trial.dtype)
    drawn = tf.numpy_function(lambda *values: np.asarray(call(draw, values), trial.dtype), tensors, dtype)
    drawn.set_shape(trial.shape if all(tensor.shape.is_fully_defined() for tensor in tensors) else None)
    return tensor_scalar(drawn) if drawn.shape.rank == 0 else tensor_array(drawn)


def _trial(name: str, draw: Callable[..., Any], call: Callable[[Callable[..., Any]], Any]) -> np.ndarray:
    """Return what a draw from a copy of the generator gives: its shape and dtype are those of every draw."""
    owner = getattr(draw, "__self__", None)
    if not isinstance(owner, (np.random.Generator, np.random.RandomState)):
        raise _refusal(name, "of an unknown generator")
    try:
        result = call(getattr(copy.deepcopy(owner), draw.__name__))
    except Exception as error:
        raise _refusal(name, f"({error})") from error
    if isinstance(result, (np.ndarray, np.generic, int, float)) and has_tf_dtype(np.asarray(result).dtype):
        return np.asarray(result)
    raise _refusal(name, "whose result is not an array of numbers")


def _example(tensor: tf.Tensor) -> np.ndarray | np.generic:
    """Return numbers in the place of a tensor whose numbers are not known yet."""
    return np.ones([length or 1 for length in tensor.shape], tensor.dtype.as_numpy_dtype)[()]


def _refusal(name: str, reason: str) -> RandomUseError:
    return RandomUseError(f"numpy.random.{name} draws from a stream of random numbers {reason}")


# -- random --------------------------------------------------------------------------------------------------
# Draw random numbers if an argument or a new array is a tensor.
#
# While np2tf stages code, the trace records draws. In a graph of the program's own, a call back to the host
# draws anew whenever the graph runs (see "graph draws").


def require_eager(name: str) -> None:
    """Check that no code is being staged: a draw must happen in every call, and not once while staging."""
    if current_scope() is not None or not tf.executing_eagerly():
        raise RandomUseError(f"numpy.random.{name} draws from a stream of random numbers")


def _draws() -> Any:
    """Return the recorder of draws of the function that is being staged; None outside of staging."""
    scope = current_scope()
    return None if scope is None or scope.trace is None else scope.trace.draws


def function(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap NumPy's `draw`: its arrays live where new arrays live, and are written to `out` if it is given."""

    @functools.wraps(draw)
    def call(*args: Any, **kwargs: Any) -> Any:
        draws = _draws()
        if draws is not None:
            owner = getattr(draw, "__self__", None)
            if owner is None or draw == getattr(np.random, name, None):
                return draws.draw_globally(name, *args, **kwargs)
            return draws.draw(owner, name, *args, **kwargs)
        if not tf.executing_eagerly() and current_scope() is None and not transform_depth.depth:
            return draw_in_graph(name, draw, args, kwargs)
        require_eager(name)
        if any_followed((*args, *kwargs.values())) and not (name == "shuffle" and isinstance(args[0], list)):
            result = draw_followed(name, draw, args, kwargs)
            if result is not NotImplemented:
                return result
            refuse_to_leave(f"numpy.random.{name}", (*args, *kwargs.values()))
        if name == "shuffle":
            return _shuffle_in_place(draw, *args, **kwargs)
        numpy_kwargs = {key: to_numpy(value) for key, value in kwargs.items()}
        out: Any = kwargs.get("out")
        if is_array(out) and not out.flags.forc:
            # The copy gets gaps, too, so that NumPy decides whether it can draw into such an array.
            numpy_kwargs["out"] = np.stack([numpy_kwargs["out"]] * 2, -1)[..., 0]
        result = draw(*map(to_numpy, args), **numpy_kwargs)
        if out is not None:
            return write_back(out, numpy_kwargs["out"])
        return wrap_result(result)

    return call


def _shuffle_in_place(shuffle: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """Shuffle an array or a list in place, and return it."""
    target = to_numpy(x) if is_array(x) or isinstance(x, (tf.Tensor, tf.Variable)) else x
    ask_numpy(lambda: shuffle(target, *args, **kwargs))
    return write_back(x, target) if target is not x else x


def stage_generator(kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the generator that staged code makes of a class of NumPy; None if nothing is staged."""
    draws = _draws()
    arguments = (*args, *kwargs.values())
    if draws is None:
        require_eager(kind.__name__)
    return None if draws is None else draws.make(kind, arguments, arguments in ((), (None,)))


def default_rng(seed: Any = None) -> np.random.Generator:
    """Return a generator of NumPy's numbers for a seed.

    Args:
        seed: None, an integer, an array of integers, a bit generator or a generator.

    Raises:
        StagingError: a graph is built outside of np2tf.

    See https://numpy.org/doc/stable/reference/random/generator.html.
    """
    draws = _draws()
    if draws is not None:
        generator: np.random.Generator = draws.make(np.random.default_rng, (seed,), seed is None)
        return generator
    require_eager("default_rng")
    if type(seed) is Generator:
        return seed
    eager_generator: np.random.Generator = Generator(np.random.default_rng(to_numpy(seed)).bit_generator)
    return eager_generator


def _functions() -> dict[str, Callable[..., Any]]:
    """Return np2tf's functions for the functions of numpy.random, by name."""
    members = {name: getattr(np.random, name) for name in dir(np.random) if not name.startswith("_")}
    draw_functions = {
        name: value for name, value in members.items() if callable(value) and not isinstance(value, type)
    }
    for function_name in ("default_rng", "test", "get_bit_generator", "set_bit_generator"):
        del draw_functions[function_name]
    return {name: function(name, draw) for name, draw in draw_functions.items()}


_TABLE = _functions()
globals().update(_TABLE)
__all__ = ["default_rng", *_TABLE]
