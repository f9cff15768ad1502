"""`np2tf.nn.at`: writes that leave the array as it is, and return a new array."""

from __future__ import annotations

from typing import Any

from np2tf import tnp


class at:
    """An array to make a changed copy of: ``at(x)[key].set(value)`` is JAX's ``x.at[key].set(value)``.

    The updates but `set` apply once for each occurrence of an index. An index out of bounds is an IndexError,
    as in NumPy; JAX leaves such updates out.

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

    def _copy(self) -> Any:
        return tnp.array(self._x)

    def get(self) -> Any:
        """Return a copy of the part."""
        return tnp.array(tnp.asarray(self._x)[self._key])

    def set(self, value: Any) -> Any:
        """Return a copy of the array in which the part is `value`, cast to the array's dtype."""
        return tnp.at(self._copy())[self._key].set(value)

    def add(self, value: Any) -> Any:
        """Return a copy of the array in which `value` is added to the part."""
        return tnp.add_at(self._copy(), self._key, value)

    def subtract(self, value: Any) -> Any:
        """Return a copy of the array in which `value` is subtracted from the part."""
        return tnp.subtract_at(self._copy(), self._key, value)

    def multiply(self, value: Any) -> Any:
        """Return a copy of the array in which the part is multiplied by `value`."""
        return tnp.multiply_at(self._copy(), self._key, value)

    def divide(self, value: Any) -> Any:
        """Return a copy of the array in which the part is divided by `value`."""
        return tnp.divide_at(self._copy(), self._key, value)

    def power(self, value: Any) -> Any:
        """Return a copy of the array in which the part is raised to the power `value`."""
        return tnp.power_at(self._copy(), self._key, value)

    def min(self, value: Any) -> Any:
        """Return a copy of the array in which the part is the lesser of itself and `value`."""
        return tnp.minimum_at(self._copy(), self._key, value)

    def max(self, value: Any) -> Any:
        """Return a copy of the array in which the part is the greater of itself and `value`."""
        return tnp.maximum_at(self._copy(), self._key, value)


__all__ = ["Place", "at"]
