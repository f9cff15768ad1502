"""`np2tf.jit`: compile a function over arrays; run it as Python where that is impossible or not worth it."""

from __future__ import annotations

import functools
import inspect
import threading
import time
import types
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import tensorflow as tf

from np2tf.config import config
from np2tf.counts import Fallback, counts
from np2tf.runtime.causes import code_of, first_line, place_of
from np2tf.runtime.compiled import Compiled, OutOfBounds
from np2tf.runtime.dependencies import Dependencies, current
from np2tf.runtime.explanation import Explanation
from np2tf.runtime.family import Family
from np2tf.runtime.host_function import HostFunction
from np2tf.runtime.prepared import Call
from np2tf.runtime.signature import Signature, share_memory, take_apart, take_dependencies
from np2tf.runtime.surroundings import compiles_at_once
from np2tf.runtime.twins import settle
from np2tf.runtime.unchanged import leaving_alone
from np2tf.runtime.values import bound
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.floating_errors import raises_floating_point_errors
from np2tf.tnp.ndarray import is_array
from np2tf.tnp.residence import has_tensor

TIERS = (None, "auto", "compile", "host")


#: Attributes of a jitted function that are made when they are first asked for.
_MADE_LATER: dict[str, Callable[[], Any]] = {"_families": dict, "_functions": list, "_lock": threading.RLock}


class UnjittedWarning(UserWarning):
    """A function that should be compiled runs as Python."""


class Jitted:
    """A function that `jit` has been applied to; call it as before.

    Attributes:
        trace_count: how often the function has been traced.
        tier: "auto", "compile" or "host", if this function does not follow `np2tf.config.tier`.
    """

    __wrapped__: Callable[..., Any]

    # What is the same for each to begin with stands here, for the same reason as `_wrap`.
    trace_count = 0
    _dependencies: Dependencies | None = None
    _warned = False

    def __init__(self, function: Callable[..., Any], tier: str | None = None) -> None:
        _wrap(self, function)
        self.tier = tier

    if TYPE_CHECKING:  # made by `__getattr__`
        _families: dict[Any, Family]
        _functions: list[Any]
        _lock: threading.RLock
    else:

        def __getattr__(self, name: str) -> Any:
            """What only calls need is made by the first: most functions of a module are never called."""
            if name not in _MADE_LATER:
                raise AttributeError(f"'Jitted' object has no attribute '{name}'")
            return self.__dict__.setdefault(name, _MADE_LATER[name]())

    @functools.cached_property
    def _alone(self) -> bool:
        function = self.__wrapped__
        return inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)

    @functools.cached_property
    def _host(self) -> HostFunction:
        return HostFunction(self.__wrapped__)

    def __reduce__(self) -> str:
        """Pickled by name, as functions are."""
        return self.__wrapped__.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled where that is possible and pays."""
        if self._alone or config.jit == "off" or current_region() is not None or not tf.executing_eagerly():
            return self._inline(args, kwargs)
        host = self._host
        if host.calls.depth:
            # A call within a call on the host stays there.
            return host.run_within(args, kwargs)
        tier = self.tier or config.tier
        if tier == "host" or raises_floating_point_errors():
            return self._left_on_host(None, args, kwargs)
        if tier == "auto" and host.is_short and not has_tensor(args) and not has_tensor(kwargs.values()):
            return host.run_timed(args, kwargs)
        try:
            call = self._prepare(args, kwargs)
        except StagingError as error:
            return self._unjitted(error, args, kwargs)
        family = self._family(call)
        if family.on_host:
            return self._left_on_host(family.fallback, args, kwargs)
        if not family.settled and family.wants_host and self._may_stay_on_host(call):
            return host.run_timed(args, kwargs, family.took_on_host)
        try:
            compiled, is_new = self._compiled(family, call)
        except Exception as error:
            return self._unjitted(error, args, kwargs, family)
        return self._run(compiled, is_new, family, call)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What becomes of a call with these arguments, and why; compiles it if need be, but does not run it.

        The result has a readable ``str``; ``to_dict()`` gives it as data.
        """
        code = self._code
        told = Explanation(self.__wrapped__.__qualname__, code.co_filename, code.co_firstlineno)
        if self._alone:
            told.decision = "host: generators and coroutines are left alone"
            return told
        family: Family | None = None
        try:
            call = self._prepare(args, kwargs)
            family = self._family(call)
            told.add_signature(call.signature)
            if family.fallback is None:
                told.add_code(self._compiled(family, call)[0], call.signature)
        except Exception as error:
            told.reason, told.code = first_line(error), code_of(error)
            told.path, told.line = place_of(error, self._code)
            told.decision = "host: cannot be compiled"
        if family is not None and not told.reason:
            if family.fallback is not None:
                told.reason, told.code = family.fallback.reason, family.fallback.code
                told.path, told.line = family.fallback.path, family.fallback.line
            told.decision = self._pinned() or family.decision
            told.host_seconds = family.best_host if family.host_calls else None
            told.compiled_seconds = family.best_compiled if family.warm_calls else None
        told.runs = "host" if told.decision.startswith("host") else told.runs
        told.traces = self.trace_count
        return told

    def lower(self, *args: Any, **kwargs: Any) -> Compiled:
        """The code for a call with these arguments, compiled if need be: `how`, `graph`, `hlo()`.

        Raises:
            StagingError: it cannot be compiled.
        """
        call = self._prepare(args, kwargs)
        return self._compiled(self._family(call), call)[0]

    # -- preparing -------------------------------------------------------------------------------------------

    def _prepare(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        while True:
            known = self._dependencies
            if known is None:
                known = self._dependencies = Dependencies(self.__wrapped__)
                self._functions = _functions(current(known.readers))
            values = current(known.readers)
            functions = _functions(values)
            if self._functions != functions:
                # A helper has been replaced: what the new one reads matters from now on.
                self._dependencies = None
                continue
            signature = Signature(None if known.any_attribute else known.names)
            signature.parts += functions
            signature.parts.append(config.bounds)
            take_dependencies(values, signature)
            signature.begin_arguments()
            take_apart((args, kwargs), signature)
            if not signature.classes <= known.classes:
                with self._lock:
                    known.follow_classes(signature.classes)
                    self._functions = _functions(current(known.readers))
                continue
            if known.hidden_setter:
                told = f"setting the attribute {known.hidden_setter} does more than that"
                raise StagingError(told, "NP2TF520")
            if share_memory(signature.arrays):
                raise StagingError("two arguments share memory", "NP2TF521")
            return Call(signature, args, kwargs, values)

    def _family(self, call: Call) -> Family:
        key = call.signature.key
        found = self._families.get(key)
        return found if found is not None else self._families.setdefault(key, Family())

    def _may_stay_on_host(self, call: Call) -> bool:
        if (self.tier or config.tier) == "compile" or config.eager == "tensorflow" or compiles_at_once():
            return False
        return not any(
            isinstance(a, tf.Tensor) or is_array(a) for a in call.signature.arrays
        )

    def _pinned(self) -> str:
        """What is chosen by a setting, in words."""
        tier = self.tier or config.tier
        if config.jit == "off" or tier == "host":
            return f"host: pinned by {'jit=off' if config.jit == 'off' else 'tier=host'}"
        return "compiled: pinned by tier=compile" if tier == "compile" else ""

    def _compiled(self, family: Family, call: Call) -> tuple[Compiled, bool]:
        signature = call.signature
        family.notice(signature)
        found = family.find(signature)
        if found is not None:
            return found, False
        with self._lock:
            found = family.find(signature)
            if found is not None:
                return found, False
            family.check_growth()
            self.trace_count += 1
            counts.traces += 1
            inputs = family.inputs()
            try:
                body, handled = call.body(self.__wrapped__), self._handles_exceptions
                with leaving_alone(self._dependencies.readers if self._dependencies is not None else []):
                    made = Compiled(body, signature.arrays, signature.numbers, inputs, handled)
            except StagingError:
                if not inputs:
                    raise
                family.pin(inputs, signature)
                return self._compiled(family, call)
            made.is_plain = call.is_plain
            family.compiled[family.key(signature, inputs)] = made
            return made, True

    @property
    def _handles_exceptions(self) -> bool:
        return self._dependencies is not None and self._dependencies.handles_exceptions

    # -- running ---------------------------------------------------------------------------------------------

    def _run(self, compiled: Compiled, is_new: bool, family: Family, call: Call) -> Any:
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
            # Nothing has been written back: the same call on the host raises NumPy's own error …
            if self._handles_exceptions:  # … or handles it
                if self._may_stay_on_host(call):
                    family.was_discarded()
                return self._host.run_timed(call.args, call.kwargs, family.took_on_host)
            return self._unjitted(error, call.args, call.kwargs)
        if not compiled.is_plain:
            result = settle(result, call.signature.holders)
        if compiled.is_warm and not family.settled and not is_new:
            family.took_compiled(time.perf_counter() - start)
        compiled.is_warm = True
        return result

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as Python: as a part of the graph that is being traced, if one is."""
        entered = current_region()
        if entered is None or self._alone:
            return bound(self.__wrapped__(*args, **kwargs))
        with entered.trace.calls.entering(self, entered):
            return bound(self.__wrapped__(*args, **kwargs))

    def _left_on_host(self, fallback: Fallback | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as Python what cannot be compiled (it is known why), or is faster on the host."""
        if fallback is not None:
            fallback.calls += 1
        return self._host.run(args, kwargs)

    def _unjitted(
        self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any], family: Family | None = None
    ) -> Any:
        """Run as Python after `error`; an exception of the user's code comes out as it would on NumPy."""
        if config.jit == "strict" and isinstance(error, StagingError):
            raise error
        result = self._host.run(args, kwargs)
        reason = first_line(error)
        if config.jit == "strict":
            raise StagingError(f"{self.__wrapped__.__qualname__} cannot be staged: {reason}") from error
        code = code_of(error)
        file, line = place_of(error, self._code)
        fallback = counts.fell_back(Fallback(self.__wrapped__.__qualname__, reason, code, file, line))
        if family is not None:
            family.on_host, family.fallback = True, fallback
        if not self._warned:
            self._warned = True
            warnings.warn_explicit(
                f"{code} {file}:{line}: {self.__wrapped__.__qualname__} runs unjitted: {reason}",
                UnjittedWarning,
                file,
                line,
            )
        return result

    @property
    def _code(self) -> types.CodeType:
        return self.__wrapped__.__code__  # type: ignore[attr-defined,no-any-return]


def _wrap(jitted: Jitted, function: Callable[..., Any]) -> None:
    """`functools.update_wrapper` in a third of the time: importing a module makes very many of them."""
    attributes = jitted.__dict__
    attributes.update(getattr(function, "__dict__", {}))
    for name in functools.WRAPPER_ASSIGNMENTS:
        try:
            attributes[name] = getattr(function, name)
        except AttributeError:
            continue  # of a callable that is no function
    attributes["__wrapped__"] = function


def _functions(values: list[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, (types.FunctionType, Jitted))]


@overload
def jit(function: Callable[..., Any], *, tier: str | None = None) -> Jitted: ...


@overload
def jit(function: None = None, *, tier: str | None = None) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(function: Callable[..., Any] | None = None, *, tier: str | None = None) -> Any:
    """Compile `function` with XLA (loops and elementwise work) and TensorFlow graphs (the rest).

    Arguments that are arrays of either kind become inputs, and so do the arrays that the function reads as
    globals or closure variables; arrays that it writes to are written to in the caller. Lists, dicts and
    objects of Python classes are taken apart, and what the function changes in them is changed in the
    caller's. Python numbers are constants of the compiled code until they are seen to vary. A function that
    cannot be staged with NumPy's meaning kept runs as Python, with one warning that tells file, line and
    reason; with ``NP2TF_JIT=strict`` it raises instead. Generators and coroutines are left alone.

    Args:
        function: the function; left out, `jit` is a decorator with settings: ``@np2tf.jit(tier="compile")``.
        tier: for this function instead of `np2tf.config.tier`: "auto" compiles what has taken enough time on
            the host and keeps the faster way, "compile" compiles at the first call, "host" never does.

    Raises:
        ValueError: there is no such tier.
        StagingError: (on a call) under ``NP2TF_JIT=strict`` only.
    """
    if tier not in TIERS:
        raise ValueError(f"tier must be one of auto, compile, host, not {tier!r}")
    if function is None:
        return functools.partial(jit, tier=tier)
    if isinstance(function, Jitted):
        return function
    return Jitted(function, tier)
