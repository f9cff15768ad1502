"""The functions that a transform runs eagerly: translations of functions that are not translated yet.

A gradient tape records TensorFlow's operations only. So each Python function that a transform runs, and each
function that it calls by way of `np2tf.call`, must be translated. No operator is staged, so a function may do
anything; nothing is refused.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.front import scipy_functions
from np2tf.arrays.functions import random_draws as draws
from np2tf.core import late
from np2tf.core.operators import check_bound
from np2tf.staging.callees import known_callees
from np2tf.staging.callees.known_callees import map_elements, number_type
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.host.waiting import WaitingFunction
from np2tf.staging.objects.user_code import is_of_library
from np2tf.staging.process.boundary import GENERATORS, is_translated_code

#: id of the code of a function -> the code itself, which keeps the id valid, the names in it, and the
#: translated functions by the meanings of these names; None if the translation changes nothing.
_translations: dict[
    int, tuple[types.CodeType, tuple[str, ...], dict[tuple[Any, ...], types.FunctionType | None]]
] = {}


def eager_version(callee: Any) -> Any:
    """Return the function to run in the place of `callee`: its translation if it has source, or np2tf's form
    of a function of SciPy or NumPy.
    """
    scipy_name = scipy_functions.native(callee)
    if scipy_name is not None:
        return scipy_functions.implementation_of(scipy_name)
    if isinstance(callee, WaitingFunction):
        callee.take_calls_back()
    kind = type(callee)
    if kind is types.FunctionType:
        return _function(callee)
    if kind is types.MethodType:
        function = callee.__func__
        if type(callee.__self__) in GENERATORS:
            return draws.function(callee.__name__, callee)
        return types.MethodType(_function(function), callee.__self__) if _is_plain(function) else callee
    if kind is functools.partial:
        return functools.partial(eager_version(callee.func), *callee.args, **callee.keywords)
    if kind is JittedFunction and tf.executing_eagerly():
        return _of_jitted(callee)
    if isinstance(callee, type) and issubclass(callee, np.generic):
        return number_type(callee)
    if callee is np.random.default_rng and tf.executing_eagerly():
        return draws.default_rng
    if kind is np.vectorize and not callee.signature and not callee.excluded:
        return functools.partial(map_elements, callee, eager_version(callee.pyfunc))
    return known_callees.of_numpy(callee) or callee


def _of_jitted(callee: JittedFunction) -> Any:
    """Return the translation of a jitted function, which a transform runs operation by operation."""
    translation = eager_version(callee.__wrapped__)
    if translation is callee.__wrapped__:
        return callee
    return lambda *args, **kwargs: check_bound(translation(*args, **kwargs))


def _is_plain(function: Any) -> bool:
    return type(function) is types.FunctionType


def _function(function: types.FunctionType) -> Callable[..., Any]:
    if (function.__module__ or "").partition(".")[0] == "np2tf" or is_translated_code(function):
        return function
    if is_of_library(function):
        return function
    code = function.__code__
    entry = _translations.get(id(code))
    if entry is None:
        entry = _translations[id(code)] = code, tuple(_names_in(code)), {}
    _, names, by_meanings = entry
    meanings = _numpy_objects(function, names)
    if meanings not in by_meanings:
        translation: Any = late.translator.eager_version(function)
        translation = translation.__wrapped__ if isinstance(translation, JittedFunction) else translation
        by_meanings[meanings] = translation
    translation = by_meanings[meanings]
    return function if translation is None else _with_closure_of(function, translation)


def _names_in(code: types.CodeType) -> dict[str, None]:
    """Return the global names, attributes and closure variables in a function's code and in inner code."""
    names = dict.fromkeys((*code.co_names, *code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_names_in(constant))
    return names


def _numpy_objects(function: types.FunctionType, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the modules and functions of NumPy that the names mean now: translations have counterparts.

    Two functions with the same code are translated apart if a closure variable means `np.sin` in the first
    and `np.cos` in the second.
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    variables = function.__globals__
    return tuple([_numpy_object(cells[name] if name in cells else variables.get(name)) for name in names])


def _numpy_object(value: Any) -> Any:
    if type(value) is types.CellType:
        try:
            value = value.cell_contents
        except ValueError:  # not bound yet
            return None
    if isinstance(value, types.ModuleType):
        return id(value)
    if not callable(value):
        return None
    is_numpys = isinstance(value, np.ufunc) or (getattr(value, "__module__", None) or "").startswith("numpy")
    return id(value) if is_numpys else True


def _with_closure_of(function: types.FunctionType, translation: types.FunctionType) -> types.FunctionType:
    """Return a translation of the same code with the globals, closure and defaults of `function`."""
    cells = dict(zip(translation.__code__.co_freevars, translation.__closure__ or ()))
    cells.update(zip(function.__code__.co_freevars, function.__closure__ or ()))
    closure = tuple(cells[name] for name in translation.__code__.co_freevars)
    result = types.FunctionType(
        translation.__code__, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__dict__.update(function.__dict__)
    result.__qualname__, result.__module__ = function.__qualname__, function.__module__
    return result
