"""Draws that choose from an array or reorder it: the graph draws positions and indexes the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.runtime.random.arguments import is_known
from np2tf.staging import RandomUseError
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._chapters.indexing.take import take

if TYPE_CHECKING:
    from np2tf.runtime.random.streams import Stream

#: (the name of a method, its arguments) -> its result.
Draw = Callable[..., Any]


def _permutation(draw: Draw, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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


def _choice(draw: Draw, stream: Stream, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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
    "permutation": _permutation,
    "shuffle": _shuffle,
    "choice": _choice,
}
