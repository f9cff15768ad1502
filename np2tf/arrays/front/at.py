"""``tnp.at``: the in-place write that is right for every kind of container.

``x = tnp.at(x)[i].set(v)`` does what ``x[i] = v`` does. An array of either kind is written through, so that
aliases and callers see the write. A tf.Tensor, which cannot change, is replaced by a new tensor. Lists, dicts
and all other objects get ``x[i] = v``. Always use the returned object.

The convention is that of array-api-extra:
https://data-apis.org/array-api-extra/generated/array_api_extra.at.html.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.residency import FOREIGN, HOST, are_host, is_host
from np2tf.core import late

#: The name of an update -> the operator that does the update in place.
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
METHODS = ("sort", "partition", "fill", "put", "resize", "setfield", "setflags", "itemset", "byteswap")
_WITHOUT = object()
# A global name is faster than an attribute, and every write reads it.
_modules = sys.modules


class at:
    """The target of an in-place write: index it with ``[key]``, or call a method such as ``.sort()``.

    Args:
        target: array of either kind, tensor, list, dict or other container.

    See https://data-apis.org/array-api-extra/generated/array_api_extra.at.html.
    """

    # One object serves as the target and as the place in it: a write on the host makes no second object.
    __slots__ = ("_key", "_target")

    def __init__(self, target: Any) -> None:
        self._target = target
        self._key: Any = _WITHOUT

    def __getitem__(self, key: Any) -> at:
        place = self if self._key is _WITHOUT else at(self._target)
        place._key = key
        return place

    def set(self, value: Any) -> Any:
        """Write ``x[key] = value``, and return x.

        Args:
            value: array or number that broadcasts to ``x[key]``.

        Returns:
            The container, or a new tensor if x is a tf.Tensor.
        """
        target = self._target
        kind = type(target)
        if fast_flags.host:
            if "tensorflow" not in _modules or (
                (kind in HOST or not FOREIGN.include(kind)) and (type(value) in HOST or is_host(value))
            ):
                target[self._key] = value
                return target
        elif kind is list or kind is dict:
            target[self._key] = value
            return target
        return late.arrays.writer("set")(target, self._key, value)


def _update(name: str, function: Callable[[Any, Any], Any]) -> Callable[[at, Any], Any]:
    def update(self: at, value: Any) -> Any:
        target, key = self._target, self._key
        kind = type(target)
        if fast_flags.host and (
            "tensorflow" not in _modules
            or ((kind in HOST or not FOREIGN.include(kind)) and (type(value) in HOST or is_host(value)))
        ):
            target[key] = function(target[key], value)
            return target
        return late.arrays.writer(name)(target, key, value)

    update.__name__ = name
    update.__doc__ = f"``x[key] = {name}(x[key], value)``, once for each index; returns x."
    return update


def _make_in_place(name: str) -> Callable[..., Any]:
    def call(self: at, *args: Any, **kwargs: Any) -> Any:
        target = self._target
        is_host_type = fast_flags.host and not FOREIGN.include(type(target))
        if is_host_type and are_host(args) and are_host(kwargs.values()):
            getattr(target, name)(*args, **kwargs)
            return target
        return late.arrays.writer(name)(target, args, kwargs)

    call.__name__ = name
    call.__doc__ = f"``x.{name}(…)``, in place; returns x."
    return call


for _name, _function in UPDATES.items():
    setattr(at, _name, _update(_name, _function))
for _name in METHODS:
    setattr(at, _name, _make_in_place(_name))
