"""Errors of TensorFlow about operations without a derivative, in the words of the user's program; and its log
messages about gradients, which say nothing about that program.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from np2tf.transform_errors import NoDerivativeError

_OPERATION = re.compile(r"gradient registry has no entry for: (\w+)")
_DEFINED = re.compile(r"No gradient defined for operation '?([\w/]+)'? \(op type: (\w+)\)")


@contextmanager
def missing_gradients_named(function: Callable[..., Any]) -> Iterator[None]:
    """Raise an error with the line of the user's program, if an operation has no derivative.

    Raises:
        NoDerivativeError: the block has met such an operation.
    """
    try:
        yield
    except LookupError as error:
        text = str(error)
        found = _OPERATION.search(text) or _DEFINED.search(text)
        if found is None:
            raise
        operation = found.groups()[-1]
        raise NoDerivativeError(
            f"TensorFlow's operation {operation} has no derivative; write it with other functions of NumPy, "
            "apply np2tf.stop_gradient to its operands if the derivative is zero, or give the derivative with "
            "np2tf.custom_vjp"
        ) from None


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
