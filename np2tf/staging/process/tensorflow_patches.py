"""The changes that np2tf makes in TensorFlow, AutoGraph and Keras when they are imported, and what a forked
process does without TensorFlow's threads.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from np2tf.arrays.array.ndarray import is_array, unwrap_tensors
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.numpy_functions import Function
from np2tf.core.late import tf
from np2tf.core.settings import config
from np2tf.staging.process.boundary import AUTOGRAPH, is_of_translated_module, is_translated_code
from np2tf.staging.process.tensorflow_import import when_there

# -- forks ---------------------------------------------------------------------------------------------------
# Processes made by `fork`, which inherit TensorFlow's state but none of its threads.
#
# In such a process TensorFlow waits forever for work that it gives to a thread, and it gives a compiled
# function to a thread. So functions run as Python there; on NumPy's arrays they are as fast as ever.


def _forget_in_child() -> None:
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None and context.context().__dict__.get("_initialized"):
        config.jit = "off"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


# -- tensorflow patches --------------------------------------------------------------------------------------
# The changes that np2tf makes in TensorFlow, AutoGraph and Keras when they are imported.
#
# docs/tensorflow.md lists all of them.
#
# The changes affect only code that np2tf has translated, and arrays of np2tf.


def _is_left_alone(function: Any) -> bool:
    """Return whether AutoGraph, which converts the source file's code, would undo a translation."""
    function = getattr(function, "__func__", function)
    if str(getattr(function, "__module__", "")).partition(".")[0] == "np2tf":
        return True
    code = getattr(function, "__code__", None)
    if code is None or AUTOGRAPH in code.co_names or AUTOGRAPH in code.co_freevars:
        return False
    return is_of_translated_module(function) or is_translated_code(function)


def _patch_autograph(is_unsupported: Callable[[Any], bool]) -> None:
    @functools.wraps(is_unsupported)
    def is_excluded(function: Any) -> bool:
        return _is_left_alone(function) or is_unsupported(function)

    sys.modules["tensorflow.python.autograph.impl.conversion"].is_unsupported = is_excluded  # type: ignore[attr-defined]


def _patch_keras(compute_output_spec: Callable[..., Any]) -> None:
    @functools.wraps(compute_output_spec)
    def of_tensors(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def unwrap_result(*inputs: Any, **keywords: Any) -> Any:
            return unwrap_tensors(fn(*inputs, **keywords))

        return compute_output_spec(unwrap_result, *args, **kwargs)

    sys.modules["keras.src.backend"].compute_output_spec = of_tensors  # type: ignore[attr-defined]


def _patch_autographs_tests(is_dense_tensor: Callable[[Any], bool]) -> None:
    @functools.wraps(is_dense_tensor)
    def is_dense(value: Any) -> bool:
        if fast_flags.tensors and is_array(value):
            return not hasattr(value.tensor, "numpy")  # the value is known only when the graph runs
        return is_dense_tensor(value)

    sys.modules["tensorflow.python.autograph.utils.tensors"].is_dense_tensor = is_dense  # type: ignore[attr-defined]


def _demand_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of TensorFlow that requires tensors, also as results of the functions it calls."""

    @functools.wraps(function)
    def of_raw_tensors(*args: Any, **kwargs: Any) -> Any:
        arguments, keywords = list(args), kwargs
        if fast_flags.tensors and any(map(is_array, tf.nest.flatten([arguments, keywords]))):
            arguments, keywords = tf.nest.map_structure(_tensor_of, (arguments, keywords))
        return function(
            *map(_giving_tensors, arguments), **{k: _giving_tensors(v) for k, v in keywords.items()}
        )

    return of_raw_tensors


def _giving_tensors(value: Any) -> Any:
    if type(value) is FunctionType or isinstance(value, Function):
        return functools.wraps(value)(lambda *args: unwrap_tensors(value(*args)))
    return value


def _tensor_of(value: Any) -> Any:
    return value.tensor if is_array(value) else value


def _patch_function(name: str, function: Callable[..., Any]) -> None:
    setattr(sys.modules["tensorflow"], name, _demand_tensors(function))


when_there("tensorflow.python.autograph.impl.conversion", "is_unsupported", _patch_autograph)
when_there("tensorflow.python.autograph.utils.tensors", "is_dense_tensor", _patch_autographs_tests)
when_there("keras.src.backend", "compute_output_spec", _patch_keras)
for _name in ("while_loop", "switch_case", "case", "map_fn", "py_function", "slice"):
    when_there("tensorflow", _name, functools.partial(_patch_function, _name))
