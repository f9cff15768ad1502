"""`np2tf.on_host`: exception handlers, which never run while a function is staged."""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf

from np2tf.staging import NotStagedError, PromotionError, StagingError
from np2tf.tnp._tensor.storage import current_scope


class HandledOnHost(Exception):
    """Raised if an exception occurs in a `try` of staged code: the call runs on the host, where it is
    handled.
    """

    code = "NP2TF532"


def on_host(kinds: Any) -> Any:
    """Return `kinds` on the host, for ``except np2tf.on_host(kinds):``; elsewhere no handler takes the
    exception.

    Args:
        kinds: an exception class, or a tuple of them.

    Returns:
        `kinds`; the function returns only on the host.

    Raises:
        HandledOnHost: if the function is being staged, because no handler of staged code can take the
            exception.

    See https://docs.python.org/3/reference/compound_stmts.html#except-clause.
    """
    if current_scope() is None and tf.executing_eagerly():
        return kinds
    error = sys.exc_info()[1]
    if error is None or isinstance(error, (StagingError, PromotionError, HandledOnHost)):
        raise error or NotStagedError("np2tf.on_host stands elsewhere than behind `except`")
    message = f"a {type(error).__name__} comes up in a try block, whose handlers run on the host"
    raise HandledOnHost(message) from error
