"""The version of the installed SciPy, for functions whose results differ between versions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.host_fallback import IMPLEMENTATIONS
from np2tf.arrays.dispatch.op import op
from np2tf.arrays.front.scipy_functions import scipys
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.tensors.axis_reductions import reduce_all
from np2tf.arrays.tensors.dtype_dispatch import kernel
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError, StagingError

# -- versions ------------------------------------------------------------------------------------------------


def _installed_version() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version("scipy").split(".")[:2])
    except PackageNotFoundError:
        return (99,)  # without SciPy there are no results to differ from


#: The first two numbers of the version, like ``(1, 17)``.
SCIPY = _installed_version()


# -- declare -------------------------------------------------------------------------------------------------
# Declare functions of SciPy over tensors: `native` declares a function, `universal` a universal function.

_VARIABLE = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
#: Parameters that say how SciPy computes, and do not change the result.
_IMMATERIAL = frozenset(
    {
        "overwrite_a",
        "overwrite_b",
        "overwrite_ab",
        "overwrite_x",
        "overwrite_data",
        "overwrite_c",
        "workers",
        "plan",
    }
)


def refusal(name: str) -> StagingError:
    """Return the error to raise for a case that only SciPy handles."""
    return NoGraphFormError.of(name=name)


def native(qualified_name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function over tensors as the TensorFlow version of a function of SciPy.

    The decorated function has all of SciPy's parameters, or some of them. A call that gives a missing
    parameter another value than its default ends the staging and runs on the host.
    """

    def decorate(implementation: Callable[..., Any]) -> Callable[..., Any]:
        try:
            numpy = scipys(qualified_name)
        except AttributeError:  # the installed SciPy has no such function
            return implementation
        function = op(numpy)(_add_parameters(qualified_name, implementation, numpy))
        function.supported = tuple(inspect.signature(implementation).parameters)  # type: ignore[attr-defined]
        IMPLEMENTATIONS[qualified_name] = function
        return function

    return decorate


def _add_parameters(
    qualified_name: str, implementation: Callable[..., Any], numpy: Callable[..., Any]
) -> Callable[..., Any]:
    """Give `implementation` SciPy's full signature; parameters that it lacks accept only their default."""
    signature = inspect.signature(implementation)
    if any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in signature.parameters.values()):
        return implementation
    scipy_parameters = [
        parameter
        for parameter in inspect.signature(numpy).parameters.values()
        if parameter.kind not in _VARIABLE
    ]
    names = {parameter.name for parameter in scipy_parameters}
    parameters = [
        signature.parameters.get(parameter.name, parameter).replace(kind=parameter.kind)
        for parameter in scipy_parameters
    ]
    # Parameters that SciPy takes in **kwargs are named here.
    parameters += [parameter for parameter in signature.parameters.values() if parameter.name not in names]
    complete = signature.replace(parameters=sorted(parameters, key=lambda parameter: parameter.kind))
    defaults = {
        parameter.name: parameter.default
        for parameter in scipy_parameters
        if parameter.name not in signature.parameters and parameter.name not in _IMMATERIAL
    }

    @functools.wraps(implementation)
    def call(*values: Any, **more: Any) -> Any:
        arguments = complete.bind(*values, **more).arguments
        for name, value in list(arguments.items()):
            if name not in signature.parameters:
                del arguments[name]
                if name in defaults and value is not defaults[name] and not _equal(value, defaults[name]):
                    raise refusal(f"{qualified_name} with {name}=")
        binding = inspect.BoundArguments(signature, arguments)
        return implementation(*binding.args, **binding.kwargs)

    call.__signature__ = complete  # type: ignore[attr-defined]
    return call


def _equal(value: Any, default: Any) -> bool:
    """Return whether a Python scalar or string equals a default of the same type."""
    return type(value) is type(default) and isinstance(value, (bool, int, float, str)) and value == default


def universal(name: str, function: Callable[..., Any], *, complex: Callable[..., Any] | None = None) -> None:
    """Register a function over tensors as the TensorFlow version of a universal function of scipy.special.

    SciPy's loops choose the dtypes: the function receives tensors of float64 or float32.

    Args:
        name: the name of the universal function in scipy.special.
        function: the implementation for real numbers.
        complex: the implementation for complex numbers; None leaves complex numbers to SciPy on the host.
    """
    try:
        numpy = scipys(f"scipy.special.{name}")
    except AttributeError:
        return
    if not isinstance(numpy, np.ufunc):  # an older or a newer SciPy has a function there
        return
    Ufunc(numpy, kernel(function, complex=complex or _refuse_complex(name)))


def _refuse_complex(name: str) -> Callable[..., Any]:
    """Return an implementation for complex numbers that leaves the call to SciPy."""

    def call(*operands: tf.Tensor) -> tf.Tensor:
        raise refusal(f"scipy.special.{name} of complex numbers")

    return call


def discard_unless(good: tf.Tensor, name: str) -> None:
    """Leave a call to SciPy, which raises or warns, unless `good` holds.

    If `good` is known only at run time, a compiled call in which it is false is discarded. The message
    describes the case by `name`.

    Raises:
        StagingError: `good` is known to be false.
    """
    value = tf.get_static_value(good)
    if value is None:
        record_violation(tf.logical_not(good))
    elif not value:
        raise refusal(name)


def require_finite(name: str, check: Any, *operands: tf.Tensor) -> None:
    """Check `check_finite=True`: leave operands with infinities or NaN to SciPy, which raises ValueError."""
    if check:
        for operand in operands:
            discard_unless(
                reduce_all(tf.math.is_finite(tf.abs(operand))), f"{name} of numbers that are not finite"
            )
