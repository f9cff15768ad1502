"""`np2tf.on_host`: handlers of exceptions, which never run while a function is staged."""

from __future__ import annotations

import sys
from typing import Any

import tensorflow as tf

from np2tf.staging import NotStagedError, PromotionError, StagingError
from np2tf.tnp._tensor.storage import current_scope


class HandledOnHost(Exception):
    """An exception has come up in a `try` of staged code: the call runs on the host, where it is handled."""

    code = "NP2TF532"


def on_host(kinds: Any) -> Any:
    """``except np2tf.on_host(kinds):`` is ``except kinds:`` on the host; elsewhere the exception goes on.

    Raises:
        HandledOnHost: the function is being staged. No handler of staged code can take this exception.
    """
    if current_scope() is None and tf.executing_eagerly():
        return kinds
    error = sys.exc_info()[1]
    if error is None or isinstance(error, (StagingError, PromotionError, HandledOnHost)):
        raise error or NotStagedError("np2tf.on_host stands elsewhere than behind `except`")
    message = f"a {type(error).__name__} comes up in a try block, whose handlers run on the host"
    raise HandledOnHost(message) from error
