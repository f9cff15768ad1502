"""Functions in a graph that somebody else traces, where the length of an array may be known only at run time.

`np2tf.jit` knows all lengths when it stages, so translated code calls ``range(len(x))`` as its source does.
Python's builtins demand integers; here those of np2tf stand for them.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

from np2tf.runtime import extrema, ranges, scalars

_STAGED = {
    "enumerate": ranges.enumerate,
    "len": scalars.len,
    "max": extrema.max,
    "min": extrema.min,
    "range": ranges.range,
    "reversed": ranges.reversed,
    "zip": ranges.zip,
}


def of_unknown_lengths(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, and the functions inside of it, with builtins that take lengths known only at run time."""
    if not isinstance(function, types.FunctionType):
        return function
    named = {**function.__globals__, "__builtins__": {**vars(builtins), **_STAGED}}
    made = types.FunctionType(
        function.__code__, named, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(made, function)
