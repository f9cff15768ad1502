"""Where raw tensors and Variables enter a translated function, they become arrays; results become tensors.

A function that is given none of them is not concerned: NumPy's arrays and `tnp.ndarray` pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from np2tf.lazy import tf
from np2tf.pytree.registry import DISPLAYS
from np2tf.runtime.environment import tensorflow_import
from np2tf.runtime.environment.call_context import LOOKED_AT
from np2tf.tnp._array.ndarray import (
    is_unsupported_dtype,
    storage_of,
    tensor_array,
    tensor_scalar,
    unwrap_tensors,
)

_CONTAINERS = frozenset({list, tuple, dict})
#: The classes of tensors and of variables. They are here as soon as TensorFlow has been imported.
raw: set[type] = set()
#: Those of variables.
variables: set[type] = set()
#: Both, and the containers that may hold some; nothing as long as there are none.
suspects: set[type] = set()


def _add(kind: type) -> None:
    raw.add(kind)
    if "Variable" in kind.__name__:
        variables.add(kind)
    suspects.update(raw, _CONTAINERS)


for _module, _name in (
    ("tensorflow.python.framework.ops", "EagerTensor"),
    ("tensorflow.python.framework.ops", "SymbolicTensor"),
    ("tensorflow.python.ops.resource_variable_ops", "ResourceVariable"),
    ("tensorflow.python.distribute.values", "MirroredVariable"),
    ("tensorflow.python.distribute.values", "SyncOnReadVariable"),
    ("keras.src.backend.tensorflow.core", "Variable"),
):
    tensorflow_import.when_there(_module, _name, _add)


class Boundary:
    """One call of a function that is given raw tensors or Variables."""

    __slots__ = ("_variables",)

    def __init__(self) -> None:
        #: Variables, the arrays that the function has for them, and what these held at first.
        self._variables: list[tuple[Any, Any, tf.Tensor]] = []

    def take(self, value: Any) -> Any:
        """What the function is given for `value`: an array for a tensor or Variable, also in containers."""
        kind = type(value)
        if kind in _CONTAINERS:
            if not has_raw((value,)):
                return value
            return DISPLAYS.map_items(self.take, value)
        if kind not in raw:
            return value
        tensor = tf.convert_to_tensor(value)
        if is_unsupported_dtype(np.dtype(tensor.dtype.as_numpy_dtype)):
            return value  # strings and resources are TensorFlow's alone
        if isinstance(value, tf.Tensor):
            return tensor_scalar(tensor) if tensor.shape.rank == 0 else tensor_array(tensor)
        for variable, array, _ in self._variables:
            if variable is value:
                return array
        array = tensor_array(tensor)
        self._variables.append((value, array, tensor))
        return array

    def give(self, result: Any) -> Any:
        """What the caller is given for a result, after Variables have been assigned what was written."""
        for variable, array, before in self._variables:
            value = storage_of(array).value
            if value is not before:
                variable.assign(value)
        return unwrap_tensors(result)


def has_raw(values: Iterable[Any]) -> bool:
    """Whether a raw tensor or a Variable is among the values, or in a list, tuple or dict among them."""
    for value in values:
        kind = type(value)
        if kind in raw:
            return True
        if kind in _CONTAINERS:
            items = list(value.values()) if kind is dict else value
            if has_raw(items[:LOOKED_AT]):
                return True
    return False


def boundary(*values: Any) -> Boundary | None:
    """The boundary of a call with these arguments; None where none of them concerns it."""
    return Boundary() if has_raw(values) else None


def across(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that is written for arrays with raw tensors or Variables among the arguments."""
    here = Boundary()
    named = {name: here.take(one) for name, one in kwargs.items()}
    return here.give(function(*map(here.take, args), **named))


#: What translated code calls them; its globals or closure have these names. A function that the translation
#: has left as it is, and whose control flow AutoGraph may stage therefore, has a name of its own for one.
AUTOGRAPH = "_np2tf_boundary_as_source"
NAMES: dict[str, Any] = {
    "_np2tf_suspects": suspects,
    "_np2tf_boundary": boundary,
    AUTOGRAPH: boundary,
    "_np2tf_type": type,
}
