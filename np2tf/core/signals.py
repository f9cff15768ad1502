"""Handlers of signals that the program has set: what they raise is its way out of np2tf's own work."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # getsignal without making enumerations
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The signals for which programs set handlers of their own. Python's own handler of SIGINT raises
#: KeyboardInterrupt; a program's own handler of SIGINT counts as one of these.
SIGNALS = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)


def own_handlers() -> dict[int, Any]:
    """Return the handlers that the program has set for the usual signals."""
    return {
        number: handler
        for number in SIGNALS
        if callable(handler := _signal.getsignal(number)) and handler is not signal.default_int_handler
    }


def pass_on(error: BaseException) -> None:
    """Raise an error again if a handler of a signal has raised it, in the middle of np2tf's own work.

    It is no failure of that work, but the program's way out of it.
    """
    codes = [getattr(getattr(one, "func", one), "__code__", None) for one in own_handlers().values()]
    places = {(code.co_filename, code.co_firstlineno) for code in codes if code is not None}
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if (code.co_filename, code.co_firstlineno) in places:
            raise error
        traceback = traceback.tb_next


@contextmanager
def handlers_deferred() -> Iterator[None]:
    """Call the program's own handlers only after the block.

    An exception of a handler in the middle of an import would leave half a TensorFlow, which no later import
    completes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread
        return
    came: list[int] = []

    def record(number: int, frame: Any) -> None:
        came.append(number)

    own = own_handlers()
    try:
        for number in own:
            signal.signal(number, record)
        yield
    finally:
        for number, handler in own.items():
            if signal.getsignal(number) is record:
                signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)
