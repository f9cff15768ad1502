"""NumPy's protocols: its ufuncs and functions on arrays on TensorFlow call the versions of `tnp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._dispatch.op import OPS, call_numpy
from np2tf.tnp._ufuncs.tensor_ufunc import UFUNCS


def array_ufunc(self: ndarray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Handle a ufunc of NumPy on an array on TensorFlow.

    See https://numpy.org/neps/nep-0013-ufunc-overrides.html.
    """
    tnp_ufunc = UFUNCS.get(ufunc)
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


_protocol: Any
for _name, _protocol in (("__array_ufunc__", array_ufunc), ("__array_function__", array_function)):
    _protocol.__wrapped__ = getattr(np.ndarray, _name)
    setattr(ndarray, _name, _protocol)
