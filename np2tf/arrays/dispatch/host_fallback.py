"""Functions that NumPy computes from numbers or on the host, and the place of the arrays that they make."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.arrays.dispatch.op import OPS, write_back
from np2tf.arrays.dispatch.placement import has_array, has_tensor, keep_kind, wrap_result
from np2tf.arrays.front.numpy_functions import WRITES
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.operands.differentiated_values import refuse_host_result, refuse_to_leave
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core import rules
from np2tf.core.counts import counts
from np2tf.core.errors import NoGraphFormError, ValueNeededError

# -- host results --------------------------------------------------------------------------------------------

#: Arrays of at most so many elements become constants of a graph; the graph computes longer arrays.
SMALL = 65536


def known_value(value: Any) -> Any:
    """Return `value` converted for NumPy. Slices are converted, too.

    Raises:
        StagingError: a value is not known while staging.
    """
    if isinstance(value, slice):
        return slice(known_value(value.start), known_value(value.stop), known_value(value.step))
    if isinstance(value, tuple):
        return tuple(map(known_value, value))
    if current_scope() is not None and has_array((value,)) and not has_tensor((value,)):
        raise ValueNeededError("the value of an array is needed during compilation")
    return to_numpy(value)


def host_only(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of NumPy that always runs on the host. Its operands must be known on the host."""

    @functools.wraps(numpy)
    def call(*args: Any, **kwargs: Any) -> Any:
        return wrap_result(
            numpy(*map(known_value, args), **{name: known_value(item) for name, item in kwargs.items()})
        )

    call.numpy = numpy  # type: ignore[attr-defined]
    call.host_only = True  # type: ignore[attr-defined]
    OPS[numpy] = call
    return call


# -- host fallback -------------------------------------------------------------------------------------------
# Host fallbacks: the NumPy functions that no chapter implements, over operands of every kind.
#
# NumPy receives the arguments as np.ndarray, and its results live where new arrays live. Values that are
# not known while staging end the staging, and so do functions with effects beyond their arguments.

#: Modules of random numbers and of tests: their functions never run while staging.
_EFFECT_PREFIXES = ("numpy.random.", "numpy.testing.")

#: NumPy's (or SciPy's) qualified name -> the function over tensors, or over operands of every kind.
IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {}
#: A function of a displayed name and a function that returns the replacement of the function.
Make = Callable[[str, Callable[..., Any]], Callable[..., Any]]
interceptors: list[Make] = []


def intercept(qualified_name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with all interceptors around it."""
    for make in interceptors:
        function = make(qualified_name.removeprefix("numpy."), function)
    return function


def fallback(function: Callable[..., Any], qualified_name: str) -> Callable[..., Any]:
    """Return NumPy's `function` over arrays of every kind; if it writes to an array, it returns the array."""
    target = WRITES.get(qualified_name)  # a parameter, the first one, that the function writes to

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        host_args, host_kwargs = host_arguments(qualified_name, args, kwargs)
        result = function(*host_args, **host_kwargs)
        if target is not None:
            refuse_to_leave(qualified_name, (*args, *kwargs.values()))
            return (
                write_back(args[0], host_args[0]) if args else write_back(kwargs[target], host_kwargs[target])
            )
        refuse_host_result(qualified_name, (*args, *kwargs.values()), result)
        if kwargs.get("out") is not None:
            return write_back(kwargs["out"], host_kwargs["out"])
        return keep_kind(result, args, kwargs)

    call.host_only = True  # type: ignore[attr-defined]
    OPS.setdefault(function, call)
    return call


def host_arguments(
    qualified_name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments converted for NumPy.

    Raises:
        StagingError: code is being staged, and the call depends on values known only at run time.
    """
    if current_scope() is not None:
        rule = rules.find_any(qualified_name)
        if (rule is not None and rule.outside) or qualified_name.startswith(_EFFECT_PREFIXES):
            raise NoGraphFormError.of(name=qualified_name)
        if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
            raise ValueNeededError(f"{qualified_name} needs the values of an array during compilation")
    if has_tensor(args) or has_tensor(kwargs.values()):
        counts.host += 1
    convert = functools.partial(to_numpy, may_leave=True)
    return tuple(map(convert, args)), {name: convert(value) for name, value in kwargs.items()}


def refuse(*operands: Any) -> Any:
    """Refuse to compute a universal function that TensorFlow cannot compute."""
    raise NoGraphFormError("this universal function runs only on NumPy")
