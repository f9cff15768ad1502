"""``tnp.at`` for arrays on TensorFlow, tensors, staged code, and containers of other kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, tensor_array
from np2tf.arrays.array.sequences import key_of
from np2tf.arrays.dispatch.host_fallback import intercept
from np2tf.arrays.dispatch.out_argument import broadcast_error, compute_update
from np2tf.arrays.front.at import UPDATES
from np2tf.arrays.front.residency import PLAIN
from np2tf.arrays.functions.sorting import where
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.indexing.index_keys import expand_mask
from np2tf.arrays.indexing.selection import have_same_parts
from np2tf.arrays.indexing.selection_keys import restore_masks
from np2tf.arrays.operands.conversion import as_view, is_numpy_subclass, refuse_to_lose_gradient, to_numpy
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla

#: Updates that raise for no element, because elements outside a mask are computed, too.
_ELEMENTWISE = frozenset({*UPDATES} - {"matmul", "power"})


def writer(name: str) -> Callable[..., Any]:
    """Return the function for a write of `tnp.at(x)[key]`: "set", an update such as "add", or a method."""
    if name == "set":
        function: Callable[..., Any] = _set_item
    elif name in UPDATES:
        function = partial(_update_item, name)
    else:
        function = partial(_call_in_place, name)
    return intercept(f"at[].{name}", function)


def _set_item(array: Any, key: Any, value: Any) -> Any:
    """Assign ``given[key] = value``, and return the object that the caller continues with."""
    target = _writable(array)
    if _is_on_host(target):
        refuse_to_lose_gradient((value,))
        target[to_numpy(key)] = to_numpy(value)
    else:
        target[key] = value
    return _as_kind_of(target, array)


def _update_item(name: str, array: Any, key: Any, value: Any) -> Any:
    """Assign ``given[key] = name(given[key], value)``, once for each index.

    Returns:
        The object that the caller continues with.
    """
    target = _writable(array)
    if _is_on_host(target):
        refuse_to_lose_gradient((value,))
        key = to_numpy(key)
        target[key] = UPDATES[name](target[key], to_numpy(value))
    elif is_array(target):
        key = key_of(key)
        _update_array(getattr(ufuncs, name), target, key, value, UPDATES[name])
    else:
        target[key] = UPDATES[name](target[key], value)
    return _as_kind_of(target, array)


def _call_in_place(name: str, array: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the in-place method ``given.name(…)``, and return the object that the caller continues with."""
    target = _writable(array)
    if _is_on_host(target):
        refuse_to_lose_gradient((*args, *kwargs.values()))
        args = tuple(map(to_numpy, args))
        kwargs = {name: to_numpy(value) for name, value in kwargs.items()}
    getattr(target, name)(*args, **kwargs)
    return _as_kind_of(target, array)


def _writable(target: Any) -> Any:
    if isinstance(target, tf.Tensor):
        return tensor_array(target)
    is_input = (
        isinstance(target, np.ndarray) and current_scope() is not None and not is_numpy_subclass(target)
    )
    return as_view(target) if is_input and not is_array(target) else target


def _is_on_host(target: Any) -> bool:
    return isinstance(target, np.ndarray) and not is_array(target)


def _as_kind_of(result: Any, operand: Any) -> Any:
    return result.tensor if isinstance(operand, tf.Tensor) and is_array(result) else operand


def _update_array(ufunc: Any, target: Any, key: Any, value: Any, in_place: Callable[[Any, Any], Any]) -> None:
    if staging_for_xla():
        key = restore_masks(target, key)
    if ufunc.__name__ in _ELEMENTWISE and _is_masked(target, key, value):
        result = compute_update(ufunc, target, value)
        target[...] = where(expand_mask(key.tensor, target.ndim), result, target)
        return
    place = target[key]
    if not is_array(place) or type(place) is scalar:
        target[key] = in_place(place, value)
        return
    # An in-place operation would write through the view, and the assignment again. One write is enough.
    result = compute_update(ufunc, place, value)
    if not have_same_parts(result, place) and not result.tensor.shape.is_compatible_with(place.tensor.shape):
        raise broadcast_error(place, result)
    target[key] = result


def _is_masked(target: Any, key: Any, value: Any) -> bool:
    """Return whether staged code updates all elements under a mask by a single value.

    Then the elements, whose number is not known, need not be gathered and written back.
    """
    if current_scope() is None or not (is_array(target) and is_array(key)) or key.dtype != bool:
        return False
    inner = target.shape[key.ndim :]
    fits = 0 < key.ndim <= target.ndim and key.shape == target.shape[: key.ndim]
    if not fits or None in target.shape or target.is_read_only:
        return False
    if type(value) in PLAIN:
        return True
    if not is_array(value) and not isinstance(value, (np.ndarray, np.generic)):
        return False
    pairs = zip(reversed(value.shape), reversed(inner), strict=False)
    return value.ndim <= len(inner) and all(n in (1, m) for n, m in pairs)
