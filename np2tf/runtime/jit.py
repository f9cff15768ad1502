"""`np2tf.jit`: compile a function over arrays; run it as Python where that is impossible or not worth it."""

from __future__ import annotations

import functools
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from np2tf.config import config
from np2tf.counts import counts
from np2tf.runtime.compiled import Compiled, OutOfBounds
from np2tf.runtime.containers import Frozen, Unchanged
from np2tf.runtime.dependencies import Reader, bind_again, current, readers
from np2tf.runtime.signature import Rebuild, Signature, share_memory, take_apart, take_dependencies
from np2tf.runtime.values import bound
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.ndarray import is_array
from np2tf.tnp.residence import has_tensor

#: Seconds a signature must have spent on the host before it is worth compiling (tier "auto").
WORTH_COMPILING = 0.05
#: A function whose calls take less than this many seconds on the host, on average over so many calls, is
#: left there without further ado: taking its arguments apart would cost more than compiling could bring.
TOO_SHORT, ENOUGH_CALLS = 3e-4, 20
#: After so many traces that differ in numbers only, the numbers become inputs.
STATIC_TRACES = 3
#: A function that keeps needing new code is not compiled any more.
MAX_TRACES = 16


class UnjittedWarning(UserWarning):
    """A function that should be compiled runs as Python."""


@dataclass
class _Family:
    """All calls that differ in numbers only."""

    compiled: dict[Any, Compiled] = field(default_factory=dict)
    host_seconds: float = 0.0
    best_host: float = float("inf")
    best_compiled: float = float("inf")
    warm_calls: int = 0
    static_only: bool = False
    on_host: str | None = None

    @property
    def settled(self) -> bool:
        """Whether both ways have been measured."""
        return self.warm_calls >= 3

    def times(self, seconds: float) -> None:
        """Note how long a warm compiled call took; give up compiling where the host has been faster."""
        self.warm_calls += 1
        self.best_compiled = min(self.best_compiled, seconds)
        if self.warm_calls == 3 and self.best_compiled > self.best_host:
            self.on_host = "the host is faster"


@dataclass
class _Call:
    """One call, prepared."""

    signature: Signature
    key: Any
    rebuild: Rebuild

    def body(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(arrays: Any, numbers: Any) -> Any:
            args, kwargs = self.rebuild(arrays, numbers)
            unchanged = Unchanged((args, kwargs))
            result = function(*args, **kwargs)
            unchanged.check()
            return result

        return run


class Jitted:
    """A function that `jit` has been applied to; call it as before.

    Attributes:
        trace_count: how often the function has been traced.
    """

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.trace_count = 0
        self._families: dict[Any, _Family] = {}
        self._readers: list[Reader] | None = None
        self._functions: list[Any] | None = None
        self._lock = threading.RLock()
        self._warned = False
        self._host_calls = 0
        self._host_average = 0.0

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled where that is possible and pays."""
        if config.jit == "off" or current_region() is not None or not tf.executing_eagerly():
            return bound(self.__wrapped__(*args, **kwargs))
        if self._is_short() and not has_tensor(args) and not has_tensor(kwargs.values()):
            return self._timed(args, kwargs)
        try:
            call = self._prepare(args, kwargs)
        except StagingError as error:
            return self._unjitted(error, args, kwargs)
        family = self._families.setdefault(call.key, _Family())
        if family.on_host is not None:
            counts.host += 1
            return bound(self.__wrapped__(*args, **kwargs))
        if self._stays_on_host(family, call):
            return self._timed_on_host(family, args, kwargs)
        try:
            compiled, is_new = self._compiled(family, call)
        except Exception as error:
            return self._unjitted(error, args, kwargs, family)
        return self._run(compiled, is_new, family, call, args, kwargs)

    # -- preparing -------------------------------------------------------------------------------------------

    def _prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Call:
        found = self._readers
        if found is None:
            found = self._readers = readers(self.__wrapped__)
        signature = Signature()
        values = current(found)
        functions = [value for value in values if isinstance(value, (types.FunctionType, Jitted))]
        if self._functions != functions:
            # A helper has been replaced: what the new one reads matters from now on.
            first, self._functions, self._readers = self._functions is None, functions, None
            if not first:
                return self._prepare(args, kwargs)
            self._readers = found
        signature.parts.append(("functions", *functions))
        take_dependencies(values, signature)
        rebuild = take_apart((args, kwargs), signature)
        if share_memory(signature.arrays):
            raise StagingError("two arguments share memory", "NP2TF521")
        return _Call(signature, signature.key, rebuild)

    def _stays_on_host(self, family: _Family, call: _Call) -> bool:
        if config.tier == "compile" or family.compiled or config.eager == "tensorflow":
            return False
        if any(isinstance(a, tf.Tensor) or (is_array(a) and a._host is None) for a in call.signature.arrays):
            return False
        return family.host_seconds < WORTH_COMPILING

    def _compiled(self, family: _Family, call: _Call) -> tuple[Compiled, bool]:
        numbers = call.signature.numbers
        dynamic = len(family.compiled) >= STATIC_TRACES and bool(numbers) and not family.static_only
        key = ("dynamic",) if dynamic else call.signature.number_key
        found = family.compiled.get(key)
        if found is not None:
            return found, False
        with self._lock:
            if len(family.compiled) >= MAX_TRACES:
                raise StagingError("the function needs new code for nearly every call", "NP2TF522")
            self.trace_count += 1
            body = call.body(self.__wrapped__)
            try:
                with self._leaving_alone_what_it_reads():
                    made = Compiled(body, call.signature.arrays, numbers, dynamic)
            except StagingError:
                if not dynamic:
                    raise
                family.static_only = True
                return self._compiled(family, call)
            family.compiled[key] = made
            return made, True

    @contextmanager
    def _leaving_alone_what_it_reads(self) -> Iterator[None]:
        """Undo and refuse what a trace does to globals and closures: it would not be done at every call."""
        before = current(self._readers or [])
        frozen = Frozen(before)
        changed = False
        try:
            yield
        finally:
            changed = frozen.restore()
            changed = bind_again(self._readers or [], before) or changed
        if changed:
            message = "a global or closure variable is changed as no graph can change it"
            raise StagingError(message, "NP2TF507")

    # -- running ---------------------------------------------------------------------------------------------

    def _run(
        self,
        compiled: Compiled,
        is_new: bool,
        family: _Family,
        call: _Call,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        arrays, numbers = call.signature.arrays, call.signature.numbers
        start = time.perf_counter()
        try:
            try:
                result = compiled(arrays, numbers)
            except tf.errors.OpError:
                if compiled.how != "xla" or not is_new:
                    raise
                # XLA refuses some graphs only when it compiles them, at the first call.
                compiled.retrace_as_graph(call.body(self.__wrapped__), arrays)
                result = compiled(arrays, numbers)
        except (OutOfBounds, tf.errors.OpError) as error:
            # Nothing has been written back: the same call on the host raises NumPy's own error.
            return self._unjitted(error, args, kwargs)
        if not is_new and not family.settled:
            family.times(time.perf_counter() - start)
        return result

    def _is_short(self) -> bool:
        return (
            self._host_calls >= ENOUGH_CALLS
            and self._host_average < TOO_SHORT
            and config.tier == "auto"
            and config.eager == "auto"
        )

    def _timed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run on the host, and keep a running average of the time that takes."""
        counts.host += 1
        start = time.perf_counter()
        result = bound(self.__wrapped__(*args, **kwargs))
        seconds = time.perf_counter() - start
        self._host_calls += 1
        self._host_average += (seconds - self._host_average) / min(self._host_calls, ENOUGH_CALLS)
        return result

    def _timed_on_host(self, family: _Family, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        start = time.perf_counter()
        result = self._timed(args, kwargs)
        seconds = time.perf_counter() - start
        family.host_seconds += seconds
        family.best_host = min(family.best_host, seconds)
        return result

    def _unjitted(
        self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any], family: _Family | None = None
    ) -> Any:
        """Run as Python after `error`; an exception of the user's code comes out as it would on NumPy."""
        if config.jit == "strict" and isinstance(error, StagingError):
            raise error
        counts.host += 1
        result = bound(self.__wrapped__(*args, **kwargs))
        reason = str(error) or type(error).__name__
        if config.jit == "strict":
            raise StagingError(f"{self.__wrapped__.__qualname__} cannot be staged: {reason}") from error
        if family is not None:
            family.on_host = reason
        counts.fallbacks.append(f"{self.__wrapped__.__qualname__}: {reason}")
        if not self._warned:
            self._warned = True
            code = getattr(error, "code", "NP2TF501")
            file, line = self._place(error)
            warnings.warn(
                f"{code} {file}:{line}: {self.__wrapped__.__qualname__} runs unjitted: {reason}",
                UnjittedWarning,
                4,
            )
        return result

    def _place(self, error: Exception) -> tuple[str, int]:
        """File and line of the user's code at which `error` came up."""
        code = self.__wrapped__.__code__  # type: ignore[attr-defined]
        line, traceback = code.co_firstlineno, error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == code.co_filename:
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        return code.co_filename, line


def jit(function: Callable[..., Any]) -> Jitted:
    """Compile `function` with XLA (loops and elementwise work) and TensorFlow graphs (the rest).

    Arguments that are arrays of either kind become inputs, and so do the arrays that the function reads as
    globals or closure variables; arrays that it writes to are written to in the caller. Python numbers are
    constants of the compiled code until they are seen to vary. A function that cannot be staged with NumPy's
    meaning kept runs as Python, with one warning that tells file, line and reason; with ``NP2TF_JIT=strict``
    it raises instead.

    Raises:
        StagingError: (on a call) under ``NP2TF_JIT=strict`` only.
    """
    if isinstance(function, Jitted):
        return function
    return Jitted(function)
