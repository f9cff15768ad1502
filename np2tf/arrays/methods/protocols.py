"""Arrays in Python's protocols and NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from sys import getrefcount
from types import FunctionType
from typing import Any, cast

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out_copy
from np2tf.arrays.array.ndarray import ndarray, scalar
from np2tf.arrays.dispatch.op import OPS, call_numpy
from np2tf.arrays.dispatch.placement import device_put, move_to_tensorflow
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.differentiated_values import refuse_to_leave
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.errors import ShapeNeededError

# -- python protocols ----------------------------------------------------------------------------------------
# Arrays in Python's own protocols: conversion, iteration, text, copying and pickling.

# -- conversion ----------------------------------------------------------------------------------------------


def _array(self: ndarray, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    refuse_to_leave(None, (self,))
    return np.array(self.numpy(), dtype=dtype, copy=copy)


def _tensor(self: ndarray, dtype: tf.DType | None = None, name: str | None = None) -> tf.Tensor:
    tensor = self.tensor
    if dtype is not None and not dtype.is_compatible_with(tensor.dtype):
        raise TypeError(f"an array of {tensor.dtype.name} given where TensorFlow wants {dtype.name}")
    return tensor


def _array_wrap(self: ndarray, array: Any, context: Any = None, return_scalar: bool | None = None) -> Any:
    """Return NumPy's result for this array as an array of this kind, or as a number."""
    result = move_to_tensorflow(array)
    as_number = type(self) is scalar if return_scalar is None else return_scalar
    if as_number and NUMPY < (2, 2) and type(self) is not scalar:
        return result  # before NumPy 2.2 the last argument has another meaning
    return result[()] if as_number and result.ndim == 0 else result


def _bool(self: ndarray) -> bool:
    integer = self.staged_integer if type(self) is scalar and self.weak is int else None
    if integer is not None and integer.excludes_zero:
        return True
    return bool(self.contents())


def _int(self: ndarray) -> int:
    return int(self.contents())


def _float(self: ndarray) -> float:
    refuse_to_leave("float(x)", (self,))
    return float(self.numpy())


def _complex(self: ndarray) -> complex:
    refuse_to_leave("complex(x)", (self,))
    return complex(self.numpy())


def _index(self: ndarray) -> int:
    # (Before NumPy 2.3 a boolean number is an index, and an array of one boolean is not.)
    return operator.index(self.contents()[()] if type(self) is scalar else self.contents())


def _bytes(self: ndarray) -> bytes:
    """Return ``bytes(x)``: the memory of an array; for a number, the bytes that Python returns."""
    refuse_to_leave("bytes(x)", (self,))
    array = self.numpy()
    return bytes(array[()] if type(self) is scalar else array)


# -- containers ----------------------------------------------------------------------------------------------


def _len(self: ndarray) -> int:
    shape = self.shape
    if not shape:
        raise TypeError("len() of unsized object")
    if not isinstance(shape[0], int):
        raise ShapeNeededError.of(what="the length of an array")
    return shape[0]


def _iter(self: Any) -> Iterator[Any]:
    if not self.shape:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(len(self)))


def _delitem(self: ndarray, key: Any) -> None:
    """Refuse to delete elements, as NumPy does.

    Raises:
        ValueError: always.
    """
    raise ValueError("cannot delete array elements")


def _contains(self: Any, item: Any) -> bool:
    return bool((self == item).any())


# -- text ----------------------------------------------------------------------------------------------------


def _describe(array: ndarray) -> str | None:
    """Return a text for an array whose value is not known while staging; None for any other array."""
    if hasattr(array.tensor, "numpy"):
        return None
    scope = current_scope()
    if scope is not None:
        scope.trace.shown_text.describe()
    return f"<traced {array.tensor.dtype.name} array of shape {array.tensor.shape}>"


def _make_text_method(show: Callable[[Any], str]) -> Callable[[ndarray], str]:
    return lambda self: _describe(self) or show(self.contents())


def _number_shown_by(show: Callable[[Any], str]) -> Callable[[scalar], str]:
    return lambda self: _describe(self) or show(self.contents()[()])


def _format(self: ndarray, spec: str) -> str:
    return _describe(self) or format(self.contents()[()] if not self.shape else self.contents(), spec)


# -- copies --------------------------------------------------------------------------------------------------


def _deepcopy(self: ndarray, memo: dict[int, Any]) -> ndarray:
    return lay_out_copy(self.tensor, self)


def _reduce(self: ndarray) -> tuple[Any, ...]:
    refuse_to_leave("pickle", (self,))
    return device_put, (np.array(self.numpy()),)


def _reduce_number(self: scalar) -> tuple[Any, ...]:
    refuse_to_leave("pickle", (self,))
    number = self.numpy()[()]
    return type(number), (number,)


def _float_of_number(self: scalar) -> float:
    refuse_to_leave("float(x)", (self,))
    return float(self.numpy()[()])


def _hash_number(self: scalar) -> int:
    return hash(self.contents()[()])


_OF_ARRAYS = {
    "__array__": _array,
    "__array_wrap__": _array_wrap,
    "__tf_tensor__": _tensor,
    "__bool__": _bool,
    "__int__": _int,
    "__float__": _float,
    "__complex__": _complex,
    "__index__": _index,
    "__bytes__": _bytes,
    "__len__": _len,
    "__iter__": _iter,
    "__contains__": _contains,
    "__delitem__": _delitem,
    "__repr__": _make_text_method(repr),
    "__str__": _make_text_method(str),
    "__format__": _format,
    "__copy__": lambda self: _deepcopy(self, {}),
    "__deepcopy__": _deepcopy,
    "__reduce__": _reduce,
    # Numbers have a hash of their value, arrays have none.
    "__hash__": None,
}
_OF_NUMBERS = {
    # NumPy takes the real part of a complex number, with a warning; it refuses a complex array.
    "__int__": lambda self: int(self.contents()[()]),
    "__float__": _float_of_number,
    "__repr__": _number_shown_by(repr),
    "__str__": _number_shown_by(str),
    "__reduce__": _reduce_number,
    "__hash__": _hash_number,
    # NumPy's numbers have no `__len__`: pytest.approx and others test `isinstance(x, Sized)`.
    **dict.fromkeys(("__len__", "__iter__", "__contains__", "__delitem__")),
}
for _class, _protocols in ((ndarray, _OF_ARRAYS), (scalar, _OF_NUMBERS)):
    for _name, _function in _protocols.items():
        if type(_function) is FunctionType:
            # `inspect.signature` shows NumPy's signature.
            _function.__wrapped__ = getattr(np.ndarray, _name, _function)  # type: ignore[attr-defined]
        setattr(_class, _name, _function)


# -- numpy protocols -----------------------------------------------------------------------------------------
# NumPy's protocols: its ufuncs and functions on arrays on TensorFlow call the versions of `tnp`.


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
