"""What translated modules call where values cross their boundary: raw tensors in, tensors out, generators'
methods, memory for NumPy's arrays; and which code is translated at all.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Collection
from functools import partial
from typing import Any
from weakref import WeakSet

import numpy as np

from np2tf.arrays.array.ndarray import (
    is_unsupported_dtype,
    storage_of,
    tensor_array,
    tensor_scalar,
    unwrap_tensors,
)
from np2tf.arrays.front.residency import CONTAINERS, Kinds, holds, surroundings
from np2tf.core import late
from np2tf.core.containers import DISPLAYS
from np2tf.core.late import LazyModule, tf
from np2tf.staging.process import tensorflow_import

# -- graph draws ---------------------------------------------------------------------------------------------
# Methods of NumPy's generators in translated code that runs while the program builds a graph of its own.
#
# The method of a generator draws at once, so that the graph would have its numbers as constants. np2tf's
# function for it draws whenever the graph runs. The import machinery puts `draw_method` around such
# methods.

_draws: Any = LazyModule("np2tf.arrays.functions.random_draws")
#: NumPy's classes of generators.
GENERATORS = (np.random.Generator, np.random.RandomState)


def draw_method(method: Any) -> Any:
    """Return the function to call in the place of a method that may draw: itself outside of graphs."""
    if surroundings.graphs is None or not surroundings.graphs.stack:
        return method
    owner = getattr(method, "__self__", None)
    return _draws.function(method.__name__, method) if type(owner) in GENERATORS else method


# -- raw tensors ---------------------------------------------------------------------------------------------
# Converts raw tensors and Variables to arrays where they enter a translated function, and results to
# tensors.
#
# A function without such arguments is not affected: NumPy's arrays and `tnp.ndarray` pass unchanged.

#: The classes of tensors and of variables; empty until TensorFlow is imported.
raw: set[type] = set()
#: The classes of variables.
variables: set[type] = set()
#: The class of ragged tensors; empty until TensorFlow is imported.
ragged: set[type] = set()
#: The classes in `raw` and `ragged`.
_outside = Kinds()
#: These classes, and the containers that may hold such values; empty until TensorFlow is
#: imported.
suspects: set[type] = set()


def _add(kind: type) -> None:
    raw.add(kind)
    if "Variable" in kind.__name__:
        variables.add(kind)
    _outside.add({kind})
    suspects.update(raw, CONTAINERS)


def _add_ragged(kind: type) -> None:
    ragged.add(kind)
    _outside.add({kind})
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
            return late.arrays.ragged_array_of(value)
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


# -- translated code -----------------------------------------------------------------------------------------
# Tells translated functions from functions that only stand in a translated module.
#
# The host tier of `np2tf.jit` runs a function's original (`np2tf.staging.host.originals`). The functions
# that an original makes are not translated either.

#: The code of functions that were translated in place, and of the functions inside them.
_translated_codes: WeakSet[types.CodeType] = WeakSet()
#: id of the code of originals and of the functions inside them -> the code, which keeps the id valid.
_original_codes: dict[int, types.CodeType] = {}
#: Originals whose code is not there yet: a program that uses no transform never looks.
_new_originals: list[types.CodeType] = []
_lock = threading.Lock()
_MARK = next(iter(NAMES))


def note_translated(code: types.CodeType) -> None:
    """Record the code of a function that was translated in place, and of the functions inside."""
    _translated_codes.add(code)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            note_translated(inner)


def note_original(code: types.CodeType) -> None:
    """Record the code of an original, and of the functions inside."""
    _new_originals.append(code)


def is_translated_code(function: types.FunctionType) -> bool:
    """Return whether the code of a function was translated, in place or with its whole module."""
    if function.__code__ in _translated_codes:
        return True
    return is_of_translated_module(function) and not _is_original(function.__code__)


def is_of_translated_module(function: types.FunctionType) -> bool:
    """Return whether a function, translated or not, uses the globals of a translated module."""
    return _MARK in function.__globals__


def _is_original(code: types.CodeType) -> bool:
    with _lock:
        while _new_originals:
            _add_original_code(_new_originals.pop())
    return id(code) in _original_codes


def _add_original_code(code: types.CodeType) -> None:
    _original_codes[id(code)] = code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            _add_original_code(inner)


# -- host memory ---------------------------------------------------------------------------------------------
# `np2tf.host_memory`: an array on the host whose memory another array can use.

_devices: Any = LazyModule("np2tf.arrays.dispatch.placement")


def host_memory(x: Any) -> Any:
    """Return `x` as an array that `np.ndarray.__new__` accepts as its `buffer`.

    An array on TensorFlow is moved to NumPy. No other reference to a moved array may exist, because writes
    to the new array would not be visible through it.

    Args:
        x: an array of any shape and dtype, or any other buffer, which is returned unchanged.

    Returns:
        `np.ndarray` of the same shape and dtype for an array; else `x`.

    Raises:
        TypeError: if `x` is on TensorFlow, and another reference to it or to a view of it exists.

    See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html.
    """
    return x if type(x) is np.ndarray or "tensorflow" not in sys.modules else _devices.move_out(x)
