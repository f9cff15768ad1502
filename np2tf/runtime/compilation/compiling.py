"""The choice between the compiled code of a jitted function and the host, and the handling of errors.

This module needs TensorFlow. It is loaded when the first compilation is due, or a tensor is among the
arguments.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tensorflow as tf

from np2tf.config import config
from np2tf.counts import Fallback, counts
from np2tf.faults import CODE, note_fault, pass_on
from np2tf.operators.undefined import check_bound
from np2tf.runtime.compilation.compiled_code import CompiledCode
from np2tf.runtime.compilation.concrete_function import Body, ConcreteFunction, DiscardedCall
from np2tf.runtime.compilation.explanation import Explanation
from np2tf.runtime.compilation.prepared_call import PreparedCall
from np2tf.runtime.compilation.specializations import SpecializationCache
from np2tf.runtime.environment.call_context import compiles_at_once, has_tensor, is_recording
from np2tf.runtime.environment.unjitted_warning import UnjittedWarning, tell
from np2tf.runtime.host.host_function import ENOUGH_CALLS, WORTH_COMPILING
from np2tf.runtime.introspection.array_search import names_numpy
from np2tf.runtime.introspection.error_causes import code_of, first_line, place_of
from np2tf.runtime.jit.jitted_function import JittedFunction, Run
from np2tf.runtime.random.call_streams import OutOfWords
from np2tf.runtime.replacement.replacement import replace_loops
from np2tf.runtime.replacement.watched_loop import leave_on_host
from np2tf.runtime.staged_operators.unknown_lengths import of_unknown_lengths
from np2tf.runtime.structures.carried_values import check_returned
from np2tf.runtime.tracing.trace import trace_of
from np2tf.staging import (
    ErrstateError,
    LongCallError,
    NotStagedError,
    PromotionError,
    StagingError,
    TracingTimeError,
)
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._front.own_import import first_compilation_contexts
from np2tf.tnp._front.promotion_mode import current_mode, uses_numpy_rules
from np2tf.tnp._tensor.storage import current_scope
from np2tf.tnp._warnings.errstate import raises_floating_point_errors, warnings_are_errors

#: After ASKED_AT_LEAST calls in a row that had to run on the host, the next calls run there without a check,
#: twice as many each time, up to the power TRUSTED_AT_MOST of 2. A call that takes UNUSUAL times the usual
#: time ends that.
ASKED_AT_LEAST, TRUSTED_AT_MOST, UNUSUAL = ENOUGH_CALLS, 10, 4.0
#: The calls of a cache must have taken this fraction (one in so many) of the expected cost of compiling.
SHARED_BY = 4


class Compiler(CompiledCode):
    """The compiled code of a jitted function, and the choice between it and the host.

    Attributes:
        name: the name of the function in messages.
    """

    def __init__(self, jitted_function: JittedFunction) -> None:
        super().__init__(jitted_function)
        self.name = self._function.__qualname__
        # The promotion modes for which the warning was given that the function runs unjitted.
        self._warned_modes: set[str] = set()
        # The number of calls in a row that had to run on the host, the reason of the latest, and the number
        # of calls that will run there without a check.
        self._in_a_row = self._unchecked_calls = 0
        self._latest: Fallback | None = None

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function, compiled if that is possible and pays."""
        return self.choose(args, kwargs)(args, kwargs)

    def choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Return the function that runs a call: compiled if that is possible and pays."""
        if current_scope() is not None or not tf.executing_eagerly():
            return self._inline
        host = self._host
        if config.jit == "off" or host.calls.depth:
            # A call inside a call on the host stays on the host.
            return host.run_within
        if self._tier == "host" or (warnings_are_errors() and uses_numpy_rules()):
            return partial(self.run_on_host, None)
        if raises_floating_point_errors():
            if not uses_numpy_rules():
                return partial(self.run_unjitted, ErrstateError.of())
            return partial(self.run_on_host, None)
        if (host.is_short or self._unchecked_calls > 0) and self._may_run_on_host(args, kwargs):
            return self._run_unexamined
        if not self._jitted.trace_count and self._may_run_on_host(args, kwargs):
            advice = host.prospect.advice(args, kwargs)
            if not (self._budget.is_open if advice is None else advice):
                # Nothing is compiled, and nothing will be compiled by this call.
                return host.run_timed
        return self._examine(args, kwargs)

    def _may_run_on_host(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether nothing forbids running a call on the host."""
        if self._tier == "compile" or config.eager == "tensorflow" or compiles_at_once():
            return False
        if not uses_numpy_rules():
            return False
        return not has_tensor(args) and not has_tensor(kwargs.values())

    def _run_unexamined(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run on the host without preparing the call, because calls are short or had to run there often
        enough.
        """
        host = self._host
        if host.is_short:

            def note_short_calls() -> None:
                if host.is_short:
                    self._jitted.bypass_compiler()

            return host.run_timed(args, kwargs, note_short_calls)
        usual = host.average
        self._unchecked_calls -= 1

        def note_unusual_call() -> None:
            if host.latest > UNUSUAL * usual:
                self._in_a_row = self._unchecked_calls = 0

        return self.run_on_host(self._latest, args, kwargs, note_unusual_call)

    def _examine(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Return the function that runs a call, for which code is made if that is due."""
        start = time.perf_counter()
        try:
            call = self._preparation.prepare(args, kwargs)
        except Exception as error:  # also of the program's code, such as a property of an argument
            pass_on(error)
            return partial(self.run_unjitted, error)
        if not call.signature.arrays and not names_numpy(call.captured_values):
            # The arguments are numbers, strings and lists, so this is no function over arrays.
            return partial(self.run_on_host, None)
        cache = self._cache_of(call)
        if cache.on_host and cache.is_due_on_host(self._host.own_seconds):
            cache.reconsider()
            self._budget.slower.discard(cache)
        if cache.on_host:
            if cache.fallback is None and cache not in self._budget.slower:
                self._budget.slower.add(cache)
                if all(function.how == "xla" for function in cache.functions.values()):
                    leave_on_host(self.code.co_name, self.code.co_filename)
            self._note_host_preference(cache.fallback)
            return partial(self.run_on_host, cache.fallback)
        if self._prefers_host(cache, call):
            return partial(self._run_for_comparison, cache)
        self._in_a_row = self._unchecked_calls = 0
        try:
            concrete_function, is_new, cache, call = self._compile(cache, call)
        except Exception as error:
            pass_on(error)
            return partial(self.run_unjitted, error, cache=cache)
        start = time.perf_counter() if is_new else start
        return lambda args, kwargs: self._run(concrete_function, is_new, cache, call, start)

    def _prefers_host(self, cache: SpecializationCache, call: PreparedCall) -> bool:
        """Return whether a call that could be compiled runs on the host for now."""
        if cache.find(call.signature) is not None:
            wants_host = cache.wants_host
        elif (advice := self._advice(call)) is not None:
            wants_host = not advice
        elif self._jitted.trace_count:
            worth = max(WORTH_COMPILING, self._budget.expected_seconds / SHARED_BY)
            wants_host = cache.own_seconds < worth or not self._budget.is_open
        else:
            # Only a trace shows which attributes of objects matter. Before it, caches are too small if
            # attributes that the function does not read change from call to call.
            wants_host = self._host.own_seconds < WORTH_COMPILING or not self._budget.is_open
        return wants_host and self._may_run_prepared_on_host(call)

    def _advice(self, call: PreparedCall) -> bool | None:
        """Return whether an earlier process found that such a call should be compiled; None if it did not."""
        return self._host.prospect.advice(call.args, call.kwargs)

    def _note_host_preference(self, why: Fallback | None) -> None:
        self._latest = why
        self._in_a_row += 1
        if self._in_a_row >= ASKED_AT_LEAST:
            self._unchecked_calls = 2 ** min(self._in_a_row - ASKED_AT_LEAST, TRUSTED_AT_MOST)

    def explain(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
        """Explain a call with these arguments; compile it if needed."""
        code = self.code
        explanation = Explanation(self.name, code.co_filename, code.co_firstlineno)
        if self._jitted._is_suspendable:
            explanation.decision = "host: generators and coroutines are left alone"
            return explanation
        cache: SpecializationCache | None = None
        try:
            call = self._preparation.prepare(args, kwargs)
            cache = self._cache_of(call)
            explanation.add_signature(call.signature)
            if cache.fallback is None:
                concrete_function, _, cache, call = self._compile(cache, call)
                explanation.add_code(concrete_function, call.signature)
        except Exception as error:
            explanation.reason, explanation.code = first_line(error), code_of(error)
            explanation.path, explanation.line = place_of(error, code)
            explanation.decision = "host: cannot be compiled"
        if cache is not None and not explanation.reason:
            if cache.fallback is not None:
                explanation.reason, explanation.code = cache.fallback.reason, cache.fallback.code
                explanation.path, explanation.line = cache.fallback.path, cache.fallback.line
            explanation.decision = self._pinned_decision() or cache.decision
            explanation.host_seconds = cache.best_host if cache.host_calls else None
            explanation.compiled_seconds = cache.best_compiled if cache.warm_calls else None
        explanation.runs = "host" if explanation.decision.startswith("host") else explanation.runs
        explanation.traces = self._jitted.trace_count
        return explanation

    def _pinned_decision(self) -> str:
        """Return the choice that a setting makes, in words; empty if no setting does."""
        if config.jit == "off" or self._tier == "host":
            return f"host: pinned by {'jit=off' if config.jit == 'off' else 'tier=host'}"
        return "compiled: pinned by tier=compile" if self._tier == "compile" else ""

    @property
    def reasons(self) -> list[str]:
        """The reasons why calls have run on the host, each reason once."""
        reasons = [
            f"{cache.fallback.code} {cache.fallback.reason}" if cache.fallback else cache.decision
            for cache in self.caches.values()
            if cache.on_host or not cache.functions
        ]
        return list(dict.fromkeys(reasons))

    def _may_run_prepared_on_host(self, call: PreparedCall) -> bool:
        """Return the same for a call whose arguments have been taken apart."""
        if not self._may_run_on_host((), {}):
            return False
        return not any(isinstance(a, tf.Tensor) or is_array(a) for a in call.signature.arrays)

    # -- running ---------------------------------------------------------------------------------------------

    def _run(
        self,
        concrete_function: ConcreteFunction,
        is_new: bool,
        cache: SpecializationCache,
        call: PreparedCall,
        start: float,
    ) -> Any:
        """Run the code; `start` is the time when the call began, because a compiled call includes taking
        arguments apart.
        """
        result, failure = self._execute_or_fail(concrete_function, is_new, cache, call, start)
        if failure is None:
            return result
        if isinstance(failure, LongCallError):
            with replace_loops():
                return self.run_unjitted(failure, call.args, call.kwargs)
        # Nothing has been written back: the same call on the host raises NumPy's own error …
        if not isinstance(failure, (DiscardedCall, tf.errors.OpError)):
            return self.run_unjitted(failure, call.args, call.kwargs, cache)
        if self.handles_exceptions and uses_numpy_rules():  # … or handles it
            if self._may_run_prepared_on_host(call):
                cache.note_discarded_call()
            return self._run_for_comparison(cache, call.args, call.kwargs)
        return self.run_unjitted(failure, call.args, call.kwargs)

    def _execute_or_fail(
        self,
        concrete_function: ConcreteFunction,
        is_new: bool,
        cache: SpecializationCache,
        call: PreparedCall,
        start: float,
    ) -> tuple[Any, Exception | None]:
        """Run the code, and return its result and None, or the reason why the host must run the call.

        The exception is returned so that the call on the host is no part of its handling: an exception of the
        program has none of np2tf's as its context.
        """
        try:
            return self._execute(concrete_function, is_new, cache, call, start), None
        except Exception as error:
            if call.is_accepted:
                raise  # by the program itself, such as by a stream that it prints to
            pass_on(error)
            return None, error

    def _run_for_comparison(
        self, cache: SpecializationCache, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run on the host a call that could be compiled, and record its time."""
        host = self._host
        return host.run_timed(args, kwargs, lambda: cache.add_host_time(host.latest, host.latest_own))

    def _execute(
        self,
        concrete_function: ConcreteFunction,
        is_new: bool,
        cache: SpecializationCache,
        call: PreparedCall,
        start: float,
    ) -> Any:
        """Run the code without falling back to the host.

        Raises:
            Exception: DiscardedCall or LongCallError if the host must run the call, or any fault; nothing has
                been written back. Once the call has been accepted, exceptions are those of the program, which
                its effects raise.
        """
        arrays = call.signature.arrays
        inputs = (
            arrays,
            call.signature.numbers,
            call.signature.generators,
            call.signature.holders,
            call.accept,
        )

        def retrace(trace: Callable[[ConcreteFunction, Body, Sequence[Any]], None]) -> ConcreteFunction:
            # Other threads may be running the code: it does not change, but is replaced.
            with self._lock:
                current = cache.find(call.signature)
                if current is not None and current is not concrete_function:
                    return current
                new = concrete_function.copy()
                with self._preparation.guard_captures(call):
                    trace(new, call.body(self._body_function, new.is_bounded), arrays)
                cache.replace(concrete_function, new)
                return new

        if concrete_function.hides_gradients and is_recording():
            concrete_function = retrace(ConcreteFunction.retrace_for_gradients)
        try:
            result = _first_call(concrete_function, inputs) if is_new else concrete_function(*inputs)
        except tf.errors.OpError:
            if concrete_function.how != "xla" or not is_new:
                raise
            # XLA refuses some graphs only when it compiles them, at the first call.
            concrete_function = retrace(ConcreteFunction.retrace_as_graph)
            result = concrete_function(*inputs)
        except DiscardedCall:
            if not concrete_function.has_assumed:
                raise
            concrete_function = retrace(ConcreteFunction.retrace_without_assumptions)
            result = concrete_function(*inputs)
        except OutOfWords:
            concrete_function = retrace(ConcreteFunction.retrace_without_buffers)
            result = concrete_function(*inputs)
        try:
            self._note_compiled_call(concrete_function, is_new, cache, time.perf_counter() - start)
        except Exception as error:
            note_fault(error, self.code)
        return result

    def _note_compiled_call(
        self, concrete_function: ConcreteFunction, is_new: bool, cache: SpecializationCache, seconds: float
    ) -> None:
        if not concrete_function.is_warm:
            # XLA compiles at the first call.
            self._budget.note_compiling(seconds)
        else:
            self._budget.note_gain(seconds, cache.usual_host)
            if not cache.is_settled and not is_new:
                cache.add_compiled_time(seconds)
        cache.count_compiled_call(seconds, concrete_function.is_warm)
        concrete_function.is_warm = True
        if concrete_function.how == "xla":
            self._jitted.compiled_count += 1
        else:
            self._jitted.graph_count += 1

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as Python, as a part of the graph that is being traced, if a graph is."""
        scope = current_scope()
        if scope is None:
            return check_bound(of_unknown_lengths(self._function)(*args, **kwargs))
        self._jitted.inline_count += 1
        trace = trace_of(scope)
        with trace.calls.enter(self._jitted, scope):
            function = self._function
            if trace.unknown_lengths:
                function = of_unknown_lengths(function)
            return check_returned(check_bound(function(*args, **kwargs)))

    def run_on_host(
        self,
        fallback: Fallback | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        note: Callable[[], None] | None = None,
    ) -> Any:
        """Run on the host a call that cannot be compiled, for a known reason, or is faster there."""
        if fallback is not None:
            fallback.calls += 1
        return self._host.run_timed(args, kwargs, note)

    def run_unjitted(
        self,
        error: Exception,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        cache: SpecializationCache | None = None,
    ) -> Any:
        """Run on the host after `error`. An exception of the user's code is raised as NumPy would raise
        it.
        """
        strict = config.jit == "strict" or self._keeps_rules
        if isinstance(error, PromotionError) or (strict and isinstance(error, StagingError)):
            raise error
        result = self._host.run_timed(args, kwargs)
        if strict:
            raise NotStagedError(f"{self.name} cannot be staged: {first_line(error)}") from error
        try:
            self._note_unjitted_call(error, args, kwargs, cache)
        except UnjittedWarning:
            raise  # a filter of the program's says so
        except Exception as fault:
            note_fault(fault, self.code)
        return result

    def _note_unjitted_call(
        self,
        error: Exception,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        cache: SpecializationCache | None,
    ) -> None:
        fallback = self._note_fallback(error)
        self._note_host_preference(fallback)
        if isinstance(error, StagingError) and not error.is_momentary:
            self._host.prospect.refuse(args, kwargs, fallback)
        if cache is not None and fallback.kind is not TracingTimeError:
            cache.on_host, cache.fallback = True, fallback
            self._host.is_refused = True
        # Under NumPy's rules, a callee that must run on the host is no reason for a warning.
        is_quiet = fallback.kind.is_quiet and uses_numpy_rules()
        if current_mode() not in self._warned_modes and not is_quiet:
            self._warned_modes.add(current_mode())
            more = "" if uses_numpy_rules() else "; its arrays on the host are promoted by NumPy's rules"
            tell(fallback, more)

    def _note_fallback(self, error: Exception) -> Fallback:
        """Count that a call cannot be compiled, with the reason."""
        try:
            file, line = place_of(error, self.code)
            fallback = Fallback(self.name, first_line(error), code_of(error), file, line)
            return counts.fell_back(fallback)
        except Exception as fault:
            note_fault(fault, self.code)
            return Fallback(self.name, "internal error", CODE)


def _first_call(concrete_function: ConcreteFunction, inputs: Sequence[Any]) -> Any:
    """Call new code. XLA may compile it now, for the first time in this process."""
    if not first_compilation_contexts or "xla" not in (concrete_function.how, *concrete_function.loops):
        return concrete_function(*inputs)
    with contextlib.ExitStack() as stack:
        while first_compilation_contexts:
            stack.enter_context(first_compilation_contexts.pop()())
        return concrete_function(*inputs)
