"""Python's operators on arrays, each the ufunc that NumPy makes of it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.tnp import direct_indexing, ufuncs, undecided_operators
from np2tf.tnp.bounds import record_violation
from np2tf.tnp.cells import current_region, writing
from np2tf.tnp.conversion import cast, is_guest, to_numpy
from np2tf.tnp.indexing import getitem, setitem
from np2tf.tnp.lenses import is_read_only
from np2tf.tnp.ndarray import host_array, is_array, ndarray, scalar, wrap
from np2tf.tnp.normalize import LEFT_TO_NUMPY
from np2tf.tnp.outputs import casting_error, store_into
from np2tf.tnp.quick import quick
from np2tf.tnp.residence import eager_on_host, has_tensor, placed, stays_on_host
from np2tf.tnp.ufunc import Ufunc
from np2tf.tnp.weak import is_undecided, is_weak, weak_binary, weak_unary

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
#: Exact types of operands, keys and values that NumPy takes as they are, without a look inside.
_NUMBERS = frozenset({int, float, complex, bool, np.float64, np.int64, np.float32, np.int32, np.bool_})
_BUFFER = np.ndarray
_KEYS = frozenset({int, slice, type(None), type(Ellipsis), np.int64, np.ndarray})
_FOREIGN = (str, bytes, type(None), dict, set)


def _general(name: str, function: Callable[[Any, Any], Any], ufunc: Ufunc) -> Callable[[ndarray, Any], Any]:
    """The operator with operands of any kind."""

    def general(self: ndarray, other: Any) -> Any:
        if self._host is not None and eager_on_host():
            if type(other) is ndarray:
                if other._host is not None:
                    return wrap(function(self._host, other._host))
            elif not has_tensor((other,)):
                return wrap(function(self._host, other))
        elif self._host is not None and stays_on_host(self):
            counts.host += 1
            return placed(function(self._host, to_numpy(other)))
        if _repeats(name, self, other) or _refuses(other):
            return NotImplemented
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, self, other)
        if type(self) is scalar and is_undecided(self, other):
            return undecided_operators.apply(ufunc, name, self, other)
        return ufunc(self, other)

    return general


def _binary(
    name: str, function: Callable[[Any, Any], Any], ufunc: Ufunc, reflected: bool
) -> Callable[[Any, Any], Any]:
    general = _general(name, function, ufunc)

    def forward(self: ndarray, other: Any) -> Any:
        mine = self._host
        if mine is not None and quick.host:
            kind = type(other)
            theirs = other._host if kind is ndarray else other if kind in _NUMBERS else None
            if theirs is not None:
                result = function(mine, theirs)
                return host_array(result) if type(result) is _BUFFER else wrap(result)
        elif mine is None and quick.unstaged:
            result = ufunc.directly((self, other))
            if result is not None:
                return result
        return general(self, other)

    def backward(self: ndarray, other: Any) -> Any:
        if self._host is not None and eager_on_host() and not has_tensor((other,)):
            return wrap(function(other, self._host))
        if self._host is not None and stays_on_host(self):
            counts.host += 1
            return placed(function(to_numpy(other), self._host))
        if _repeats(name, self, other) or _refuses(other):
            return NotImplemented
        if type(self) is scalar and self.weak is not None and is_weak(other):
            return weak_binary(name, other, self)
        if type(self) is scalar and is_undecided(other, self):
            return undecided_operators.apply(ufunc, name, other, self)
        return ufunc(other, self)

    return backward if reflected else forward


def _repeats(name: str, number: ndarray, other: Any) -> bool:
    """Whether Python is to repeat a sequence: a number, unlike an array, does not take a list for one."""
    return name == "multiply" and type(number) is scalar and isinstance(other, (list, tuple))


def _refuses(other: Any) -> bool:
    """Whether the other operand is to answer: no number, or one to whose class NumPy leaves it."""
    kind = type(other)
    if kind in _NUMERIC:
        return False
    if isinstance(other, _FOREIGN) or is_guest(other):
        return True
    override = getattr(kind, "__array_ufunc__", ufuncs)
    if override is ufuncs and not isinstance(other, (tf.Tensor, tf.Variable)):
        return getattr(other, "__array_priority__", 0) > 0
    return override is None


def _inplace(function: Callable[[Any, Any], Any], ufunc: Ufunc) -> Callable[[Any, Any], Any]:
    def update(self: ndarray, other: Any) -> Any:
        if type(self) is scalar:
            return NotImplemented
        mine = self._host
        if mine is not None and quick.host and type(other) in _NUMBERS:
            self._host = function(mine, other)
            return self
        if mine is not None and eager_on_host():
            self._host = function(mine, to_numpy(other))
            return self
        if self._cell is not None and is_read_only(self._path):
            raise ValueError("output array is read-only")
        if self._host is not None and current_region() is None:
            return ufunc(self, other, out=self)
        result = ufunc(self, other)
        if not is_array(result):
            return ufunc(self, other, out=self)
        have, made = self.tensor.shape, result.tensor.shape
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise casting_error(ufunc.numpy, result.dtype, self.dtype)
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
        inverts = ufunc.__name__ == "invert"
        if type(self) is scalar and self.weak is not None and not (inverts and self.weak not in (int, bool)):
            return weak_unary(ufunc.__name__, self)
        if type(self) is scalar and is_undecided(self):
            return undecided_operators.apply(ufunc, ufunc.__name__, self)
        return ufunc(self)

    return apply


def _indexed_on_host(self: ndarray) -> bool:
    """Whether NumPy indexes the array, so that views share its memory: wherever it can be asked to."""
    return self._host is not None and current_region() is None and tf.executing_eagerly()


def _getitem(self: ndarray, key: Any) -> Any:
    held = self._host
    if held is not None and quick.host:
        kind = type(key)
        if kind is ndarray and key._host is not None:
            key, kind = key._host, _BUFFER
        if kind in _KEYS:
            value = held[key]
            return host_array(value) if type(value) is _BUFFER else wrap(value)
    elif held is None and quick.unstaged:
        found = direct_indexing.picked(self, key)
        if found is not None:
            return found
    if _indexed_on_host(self):
        return wrap(self._host[to_numpy(key)])  # type: ignore[index]
    try:
        return getitem(self, key)
    except LEFT_TO_NUMPY:
        if not tf.executing_eagerly():
            raise
    found = placed(self.numpy()[to_numpy(key)])
    counts.host += 1
    return found


def _setitem(self: ndarray, key: Any, value: Any) -> None:
    held = self._host
    if held is not None and quick.host and type(key) in _KEYS and type(value) in _NUMBERS:
        held[key] = value
        return
    if _indexed_on_host(self):
        self._host[to_numpy(key)] = to_numpy(value)  # type: ignore[index]
        return
    with writing:
        _write_part(self, key, value)


def _write_part(self: ndarray, key: Any, value: Any) -> None:
    """``self[key] = value`` of a tensor, which is read and replaced as a whole."""
    if self._host is None and quick.unstaged and direct_indexing.written(self, key, value):
        return
    try:
        setitem(self, key, value)
    except LEFT_TO_NUMPY:
        if not tf.executing_eagerly() or type(self) is scalar or is_read_only(self._path):
            raise
    else:
        return
    written = np.array(self.numpy())
    written[to_numpy(key)] = to_numpy(value)
    self.store(tf.constant(written))
    counts.host += 1


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


_install()
