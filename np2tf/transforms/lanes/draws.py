"""Draws of random numbers by lanes in a graph that np2tf does not build: all lanes would draw the same."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from np2tf.runtime.arguments.captures import current, dependencies_of
from np2tf.runtime.random.snapshots import restorer, snapshot
from np2tf.runtime.random.states import bit_generator, global_state, is_generator
from np2tf.staging import NotStagedError


@contextmanager
def refuse_draws(function: Any, arguments: Sequence[Any]) -> Iterator[None]:
    """Refuse a function that draws from one of NumPy's streams of random numbers in the with block.

    Args:
        function: the function.
        arguments: its arguments, which may be generators.

    Raises:
        NotStagedError: it has drawn; the streams are as before.
    """
    generators = [global_state(), *_generators_of(function), *filter(is_generator, arguments)]
    before = [snapshot(bit_generator(generator)) for generator in generators]
    restorers = [restorer(generator, set()) for generator in generators]
    yield
    if [snapshot(bit_generator(generator)) for generator in generators] != before:
        for restore in restorers:
            restore()
        raise NotStagedError(
            "a function that vmap applies to rows draws random numbers, drawn once for all rows in a graph; "
            "draw them outside of vmap, or use the keys of np2tf.random"
        )


def _generators_of(function: Any) -> list[Any]:
    """Return the generators that a function reads by name, and the attributes of the object of a method."""
    owner = function.__self__ if isinstance(function, types.MethodType) else None
    function = getattr(function, "__func__", function)
    values = list(vars(owner).values()) if hasattr(owner, "__dict__") else []
    if type(function) is types.FunctionType:
        values += current(dependencies_of(function).captures)
    values = [value.__self__ if isinstance(value, types.BuiltinMethodType) else value for value in values]
    return [value for value in values if is_generator(value)]


__all__ = ["refuse_draws"]
