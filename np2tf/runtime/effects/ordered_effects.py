"""Effects of staged code that keep their order: log records, warnings, progress bars, and prints.

A graph calls back to the host, which collects the effects until the call is accepted. The host repeats a
discarded call, with its effects.
"""

from __future__ import annotations

import logging
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from np2tf.runtime.effects.output import put_in_order
from np2tf.runtime.effects.text import CapturedValues
from np2tf.runtime.introspection.user_frames import callers, warn
from np2tf.staging import CalleeError
from np2tf.tnp._tensor.storage import current_scope

_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "fatal": logging.CRITICAL,
}


def counterpart(callee: Any) -> Callable[..., None] | None:
    """Return the function to trace in the place of a function whose effects can be ordered; None for other
    functions.
    """
    if callee is warnings.warn or callee is warn:
        return _warn
    owner = getattr(callee, "__self__", None)
    if isinstance(callee, types.MethodType) and type(owner) is logging.Logger:
        return _method_of_logger(owner, callee.__name__)
    name = getattr(callee, "__name__", "")
    if getattr(callee, "__module__", None) == "logging" and getattr(logging, name, None) is callee:
        return _method_of_logger(logging.getLogger(), name)
    if isinstance(callee, type) and callee.__module__.partition(".")[0] == "tqdm":
        return lambda iterable, *args, **kwargs: _progress(callee, iterable, args, kwargs)
    return None


def _method_of_logger(logger: logging.Logger, name: str) -> Callable[..., Any] | None:
    if name == "isEnabledFor":
        return logger.isEnabledFor
    if name == "log":
        return lambda level, *args, **kwargs: _log(logger, level, args, kwargs)
    if name in _LEVELS:
        return lambda *args, **kwargs: _log(logger, _LEVELS[name], args, kwargs)
    return None


def _log(logger: logging.Logger, level: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Do ``logger.log(level, message, *args)`` in order, or nothing if the level is off.

    Raises:
        StagingError: if the record needs more than the message and its place.
    """
    if not logger.isEnabledFor(level):
        return
    if kwargs:
        raise CalleeError(f"logs with `{next(iter(kwargs))}`")
    caller = callers(_trace().depth)[0]

    def handle(message: Any, *args: Any) -> None:
        record = logger.makeRecord(
            logger.name, level, caller.path, caller.line, message, args, None, caller.function
        )
        logger.handle(record)

    in_order(handle, args)


def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None) -> None:
    """Do ``warnings.warn(message)`` in order, for a traced line or for a line that calls the traced function.

    Raises:
        StagingError: if the warning needs more than its text and its place.
    """
    if source is not None or stacklevel < 1:
        raise CalleeError("warns of more than a text and a line")
    kind = category or (type(message) if isinstance(message, Warning) else UserWarning)
    inside = callers(_trace().depth)
    if stacklevel > len(inside):
        in_order(lambda text: warn(text, kind, stacklevel - len(inside)), (message,))
        return
    caller = inside[stacklevel - 1]

    def of_a_traced_line(text: Any) -> None:
        registry = caller.names.setdefault("__warningregistry__", {})
        module = caller.names.get("__name__")
        warnings.warn_explicit(text, kind, caller.path, caller.line, module, registry)

    in_order(of_a_traced_line, (message,))


def _progress(bar: Any, iterable: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the iterable of a progress bar; the bar is drawn when the call is accepted."""
    try:
        total = len(iterable)
    except TypeError:
        raise CalleeError("draws a progress bar around what has no length") from None

    def draw(count: Any) -> None:
        for _ in bar(range(int(count)), *args, **kwargs):
            pass

    in_order(draw, (total,))
    return iterable


def in_order(effect: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Call `effect` with the values of `args` at every run, after the earlier effects.

    Raises:
        StagingError: if the code is staged for XLA, which cannot call back, or if an argument may change.
    """
    captures = CapturedValues(args, depth=1)

    def make(known_values: Sequence[np.ndarray]) -> Callable[[], None]:
        values = captures.of([np.array(value) for value in known_values])
        return lambda: effect(*values)

    put_in_order(_trace(), captures, make)


def _trace() -> Any:
    scope = current_scope()
    assert scope is not None
    return scope.trace
