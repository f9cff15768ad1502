"""What a compiled call prints, and its other effects on the host: kept until it is accepted.

A discarded call is repeated on the host.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Printed:
    """One print: its text, the name of the stream in `sys`, and whether to flush it."""

    text: str
    stream: str
    flush: bool

    def show(self) -> None:
        """Print."""
        builtins.print(self.text, end="", file=getattr(sys, self.stream), flush=self.flush)


@dataclass
class Output:
    """The effects of one compiled function; its graph hands them over, from threads of TensorFlow."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parts: list[Callable[[], None]] = field(default_factory=list)
    _context: Context = field(default_factory=Context)

    def collect(self, run: Callable[[], Any]) -> tuple[Any, list[Callable[[], None]]]:
        """What `run()` returns, and the effects that are to be had."""
        with self._lock:
            self._parts = []
            self._context = copy_context()  # np.printoptions of the caller
            return run(), self._parts

    def add(self, make: Callable[[], Callable[[], None]]) -> None:
        """Take one effect; it is made in the context of the call."""
        self._parts.append(self._context.copy().run(make))
