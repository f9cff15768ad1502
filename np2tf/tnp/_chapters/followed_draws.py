"""Random draws with parameters that a transform differentiates: a standard number is drawn, moved and scaled.

The stream of numbers stays NumPy's, and so do the results. This is the reparametrisation of Kingma and
Welling (2014), https://arxiv.org/abs/1312.6114.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._chapters.indexing.take import take
from np2tf.tnp._dispatch.residency import wrap_result
from np2tf.tnp._operands.differentiated_values import any_followed, is_followed

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
