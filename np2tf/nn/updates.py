"""`np2tf.nn.at`: writes that leave the array as it is, and return a new array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from np2tf import tnp
from np2tf.nn.out_of_bounds import access, fill_value_of
from np2tf.staging import ValueNeededError
from np2tf.tnp._array.ndarray import is_array

if TYPE_CHECKING:
    from typing_extensions import Unpack  # Python 3.10 has none of its own

#: So many indices that may be equal are applied one after another while staging.
_MOST_APPLIED = 64


class Options(TypedDict, total=False):
    """The options of an access.

    Attributes:
        mode: the treatment of indices out of bounds. "drop" and "fill" leave updates out, and read the fill
            value; "clip" takes the nearest place. None and "promise_in_bounds" raise IndexError.
        indices_are_sorted, unique_indices: facts about the indices, which change no result.
        wrap_negative_indices: whether negative indices count from the end; True if it is not given.
    """

    mode: str | None
    indices_are_sorted: bool
    unique_indices: bool
    wrap_negative_indices: bool


class at:
    """An array to make a changed copy of: ``at(x)[key].set(value)`` is JAX's ``x.at[key].set(value)``.

    The updates but `set` apply once for each occurrence of an index. All methods have JAX's options: `mode`,
    `indices_are_sorted`, `unique_indices` and `wrap_negative_indices`. Without a mode, an index out of bounds
    is an IndexError, as in NumPy; JAX leaves such updates out.

    Args:
        x: array of any shape and dtype.

    See https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html.
    """

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Place:
        return Place(self._x, key)


class Place:
    """A part of an array to make a changed copy of.

    Args:
        x: the array.
        key: the part, as in ``x[key]``.
    """

    __slots__ = ("_key", "_x")

    def __init__(self, x: Any, key: Any) -> None:
        self._x, self._key = x, key

    def get(self, *, fill_value: Any = None, **options: Unpack[Options]) -> Any:
        """Return a copy of the part.

        Args:
            fill_value: the value at indices out of bounds, for the modes "fill" and "drop"; by default NaN,
                the least integer of a signed dtype, the greatest of an unsigned dtype, or True.
            **options: as for `Options`.
        """
        x = tnp.asarray(self._x)
        slot = fill_value_of(np.dtype(x.dtype)) if fill_value is None else fill_value
        mode, wraps = _check(options)
        place = access(x, self._key, mode, wraps, slot)
        return tnp.array(place.array[place.key])

    def _update(self, options: Options, write: Callable[[Any, Any], Any]) -> Any:
        """Return the array that `write` makes of a copy and a key in bounds."""
        mode, wraps = _check(options)
        place = access(tnp.array(self._x), self._key, mode, wraps)
        return place.trim(write(place.array, place.key))

    def set(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is `value`, cast to the array's dtype."""
        return self._update(options, lambda x, key: tnp.at(x)[key].set(value))

    def apply(self, function: Callable[[Any], Any], **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `function` is applied to the elements of the part.

        An element whose index occurs several times is replaced as often.

        Args:
            function: a function of an array that works element by element, and keeps the dtype.
            **options: as for `Options`.

        Raises:
            TypeError: the results have another dtype.
        """
        return self._update(
            options, lambda x, key: _apply(x, key, function, bool(options.get("unique_indices")))
        )

    def add(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `value` is added to the part."""
        return self._update(options, lambda x, key: tnp.add_at(x, key, value))

    def subtract(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `value` is subtracted from the part."""
        return self._update(options, lambda x, key: tnp.subtract_at(x, key, value))

    def multiply(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is multiplied by `value`."""
        return self._update(options, lambda x, key: tnp.multiply_at(x, key, value))

    mul = multiply

    def divide(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is divided by `value`."""
        return self._update(options, lambda x, key: tnp.divide_at(x, key, value))

    def power(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is raised to the power `value`."""
        return self._update(options, lambda x, key: tnp.power_at(x, key, value))

    def min(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is the lesser of itself and `value`."""
        return self._update(options, lambda x, key: tnp.minimum_at(x, key, value))

    def max(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is the greater of itself and `value`."""
        return self._update(options, lambda x, key: tnp.maximum_at(x, key, value))


def _check(options: Options) -> tuple[str | None, bool]:
    """Return the mode, and whether negative indices count from the end.

    Raises:
        TypeError: there is no such option.
    """
    unknown_names = options.keys() - Options.__annotations__.keys()
    if unknown_names:
        raise TypeError(f"at(…) got an unexpected keyword argument {min(unknown_names)!r}")
    return options.get("mode"), options.get("wrap_negative_indices", True)


def _apply(x: Any, key: Any, function: Callable[[Any], Any], is_unique: bool) -> Any:
    """Return `x` with the function applied to each element as often as the key names it."""
    if is_unique or not _may_repeat(key):
        return tnp.at(x)[key].set(_of_dtype(function(x[key]), x))
    counts = tnp.add_at(tnp.zeros(x.shape, np.int64), key, 1)
    for k in range(_most_repetitions(counts, key)):
        x = tnp.where(counts > k, _of_dtype(function(x), x), x)
    return x


def _of_dtype(result: Any, x: Any) -> Any:
    result = tnp.asarray(result)
    if result.dtype != x.dtype:
        raise TypeError(f"the function that is applied returns {result.dtype} for an array of {x.dtype}")
    return result


def _may_repeat(key: Any) -> bool:
    """Return whether a key may name an element twice: it has an array of integers."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(np.ndim(part) > 0 and tnp.asarray(part).dtype.kind != "b" for part in parts if _is_list(part))


def _is_list(part: Any) -> bool:
    return is_array(part) or isinstance(part, (np.ndarray, list, tuple))


def _most_repetitions(counts: Any, key: Any) -> int:
    """Return a number of repetitions that no element exceeds.

    Raises:
        ValueNeededError: the number is known only at run time, and may be large.
    """
    try:
        return int(np.max(np.asarray(counts), initial=0))
    except ValueNeededError:
        parts = [part for part in (key if isinstance(key, tuple) else (key,)) if _is_list(part)]
        shape = np.broadcast_shapes(*[tuple(tnp.shape(part)) for part in parts])
        if math.prod(shape) > _MOST_APPLIED:
            raise ValueNeededError(
                "the number of equal indices of at(x)[i].apply(f), which is known only at run time; give "
                "unique_indices=True, or at most 64 indices"
            ) from None
        return math.prod(shape)


__all__ = ["Place", "at"]
