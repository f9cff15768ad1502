"""The changes that np2tf makes in AutoGraph and Keras when they are imported; docs/tensorflow.md lists all of
them.

The changes affect only code that np2tf has translated, and arrays of np2tf.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from np2tf.runtime.environment.raw_tensors import AUTOGRAPH
from np2tf.runtime.environment.tensorflow_import import when_there
from np2tf.runtime.environment.translated_code import is_of_translated_module, is_translated_code
from np2tf.tnp._array.ndarray import unwrap_tensors


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


when_there("tensorflow.python.autograph.impl.conversion", "is_unsupported", _patch_autograph)
when_there("keras.src.backend", "compute_output_spec", _patch_keras)
