"""``tnp.at``: the in-place write that is right for every kind of container.

``x = tnp.at(x)[i].set(v)`` does what ``x[i] = v`` does: an array (of either residence) and np.ndarray are
written through, so that aliases and callers see it; a tf.Tensor, which cannot change, is replaced by a new
one; lists, dicts and anything else get ``x[i] = v``. Always use what it returns.
The convention is array-api-extra's: https://data-apis.org/array-api-extra/generated/array_api_extra.at.html.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp import ufuncs
from np2tf.tnp.cells import current_region
from np2tf.tnp.indexing_functions import where
from np2tf.tnp.lenses import is_read_only
from np2tf.tnp.masks import widened
from np2tf.tnp.ndarray import PLAIN, is_array, scalar, tensor_array
from np2tf.tnp.outputs import casting_error

#: name of an update -> the operator that does it in place.
UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "subtract": operator.isub,
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "power": operator.ipow,
    "matmul": operator.imatmul,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
    "left_shift": operator.ilshift,
    "right_shift": operator.irshift,
}
#: Those that no element stops from being computed: none that is not under a mask may raise.
_ELEMENTWISE = frozenset({*UPDATES} - {"matmul", "power"})
_METHODS = ("sort", "partition", "fill", "put", "resize", "setfield", "setflags", "itemset", "byteswap")


class at:
    """The target of an in-place write: index it with ``[key]``, or call a method such as ``.sort()``."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getitem__(self, key: Any) -> _Place:
        return _Place(self._target, key)


class _Place:
    """``x[key]``, about to be written to."""

    __slots__ = ("_key", "_target")

    def __init__(self, target: Any, key: Any) -> None:
        self._target = target
        self._key = key

    def set(self, value: Any) -> Any:
        """``x[key] = value``; returns x."""
        target = _writable(self._target)
        target[self._key] = value
        return _as_given(target, self._target)


def _writable(target: Any) -> Any:
    return tensor_array(target) if isinstance(target, tf.Tensor) else target


def _as_given(written: Any, given: Any) -> Any:
    return written.tensor if isinstance(given, tf.Tensor) and is_array(written) else given


def _update(name: str, function: Callable[[Any, Any], Any]) -> Callable[[_Place, Any], Any]:
    ufunc = getattr(ufuncs, name)

    def update(self: _Place, value: Any) -> Any:
        target = _writable(self._target)
        if name in _ELEMENTWISE and _is_masked(target, self._key, value):
            result = ufunc(target, value)
            _check_casting(ufunc, result, target)
            target[...] = where(widened(self._key.tensor, target.ndim), result, target)
            return _as_given(target, self._target)
        place = target[self._key]
        if is_array(place) and place._host is None and type(place) is not scalar:
            # In place would write through the view, and storing the view once more; one write does.
            if is_read_only(place._path):
                raise ValueError("output array is read-only")
            result = ufunc(place, value)
            _check_casting(ufunc, result, place)
            if not result.tensor.shape.is_compatible_with(place.tensor.shape):
                raise ValueError(
                    f"non-broadcastable output operand with shape {place.shape} doesn't match the broadcast "
                    f"shape {result.shape}"
                )
            target[self._key] = result
        else:
            target[self._key] = function(place, value)
        return _as_given(target, self._target)

    update.__name__ = name
    update.__doc__ = f"``x[key] = {name}(x[key], value)``, once for each index; returns x."
    return update


def _is_masked(target: Any, key: Any, value: Any) -> bool:
    """Whether staged code updates the elements under a mask, all of them by the same value.

    Then what is under the mask, whose number is not known, need not be gathered and put back.
    """
    if current_region() is None or not (is_array(target) and is_array(key)) or key.dtype != bool:
        return False
    inner = target.shape[key.ndim :]
    fits = 0 < key.ndim <= target.ndim and key.shape == target.shape[: key.ndim]
    if not fits or None in target.shape or is_read_only(target._path):
        return False
    if type(value) in PLAIN:
        return True
    if not is_array(value) and not isinstance(value, (np.ndarray, np.generic)):
        return False
    pairs = zip(reversed(value.shape), reversed(inner), strict=False)
    return value.ndim <= len(inner) and all(n in (1, m) for n, m in pairs)


def _check_casting(ufunc: Any, result: Any, target: Any) -> None:
    if not np.can_cast(result.dtype, target.dtype, "same_kind"):
        raise casting_error(ufunc.numpy, result.dtype, target.dtype)


def _in_place(name: str) -> Callable[..., Any]:
    def call(self: at, *args: Any, **kwargs: Any) -> Any:
        target = _writable(self._target)
        getattr(target, name)(*args, **kwargs)
        return _as_given(target, self._target)

    call.__name__ = name
    call.__doc__ = f"``x.{name}(…)``, in place; returns x."
    return call


for _name, _function in UPDATES.items():
    setattr(_Place, _name, _update(_name, _function))
for _name in _METHODS:
    setattr(at, _name, _in_place(_name))
