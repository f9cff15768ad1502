"""Functions in a foreign graph, in which the length of an array may be known only at run time.

`np2tf.jit` knows all lengths when it stages, so translated code calls ``range(len(x))`` as its source does.
Python's builtins require integers, so np2tf's versions replace them here.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

from np2tf.staging.control import builtins as extrema
from np2tf.staging.control import builtins as scalars
from np2tf.staging.control import iterables


class _StagedType(type):
    """Stands for a Python type: a call makes the object of np2tf's operator, `isinstance` uses the type."""

    builtin: type
    operator: Callable[..., Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.operator(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.builtin)


def _type(builtin: type) -> Any:
    operator = staticmethod(getattr(iterables, builtin.__name__))
    return _StagedType(builtin.__name__, (), {"builtin": builtin, "operator": operator})


def _function(builtin: Callable[..., Any], operator: Callable[..., Any]) -> Callable[..., Any]:
    """Return np2tf's operator; with keywords, such as ``key=``, it is Python's function."""

    @functools.wraps(builtin)
    def call(*args: Any, **kwargs: Any) -> Any:
        return builtin(*args, **kwargs) if kwargs else operator(*args)

    return call


_STAGED_BUILTINS = {
    **{builtin.__name__: _type(builtin) for builtin in (enumerate, range, reversed, zip)},
    "len": scalars.len,
    "max": _function(max, extrema.max),
    "min": _function(min, extrema.min),
}


def of_unknown_lengths(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function`, and its inner functions, with builtins that accept lengths known only at run
    time.
    """
    if type(function) is not types.FunctionType:
        return function
    namespace = {**function.__globals__, "__builtins__": {**vars(builtins), **_STAGED_BUILTINS}}
    result = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    result.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(result, function)
