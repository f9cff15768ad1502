"""Draw random numbers if an argument or a new array is a tensor.

While np2tf stages code, the trace records draws. In a graph of the program's own, a call back to the host
draws anew whenever the graph runs (`graph_draws`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import RandomUseError
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._chapters.followed_draws import draw_followed
from np2tf.tnp._chapters.graph_draws import draw_in_graph
from np2tf.tnp._dispatch.op import write_back
from np2tf.tnp._dispatch.residency import wrap_result
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._operands.differentiated_values import any_followed, refuse_to_leave
from np2tf.tnp._tensor.storage import current_scope
from np2tf.tnp._warnings.deprecations import ask_numpy
from np2tf.tnp.random import Generator


def require_eager(name: str) -> None:
    """Check that no code is being staged: a draw must happen in every call, and not once while staging.

    Raises:
        StagingError: code is being staged.
    """
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
