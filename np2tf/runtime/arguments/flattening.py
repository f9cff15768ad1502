"""Divides arguments and variables: arrays, numbers, constants and containers go to a `Signature`."""

from __future__ import annotations

import enum
import types
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.pytree.registry import DEEPEST
from np2tf.runtime.arguments.captures import current, dependencies_of, functions_among
from np2tf.runtime.arguments.signature import Signature, number_key
from np2tf.runtime.arguments.value_kinds import BY_IDENTITY, BY_VALUE, IMMUTABLE, kind_of
from np2tf.runtime.introspection.code_names import is_made_anew
from np2tf.runtime.introspection.stored_attributes import wrapped_function
from np2tf.runtime.random.states import is_generator
from np2tf.runtime.structures.array_stand_in import host_value
from np2tf.runtime.structures.number_list import number_type
from np2tf.staging import ArgumentError, ArrayClassError, RandomUseError, UnsupportedDtypeError
from np2tf.tnp._array.ndarray import is_array, scalar
from np2tf.tnp._front.front import Function
from np2tf.tnp._operands.conversion import is_numpy_subclass
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._ragged.ragged_array import RAGGED


def take_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], changing_places: Collection[int], signature: Signature
) -> None:
    """Add the arguments of a call to the signature; `changing_places` has the places of numbers that are
    inputs.

    Raises:
        StagingError: as for `take_apart`.
    """
    signature.parts.append(len(args))
    signature.note_direct_lists((*args, *kwargs.values()))
    for place, value in enumerate(args):
        if place in changing_places and kind_of(value) == "number":
            signature.changing_numbers.append(len(signature.numbers))
        take_apart(value, signature, 1)
    take_apart(kwargs, signature, 1)


def take_apart(value: Any, signature: Signature, depth: int = 0) -> None:
    """Add `value` to the signature.

    Raises:
        StagingError: if it contains a value whose changes np2tf could not notice.
    """
    # Another thread that is tracing may have bound it to a stand-in.
    value = host_value(value)
    kind = kind_of(value)
    if kind == "array":
        _take_array(value, signature)
    elif kind == "number":
        signature.numbers.append(value)
        signature.parts.append(type(value))
    elif kind == "constant":
        _take_constant(value, signature, depth)
    elif kind == "generator":
        signature.add_generator(value)
    elif kind == "set":
        signature.add_set(value)
    elif depth > DEEPEST:
        raise ArgumentError("an argument is nested too deeply")
    elif kind == "unknown":
        name = type(value).__qualname__
        raise ArgumentError(f"an argument or variable of type {name} cannot be an input of a graph")
    elif kind == "ragged":
        signature.parts.append(RAGGED.outline_of(value))
        for part in RAGGED.items(value):
            signature.add_array(part, is_of_any_length=True)
    elif kind in IMMUTABLE:
        container = IMMUTABLE[kind]
        signature.parts.append(container.outline_of(value))
        for item in container.items(value):
            take_apart(item, signature, depth + 1)
    elif kind == "logger":
        # The trace finds out whether a record is due.
        signature.parts.append((id(value), value.getEffectiveLevel(), value.disabled, value.manager.disable))
    elif kind == "method":
        _take_constant(value.__func__, signature, depth)
        take_apart(value.__self__, signature, depth + 1)
    elif signature.note_holder(value):
        _take_holder(value, kind, signature, depth)


def _take_constant(value: Any, signature: Signature, depth: int) -> None:
    signature.parts.append((type(value), _function_key(value)))
    if isinstance(value, enum.Enum):
        signature.classes.add(type(value))
    elif not isinstance(value, BY_VALUE):
        dependencies = dependencies_of(value)
        values = current(dependencies.captures)
        signature.argument_dependencies.append(dependencies)
        signature.captures += dependencies.captures
        signature.parts += functions_among(values)
        signature.begin_names()
        take_dependencies(values, signature, depth + 1)
        signature.end_names()


def _function_key(value: Any) -> Any:
    """Return a function as a part of a key.

    Its dependencies are in the key. If the function is made anew for each call, its code identifies it.
    """
    if type(value) is types.FunctionType and is_made_anew(value):
        return value.__code__, id(value.__globals__)
    return value


def _take_holder(value: Any, kind: str, signature: Signature, depth: int) -> None:
    if kind == "list":
        number_kind = number_type(value) if signature.may_vary_in_length(value) else None
        if number_kind is not None:
            signature.add_number_list(value, number_kind)
            return
        signature.parts.append((list, len(value)))
        for item in value:
            take_apart(item, signature, depth + 1)
        return
    entries = value if kind == "dict" else signature.touched_attributes(value)
    signature.parts.append((type(value), tuple(entries)))
    if kind == "instance":
        signature.classes.add(type(value))
    for name, item in entries.items():
        if kind == "instance" and name in signature.assigned_names and kind_of(item) == "number":
            signature.changing_numbers.append(len(signature.numbers))
        if kind != "instance" or not signature.only_appends_to(name, item):
            take_apart(item, signature, depth + 1)


def take_dependencies(values: Sequence[Any], signature: Signature, depth: int = 0) -> None:
    """Add the values that a function reads besides its arguments: arrays as inputs, all other values as
    constants.

    Raises:
        StagingError: as for `take_apart`.
    """
    start = len(signature.numbers)
    for value in values:
        if isinstance(value, types.MethodType) and not isinstance(value.__self__, type):
            signature.parts.append(value.__func__)
            value = value.__self__
            if is_generator(value):
                raise RandomUseError("it draws by a method that is read by name")
        if not _is_opaque(value):
            take_apart(value, signature, depth)
        elif isinstance(value, _BY_NAME):
            signature.parts.append(value)
    # The code reads these numbers by name, so they cannot become inputs.
    signature.constants += tuple(map(number_key, signature.numbers[start:]))
    del signature.numbers[start:]
    signature.changing_numbers = [k for k in signature.changing_numbers if k < start]


#: Functions without dependencies, and modules. A trace keeps the objects that it has met under the names,
#: so they are parts of the key: `activation = np.tanh` may become `activation = np.sin`.
_BY_NAME = (types.ModuleType, types.BuiltinFunctionType, np.ufunc, type(np.sum), Function)


def _is_opaque(value: Any) -> bool:
    """Return whether a value is a class, function or module, whose dependencies `captures` follows."""
    if isinstance(value, BY_IDENTITY) or wrapped_function(value) is not None:
        return True
    module = type(value).__module__
    if module.startswith("scipy.stats._"):  # a probability distribution
        return True
    is_of_a_library = module.split(".")[0] in ("np2tf", "numpy", "typing")
    return is_of_a_library and not is_array(value) and callable(value)


def _take_array(value: Any, signature: Signature) -> None:
    if is_numpy_subclass(value):
        raise ArrayClassError(f"an array of class {type(value).__name__}, for NumPy")
    dtype = value.dtype
    if not has_tf_dtype(np.dtype(dtype.as_numpy_dtype if isinstance(dtype, tf.DType) else dtype)):
        raise UnsupportedDtypeError.of(dtype=dtype)
    if type(value) is scalar and value.weak is not None:
        raise ArgumentError("a staged number outside of its trace")
    signature.add_array(value)
