"""The function that a transform runs in the place of the user's."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS
from typing import Any

import tensorflow as tf

from np2tf.runtime.callees.callees import staged_callee
from np2tf.runtime.callees.eager_callees import eager_version
from np2tf.tnp._front.following import differentiating
from np2tf.tnp._front.loading import announce_programs_tensors
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transform_errors import TransformArgumentError


def runnable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs `function` on arrays on TensorFlow, with every callee translated.

    While staging, the function becomes a part of the graph; otherwise it runs operation by operation.
    """
    if current_scope() is not None:
        return staged_callee(function)  # type: ignore[no-any-return]
    announce_programs_tensors()
    ready = eager_version(function)

    def run(*args: Any, **kwargs: Any) -> Any:
        if not tf.executing_eagerly():
            return ready(*args, **kwargs)
        with differentiating():
            return ready(*args, **kwargs)

    return run


def check_callable(function: Any, transform: str) -> None:
    """Check the first argument of a transform.

    Raises:
        TransformArgumentError: it is no function.
    """
    if not callable(function):
        raise TransformArgumentError(f"{transform} takes a function, and got a {type(function).__name__}")


def name_like(made: Any, function: Any, transform: str) -> Any:
    """Give the result of a transform the name and the docstring of its function, and return it."""
    for attribute in WRAPPER_ASSIGNMENTS:
        if attribute not in ("__module__", "__type_params__", "__annotations__") and hasattr(function, attribute):
            setattr(made, attribute, getattr(function, attribute))
    made.__name__ = f"{transform}({getattr(function, '__name__', type(function).__name__)})"
    return made
