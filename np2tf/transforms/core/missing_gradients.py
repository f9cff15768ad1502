"""Errors of TensorFlow about operations without a derivative, in the words of the user's program; and its log
messages about gradients, which say nothing about that program.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_callbacks

from np2tf.tnp._warnings.user_lines import is_inner, user_location
from np2tf.transform_errors import NoDerivativeError

_OPERATION = re.compile(r"gradient registry has no entry for: (\w+)")
_NO_GRADIENT = re.compile(r"No gradient defined for operation '?([\w/]+)'? \(op type: (\w+)\)")


@contextmanager
def missing_gradients_named(again: Callable[[], Any]) -> Iterator[None]:
    """Raise an error with the line of the user's program, if an operation has no derivative.

    Args:
        again: calls the function that is differentiated, to find the line of the operation.

    Raises:
        NoDerivativeError: the block has met such an operation.
    """
    try:
        yield
    except (LookupError, NotImplementedError) as error:
        text = str(error)
        match = _OPERATION.search(text) or _NO_GRADIENT.search(text)
        if match is None and isinstance(error, LookupError):
            raise
        operation = match.groups()[-1] if match else ""
        message = f"TensorFlow's operation {operation} has no derivative" if match else text
        raise NoDerivativeError(
            f"{message}; write it with other functions of NumPy, apply np2tf.stop_gradient to its operands "
            "if the derivative is zero, or give the derivative with np2tf.custom_vjp",
            _line_of(operation, again) if match else None,
        ) from None


def _line_of(operation: str, again: Callable[[], Any]) -> tuple[str, int] | None:
    """Return the first line of the user's program that runs a TensorFlow operation."""
    if not tf.executing_eagerly():
        operations = [op for op in tf.compat.v1.get_default_graph().get_operations() if op.type == operation]
        frames = [frame for op in operations[:1] for frame in op.traceback if not is_inner(frame.filename)]
        return (frames[-1].filename, frames[-1].lineno) if frames else None
    locations: list[tuple[str, int]] = []

    def note(kind: Any, *inputs: Any, **attributes: Any) -> None:
        if (kind.decode() if isinstance(kind, bytes) else kind) == operation:
            locations.append(user_location())

    op_callbacks.add_op_callback(note)
    try:
        again()
    finally:
        op_callbacks.remove_op_callback(note)
    return locations[0] if locations else None


@contextmanager
def quiet_tensorflow() -> Iterator[None]:
    """Suppress TensorFlow's log messages: about operations without a vectorised form, which are then computed
    one after another, and about complex gradients of real numbers, whose imaginary part has no meaning.
    """
    logger, silent = logging.getLogger("tensorflow"), lambda record: False
    logger.addFilter(silent)
    try:
        yield
    finally:
        logger.removeFilter(silent)
