"""The compiled code of a jitted function: which calls share code, and the making of code for a call."""

from __future__ import annotations

import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from np2tf.config import config
from np2tf.counts import counts
from np2tf.runtime.callees.callees import NewCallee, check_class
from np2tf.runtime.callees.eager_callees import eager_version
from np2tf.runtime.compilation.budget import Budget
from np2tf.runtime.compilation.call_preparation import CallPreparation
from np2tf.runtime.compilation.concrete_function import ConcreteFunction
from np2tf.runtime.compilation.open_lengths import LengthsAreNeeded
from np2tf.runtime.compilation.prepared_call import PreparedCall
from np2tf.runtime.compilation.specialization_caches import SpecializationCaches
from np2tf.runtime.compilation.specializations import SpecializationCache
from np2tf.runtime.decisions.decisions import key_of
from np2tf.runtime.decisions.digests import digest_of_call
from np2tf.runtime.effects.appends import ListIsRead
from np2tf.runtime.introspection.error_causes import place_of
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.runtime.xla.stable_names import stable_names
from np2tf.staging import (
    HiddenInputError,
    StagingError,
    TooManyTracesError,
    TracingTimeError,
    UnrollingError,
)

#: A function with this many traces and fewer than this many calls per trace is not compiled any more.
MOST_TRACES, CALLS_PER_TRACE = 48, 2
#: After so many traces that were given up because a loop would become a very large graph, no more are begun.
MOST_LARGE_LOOPS = 2
_Result = TypeVar("_Result")


class CompiledCode:
    """The compiled code of a jitted function."""

    #: True if the function's prospect records for the next process what compiling has gained.
    _is_followed = True

    def __init__(self, jitted_function: JittedFunction) -> None:
        self._jitted = jitted_function
        self._function = jitted_function.__wrapped__
        #: The function to trace: the translation, if the function turns out to be plain NumPy code.
        self._body_function = self._function
        self._host = jitted_function._host
        self._caches = SpecializationCaches(self._host)
        self._checked_classes: set[type] = set()
        self._budget = Budget(self._host)
        self._lock = threading.RLock()
        self._preparation = CallPreparation(self._function, self._lock)
        # The messages and places of the errors about loops that would become very large graphs.
        self._large_loops: list[tuple[str, tuple[str, int]]] = []

    @property
    def caches(self) -> dict[Any, SpecializationCache]:
        """The specialization caches, by the key of the calls' signature."""
        return self._caches.caches

    @property
    def _tier(self) -> str:
        return self._jitted.tier or config.tier

    @property
    def code(self) -> types.CodeType:
        """The code of the function."""
        return self._function.__code__  # type: ignore[attr-defined,no-any-return]

    @property
    def _keeps_rules(self) -> bool:
        """True if the function must not run on the host, because its own promotion rules are not NumPy's."""
        return self._jitted.promotion not in (None, "numpy")

    def lower(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ConcreteFunction:
        """Return the code for a call with these arguments, compiled if needed.

        Raises:
            StagingError: if the call cannot be compiled.
        """
        call = self._preparation.prepare(args, kwargs)
        return self._compile(self._cache_of(call), call)[0]

    def _cache_of(self, call: PreparedCall) -> SpecializationCache:
        return self._caches.of(call, may_be_open=not self._keeps_rules)

    def _compile(
        self, cache: SpecializationCache, call: PreparedCall
    ) -> tuple[ConcreteFunction, bool, SpecializationCache, PreparedCall]:
        """Return the code for a call, whether it is new, its cache, and the call.

        The call is prepared again if the trace finds a function with unknown dependencies, or a list that is
        read.
        """
        while True:
            try:
                return *self._find_or_compile(cache, call), cache, call
            except LengthsAreNeeded as error:
                self._caches.refuse_lengths(call)
                if self._deadline is not None:
                    # Calls with this length alone may not be worth compiling.
                    raise TracingTimeError("the lengths of arrays are needed") from error
                call = self._preparation.prepare(call.args, call.kwargs, call.changing_places)
                cache = self._cache_of(call)
            except (NewCallee, ListIsRead) as discovery:
                self._preparation.learn(discovery)
                call = self._preparation.prepare(call.args, call.kwargs, call.changing_places)
                cache = self._cache_of(call)

    def trace_apart(self, args: tuple[Any, ...], trace: Callable[[PreparedCall, Any], _Result]) -> _Result:
        """Return what `trace` makes of a prepared call, apart from the compiled code that calls use.

        The call is prepared again if the trace finds a function with unknown dependencies, or a list that is
        read.

        Args:
            args: the arguments of the call.
            trace: makes something of the prepared call and the function to trace.

        Raises:
            StagingError: if the call cannot be prepared or traced.
        """
        while True:
            call = self._preparation.prepare(args, {})
            self._check_classes(call)
            try:
                with self._preparation.guard_captures(call):
                    return trace(call, self._body_function)
            except (NewCallee, ListIsRead) as discovery:
                self._preparation.learn(discovery)

    def _check_classes(self, call: PreparedCall) -> None:
        for kind in call.signature.classes - self._checked_classes:
            check_class(kind, self._preparation.names)
            self._checked_classes.add(kind)

    @property
    def handles_exceptions(self) -> bool:
        """True if the function or a callee handles exceptions."""
        return self._preparation.handles_exceptions

    def _find_or_compile(
        self, cache: SpecializationCache, call: PreparedCall
    ) -> tuple[ConcreteFunction, bool]:
        signature = call.signature
        cache.notice(signature)
        match = cache.find(signature)
        if match is not None:
            return match, False
        with self._lock:
            match = cache.find(signature)
            if match is not None:
                return match, False
            cache.check_growth()
            self._check_reuse()
            self._keep_decision(cache, call)
            self._jitted.trace_count += 1
            counts.traces += 1
            inputs = cache.inputs()
            self._check_classes(call)
            try:
                bounds = cache.bounds(inputs, signature)
                has_open_lengths = bool(bounds or signature.ragged_places)
                body, has_handlers = call.body(self._body_function, has_open_lengths), self.handles_exceptions
                shapes = [(str(array.dtype), tuple(array.shape)) for array in signature.arrays]
                names = stable_names(key_of(self.code), cache.digest, shapes, signature.number_key, inputs)
                with self._preparation.guard_captures(call), self._budget.count_trace(), names:
                    arguments = body, signature.arrays, signature.numbers, inputs, has_handlers
                    function = ConcreteFunction(
                        *(*arguments, signature.generators, self._deadline, bounds, call.open_pattern),
                        signature.ragged_places,
                    )
                    cache.check_inputs(inputs, function)
                if call.open_pattern and function.loops and function.how != "xla":
                    # With static lengths XLA compiles the loops.
                    raise LengthsAreNeeded
            except StagingError as error:
                if isinstance(error, HiddenInputError) and self._translate_body():
                    return self._find_or_compile(cache, call)
                if isinstance(error, UnrollingError):
                    self._large_loops.append((error.reason, place_of(error, self.code)))
                if call.open_pattern and not isinstance(error, TracingTimeError):
                    raise LengthsAreNeeded from error
                if not inputs or error.is_certain:
                    raise
                if isinstance(error, TracingTimeError) or not cache.bound_integers(inputs, signature):
                    cache.pin(inputs, signature)
                self._budget.forgive()
                if self._deadline is not None and not self._budget.is_open:
                    raise TracingTimeError("it has to be traced again") from error
                return self._find_or_compile(cache, call)
            function.is_plain = call.is_plain
            function.may_run_on_host = not self._keeps_rules
            cache.functions[cache.key(signature, inputs)] = function
            return function, True

    def _translate_body(self) -> bool:
        """Let traces begin with the function's translation, and return whether that changes anything.

        Plain NumPy code makes arrays on the host while it is traced (`np.eye(3)`), which no graph may read.
        """
        before, self._body_function = self._body_function, eager_version(self._body_function)
        return self._body_function is not before

    def _check_reuse(self) -> None:
        """Refuse to compile a function whose code is hardly ever used again, or again and again too large.

        Raises:
            StagingError: if there have been too many traces, or too many of them too large.
        """
        if len(self._large_loops) >= MOST_LARGE_LOOPS:
            raise UnrollingError(*self._large_loops[-1])
        function = self._jitted
        traces, calls = function.trace_count, function.compiled_count + function.graph_count
        if traces >= MOST_TRACES and calls < CALLS_PER_TRACE * traces:
            raise TooManyTracesError.of()

    def _keep_decision(self, cache: SpecializationCache, call: PreparedCall) -> None:
        """Let the function's prospect record the outcome of compiling these calls."""
        cache.digest = digest_of_call(call.args, call.kwargs)
        cache.assumed_host = self._host.average
        if self._tier == "auto" and self._jitted.promotion is None and self._is_followed:
            reference = weakref.ref(self)
            self._host.prospect.follow(
                self._budget, lambda: () if (owner := reference()) is None else [*owner.caches.values()]
            )

    @property
    def _deadline(self) -> float | None:
        """The time at which tracing is given up; None if the host is no alternative."""
        return None if self._tier == "compile" or self._keeps_rules else self._budget.deadline
