"""NumPy's arrays and their counterparts: runs the same statement on all of them, and finds differences."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array, tensor_scalar
from tests.helpers.differential import alike, described

#: Larger elements are reduced: sums stay exact, and C defines every conversion.
LARGEST = 100


class _At:
    """The version of `tnp.at` for NumPy: the statement that it stands for."""

    def __init__(self, target: Any) -> None:
        self.target = target

    def __getitem__(self, key: Any) -> _At:
        self.key = key
        return self

    def set(self, value: Any) -> None:
        self.target[self.key] = value

    def add(self, value: Any) -> None:
        self.target[self.key] += value

    def subtract(self, value: Any) -> None:
        self.target[self.key] -= value

    def multiply(self, value: Any) -> None:
        self.target[self.key] *= value


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress warnings about numbers, which both sides give in their own way."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def execute(statement: str, space: dict[str, Any]) -> Any:
    """Run a statement, and return the error that it raises, or None."""
    with quiet():
        try:
            exec(statement, space)
        except Exception as error:
            return error
    return None


def same_error(wanted: Any, found: Any) -> bool:
    """Return whether both raise the same class.

    Two answers of NumPy's ufunc.at are its own mistakes: AxisError, a ValueError, for a value of many axes,
    and SystemError where it loses the error that it reports without overlapping operands.
    """
    if isinstance(wanted, SystemError) and found is not None:
        return True
    if isinstance(wanted, np.exceptions.AxisError) and isinstance(found, ValueError):
        return True
    return type(wanted) is type(found)


class Player:
    """One side of the comparison: a namespace of arrays, and the settings under which they live."""

    def __init__(self, namespace: Any, at: Any, **settings: str) -> None:
        self.space: dict[str, Any] = {"np": namespace, "at": at}
        self.settings = settings

    def give(self, name: str, array: np.ndarray | np.generic) -> None:
        """Bind a copy of a NumPy array, or a number."""
        if self.settings.get("eager") == "tensorflow":
            made = tensor_array if isinstance(array, np.ndarray) else tensor_scalar
            self.space[name] = made(tf.constant(array))
        elif self.settings and isinstance(array, np.ndarray):
            self.space[name] = tnp.array(array.copy())
        else:
            self.space[name] = array.copy()

    def run(self, statement: str) -> Any:
        """Return the error that a statement raises, or None."""
        with np2tf.config.using(**self.settings):
            return execute(statement, self.space)

    def value(self, name: str) -> Any:
        """Return the contents of an array, as plain data."""
        with np2tf.config.using(**self.settings):
            return described(self.space[name])


def numpy_player() -> Player:
    """Return the reference player."""
    return Player(np, _At)


def players() -> dict[str, Player]:
    """Return the players that are compared with NumPy."""
    return {mode: Player(tnp, tnp.at, eager=mode) for mode in ("tensorflow", "auto")}


def difference(judge: Player, twin: Player, names: list[str]) -> str | None:
    """Return the first array that is not equal on both sides."""
    for name in names:
        wanted, found = judge.value(name), twin.value(name)
        if not alike(wanted, found):
            return f"{name}: {wanted} on NumPy, {found} on its twin"
    return None


def sharing_difference(judge: Player, twin: Player, name: str, names: list[str]) -> str | None:
    """Return where the array `name` shares memory with other arrays on one side only, or has a base on one
    side only.
    """
    array, double = judge.space[name], twin.space[name]
    if not isinstance(array, np.ndarray) or not is_array(double):
        return None
    with np2tf.config.using(**twin.settings):
        shared = False
        for other_name in names:
            wanted = np.shares_memory(array, judge.space[other_name])
            found = tnp.shares_memory(double, twin.space[other_name])
            shared = shared or (wanted and other_name != name)
            if wanted != found:
                return f"{name} and {other_name} share memory: {wanted} on NumPy, {found} on its twin"
        if array.base is None and double.base is not None:
            return f"{name} has no base on NumPy, and one on its twin"
        if shared and array.base is not None and double.base is None:
            return f"{name} has a base on NumPy, and none on its twin"
        for other_name in names:
            has_same_base = double.base is twin.space[other_name]
            if array.base is judge.space[other_name] and array.base is not None and not has_same_base:
                return f"{name}.base is {other_name} on NumPy only"
    return None


def is_out_of_range(array: np.ndarray) -> bool:
    """Return whether an array holds numbers that later statements may not compute with: too large numbers,
    and subnormal numbers, which are zero for the kernels of TensorFlow and XLA.
    """
    if array.dtype.kind not in "fc" or not array.size or not array.flags.writeable:
        return False
    sizes = np.abs(np.stack([array.real, array.imag]))
    is_subnormal = (sizes > 0) & (sizes < np.finfo(array.dtype).tiny)
    return not bool(np.all(sizes <= LARGEST)) or bool(np.any(is_subnormal))
