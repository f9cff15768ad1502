"""np2tf.jit: runs a function on the host or hands it to the compiler; also for methods, partials and other
callables.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from np2tf.arrays.front.flags import fast_flags, promotion_scope, transform_depth, uses_numpy_rules
from np2tf.arrays.front.numpy_functions import by_identity
from np2tf.arrays.front.residency import without_tensors
from np2tf.core import late
from np2tf.core.counts import UnjittedWarning as UnjittedWarning
from np2tf.core.counts import counts
from np2tf.core.errors import NotStagedError
from np2tf.core.faults import note_fault
from np2tf.core.late import installation
from np2tf.core.operators import check_bound
from np2tf.core.settings import check, config
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.process import freed_memory as freed_memory  # which keeps the memory of freed arrays
from np2tf.staging.process import tensorflow_patches as tensorflow_patches  # which keep AutoGraph off
from np2tf.staging.process.boundary import across, has_raw, raw
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import (
    code_names_numpy,
    has_tensor,
    holds_array,
    is_on_host,
    load,
    tensorflow,
    tier,
)
from np2tf.staging.tiers.clock import import_cost
from np2tf.staging.tiers.history import decisions
from np2tf.staging.tiers.indexed_text import indexes_text
from np2tf.staging.tiers.outlook import is_in_candidate, pays

if TYPE_CHECKING:
    from np2tf.staging.compile.compiler import Compiler, Explanation


# -- callables -----------------------------------------------------------------------------------------------
# `np2tf.jit` of callables that are no functions: jits the function behind them, with their bound
# arguments.


class JittedCallable:
    """A jitted function with some of its arguments. It has the other attributes of the jitted function."""

    def __init__(
        self, jitted_function: Any, of: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.__wrapped__ = of
        self._jitted_function, self._args, self._kwargs = jitted_function, args, kwargs
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(of, name):
                setattr(self, name, getattr(of, name))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled if that is possible and pays."""
        return self._jitted_function(*self._args, *args, **{**self._kwargs, **kwargs})

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """Explain a call with these arguments: see `JittedFunction.explain`."""
        return self._jitted_function.explain(*self._args, *args, **{**self._kwargs, **kwargs})

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Return the code for a call with these arguments: see `JittedFunction.lower`."""
        return self._jitted_function.lower(*self._args, *args, **{**self._kwargs, **kwargs})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._jitted_function, name)


def jit_callable(target: Callable[..., Any], jit: Callable[[Any], Any]) -> JittedCallable:
    """Apply `jit` to a partial application, a bound method, a callable object, or a builtin."""
    if type(target) is functools.partial:
        return JittedCallable(jit(target.func), target, target.args, target.keywords)
    if isinstance(target, types.MethodType):
        return JittedCallable(jit(target.__func__), target, (target.__self__,), {})
    call = inspect.getattr_static(type(target), "__call__", None)
    if type(call) is types.FunctionType:
        return JittedCallable(jit(call), target, (target,), {})

    def forward(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    return JittedCallable(jit(forward), target, (), {})


# -- jitted function -----------------------------------------------------------------------------------------
# `np2tf.jit`: compiles a function over arrays, and runs it as Python if that is impossible or does not pay.
#
# Nothing here needs TensorFlow. This module completes a call that stays on the host; the compiling parts
# are loaded when they are first needed (`np2tf.staging.compile.compiler`).

#: Runs a call of a function, given its arguments.
Run = Callable[[tuple[Any, ...], dict[str, Any]], Any]
TIERS = (None, "auto", "compile", "host")

# This name is read at every call.
_modules = sys.modules


class _Called:
    """The jitted functions that have been called, while a report is made.

    Attributes:
        functions: these functions; None if no report is made.
    """

    functions: list[JittedFunction] | None = None

    def add(self, jitted_function: JittedFunction) -> None:
        """Record the first call of a function."""
        if self.functions is not None:
            self.functions.append(jitted_function)


called = _Called()


@without_tensors
class JittedFunction:
    """A function wrapped by `jit`; call it like the original.

    Attributes:
        trace_count: how often the function has been traced.
        inline_count: how often a call was inlined into another function's compiled code.
        compiled_count, graph_count: the number of calls that ran as one XLA program, and as a graph.
        tier: "auto", "compile" or "host"; None if the function follows `np2tf.config.tier`.
        promotion: the function's own promotion rules; None if it follows `np2tf.config.promotion`.
    """

    __wrapped__: Callable[..., Any]
    #: AutoGraph does not convert an object with this attribute.
    autograph_info__: Mapping[str, Any] = MappingProxyType({})

    __tf_tracing_type__ = by_identity

    # Defaults are class attributes so that creating a JittedFunction stays cheap at import; see `_wrap`.
    trace_count = inline_count = compiled_count = graph_count = 0
    promotion: str | None = None
    #: For a function that is known to be short, the number of calls that need not be timed; -1 for any other.
    _untimed_calls = -1
    _plain: Callable[..., Any]

    def __init__(self, function: Callable[..., Any], tier: str | None = None) -> None:
        _wrap(self, function)
        self.tier = tier

    @functools.cached_property
    def _is_suspendable(self) -> bool:
        function = self.__wrapped__
        return inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)

    @functools.cached_property
    def _names_numpy(self) -> bool:
        return code_names_numpy(self.__wrapped__)

    @functools.cached_property
    def _host(self) -> HostFunction:
        called.add(self)
        return HostFunction(self.__wrapped__)

    @functools.cached_property
    def _compiler(self) -> Compiler:
        load()
        return late.compiler.Compiler(self)  # type: ignore[no-any-return]

    def __reduce__(self) -> str:
        """Pickle the object by name, as functions are pickled."""
        return self.__wrapped__.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled if that is possible and pays."""
        # This path has few steps, because small functions are called very often. `is_on_host` tests the same
        # conditions.
        library = tensorflow
        try:
            is_plain = (
                self._untimed_calls >= 0
                and tier.is_auto
                and fast_flags.host
                and fast_flags.tensors is library.is_followed
                and (
                    library.no_tape()
                    and not library.graphs.stack
                    and (library.suspects.isdisjoint(map(type, args)) or not has_tensor(args))
                    and (not kwargs or not has_tensor(kwargs.values()))
                    if library.is_known
                    else "tensorflow" not in _modules
                )
            )
        except Exception as error:
            self._note_fault(error)
            is_plain = False
        if not is_plain:
            return self._decide(args, kwargs)
        counts.host += 1
        counts.host_calls += 1
        if self._untimed_calls:
            self._untimed_calls -= 1
            return self._plain(*args, **kwargs)
        self._untimed_calls = self._host.grant_untimed_calls()
        return self._host.time(self._plain, args, kwargs, self._note_length)

    def _note_length(self) -> None:
        """Time all calls again if the latest calls were not short."""
        self._plain = self._host.direct_function  # which may be another one now
        if not self._host.is_short:
            self._host.granted_calls -= self._untimed_calls
            self._untimed_calls = -1

    def _decide(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Choose the tier by the function and its arguments, and run it.

        The choice is np2tf's own work, whose faults end here. What it has chosen runs the program's code,
        whose exceptions pass.
        """
        try:
            run = self._choose(args, kwargs)
        except Exception as error:
            run = self._stay_on_host(error)
        return run(args, kwargs)

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Return the function that runs a call, given its arguments."""
        if self._is_suspendable:
            return self._run_plainly
        if raw and (has_raw(args) or has_raw(kwargs.values())):
            return functools.partial(across, self)
        if transform_depth.depth and not tensorflow.graphs.stack:
            return self._run_plainly
        host = self._host
        if host.calls.depth and is_on_host(args, kwargs):
            # A call inside a call on the host stays on the host.
            return host.run_inside
        if fast_flags.tensors or self._needs_tensorflow(args, kwargs):
            return self._compiler.choose(args, kwargs)
        return self._run_timed

    def _run_plainly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return check_bound(self.__wrapped__(*args, **kwargs))

    def _run_timed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._host.run_timed(args, kwargs, self._note_short_calls)

    def _note_short_calls(self) -> None:
        if self._host.is_short:
            self.bypass_compiler()

    def _stay_on_host(self, error: Exception) -> Run:
        """Return the function that runs a call whose choice has failed; later calls stay on the host, too.

        Raises:
            StagingError: if the function may not run on the host.
        """
        if tensorflow.graphs.stack and not fast_flags.is_unstaged:
            raise error  # into np2tf's own trace, which is the boundary for its faults
        if self.promotion not in (None, "numpy"):
            raise NotStagedError(f"{self.__wrapped__.__qualname__} cannot be compiled: {error}") from error
        self._note_fault(error)
        self.tier = "host"
        return self._run_plainly

    def _note_fault(self, error: Exception) -> None:
        note_fault(error, getattr(self.__wrapped__, "__code__", None))

    def _needs_tensorflow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether the call needs TensorFlow, which is not loaded yet."""
        if config.jit == "off" or self.tier == "host":
            return False
        if installation.problem and self.promotion in (None, "numpy"):
            return False
        if (self.tier or config.tier) == "compile" or not is_on_host(args, kwargs) or not uses_numpy_rules():
            return True
        host = self._host
        if host.is_short or is_in_candidate():
            return False
        if decisions.is_at_hand and (advice := host.prospect.advice(args, kwargs)) is not None:
            return advice
        return host.is_worth_asking and self._pays(args, kwargs)

    def _pays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether the function is expected to save what importing TensorFlow and compiling it cost."""
        host = self._host
        if not (self._names_numpy or holds_array(args) or holds_array(kwargs.values())):
            return False
        cost = import_cost(tensorflow.is_known) + constants.COMPILE_SECONDS
        if indexes_text(self.__code__, args):
            return False
        return pays(host.own_seconds, host.since, cost, host.saving) and not host.is_hopeless

    def bypass_compiler(self) -> None:
        """Run the next calls on the host, as long as calls are short and their context does not change."""
        self._plain = self._host.direct_function
        self._host.granted_calls -= max(self._untimed_calls, 0)
        self._untimed_calls = self._host.grant_untimed_calls()

    # -- what decorators and `inspect` ask of a function -----------------------------------------------------

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return the class of functions, so that `inspect.isfunction` accepts the object."""
        return types.FunctionType

    __code__ = property(operator.attrgetter("__wrapped__.__code__"))
    __globals__ = property(operator.attrgetter("__wrapped__.__globals__"))
    __defaults__ = property(operator.attrgetter("__wrapped__.__defaults__"))
    __kwdefaults__ = property(operator.attrgetter("__wrapped__.__kwdefaults__"))
    __closure__ = property(operator.attrgetter("__wrapped__.__closure__"))
    __builtins__ = property(operator.attrgetter("__wrapped__.__builtins__"))

    # -- information for users -------------------------------------------------------------------------------

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Explain a call with these arguments; compile it if needed, but do not run it.

        Args:
            *args, **kwargs: the arguments of the call.

        Returns:
            An explanation with a readable ``str``; ``to_dict()`` returns it as data.
        """
        return self._compiler.explain(args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Return the code for a call with these arguments, compiled if needed: `how`, `graph`, `hlo()`.

        Args:
            *args, **kwargs: the arguments of the call.

        Raises:
            StagingError: if the call cannot be compiled.
        """
        return self._compiler.lower(args, kwargs)

    @property
    def _caches(self) -> dict[Any, Any]:
        return self._compiler.caches


@without_tensors
class PromotingJittedFunction(JittedFunction):
    """A jitted function with promotion rules of its own, which apply while it runs or is traced.

    Under other rules than NumPy's it never runs on the host, where NumPy's rules apply.
    """

    def __init__(self, function: Callable[..., Any], tier: str | None, promotion: str) -> None:
        super().__init__(function, tier)
        self.promotion = promotion

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled if that is possible and pays.

        Raises:
            StagingError: if its rules are not NumPy's, and it cannot be staged.
        """
        if self._is_suspendable:
            raise NotStagedError("a generator or coroutine is not compiled and cannot have its own promotion")
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().__call__(*args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Explain a call with these arguments, under the function's own promotion rules."""
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().explain(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Return the code for a call with these arguments, under the function's own promotion rules."""
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().lower(*args, **kwargs)


def _wrap(jitted_function: JittedFunction, function: Callable[..., Any]) -> None:
    """Do `functools.update_wrapper` in a third of the time, because importing a module makes very many
    wrappers.
    """
    attributes = jitted_function.__dict__
    attributes.update(getattr(function, "__dict__", {}))
    for name in functools.WRAPPER_ASSIGNMENTS:
        try:
            attributes[name] = getattr(function, name)
        except AttributeError:
            continue  # the callable is no function
    attributes["__wrapped__"] = function


@overload
def jit(
    function: Callable[..., Any], *, tier: str | None = None, promotion: str | None = None
) -> JittedFunction: ...


@overload
def jit(
    function: None = None, *, tier: str | None = None, promotion: str | None = None
) -> Callable[[Callable[..., Any]], JittedFunction]: ...


def jit(
    function: Callable[..., Any] | None = None, *, tier: str | None = None, promotion: str | None = None
) -> Any:
    """Compile `function` with XLA (loops and elementwise work) and TensorFlow graphs (other work).

    Array arguments, NumPy's or TensorFlow's, become inputs, and so do the arrays that the function reads as
    globals or closure variables. Writes to these arrays reach the caller's arrays, and so do changes in
    lists, dicts and objects of Python classes. Python numbers are constants of the compiled code
    until they vary. A function that cannot be compiled with NumPy's meaning runs as Python, with one warning
    that gives file, line and reason; with ``NP2TF_JIT=strict`` it raises instead. Generators and
    coroutines run unchanged.

    Args:
        function: the function, with arrays of any shape and dtype as arguments. Without it, `jit` returns a
            decorator with settings: ``@np2tf.jit(tier="compile")``.
        tier: replaces `np2tf.config.tier` for this function. "auto" compiles a function that has taken
            enough time on NumPy, and keeps the faster of the two; "compile" compiles at the first call;
            "host" never compiles.
        promotion: replaces `np2tf.config.promotion` while this function runs. With other rules than
            "numpy" the function is compiled at the first call, and raises StagingError if that is impossible,
            because NumPy itself would apply its own rules.

    Returns:
        A `JittedFunction` object, which is called like the function and returns the same values. For a
        method, partial application or other callable, an object that forwards to the jitted function.

    Raises:
        ValueError: if there is no such tier or promotion, or if tier "host" is combined with other rules than
            NumPy's.
        StagingError: on a call that cannot be compiled, with ``NP2TF_JIT=strict`` or with `promotion`.

    See https://www.tensorflow.org/api_docs/python/tf/function, and https://www.tensorflow.org/xla for XLA.
    """
    if tier not in TIERS:
        raise ValueError(f"tier must be one of auto, compile, host, not {tier!r}")
    if promotion is not None:
        check("promotion", promotion, "promotion")
        if tier == "host" and promotion != "numpy":
            raise ValueError(f"tier='host' always promotes as NumPy does, not by promotion={promotion!r}")
    if function is None:
        return functools.partial(jit, tier=tier, promotion=promotion)
    if isinstance(function, JittedFunction):
        return (
            function
            if promotion is None
            else PromotingJittedFunction(function.__wrapped__, function.tier, promotion)
        )
    if type(function) is not types.FunctionType:
        return jit_callable(function, functools.partial(jit, tier=tier, promotion=promotion))
    return (
        JittedFunction(function, tier)
        if promotion is None
        else PromotingJittedFunction(function, tier, promotion)
    )
