"""Effects that keep their order: print, log records, warnings, progress bars, appends."""

from __future__ import annotations

import builtins
import logging
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import scalar
from np2tf.arrays.front.residency import PLAIN
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import CalleeError, TextNeededError, TraceAgain
from np2tf.staging.objects.user_code import callers, warn
from np2tf.staging.values.output import AppendEffect, PrintEffect, put_in_order
from np2tf.staging.values.text import CapturedValues

# -- printing ------------------------------------------------------------------------------------------------
# `np2tf.print`: the builtin; in a graph, a call back to the host, where NumPy makes the text.


def print(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Do ``print(*values)`` at every run, in NumPy's format.

    The output of a compiled call appears when the call is over, because the call may be discarded until then
    and be repeated on the host.

    Args:
        *values: any objects; arrays and numbers may be staged.
        sep, end, flush: as for the builtin.
        file: `sys.stdout`, `sys.stderr` or None; any stream outside of staged code.

    Raises:
        StagingError: if a staged print goes to another stream than `sys.stdout` and `sys.stderr`.

    See https://docs.python.org/3/library/functions.html#print and
    https://www.tensorflow.org/api_docs/python/tf/print.
    """
    scope = current_scope()
    if scope is None and tf.executing_eagerly():
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    stream = _stream(file)
    separator, last = " " if sep is None else sep, "\n" if end is None else end
    captures = CapturedValues(values, depth=1)

    def line(values: Sequence[np.ndarray]) -> str:
        return separator.join(map(str, captures.of(values))) + last

    if scope is None:  # a foreign tf.function
        _call_host(lambda *values: PrintEffect(line(values), stream, flush).show(), captures.tensors)
        return
    put_in_order(scope.trace, captures, lambda values: PrintEffect(line(values), stream, flush).show)


def _stream(file: Any) -> str:
    """Return the name of the stream in `sys`."""
    if file is None or (file is sys.stdout and file is not sys.stderr):
        return "stdout"
    if file is sys.stderr and file is not sys.stdout:
        return "stderr"
    raise TextNeededError("compiled code prints to a file of its own")


def _call_host(call: Callable[..., None], tensors: list[tf.Tensor]) -> None:
    def run(*values: np.ndarray) -> np.ndarray:
        call(*values)
        return np.zeros((), np.int32)

    tf.numpy_function(run, tensors, tf.int32)


# -- ordered effects -----------------------------------------------------------------------------------------
# Effects of staged code that keep their order: log records, warnings, progress bars, and prints.
#
# A graph calls back to the host, which collects the effects until the call is accepted. The host repeats a
# discarded call, with its effects.

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
        raise CalleeError("calls warnings.warn with `source` or a stacklevel below 1")
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
        raise CalleeError("draws a progress bar around something without a length") from None

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


# -- appends -------------------------------------------------------------------------------------------------
# Lists that staged code only appends to. Each `append` is an effect, which happens when the call is
# accepted.
#
# So neither the length nor the items of such a list matter: the code is the same for every length.


class ListIsRead(TraceAgain):
    """Raised if a list that code seemed only to append to is read, or gets a mutable item. The trace begins
    again.

    Attributes:
        attribute: the name under which the code has the list.
    """

    def __init__(self, attribute: str) -> None:
        super().__init__(f"the list `{attribute}` is read")
        self.attribute = attribute


class AppendedList:
    """Stands for a list of the caller's while a function is traced.

    Args:
        place: the list's index among the lists, dicts and objects of the call.
        attribute: the name under which the code has the list.
    """

    __slots__ = ("_attribute", "_place")

    def __init__(self, place: int, attribute: str) -> None:
        self._place, self._attribute = place, attribute

    def append(self, item: Any) -> None:
        """Append a number, a string, or a tuple of these to the list at every run.

        Raises:
            ListIsRead: if the item is an array, list or object, which may change later.
            StagingError: if the effects of this code cannot be collected.
        """
        if not _is_immutable(item):
            _refuse_use(self)
        captures = CapturedValues((item,))
        scope = current_scope()
        assert scope is not None

        def make(values: Sequence[np.ndarray]) -> AppendEffect:
            return AppendEffect(self._place, captures.of([np.array(value) for value in values])[0])

        put_in_order(scope.trace, captures, make, is_text=False)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse_use(self)


def _refuse_use(self: AppendedList, *args: Any) -> NoReturn:
    raise ListIsRead(self._attribute)


_READS = (
    "len bool iter getitem setitem delitem contains reversed add radd iadd mul rmul imul "
    "eq ne lt le gt ge repr str format array copy deepcopy reduce_ex reduce"
)
for _name in _READS.split():
    setattr(AppendedList, f"__{_name}__", _refuse_use)


def _is_immutable(item: Any) -> bool:
    if isinstance(item, tuple):
        return type(item) is tuple and all(map(_is_immutable, item))
    return type(item) is scalar or type(item) in PLAIN or isinstance(item, np.generic)
