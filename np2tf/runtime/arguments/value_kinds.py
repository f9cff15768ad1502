"""The kinds of values that an argument or variable can be: an array, a number, a container, a constant."""

from __future__ import annotations

import enum
import functools
import logging
import types
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.pytree.containers import PARTIAL, SLICE, TUPLE
from np2tf.runtime.environment.raw_tensors import variables
from np2tf.runtime.introspection.stored_attributes import wrapped_function
from np2tf.runtime.introspection.user_objects import is_instance
from np2tf.runtime.random.states import is_generator
from np2tf.runtime.structures.constant_sets import is_constant_set
from np2tf.tnp._array.ndarray import is_array, scalar
from np2tf.tnp._ragged.ragged_array import RAGGED, RaggedArray

_NUMBERS = (int, float, complex, np.number, np.bool_)
_SINGLETONS = (type(None), type(Ellipsis), type(NotImplemented))
BY_VALUE = (str, bytes, bool, *_SINGLETONS, np.dtype, range, tf.DType, enum.Enum)
BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)
_kinds: dict[type, str] = {}
#: The number of classes to remember, because a program may make classes without end.
_MOST_KINDS = 2000


def kind_of(value: Any) -> str:
    """Return how a value is taken apart; "unknown" if that is impossible."""
    if type(value) is scalar:
        # A scalar may be a known or a staged number.
        return _kind_of(value)
    kind = _kinds.get(type(value))
    if kind is None:
        kind = _kind_of(value)
        of_class = kind not in ("constant", "set", "unknown") or isinstance(value, (*BY_VALUE, *BY_IDENTITY))
        if of_class and not (kind == "tuple" and type(value).__dictoffset__):
            if len(_kinds) >= _MOST_KINDS:
                _kinds.clear()
            _kinds[type(value)] = kind
    return kind


def _kind_of(value: Any) -> str:
    kind = type(value)
    if isinstance(value, enum.Enum):
        return "constant"
    if kind is not bool and isinstance(value, _NUMBERS):
        return "number" if kind in _NUMBERS or isinstance(value, np.generic) else "unknown"
    if is_array(value) or isinstance(value, (np.ndarray, tf.Tensor)) or kind in variables:
        return "array"
    if kind is RaggedArray:
        return "ragged"
    if kind is types.MethodType and not isinstance(value.__self__, type):
        return "method"
    if kind is functools.partial:
        return "partial"
    if kind is logging.Logger:
        return "logger"
    if isinstance(value, (*BY_VALUE, *BY_IDENTITY)) or wrapped_function(value) is not None:
        return "constant"
    if kind is list or kind is dict or kind is slice:
        return kind.__name__
    if isinstance(value, tuple):
        # A trace would lose the attributes of a tuple, which it makes again from the items.
        return "unknown" if getattr(value, "__dict__", None) else "tuple"
    if is_generator(value):
        return "generator"
    if is_constant_set(value):
        return "set"
    return "instance" if is_instance(value) else "unknown"


#: Kinds of values that hold other values, and do not change.
IMMUTABLE = {"tuple": TUPLE, "slice": SLICE, "partial": PARTIAL, "ragged": RAGGED}
