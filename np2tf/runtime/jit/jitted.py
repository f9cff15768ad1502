"""`np2tf.jit`: compile a function over arrays; run it as Python where that is impossible or not worth it.

Nothing here needs TensorFlow. A call that stays on the host is over in this module; what compiles is loaded
when it is first needed (`np2tf.runtime.compilation.compiling`).
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from np2tf.config import check, config
from np2tf.counts import counts
from np2tf.runtime.decisions.decisions import decisions
from np2tf.runtime.environment import forks as forks  # in which nothing is compiled
from np2tf.runtime.environment import tensorflow_patches as tensorflow_patches  # which keep AutoGraph off
from np2tf.runtime.environment.call_context import has_tensor, is_on_host, load, tensorflow, tier
from np2tf.runtime.environment.clock import COMPILE_SECONDS, IMPORT_SECONDS, LOAD_SECONDS, clock, machine
from np2tf.runtime.environment.raw_tensors import across, has_raw, raw
from np2tf.runtime.environment.unjitted import UnjittedWarning as UnjittedWarning
from np2tf.runtime.host.host_function import HostFunction
from np2tf.runtime.introspection.array_search import code_names_numpy, holds_array
from np2tf.runtime.jit.callables import jit_callable
from np2tf.runtime.operators.undefined import bound
from np2tf.staging import NotStagedError
from np2tf.tnp._front.fast_flags import fast_flags
from np2tf.tnp._front.promotion_mode import promotion_scope, uses_numpy_rules

if TYPE_CHECKING:
    from np2tf.runtime.compilation.compiling import Compiler
    from np2tf.runtime.compilation.explanation import Explanation

TIERS = (None, "auto", "compile", "host")
#: Of the calls of a function that is known to be short only each so-many-th is timed.
UNTIMED = 7

# Read at every call.
_modules = sys.modules


class Jitted:
    """A function that `jit` has been applied to; call it as before.

    Attributes:
        trace_count: how often the function has been traced.
        inline_count: how often a call has become a part of another function's code.
        compiled_count, graph_count: how many calls have run as one XLA program, and as a graph.
        tier: "auto", "compile" or "host", if this function does not follow `np2tf.config.tier`.
        promotion: its own rules of promotion, if it has any: see `np2tf.config.promotion`.
    """

    __wrapped__: Callable[..., Any]
    #: AutoGraph leaves it alone.
    autograph_info__: Mapping[str, Any] = MappingProxyType({})

    # What is the same for each to begin with stands here, for the same reason as `_wrap`.
    trace_count = inline_count = compiled_count = graph_count = 0
    promotion: str | None = None
    #: Of a function that is known to be short: so many calls need not be timed. -1 for any other.
    _untimed = -1
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
        return HostFunction(self.__wrapped__)

    @functools.cached_property
    def _compiler(self) -> Compiler:
        load()
        from np2tf.runtime.compilation.compiling import Compiler

        return Compiler(self)

    def __reduce__(self) -> str:
        """Pickled by name, as functions are."""
        return self.__wrapped__.__qualname__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled where that is possible and pays."""
        # As few steps as can be: small functions are called very often. `is_on_host` asks the same things.
        known = tensorflow
        if (
            self._untimed >= 0
            and tier.is_auto
            and fast_flags.host
            and fast_flags.tensors is known.is_followed
            and (
                known.no_tape()
                and not known.graphs.stack
                and (known.suspects.isdisjoint(map(type, args)) or not has_tensor(args))
                and (not kwargs or not has_tensor(kwargs.values()))
                if known.is_known
                else "tensorflow" not in _modules
            )
        ):
            counts.host += 1
            counts.host_calls += 1
            if self._untimed:
                self._untimed -= 1
                return self._plain(*args, **kwargs)
            result = self._host.time(self._plain, args, kwargs)
            self._untimed = UNTIMED if self._host.is_short else -1
            return result
        return self._decide(args, kwargs)

    def _decide(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function, after a look at what it takes and is given."""
        if self._is_suspendable:
            return bound(self.__wrapped__(*args, **kwargs))
        if raw and (has_raw(args) or has_raw(kwargs.values())):
            return across(self, args, kwargs)
        host = self._host
        if host.calls.depth and is_on_host(args, kwargs):
            # A call within a call on the host stays there.
            return host.original(*args, **kwargs)
        if fast_flags.tensors or self._needs_tensorflow(args, kwargs):
            return self._compiler.call(args, kwargs)
        result = host.run_timed(args, kwargs)
        if host.is_short:
            self.bypass_compiler()
        return result

    def _needs_tensorflow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether TensorFlow, which has not been loaded, is due to be."""
        if config.jit == "off" or self.tier == "host":
            return False
        if (self.tier or config.tier) == "compile" or not is_on_host(args, kwargs) or not uses_numpy_rules():
            return True
        host = self._host
        if host.is_short:
            return False
        if decisions.is_at_hand and (advice := host.prospect.advice(args, kwargs)) is not None:
            return advice
        if host.own_seconds < COMPILE_SECONDS:
            return False
        if not (self._names_numpy or holds_array(args) or holds_array(kwargs.values())):
            return False
        # Where the program has imported TensorFlow by itself, that time is spent already.
        return clock.spent >= (LOAD_SECONDS if tensorflow.is_known else IMPORT_SECONDS) * machine.slowdown

    def bypass_compiler(self) -> None:
        """Run on the host what comes next, as long as calls are short and nothing around them has changed."""
        self._plain = self._host.direct_function
        self._untimed = UNTIMED

    # -- what decorators ask of a function -------------------------------------------------------------------

    @property
    def __code__(self) -> Any:
        return self.__wrapped__.__code__  # type: ignore[attr-defined]

    @property
    def __globals__(self) -> Any:
        return self.__wrapped__.__globals__  # type: ignore[attr-defined]

    @property
    def __defaults__(self) -> Any:
        return self.__wrapped__.__defaults__  # type: ignore[attr-defined]

    @property
    def __kwdefaults__(self) -> Any:
        return self.__wrapped__.__kwdefaults__  # type: ignore[attr-defined]

    # -- for those who want to know --------------------------------------------------------------------------

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What becomes of a call with these arguments, and why; compiles it if need be, but does not run it.

        The result has a readable ``str``; ``to_dict()`` gives it as data.
        """
        return self._compiler.explain(args, kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """The code for a call with these arguments, compiled if need be: `how`, `graph`, `hlo()`.

        Raises:
            StagingError: it cannot be compiled.
        """
        return self._compiler.lower(args, kwargs)

    @property
    def _caches(self) -> dict[Any, Any]:
        return self._compiler.caches


class PromotingJitted(Jitted):
    """A function with rules of promotion of its own, which are in force while it runs or is traced.

    Under other rules than NumPy's it does not run on the host, where NumPy's are.
    """

    def __init__(self, function: Callable[..., Any], tier: str | None, promotion: str) -> None:
        super().__init__(function, tier)
        self.promotion = promotion

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function, compiled where that is possible and pays.

        Raises:
            StagingError: it is not NumPy's rules that it has, and it cannot be staged.
        """
        if self._is_suspendable:
            raise NotStagedError("a generator or coroutine is not staged, and has no promotion of its own")
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().__call__(*args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """What becomes of a call with these arguments, under the function's own rules of promotion."""
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().explain(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """The code for a call with these arguments, under the function's own rules of promotion."""
        with promotion_scope(self.promotion):  # type: ignore[arg-type]
            return super().lower(*args, **kwargs)


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


@overload
def jit(function: Callable[..., Any], *, tier: str | None = None, promotion: str | None = None) -> Jitted: ...


@overload
def jit(
    function: None = None, *, tier: str | None = None, promotion: str | None = None
) -> Callable[[Callable[..., Any]], Jitted]: ...


def jit(
    function: Callable[..., Any] | None = None, *, tier: str | None = None, promotion: str | None = None
) -> Any:
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
        promotion: the rules of promotion while this function runs, instead of `np2tf.config.promotion`. With
            other rules than "numpy" the function is compiled at the first call, and raises StagingError where
            it cannot be: on the host NumPy's rules would hold.

    Raises:
        ValueError: there is no such tier or promotion, or the host is to promote by other rules than NumPy's.
        StagingError: (on a call) under ``NP2TF_JIT=strict``, or with a promotion of its own, only.
    """
    if tier not in TIERS:
        raise ValueError(f"tier must be one of auto, compile, host, not {tier!r}")
    if promotion is not None:
        check("promotion", promotion, "promotion")
        if tier == "host" and promotion != "numpy":
            raise ValueError(f"on the host NumPy promotes: tier='host' excludes promotion={promotion!r}")
    if function is None:
        return functools.partial(jit, tier=tier, promotion=promotion)
    if isinstance(function, Jitted):
        return (
            function if promotion is None else PromotingJitted(function.__wrapped__, function.tier, promotion)
        )
    if not isinstance(function, types.FunctionType):
        return jit_callable(function, functools.partial(jit, tier=tier, promotion=promotion))
    return Jitted(function, tier) if promotion is None else PromotingJitted(function, tier, promotion)
