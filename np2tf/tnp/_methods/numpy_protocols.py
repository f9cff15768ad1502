"""NumPy's protocols: its ufuncs and functions on arrays on TensorFlow call the versions of `tnp`."""

from __future__ import annotations

from sys import getrefcount
from typing import Any, cast

import numpy as np

from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._dispatch.op import OPS, call_numpy
from np2tf.tnp._ufuncs.tensor_ufunc import UFUNCS


def array_ufunc(self: ndarray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Handle a ufunc of NumPy on an array on TensorFlow.

    See https://numpy.org/neps/nep-0013-ufunc-overrides.html.
    """
    tnp_ufunc = UFUNCS.get(ufunc)
    if not kwargs:
        inputs = tuple(map(_number, inputs, _references(inputs)))
    if isinstance(kwargs.get("out"), tuple) and len(kwargs["out"]) == 1:
        kwargs["out"] = kwargs["out"][0]
    if tnp_ufunc is not None:
        return getattr(tnp_ufunc, method)(*inputs, **kwargs)
    return call_numpy(getattr(ufunc, method), inputs, kwargs)


def array_function(self: ndarray, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Handle a function of NumPy on an array on TensorFlow.

    See https://numpy.org/neps/nep-0018-array-function-protocol.html.

    Raises:
        TypeError: the arguments do not follow the protocol.
    """
    for name, argument, kind in (("args", args, tuple), ("kwargs", kwargs, dict)):
        if not isinstance(argument, kind):
            raise TypeError(f"{name} must be a {kind.__name__}")
    if not all(issubclass(operand_type, (np.ndarray, ndarray)) for operand_type in types):
        return NotImplemented
    implementation = OPS.get(func)
    if implementation is not None:
        return implementation(*args, **kwargs)
    return call_numpy(getattr(func, "_implementation", func), args, kwargs)


def _references(inputs: tuple[Any, ...]) -> list[int]:
    return [getrefcount(value) for value in inputs]


class _Probe:
    """Counts the references to the array that NumPy makes of a scalar that it compares."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> int:
        return _references(inputs)[0]


#: NumPy makes an array without axes of a scalar left of a comparison, and keeps so many references to it.
_OF_A_SCALAR: int = np.float64(0) < cast(Any, _Probe())


def _number(value: Any, references: int) -> Any:
    """Return an array without axes that NumPy has made of a scalar for this call as that scalar.

    A trace takes a number for a constant, but an array that it does not know for an input that it has missed.
    """
    is_scalar = isinstance(value, np.ndarray) and not value.ndim and references <= _OF_A_SCALAR
    return value[()] if is_scalar else value


_protocol: Any
for _name, _protocol in (("__array_ufunc__", array_ufunc), ("__array_function__", array_function)):
    _protocol.__wrapped__ = getattr(np.ndarray, _name)
    setattr(ndarray, _name, _protocol)
