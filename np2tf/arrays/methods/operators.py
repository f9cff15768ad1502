"""Python's operators on arrays. Each operator calls the ufunc that NumPy uses."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, is_unsupported_dtype, ndarray, scalar
from np2tf.arrays.dispatch import eager_fast_path
from np2tf.arrays.dispatch.op import LEFT_TO_NUMPY, call_numpy
from np2tf.arrays.dispatch.out_argument import broadcast_error, compute_update, store_into
from np2tf.arrays.dispatch.placement import move_to_tensorflow
from np2tf.arrays.dispatch.unknown_shapes import retry_for_each_rank
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS, Ufunc
from np2tf.arrays.indexing.get_set import getitem, setitem
from np2tf.arrays.operands import staged_numbers
from np2tf.arrays.operands.conversion import call_with_protocol, cast, is_numpy_subclass, to_numpy
from np2tf.arrays.operands.staged_numbers import is_undecided, is_weak, weak_binary, weak_unary
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.storage import write_lock
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.counts import counts

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
_NUMERIC = frozenset({ndarray, scalar, np.ndarray, int, float, complex, bool, list, tuple})
_REFUSED_TYPES = (type(None), dict, set)
_SEQUENCES = (list, tuple, str, bytes, bytearray)
_REFUSED_OPERANDS = (str, bytes, *_REFUSED_TYPES)


def _make_operator(name: str, ufunc: Ufunc) -> Callable[[ndarray, Any], Any]:
    """Return the operator for operands of any kind."""

    def general(self: ndarray, other: Any) -> Any:
        if _repeats(name, self, other) or _refuses(other):
            return NotImplemented
        if type(self) is scalar and is_undecided(self, other):
            return staged_numbers.apply(ufunc, name, self, other)
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, self, other)
        return ufunc(self, other)

    return general


def _binary(name: str, ufunc: Ufunc, reflected: bool) -> Callable[[Any, Any], Any]:
    general = _make_operator(name, ufunc)

    def forward(self: ndarray, other: Any) -> Any:
        if fast_flags.is_unstaged:
            result = ufunc.directly((self, other))
            if result is not None:
                return result
        return general(self, other)

    def backward(self: ndarray, other: Any) -> Any:
        if _repeats(name, self, other) or _refuses(other):
            return NotImplemented
        if type(self) is scalar and is_undecided(other, self):
            return staged_numbers.apply(ufunc, name, other, self)
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, other, self)
        return ufunc(other, self)

    return backward if reflected else forward


def _power(forward: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the operator ``**``, by which NumPy squares an array of truth values as int8."""

    def power(self: ndarray, other: Any) -> Any:
        if type(other) is int and other == 2 and type(self) is ndarray and self.dtype == np.bool_:
            return UFUNCS[np.square](self)
        return forward(self, other)

    return power


def _repeats(name: str, number: ndarray, operand: Any) -> bool:
    """Return whether Python repeats a sequence: a number, unlike an array, does not convert a list."""
    return name == "multiply" and type(number) is scalar and isinstance(operand, _SEQUENCES)


def _refuses(operand: Any) -> bool:
    """Return whether the other operand computes the result: it is no number, or its class has priority."""
    kind = type(operand)
    if kind in _NUMERIC:
        return False
    if isinstance(operand, _REFUSED_TYPES) or is_numpy_subclass(operand):
        return True
    override = getattr(kind, "__array_ufunc__", ufuncs)
    if override is ufuncs and not isinstance(operand, (tf.Tensor, tf.Variable)):
        return getattr(operand, "__array_priority__", 0) > 0
    return override is None


def _inplace(ufunc: Ufunc) -> Callable[[Any, Any], Any]:
    def update(self: ndarray, other: Any) -> Any:
        if type(self) is scalar:
            return NotImplemented
        result = compute_update(ufunc, self, other)
        if not is_array(result):
            return ufunc(self, other, out=self)
        if not result.tensor.shape.is_compatible_with(self.tensor.shape):
            raise broadcast_error(self, result)
        if not self.tensor.shape.is_fully_defined():
            return _replace(self, result)
        return store_into(self, result)

    return update


def _replace(array: ndarray, result: Any) -> ndarray:
    """Assign ``array[...] = result`` if the common shape is known only at run time."""
    store_into(np.empty((), array.dtype), np.zeros((), result.dtype))
    shapes = tf.shape(result.tensor), tf.shape(array.tensor)
    record_violation(reduce_any(tf.not_equal(*shapes)))
    array.store(cast(result.tensor, array.dtype))
    return array


_PYTHONS = {"equal": "eq", "not_equal": "ne"}


def _equality(name: str) -> Callable[[Any, Any], Any]:
    """Return ``==`` or ``!=`` for operands that are not numbers, elementwise and without an error."""
    forward = _binary(name, getattr(ufuncs, name), False)

    def compare(self: ndarray, other: Any) -> Any:
        if isinstance(other, _REFUSED_OPERANDS):
            return ufuncs.full_like_bool(self, name == "not_equal")
        if type(other) is np.ndarray and is_unsupported_dtype(other.dtype):
            return call_numpy(getattr(operator, _PYTHONS[name]), (self, other), {})
        return forward(self, other)

    return compare


def _unary(ufunc: Ufunc) -> Callable[[Any], Any]:
    def apply(self: ndarray) -> Any:
        inverts = ufunc.__name__ == "invert"
        if type(self) is scalar and is_undecided(self):
            return staged_numbers.apply(ufunc, ufunc.__name__, self)
        if type(self) is scalar and self.weak is not None and not (inverts and self.weak not in (int, bool)):
            return weak_unary(ufunc.__name__, self)
        return ufunc(self)

    return apply


def _getitem(self: ndarray, key: Any) -> Any:
    if fast_flags.is_unstaged:
        result = eager_fast_path.get_item(self, key)
        if result is not None:
            return result
    try:
        return getitem(self, key)
    except LEFT_TO_NUMPY as error:
        if not tf.executing_eagerly():
            return retry_for_each_rank(_getitem, (self, key), {}, error)
    result = move_to_tensorflow(call_with_protocol(operator.getitem, (self, key), {}))
    counts.host += 1
    return result


def _setitem(self: ndarray, key: Any, value: Any) -> None:
    with write_lock:
        _write_part(self, key, value)


def _write_part(self: ndarray, key: Any, value: Any) -> None:
    """Assign ``self[key] = value``; the tensor is replaced as a whole."""
    if fast_flags.is_unstaged and eager_fast_path.set_item(self, key, value):
        return
    try:
        setitem(self, key, value)
    except LEFT_TO_NUMPY as error:
        if not tf.executing_eagerly():
            retry_for_each_rank(_write_part, (self, key, value), {}, error)
            return
        if type(self) is scalar or self.is_read_only:
            raise
    else:
        return
    copy = np.array(self.numpy())
    copy[to_numpy(key)] = to_numpy(value)
    self.store(tf.constant(copy))
    counts.host += 1


def _install() -> None:
    for short, name in _BINARY.items():
        ufunc = getattr(ufuncs, name)
        forward = _binary(name, ufunc, reflected=False)
        setattr(ndarray, f"__{short}__", _power(forward) if short == "pow" else forward)
        setattr(ndarray, f"__r{short}__", _binary(name, ufunc, reflected=True))
        if short != "divmod":
            setattr(ndarray, f"__i{short}__", _inplace(ufunc))
    for short, name in _COMPARISON.items():
        ufunc = getattr(ufuncs, name)
        method = _equality(name) if short in ("eq", "ne") else _binary(name, ufunc, reflected=False)
        setattr(ndarray, f"__{short}__", method)
    for short, name in _UNARY.items():
        setattr(ndarray, f"__{short}__", _unary(getattr(ufuncs, name)))
    for name, function in (("__getitem__", _getitem), ("__setitem__", _setitem)):
        setattr(ndarray, name, function)


_install()
