"""The compiled code of a watched loop: it runs rounds of the loop, or does nothing."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, NamedTuple

import tensorflow as tf

from np2tf.counts import Fallback
from np2tf.runtime.compilation.compiling import Compiler
from np2tf.runtime.compilation.concrete_function import Discarded
from np2tf.runtime.compilation.prepared_call import Call
from np2tf.runtime.compilation.specializations import Family
from np2tf.runtime.jit.jitted import Jitted
from np2tf.staging import TracingTimeError


class Entry(NamedTuple):
    """The outcome of entering a loop as compiled code.

    Attributes:
        result: of the loop's function; None if the host has to run the loop.
        family: to be told how long that takes; None if it need not be.
    """

    result: Any = None
    family: Family | None = None


class LoopCompiler(Compiler):
    """The compiler of a loop's function, which never runs the function on the host: the loop itself does."""

    _is_followed = False

    def __init__(self, jitted: Jitted) -> None:
        super().__init__(jitted)
        # When the trace under way is given up, by `time.monotonic`; None leaves that to the budget.
        self._until: float | None = None

    @classmethod
    def of(cls, jitted: Jitted) -> LoopCompiler:
        """The compiler of a function, which becomes a loop's."""
        known = jitted.__dict__.get("_compiler")
        if not isinstance(known, cls):
            known = jitted.__dict__["_compiler"] = cls(jitted)
        return known

    def get_ready(self, args: tuple[Any, ...], changing: Collection[int], seconds: float) -> Fallback | None:
        """Make code for a call, and run nothing; why that cannot be, if it cannot.

        Args:
            args: of the call.
            changing: the places of arguments that are others in the next call, if they are numbers.
            seconds: that it may take.
        """
        self._until = time.monotonic() + seconds
        try:
            call = self._prepare(args, {}, changing)
            self._compile(self._family(call), call)
        except Exception as error:
            return self._note(error)
        finally:
            self._until = None
        return None

    def run_now(self, args: tuple[Any, ...], changing: Collection[int]) -> Any:
        """Run compiled code at once; None, and nothing done, if there is none or the call is discarded."""
        try:
            call = self._prepare(args, {}, changing)
            found = self._compile(self._family(call), call)
        except Exception as error:
            self._note(error)
            return None
        return self._run_or_discard(*found)

    def enter(self, args: tuple[Any, ...], changing: Collection[int]) -> Entry:
        """Run a whole loop as compiled code, where that is faster than the host, or compiling it is due.

        The budget of functions decides, and both ways are measured, as for a function that is called.

        Args:
            args: of the call.
            changing: the places of arguments that are others in the next call, if they are numbers.
        """
        family: Family | None = None
        try:
            call = self._prepare(args, {}, changing)
            family = self._family(call)
            if family.on_host:
                if family.fallback is None:
                    self._budget.slower.add(id(family))
                return Entry()
            if self._had_better_stay(family, call):
                return Entry(family=family)
            found = self._compile(family, call)
        except Exception as error:
            fallback = self._note(error)
            if family is not None and fallback.kind is not TracingTimeError:
                family.on_host, family.fallback = True, fallback
            return Entry()
        result = self._run_or_discard(*found)
        if result is None:
            found[2].was_discarded()
        return Entry(result)

    def ran_on_host(self, family: Family | None, seconds: float, own: float) -> None:
        """Note how long a run of the loop took on the host, and without long calls of jitted functions.

        Args:
            family: of the call that `enter` was given.
            seconds, own: that it took.
        """
        self._host.note(seconds, own)
        if family is not None:
            family.took_on_host(seconds, own)

    def _run_or_discard(self, compiled: Any, is_new: bool, family: Family, call: Call) -> Any:
        try:
            return self._accepted(compiled, is_new, family, call, time.perf_counter())
        except (Discarded, tf.errors.OpError):
            return None

    def _advice(self, call: Call) -> bool | None:
        return None

    @property
    def _deadline(self) -> float | None:
        return super()._deadline if self._until is None else self._until
