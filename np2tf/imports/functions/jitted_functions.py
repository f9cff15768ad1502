"""The jitted function behind any callable, translated if needed."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.imports.functions.callees import staged_version
from np2tf.runtime.introspection.code_names import all_names
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.staging import CalleeError


def jitted_of(function: Callable[..., Any]) -> tuple[JittedFunction, tuple[Any, ...]]:
    """Return the jitted function behind a callable, translated if needed, and the arguments bound to it.

    Raises:
        StagingError: if the function cannot be translated, or has effects.
    """
    if isinstance(function, JittedFunction):
        return _translate(function), ()
    if isinstance(function, types.MethodType):
        jitted_function, arguments = jitted_of(function.__func__)
        return jitted_function, (function.__self__, *arguments)
    behind = getattr(function, "_jitted_function", None)
    if isinstance(behind, JittedFunction) and not function._kwargs:  # type: ignore[attr-defined]
        return _translate(behind), function._args  # type: ignore[attr-defined]
    name = getattr(function, "__qualname__", type(function).__name__)
    if type(function) is not types.FunctionType:
        raise CalleeError(f"`{name}` is no function of Python, and cannot be translated")
    reason, staged_function = staged_version(function)
    if staged_function is None:
        place = function.__code__.co_filename, function.__code__.co_firstlineno
        raise CalleeError(f"`{name}` ({place[0]}:{place[1]}) cannot be staged: it {reason}", place)
    return staged_function, ()


def _translate(jitted_function: JittedFunction) -> JittedFunction:
    """Return a jitted function, translated if its code still reads the module numpy."""
    function = jitted_function.__wrapped__
    space = getattr(function, "__globals__", {})
    if type(function) is not types.FunctionType or all(
        space.get(name) is not np for name in all_names(function.__code__)
    ):
        return jitted_function
    return staged_version(function)[1] or jitted_function


__all__ = ["jitted_of"]
