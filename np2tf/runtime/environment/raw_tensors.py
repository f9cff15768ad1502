"""Converts raw tensors and Variables to arrays where they enter a translated function, and results to
tensors.

A function without such arguments is not affected: NumPy's arrays and `tnp.ndarray` pass unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from np2tf import lazy
from np2tf.lazy import tf
from np2tf.pytree.registry import DISPLAYS
from np2tf.runtime.environment import tensorflow_import
from np2tf.runtime.environment.graph_draws import draw_method
from np2tf.tnp._array.dtypes import is_unsupported_dtype
from np2tf.tnp._array.ndarray import (
    storage_of,
    tensor_array,
    tensor_scalar,
    unwrap_tensors,
)
from np2tf.tnp._front.operand_kinds import CONTAINERS, holds

#: The classes of tensors and of variables; empty until TensorFlow is imported.
raw: set[type] = set()
#: The classes of variables.
variables: set[type] = set()
#: The class of ragged tensors; empty until TensorFlow is imported.
ragged: set[type] = set()
#: The classes in `raw` and `ragged`.
_outside: set[type] = set()
#: These classes, and the containers that may hold such values; empty until TensorFlow is
#: imported.
suspects: set[type] = set()


def _add(kind: type) -> None:
    raw.add(kind)
    if "Variable" in kind.__name__:
        variables.add(kind)
    _outside.add(kind)
    suspects.update(raw, CONTAINERS)


def _add_ragged(kind: type) -> None:
    ragged.add(kind)
    _outside.add(kind)
    suspects.add(kind)


for _module, _name in (
    ("tensorflow.python.framework.ops", "EagerTensor"),
    ("tensorflow.python.framework.ops", "SymbolicTensor"),
    ("tensorflow.python.ops.resource_variable_ops", "ResourceVariable"),
    ("tensorflow.python.distribute.values", "MirroredVariable"),
    ("tensorflow.python.distribute.values", "SyncOnReadVariable"),
    ("keras.src.backend.tensorflow.core", "Variable"),
    # Newer versions of Keras derive the class of their layers' weights from it.
    ("keras", "Variable"),
):
    tensorflow_import.when_there(_module, _name, _add)
tensorflow_import.when_there("tensorflow.python.ops.ragged.ragged_tensor", "RaggedTensor", _add_ragged)


class Boundary:
    """One call of a function with raw tensors or Variables among its arguments."""

    __slots__ = ("_variables",)

    def __init__(self) -> None:
        #: Variables, the function's arrays for them, and the initial values of these arrays.
        self._variables: list[tuple[Any, Any, tf.Tensor]] = []

    def take(self, value: Any) -> Any:
        """Return the function's argument for `value`: an array for a tensor or Variable, also in
        containers.
        """
        kind = type(value)
        if kind in CONTAINERS:
            if not has_raw((value,)):
                return value
            return DISPLAYS.map_items(self.take, value)
        if kind in ragged:
            return lazy.arrays.ragged_array_of(value)
        if kind not in raw:
            return value
        tensor = tf.convert_to_tensor(value)
        if is_unsupported_dtype(np.dtype(tensor.dtype.as_numpy_dtype)):
            return value  # strings and resources have no NumPy dtype
        if isinstance(value, tf.Tensor):
            return tensor_scalar(tensor) if tensor.shape.rank == 0 else tensor_array(tensor)
        for variable, array, _ in self._variables:
            if variable is value:
                return array
        array = tensor_array(tensor)
        self._variables.append((value, array, tensor))
        return array

    def give(self, result: Any) -> Any:
        """Assign the written values to Variables, and return the caller's form of a result."""
        for variable, array, before in self._variables:
            value = storage_of(array).value
            if value is not before:
                variable.assign(value)
        return unwrap_tensors(result)


def has_raw(values: Collection[Any]) -> bool:
    """Return whether a raw tensor or a Variable is among the values, or in a list, tuple or dict among
    them (see `holds`).
    """
    return tensorflow_import.program.has_tensorflow and holds(values, _outside)


def across(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function for arrays with raw tensors or Variables among the arguments."""
    here = Boundary()
    keywords = {name: here.take(value) for name, value in kwargs.items()}
    return here.give(function(*map(here.take, args), **keywords))


class _Boundaries:
    def boundary(self, *values: Any) -> Boundary | None:
        """Return the boundary of a call with these arguments; None if no argument is a raw tensor or
        Variable.
        """
        return Boundary() if has_raw(values) else None


#: The names that translated code uses for these objects, in its globals or closure. A function that the
#: translation has not changed, so that AutoGraph may stage its control flow, uses another name for
#: `boundary`. None of them is a function or a class, because programs list these with `inspect.getmembers`.
AUTOGRAPH = "_np2tf_boundary_as_source"
DRAW = "_np2tf_draw"
NAMES: dict[str, Any] = {
    "_np2tf_suspects": suspects,
    "_np2tf_boundary": _Boundaries().boundary,
    AUTOGRAPH: _Boundaries().boundary,
    "_np2tf_type": partial(type),
    DRAW: partial(draw_method),
}
