"""The compiler of a jitted function: finds or makes code, chooses between it and the host, handles errors,
explains.
"""

from __future__ import annotations

import contextlib
import threading
import time
import types
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.front.flags import current_mode, uses_numpy_rules
from np2tf.arrays.front.numpy_state import raises_floating_point_errors, warnings_are_errors
from np2tf.arrays.front.tensorflow_loading import first_compilation_contexts
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.counts import Fallback, UnjittedWarning, counts, tell_unjitted
from np2tf.core.errors import (
    ErrstateError,
    HiddenInputError,
    LongCallError,
    NotStagedError,
    PromotionError,
    StagingError,
    TooManyTracesError,
    TraceAgain,
    TracingTimeError,
    UnrollingError,
)
from np2tf.core.faults import CODE, note_fault
from np2tf.core.operators import check_bound
from np2tf.core.settings import config
from np2tf.core.signals import pass_on
from np2tf.staging.callees.callees import check_class
from np2tf.staging.callees.eager_callees import eager_version
from np2tf.staging.compile.concrete_function import ConcreteFunction, DiscardedCall, Task
from np2tf.staging.compile.open_arrays import OpenArrays
from np2tf.staging.compile.preparation import CallPreparation, PreparedCall
from np2tf.staging.compile.specializations import LengthsAreNeeded, SpecializationCache, SpecializationCaches
from np2tf.staging.compile.stored_traces import StoredTraces
from np2tf.staging.control.unknown_lengths import of_unknown_lengths
from np2tf.staging.host.jit import JittedFunction, Run
from np2tf.staging.host.watched_loops import leave_on_host
from np2tf.staging.objects.user_code import code_of, first_line, place_of
from np2tf.staging.random.streams import OutOfWords
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.budget import Budget
from np2tf.staging.tiers.call_context import compiles_at_once, has_tensor, is_recording, names_numpy
from np2tf.staging.tiers.choice import lose, note_compiled_call, note_host_call, prefers_host, stays_on_host
from np2tf.staging.tiers.comparison import Comparison
from np2tf.staging.tiers.history import digest_of_call, key_of
from np2tf.staging.tiers.host_streak import HostStreak
from np2tf.staging.trace.fixed_arrays import ArraysNeeded
from np2tf.staging.trace.signature import Signature
from np2tf.staging.trace.trace import trace_of
from np2tf.staging.values.carried_values import check_returned
from np2tf.staging.xla.stable_names import stable_names

# -- explanation ---------------------------------------------------------------------------------------------
# `f.explain(*args)`: explains how a jitted function runs a call, as text and as data.


@dataclass
class Explanation:
    """The explanation of one call, made without running it.

    Attributes:
        function, path, line: the function, and its place.
        runs: "xla" (one XLA program), "graph" (TensorFlow's kernels; loops may be compiled) or "host".
        decision: the reason why it runs there.
        code, reason: the reason why it cannot be compiled, if it cannot; `np2tf explain CODE` tells the
            remedy.
        not_xla, not_xla_code: the reason why it is not one XLA program, if it is a graph, and the code of the
            reason, if it has one.
        arrays: the dtype and shape of every array that is an input.
        fixed, inputs: the numbers that are constants of the code, and the numbers that are inputs.
        ops: the number of ops in the graph, including the ops in loops and branches.
        loops: for each staged loop "xla" or "graph".
        host_seconds, compiled_seconds: the seconds of the best call on each tier, if known.
        traces: the number of traces of the function so far.
    """

    function: str
    path: str
    line: int
    runs: str = "host"
    decision: str = ""
    code: str = ""
    reason: str = ""
    not_xla: str = ""
    not_xla_code: str = ""
    arrays: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    ops: int = 0
    loops: list[str] = field(default_factory=list)
    host_seconds: float | None = None
    compiled_seconds: float | None = None
    traces: int = 0

    def add_signature(self, signature: Signature) -> None:
        """Add the arrays and numbers of the call."""
        self.arrays = [_array_text(array) for array in signature.arrays]
        self.fixed = [repr(number) for number in signature.numbers]

    def add_code(self, concrete_function: ConcreteFunction, signature: Signature) -> None:
        """Add the properties of the call's compiled code."""
        self.runs = concrete_function.how
        self.not_xla, self.not_xla_code = concrete_function.not_xla, concrete_function.not_xla_code
        self.ops = concrete_function.op_count
        self.loops = list(concrete_function.loops)
        numbers = list(enumerate(signature.numbers))
        self.fixed = [repr(number) for k, number in numbers if k not in concrete_function.inputs]
        self.inputs = [repr(number) for k, number in numbers if k in concrete_function.inputs]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.function} ({self.path}:{self.line}) runs on: {self.runs}"]
        if self.decision:
            lines.append(f"  decision: {self.decision}")
        if self.reason:
            lines.append(f"  not compiled: {self.code} {self.reason}")
        if self.not_xla:
            lines.append("  not one XLA program: " + f"{self.not_xla_code} {self.not_xla}".lstrip())
        for name, texts in (
            ("arrays", self.arrays),
            ("constants", self.fixed),
            ("number inputs", self.inputs),
        ):
            if texts:
                lines.append(f"  {name}: {', '.join(texts)}")
        if self.ops:
            lines.append(f"  graph: {self.ops} ops, compiled loops: {', '.join(self.loops) or 'none'}")
        for name, seconds in (("host", self.host_seconds), ("compiled", self.compiled_seconds)):
            if seconds is not None:
                lines.append(f"  best call, {name}: {seconds * 1000:.3g} ms")
        lines.append(f"  traces so far: {self.traces}")
        return "\n".join(lines)


def _array_text(array: Any) -> str:
    dtype = array.dtype.name if isinstance(array.dtype, tf.DType) else np.dtype(array.dtype).name
    return f"{dtype}[{', '.join(map(str, array.shape))}]"


# -- compiled code -------------------------------------------------------------------------------------------
# The compiled code of a jitted function: which calls share code, and the making of code for a call.

_Result = TypeVar("_Result")


class Compilation(NamedTuple):
    """The code for a call, whether it is new, its cache, and the call as it is prepared for the code."""

    function: ConcreteFunction
    is_new: bool
    cache: SpecializationCache
    call: PreparedCall


class Compiler:
    """The compiled code of a jitted function, and the choice between it and the host.

    This module needs TensorFlow. It is loaded when the first compilation is due, or a tensor is among the
    arguments.

    Attributes:
        name: the name of the function in messages.
    """

    #: True if the function's prospect follows earlier processes, and records what compiling has gained.
    _is_followed = True

    def __init__(self, jitted_function: JittedFunction) -> None:
        self._jitted = jitted_function
        self._function = jitted_function.__wrapped__
        self.name = self._function.__qualname__
        #: The function to trace: the translation, if the function turns out to be plain NumPy code.
        self._body_function = self._function
        self._host = jitted_function._host
        self._caches = SpecializationCaches(self._host)
        self._checked_classes: set[type] = set()
        self._budget = Budget(self._host)
        # The time, by `time.monotonic`, at which the present trace is given up; None leaves that to the
        # budget.
        self._until: float | None = None
        self._lock = threading.RLock()
        self._preparation = CallPreparation(self._function, self._lock)
        # The messages and places of the errors about loops that would become very large graphs.
        self._large_loops: list[tuple[str, tuple[str, int]]] = []
        # The promotion modes for which the warning was given that the function runs unjitted.
        self._warned_modes: set[str] = set()
        self._streak = HostStreak()

    @property
    def caches(self) -> dict[Any, SpecializationCache]:
        """The specialization caches, by the key of the calls' signature."""
        return self._caches.caches

    @property
    def compile_seconds(self) -> float:
        """The seconds of traces, and of XLA's compilations in first calls."""
        return self._budget.seconds

    @property
    def expected_seconds(self) -> float:
        """The expected seconds of compiling the function once more."""
        return self._budget.expected_seconds

    @property
    def gain(self) -> float:
        """The seconds that compiled calls have saved; negative if the host was faster."""
        return self._budget.gain

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
        """Return the code for a call with these arguments, compiled if needed, or raise StagingError."""
        function, _, cache, call = self._code_for(args, kwargs)
        # A stored trace has no graph that can be looked at.
        return self._retrace(function, cache, call) if function.is_loaded else function

    def _code_for(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], changing_places: Collection[int] = ()
    ) -> Compilation:
        """Return the code for a call; numbers in `changing_places` differ in the next call."""
        call = self._preparation.prepare(args, kwargs, changing_places)
        return self._compile(self._cache_of(call), call)

    def _cache_of(self, call: PreparedCall) -> SpecializationCache:
        return self._caches.of(call, may_be_open=not self._keeps_rules)

    def _compile(self, cache: SpecializationCache, call: PreparedCall) -> Compilation:
        """Return the code for a call.

        The call is prepared again if the trace finds a function with unknown dependencies, or a list that is
        read.
        """
        while True:
            try:
                return Compilation(*self._find_or_compile(cache, call), cache, call)
            except LengthsAreNeeded as error:
                self._caches.refuse_lengths(call)
                if self._deadline is not None:
                    # Calls with this length alone may not be worth compiling.
                    raise TracingTimeError("the lengths of arrays are needed") from error
                call = self._preparation.prepare(call.args, call.kwargs, call.changing_places)
                cache = self._cache_of(call)
            except ArraysNeeded as discovery:
                cache.fix(discovery.places)
            except TraceAgain as discovery:
                self._preparation.learn(discovery)
                call = self._preparation.prepare(call.args, call.kwargs, call.changing_places)
                cache = self._cache_of(call)

    def trace_apart(self, args: tuple[Any, ...], trace: Callable[[PreparedCall, Any], _Result]) -> _Result:
        """Return what `trace` makes of a prepared call, apart from the compiled code that calls use.

        The call is prepared again if the trace finds a function with unknown dependencies, or a list that is
        read.

        Raises:
            StagingError: if the call cannot be prepared or traced.
        """
        while True:
            call = self._preparation.prepare(args, {})
            self._check_classes(call)
            try:
                with self._preparation.guard_captures(call):
                    return trace(call, self._body_function)
            except TraceAgain as discovery:
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
            stored = self._stored_traces(cache, call)
            inputs = cache.inputs()
            loaded = self._load(stored, cache, call, inputs)
            if loaded is not None:
                return loaded, True
            self._check_classes(call)
            try:
                function = self._trace(stored, cache, call, inputs)
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
                if not self._may_trace_again:
                    if self._until is not None:
                        raise
                    raise TracingTimeError("it has to be traced again") from error
                return self._find_or_compile(cache, call)
            cache.functions[cache.key(signature, inputs)] = function
            return function, True

    def _task(self, cache: SpecializationCache, call: PreparedCall, inputs: tuple[int, ...]) -> Task:
        """Return what to trace for a call."""
        signature = call.signature
        bounds = cache.bounds(inputs, signature)
        return Task(
            numbers=list(signature.numbers),
            inputs=inputs,
            fixed=frozenset(cache.fixed),
            bounds=bounds,
            open_arrays=OpenArrays(
                call.open_pattern, len(signature.numbers), bounds, signature.ragged_places
            ),
            handles=self.handles_exceptions,
            generators=signature.generators,
            deadline=self._deadline,
            may_run_on_host=not self._keeps_rules,
        )

    def _trace(
        self,
        stored: StoredTraces | None,
        cache: SpecializationCache,
        call: PreparedCall,
        inputs: tuple[int, ...],
    ) -> ConcreteFunction:
        """Return the code of a new trace, which is stored for the next process."""
        signature = call.signature
        counts.traces += 1
        task = self._task(cache, call, inputs)
        body = call.body(self._body_function, bool(task.bounds or signature.ragged_places))
        shapes = [(str(array.dtype), tuple(array.shape)) for array in signature.arrays]
        names: tuple[Any, ...] = key_of(self.code), cache.digest, shapes, signature.number_key, inputs
        key = None if stored is None else stored.key_of(cache.key(signature, inputs))
        if key is not None:
            names = (key,)
        with (
            self._preparation.guard_captures(call),
            self._budget.count_trace(),
            stable_names(*names, is_wanted=key is not None) as is_first,
        ):
            function = ConcreteFunction(body, signature.arrays, task)
            cache.check_inputs(inputs, function)
        if call.open_pattern and function.loops and function.how != "xla":
            # With static lengths XLA compiles the loops.
            raise LengthsAreNeeded
        if stored is not None and key is not None and is_first:
            stored.store(key, function, cache)
        return function

    def _stored_traces(self, cache: SpecializationCache, call: PreparedCall) -> StoredTraces | None:
        """Return the stored traces of calls like this; None if this call's trace is not stored."""
        if self._body_function is not self._function or is_recording():
            return None
        return StoredTraces.of(self.code, call, cache)

    def _load(
        self,
        stored: StoredTraces | None,
        cache: SpecializationCache,
        call: PreparedCall,
        inputs: tuple[int, ...],
    ) -> ConcreteFunction | None:
        """Return the code of a stored trace, which the cache then has; None if there is none."""
        if stored is None or (key := stored.key_of(cache.key(call.signature, inputs))) is None:
            return None
        function = stored.load(key, self._task(cache, call, inputs))
        if function is not None:
            self._budget.count_loaded()
            cache.functions[cache.key(call.signature, inputs)] = function
        return function

    @property
    def _may_trace_again(self) -> bool:
        """True if there is time for another trace. Of a given time, traces that fail may take a part."""
        if self._until is not None:
            return self._until - time.monotonic() > (1.0 - constants.SHARE_OF_FAILURES) * self._given
        return self._deadline is None or self._budget.is_open

    def _translate_body(self) -> bool:
        """Let traces begin with the function's translation, and return whether that changes anything.

        Plain NumPy code makes arrays on the host while it is traced (`np.eye(3)`), which no graph may read.
        """
        before, self._body_function = self._body_function, eager_version(self._body_function)
        return self._body_function is not before

    def _check_reuse(self) -> None:
        """Refuse to compile a function whose code is hardly ever used again, or again and again too large."""
        if len(self._large_loops) >= constants.MOST_LARGE_LOOPS:
            raise UnrollingError(*self._large_loops[-1])
        function = self._jitted
        traces, calls = function.trace_count, function.compiled_count + function.graph_count
        if traces >= constants.TRACES_A_FUNCTION and calls < constants.CALLS_PER_TRACE * traces:
            raise TooManyTracesError.of()

    def _keep_decision(self, cache: SpecializationCache, call: PreparedCall) -> None:
        """Let the function's prospect record the outcome of compiling these calls."""
        cache.digest = digest_of_call(call.args, call.kwargs)
        cache.timing.assumed_host = self._host.average
        if self._tier == "auto" and self._jitted.promotion is None and self._is_followed:
            reference = weakref.ref(self)
            self._host.prospect.follow(
                self._budget, lambda: () if (owner := reference()) is None else [*owner.caches.values()]
            )

    @contextlib.contextmanager
    def _giving(self, seconds: float) -> Iterator[None]:
        """Give traces this time, whatever the budget says."""
        self._until, self._given = time.monotonic() + seconds, seconds
        try:
            yield
        finally:
            self._until = None

    @property
    def _deadline(self) -> float | None:
        """The time at which tracing is given up; None if the host is no alternative."""
        if self._until is not None:
            return self._until
        return None if self._tier == "compile" or self._keeps_rules else self._budget.deadline

    # -- the choice ------------------------------------------------------------------------------------------

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
        if (host.is_short or self._streak.unchecked > 0) and self._may_run_on_host(args, kwargs):
            return self._jitted._run_timed if host.is_short else self._run_unexamined
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
        """Run on the host without preparing the call, because calls had to run there often enough."""
        host, usual = self._host, self._host.average
        self._streak.unchecked -= 1

        def note_unusual_call() -> None:
            if host.latest > constants.UNUSUAL * usual:
                self._streak.end()

        return self.run_on_host(self._streak.reason, args, kwargs, note_unusual_call)

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
        timing = cache.timing
        is_possible = cache.fallback is None
        if stays_on_host(timing, self._budget) if is_possible else timing.on_host:
            xla_only = all(function.how == "xla" for function in cache.functions.values())
            if is_possible and lose(timing, self._budget) and xla_only:
                leave_on_host(self.code.co_name, self.code.co_filename)
            self._streak.note(cache.fallback)
            return partial(self.run_on_host, cache.fallback)
        if self._prefers_host(cache, call):
            return partial(self._run_for_comparison, timing)
        self._streak.end()
        try:
            compilation = self._compile(cache, call)
        except Exception as error:
            pass_on(error)
            return partial(self.run_unjitted, error, cache=cache)
        if compilation.is_new and self._compiles_beside(compilation):
            return partial(self._run_for_comparison, timing)
        start = time.perf_counter() if compilation.is_new else start
        return lambda args, kwargs: self._run(compilation, start)

    def _compiles_beside(self, compilation: Compilation) -> bool:
        """Return whether XLA makes new code in a thread while the host runs calls."""
        if not self._may_run_prepared_on_host(compilation.call):
            return False
        signature = compilation.call.signature
        return compilation.function.compile_beside(signature.arrays, signature.numbers)

    def _prefers_host(self, cache: SpecializationCache, call: PreparedCall) -> bool:
        """Return whether a call that could be compiled runs on the host for now."""
        code, advice = cache.find(call.signature), None
        has_code = code is not None
        if code is not None and code.is_compiling:
            return self._may_run_prepared_on_host(call)
        if self._is_followed and not has_code:
            advice = self._host.prospect.advice(call.args, call.kwargs)
        was_traced = self._jitted.trace_count > 0
        wants_host = prefers_host(cache.timing, self._budget, has_code, advice, was_traced)
        return wants_host and self._may_run_prepared_on_host(call)

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
                limits_time = self._deadline is not None
                with self._giving(constants.PATIENCE_OF_USERS) if limits_time else contextlib.nullcontext():
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
            timing = cache.timing
            explanation.host_seconds = timing.best_host if timing.host_calls else None
            explanation.compiled_seconds = timing.best_compiled if timing.warm_calls else None
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
            if cache.timing.on_host or not cache.functions
        ]
        return list(dict.fromkeys(reasons))

    def _may_run_prepared_on_host(self, call: PreparedCall) -> bool:
        """Like `_may_run_on_host`, for a prepared call."""
        if not self._may_run_on_host((), {}):
            return False
        return not any(isinstance(a, tf.Tensor) or is_array(a) for a in call.signature.arrays)

    # -- running ---------------------------------------------------------------------------------------------

    def _run(self, compilation: Compilation, start: float) -> Any:
        """Run the code; `start` is the time when the call began, because a compiled call includes taking
        arguments apart.
        """
        result, failure = self._execute_or_fail(compilation, start)
        if failure is None:
            return result
        cache, call = compilation.cache, compilation.call
        if isinstance(failure, LongCallError):
            return self.run_unjitted(failure, call.args, call.kwargs)
        # Nothing has been written back: the same call on the host raises NumPy's own error …
        if not isinstance(failure, (DiscardedCall, tf.errors.OpError)):
            return self.run_unjitted(failure, call.args, call.kwargs, cache)
        if self.handles_exceptions and uses_numpy_rules():  # … or handles it
            if self._may_run_prepared_on_host(call):
                cache.timing.note_discarded_call()
            return self._run_for_comparison(cache.timing, call.args, call.kwargs)
        return self.run_unjitted(failure, call.args, call.kwargs)

    def _execute_or_fail(self, compilation: Compilation, start: float) -> tuple[Any, Exception | None]:
        """Run the code, and return its result and None, or the reason why the host must run the call.

        The exception is returned so that the call on the host is no part of its handling: an exception of the
        program has none of np2tf's as its context.
        """
        try:
            return self._execute(compilation, start), None
        except Exception as error:
            if compilation.call.is_accepted:
                raise  # by the program itself, such as by a stream that it prints to
            pass_on(error)
            return None, error

    def _run_for_comparison(self, timing: Comparison, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run on the host a call that could be compiled, and record its time."""
        host = self._host
        return host.run_timed(args, kwargs, lambda: note_host_call(timing, host.latest, host.latest_own))

    def _execute(self, compilation: Compilation, start: float) -> Any:
        """Run the code without falling back to the host.

        Raises:
            Exception: DiscardedCall or LongCallError if the host must run the call, or any fault; nothing has
                been written back. Once the call has been accepted, exceptions are those of the program, which
                its effects raise.
        """
        concrete_function, is_new, cache, call = compilation
        signature = call.signature
        values = signature.arrays, signature.numbers, signature.generators, signature.holders.of_arguments
        inputs = *values, call.accept
        if concrete_function.hides_gradients and is_recording():
            concrete_function = self._retrace(concrete_function, cache, call, gradients=True)
        try:
            result = _first_call(concrete_function, inputs) if is_new else concrete_function(*inputs)
        except (tf.errors.OpError, DiscardedCall, OutOfWords) as error:
            choice = _other_choice(error, concrete_function, is_new)
            if not choice:
                raise
            concrete_function = self._retrace(concrete_function, cache, call, **choice)
            result = concrete_function(*inputs)
        try:
            self._note_compiled_call(concrete_function, is_new, cache.timing, time.perf_counter() - start)
        except Exception as error:
            note_fault(error, self.code)
        return result

    def _retrace(
        self,
        concrete_function: ConcreteFunction,
        cache: SpecializationCache,
        call: PreparedCall,
        **choice: bool,
    ) -> ConcreteFunction:
        """Return the code of another trace, which replaces the code in the cache."""
        with self._lock:
            current = cache.find(call.signature)
            if current is not None and current is not concrete_function:
                return current  # another thread has traced it
            with self._preparation.guard_captures(call):
                body = call.body(self._body_function, concrete_function.is_bounded)
                new = concrete_function.retrace(body, call.signature.arrays, **choice)
            cache.replace(concrete_function, new)
            return new

    def _note_compiled_call(
        self, concrete_function: ConcreteFunction, is_new: bool, timing: Comparison, seconds: float
    ) -> None:
        compiling = concrete_function.compile_seconds
        note_compiled_call(timing, self._budget, seconds, compiling, concrete_function.is_warm, is_new)
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
            if trace.surroundings.has_unknown_lengths:
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
        try:
            result = self._host.run_timed(args, kwargs)
        except BaseException:
            if isinstance(error, LongCallError):  # such a call often ends so, and the reason is still of use
                self._note_fallback(error)
            raise
        if strict:
            raise NotStagedError(f"{self.name} cannot be compiled: {first_line(error)}") from error
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
        self._streak.note(fallback)
        if isinstance(error, StagingError) and not error.is_momentary:
            self._host.prospect.refuse(args, kwargs, fallback)
        if cache is not None and fallback.kind is not TracingTimeError:
            cache.timing.on_host, cache.fallback = True, fallback
        # Under NumPy's rules, a callee that must run on the host is no reason for a warning.
        is_quiet = fallback.kind.is_quiet and uses_numpy_rules()
        if current_mode() not in self._warned_modes and not is_quiet:
            self._warned_modes.add(current_mode())
            more = "" if uses_numpy_rules() else "; NumPy's promotion rules apply to its NumPy arrays"
            tell_unjitted(fallback, more)

    def _note_fallback(self, error: Exception) -> Fallback:
        """Count that a call cannot be compiled, with the reason."""
        try:
            file, line = place_of(error, self.code)
            fallback = Fallback(self.name, first_line(error), code_of(error), file, line)
            return counts.fell_back(fallback)
        except Exception as fault:
            note_fault(fault, self.code)
            return Fallback(self.name, "internal error", CODE)


def _other_choice(error: Exception, concrete_function: ConcreteFunction, is_new: bool) -> dict[str, bool]:
    """Return the choice for another trace, whose code runs a call that has failed; empty if none does."""
    if isinstance(error, OutOfWords):
        return {"buffers": False}
    if isinstance(error, DiscardedCall):
        return {"assumes": False} if concrete_function.has_assumed else {}
    # XLA refuses some graphs only when it compiles them, at the first call.
    return {"xla": False} if is_new and concrete_function.how == "xla" else {}


def _first_call(concrete_function: ConcreteFunction, inputs: Sequence[Any]) -> Any:
    """Call new code. XLA may compile it now, for the first time in this process."""
    if not first_compilation_contexts or "xla" not in (concrete_function.how, *concrete_function.loops):
        return concrete_function(*inputs)
    with contextlib.ExitStack() as stack:
        while first_compilation_contexts:
            stack.enter_context(first_compilation_contexts.pop()())
        return concrete_function(*inputs)
