"""`np2tf.jit` of callables that are no functions: jits the function behind them, with their bound
arguments.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any


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
