"""Python's operators on arrays, each the ufunc that NumPy makes of it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp import ufuncs
from np2tf.tnp.bounds import record_violation
from np2tf.tnp.conversion import cast, to_numpy
from np2tf.tnp.indexing import getitem, setitem
from np2tf.tnp.ndarray import ndarray, scalar, wrap
from np2tf.tnp.normalize import store_into
from np2tf.tnp.residence import eager_on_host, has_tensor
from np2tf.tnp.ufunc import Ufunc
from np2tf.tnp.weak import is_weak, weak_binary, weak_unary

_BINARY: dict[str, str] = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "divmod": "divmod",
}
_COMPARISON = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_FOREIGN = (str, bytes, type(None), dict, set)


def _binary(
    name: str, function: Callable[[Any, Any], Any], ufunc: Ufunc, reflected: bool
) -> Callable[[Any, Any], Any]:
    def forward(self: ndarray, other: Any) -> Any:
        if self._host is not None and eager_on_host():
            if type(other) is ndarray:
                if other._host is not None:
                    return wrap(function(self._host, other._host))
            elif not has_tensor((other,)):
                return wrap(function(self._host, other))
        if _refuses(other):
            return NotImplemented
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, self, other)
        return ufunc(self, other)

    def backward(self: ndarray, other: Any) -> Any:
        if self._host is not None and eager_on_host() and not has_tensor((other,)):
            return wrap(function(other, self._host))
        if _refuses(other):
            return NotImplemented
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, other, self)
        return ufunc(other, self)

    return backward if reflected else forward


def _refuses(other: Any) -> bool:
    return isinstance(other, _FOREIGN) or getattr(type(other), "__array_ufunc__", ufuncs) is None


def _inplace(function: Callable[[Any, Any], Any], ufunc: Ufunc) -> Callable[[Any, Any], Any]:
    def update(self: ndarray, other: Any) -> Any:
        if type(self) is scalar:
            return NotImplemented
        if self._host is not None and eager_on_host():
            self._host = function(self._host, to_numpy(other))
            return self
        result = ufunc(self, other)
        have, made = self.tensor.shape, result.tensor.shape
        if not made.is_compatible_with(have):
            raise ValueError(
                f"non-broadcastable output operand with shape {have} doesn't match the broadcast shape {made}"
            )
        if not have.is_fully_defined():
            return _replace(self, result)
        return store_into(self, result)

    return update


def _replace(array: ndarray, result: Any) -> ndarray:
    """``array[...] = result`` where the common shape is known only at run time."""
    store_into(np.empty((), array.dtype), np.zeros((), result.dtype))
    shapes = tf.shape(result.tensor), tf.shape(array.tensor)
    record_violation(tf.reduce_any(tf.not_equal(*shapes)))
    array.store(cast(result.tensor, array.dtype))
    return array


def _equality(name: str) -> Callable[[Any, Any], Any]:
    """``==`` and ``!=`` against what is no number: NumPy answers elementwise, without an error."""
    forward = _binary(
        name, getattr(operator, "eq" if name == "equal" else "ne"), getattr(ufuncs, name), False
    )

    def compare(self: ndarray, other: Any) -> Any:
        if isinstance(other, _FOREIGN) and self._host is None:
            return ufuncs.full_like_bool(self, name == "not_equal")
        return forward(self, other)

    return compare


def _unary(function: Callable[[Any], Any], ufunc: Ufunc) -> Callable[[Any], Any]:
    def apply(self: ndarray) -> Any:
        if self._host is not None and eager_on_host():
            return wrap(function(self._host))
        if type(self) is scalar and self.weak is not None and ufunc.__name__ != "invert":
            return weak_unary(ufunc.__name__, self)
        return ufunc(self)

    return apply


def _getitem(self: ndarray, key: Any) -> Any:
    if self._host is not None and eager_on_host():
        return wrap(self._host[to_numpy(key)])
    try:
        return getitem(self, key)
    except StagingError:
        if not tf.executing_eagerly():
            raise
        return wrap(self.numpy()[to_numpy(key)])


def _setitem(self: ndarray, key: Any, value: Any) -> None:
    if self._host is not None and eager_on_host():
        self._host[to_numpy(key)] = to_numpy(value)
        return
    try:
        setitem(self, key, value)
    except StagingError:
        if not tf.executing_eagerly():
            raise
        written = np.array(self.numpy())
        written[to_numpy(key)] = to_numpy(value)
        self.store(tf.constant(written))


def _install() -> None:
    for short, name in _BINARY.items():
        ufunc = getattr(ufuncs, name)
        function = divmod if short == "divmod" else getattr(operator, f"__{short}__")
        setattr(ndarray, f"__{short}__", _binary(name, function, ufunc, reflected=False))
        setattr(ndarray, f"__r{short}__", _binary(name, function, ufunc, reflected=True))
        if short != "divmod":
            setattr(ndarray, f"__i{short}__", _inplace(getattr(operator, f"__i{short}__"), ufunc))
    for short, name in _COMPARISON.items():
        function = getattr(operator, f"__{short}__")
        made = (
            _equality(name)
            if short in ("eq", "ne")
            else _binary(name, function, getattr(ufuncs, name), False)
        )
        setattr(ndarray, f"__{short}__", made)
    for short, name in _UNARY.items():
        setattr(ndarray, f"__{short}__", _unary(getattr(operator, f"__{short}__"), getattr(ufuncs, name)))
    for name, function in (("__getitem__", _getitem), ("__setitem__", _setitem)):
        setattr(ndarray, name, function)
    # Defining __eq__ on the class body would have cleared it; numbers hash by value, arrays do not.
    ndarray.__hash__ = None  # type: ignore[assignment]


_install()
