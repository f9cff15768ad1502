"""Effects that staged code has in their order: log records, warnings, progress bars, as prints.

A graph calls back to the host, where what is to be done is kept until the call is accepted: a discarded call
is repeated there, with its effects.
"""

from __future__ import annotations

import ast
import linecache
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from np2tf.runtime.text import Captured
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "fatal": logging.CRITICAL,
}


class _Caller(NamedTuple):
    """Where staged code calls something: what a log record and a warning tell."""

    path: str
    line: int
    function: str
    names: dict[str, Any]


def counterpart(callee: Any) -> Callable[..., None] | None:
    """What to trace in the place of a function whose effects can be put in order; None for any other."""
    if callee is warnings.warn:
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
        return lambda level, *given, **named: _log(logger, level, given, named)
    if name in _LEVELS:
        return lambda *given, **named: _log(logger, _LEVELS[name], given, named)
    return None


def _log(logger: logging.Logger, level: int, given: tuple[Any, ...], named: dict[str, Any]) -> None:
    """``logger.log(level, message, *args)``: nothing at all where the level is off.

    Raises:
        StagingError: the record tells of more than the message and its place.
    """
    if not logger.isEnabledFor(level):
        return
    if named:
        raise StagingError(f"logs with `{next(iter(named))}`", "NP2TF539")
    caller = _caller()

    def handle(message: Any, *args: Any) -> None:
        record = logger.makeRecord(
            logger.name, level, caller.path, caller.line, message, args, None, caller.function
        )
        logger.handle(record)

    in_order(handle, given)


def _warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None) -> None:
    """``warnings.warn(message)``, of the line that calls it.

    Raises:
        StagingError: the warning is of another line.
    """
    if stacklevel != 1 or source is not None:
        raise StagingError("warns of a line outside of it", "NP2TF539")
    kind = category or (type(message) if isinstance(message, Warning) else UserWarning)
    caller = _caller()

    def warn(text: Any) -> None:
        registry = caller.names.setdefault("__warningregistry__", {})
        module = caller.names.get("__name__")
        warnings.warn_explicit(text, kind, caller.path, caller.line, module, registry)

    in_order(warn, (message,))


def _progress(bar: Any, iterable: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a progress bar is drawn around; the bar is drawn when the loop is over."""
    try:
        total = len(iterable)
    except TypeError:
        raise StagingError("draws a progress bar around what has no length", "NP2TF539") from None

    def draw(count: Any) -> None:
        for _ in bar(range(int(count)), *args, **kwargs):
            pass

    in_order(draw, (total,))
    return iterable


def in_order(effect: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Call `effect` with the values of `args` at every run, behind what has been put in order before.

    Raises:
        StagingError: the code is staged for XLA, which cannot call back, or an argument may change.
    """
    entered = current_region()
    assert entered is not None
    trace = entered.trace
    if trace.xla or trace.at_once or trace.output is None:
        raise StagingError("it has effects in an order, which only a graph can")
    output, captured = trace.output, Captured(args, depth=1)
    if captured.tensors:
        trace.shown.make_text()

    def add(count: np.ndarray, *known: np.ndarray) -> np.ndarray:
        values = captured.of([np.array(one) for one in known])
        output.add(lambda: lambda: effect(*values))
        return count + np.int32(1)

    done = tf.numpy_function(add, [trace.printed.value, *captured.tensors], tf.int32)
    trace.printed.write(tf.ensure_shape(done, ()))


def _caller() -> _Caller:
    """The user's code that is being traced."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    assert frame is not None
    code = frame.f_code
    name = _function_at(code.co_filename, frame.f_lineno, frame.f_globals) or code.co_name
    return _Caller(code.co_filename, frame.f_lineno, name, frame.f_globals)


def _function_at(path: str, line: int, names: dict[str, Any]) -> str | None:
    """The user's function around a line: a loop's helper has another name, and none in the source."""
    try:
        tree = ast.parse("".join(linecache.getlines(path, names)))
    except SyntaxError:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and node.lineno <= line <= (node.end_lineno or line)
    ]
    # Outer ones come first.
    return getattr(around[-1], "name", "<lambda>") if around else None


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
