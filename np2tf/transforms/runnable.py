"""The function that a transform runs in the place of the user's."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS
from typing import Any

import tensorflow as tf

from np2tf.arrays.front.flags import differentiate_block
from np2tf.arrays.front.tensorflow_loading import announce_programs_tensors
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import TransformArgumentError, TransformError
from np2tf.staging.callees.callees import staged_callee
from np2tf.staging.callees.eager_callees import eager_version
from np2tf.staging.control.unknown_lengths import of_unknown_lengths
from np2tf.staging.objects.user_code import depth
from np2tf.staging.trace.trace import trace_of
from np2tf.transforms.values import Form


def runnable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs `function` on arrays on TensorFlow, with every callee translated.

    While staging, the function becomes a part of the graph; otherwise it runs operation by operation.
    """
    if current_scope() is not None:
        return function if _is_made_by_a_caller(function) else staged_callee(function)  # type: ignore[no-any-return]
    announce_programs_tensors()
    ready = eager_version(function)

    def run(*args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            return of_unknown_lengths(ready)(*args, **kwargs)
        with differentiate_block():
            try:
                return ready(*args, **kwargs)
            except Exception as error:
                if isinstance(error.__cause__, TransformError):
                    raise error.__cause__ from None  # NumPy has put an error of its own in its place
                raise

    return run


def _is_made_by_a_caller(function: Any) -> bool:
    """Return whether a lambda or inner function is made by code that is being traced, and translated with
    it.
    """
    scope, code = current_scope(), getattr(function, "__code__", None)
    assert scope is not None
    frame: types.FrameType | None = sys._getframe(1)
    for _ in range(depth() - trace_of(scope).depth):
        if frame is None or code is None:
            return False
        if any(constant is code for constant in frame.f_code.co_consts):
            return True
        frame = frame.f_back
    return False


def runnable_for(function: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """Return the function to run for a call that may stay on the host: `function` itself, if it stays."""
    return function if form.is_host else runnable(function)


def check_callable(function: Any, transform: str) -> None:
    """Raise TransformArgumentError if the first argument of a transform is no function."""
    if not callable(function):
        raise TransformArgumentError(f"{transform} takes a function, but got a {type(function).__name__}")


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Return the arguments of a call by position, with defaults."""
    if not kwargs:
        return args
    binding = inspect.signature(function).bind(*args, **kwargs)
    binding.apply_defaults()
    if binding.kwargs:
        raise TransformArgumentError(f"arguments by name only have no rule: {sorted(binding.kwargs)}")
    return binding.args


def name_like(
    transform_result: Any, function: Any, transform: str, options: tuple[Any, ...] | None = None
) -> Any:
    """Give the result of a transform the name and the docstring of its function, and return it.

    Args:
        options: the other arguments of the transform, if the transform differentiates.
    """
    for attribute in WRAPPER_ASSIGNMENTS:
        if attribute not in ("__module__", "__type_params__", "__annotations__") and hasattr(
            function, attribute
        ):
            setattr(transform_result, attribute, getattr(function, attribute))
    transform_result.__name__ = f"{transform}({getattr(function, '__name__', type(function).__name__)})"
    if options is not None:
        transform_result.made_by = (function, transform, *options)
    return transform_result


def origin_of(function: Any) -> Any:
    """Return the user's function that transforms have differentiated; `function` itself for any other."""
    while type(function) is types.FunctionType and hasattr(function, "made_by"):
        function = function.made_by[0]
    return function
