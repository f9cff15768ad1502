"""The compiler of a watched loop: it runs iterations of the loop as compiled code, or does nothing."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from typing import Any, NamedTuple

import tensorflow as tf

from np2tf.core.counts import Fallback
from np2tf.core.errors import LongCallError, TracingTimeError, XlaShapeError, class_of_code
from np2tf.core.faults import note_fault
from np2tf.core.signals import pass_on
from np2tf.staging.compile.compiler import Compilation, Compiler
from np2tf.staging.compile.concrete_function import ConcreteFunction, DiscardedCall
from np2tf.staging.compile.specializations import SpecializationCache
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.tiers.choice import lose
from np2tf.staging.tiers.comparison import Comparison


class Entry(NamedTuple):
    """The outcome of entering a loop as compiled code.

    Attributes:
        result: the result of the loop's function; None if the host must run the loop.
        timing: the comparison that needs the host's time for the run; None if none does.
    """

    result: Any = None
    timing: Comparison | None = None


class LoopCompiler(Compiler):
    """The compiler of a loop's function. It never runs the function on the host, where the loop itself
    runs.
    """

    _is_followed = False

    @classmethod
    def of(cls, jitted_function: JittedFunction) -> LoopCompiler:
        """Return the compiler of a function, which becomes a loop's function."""
        compiler = jitted_function.__dict__.get("_compiler")
        if not isinstance(compiler, cls):
            compiler = jitted_function.__dict__["_compiler"] = cls(jitted_function)
        return compiler

    def compile_ahead(
        self, args: tuple[Any, ...], changing_places: Collection[int], seconds: float | None
    ) -> Fallback | None:
        """Make code for a call in `seconds`, or in any time (None), without running it; return the reason if
        that is impossible, or, where time matters, gives code that is no faster.
        """
        try:
            with contextlib.nullcontext() if seconds is None else self._giving(seconds):
                function = self._code_for(args, {}, changing_places).function
            if seconds is not None and function.how == "graph":
                # TensorFlow runs the operations of a graph no faster than NumPy. XLA may compile what the
                # loop calls without the loop.
                kind = class_of_code(function.not_xla_code or XlaShapeError.code)
                raise kind(f"as a graph it is no faster than NumPy, and no XLA program: {function.not_xla}")
        except Exception as error:
            pass_on(error)
            return self._note_fallback(error)
        return None

    def compile_beside(
        self, args: tuple[Any, ...], changing_places: Collection[int], in_thread: bool
    ) -> ConcreteFunction | None:
        """Return the code for a call, or None if there is none.

        Args:
            in_thread: whether XLA may compile it in a thread, which begins now.
        """
        try:
            compilation = self._code_for(args, {}, changing_places)
            signature = compilation.call.signature
            if in_thread:
                compilation.function.compile_beside(signature.arrays, signature.numbers)
        except Exception as error:
            pass_on(error)
            self._note_fallback(error)
            return None
        return compilation.function

    def run_now(self, args: tuple[Any, ...], changing_places: Collection[int]) -> Any:
        """Run compiled code at once; return None, with nothing done, if there is none or the call is
        discarded.
        """
        try:
            compilation = self._code_for(args, {}, changing_places)
        except Exception as error:
            pass_on(error)
            self._note_fallback(error)
            return None
        return self._run_or_discard(compilation)

    def enter(self, args: tuple[Any, ...], changing_places: Collection[int]) -> Entry:
        """Run a whole loop as compiled code, if that is faster than the host, or if compiling it is due.

        The budget of functions decides, and both tiers are measured, as for a function that is called.
        """
        cache: SpecializationCache | None = None
        try:
            call = self._preparation.prepare(args, {}, changing_places)
            cache = self._cache_of(call)
            if cache.timing.on_host:
                if cache.fallback is None:
                    lose(cache.timing, self._budget)
                return Entry()
            if self._prefers_host(cache, call):
                return Entry(timing=cache.timing)
            compilation = self._compile(cache, call)
        except Exception as error:
            pass_on(error)
            fallback = self._note_fallback(error)
            if cache is not None and fallback.kind is not TracingTimeError:
                cache.timing.on_host, cache.fallback = True, fallback
            return Entry()
        result = self._run_or_discard(compilation)
        try:
            if result is None:
                compilation.cache.timing.note_discarded_call()
        except Exception as error:
            note_fault(error, self.code)
        return Entry(result)

    def note_host_run(self, timing: Comparison | None, seconds: float, own_seconds: float) -> None:
        """Record the time of a run on the host; `own_seconds` are without long calls of jitted functions."""
        self._host.note(seconds, own_seconds)
        if timing is not None:
            timing.add_host_time(seconds, own_seconds)

    def _run_or_discard(self, compilation: Compilation) -> Any:
        try:
            return self._execute(compilation, time.perf_counter())
        except Exception as error:
            if compilation.call.is_accepted:
                raise  # by the program itself, such as by a stream that it prints to
            if not isinstance(error, (DiscardedCall, LongCallError, tf.errors.OpError)):
                note_fault(error, self.code)
            return None
