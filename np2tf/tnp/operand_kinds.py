"""Whether operands are the host's or TensorFlow's, told by their exact types and without TensorFlow."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

#: Types of which no value is or holds an array.
PLAIN = frozenset(
    {
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        type(None),
        type(Ellipsis),
        slice,
        type,
        range,
        *np.sctypeDict.values(),
    }
)
#: Types whose values NumPy takes as they are. Classes join it when they are first met.
HOST: set[type] = {*PLAIN, np.ndarray, np.dtype}
#: So many classes may join; a program that makes classes without end does not fill the memory.
_MOST = 10_000
#: Packages whose classes are, or may hold, tensors.
_TENSOR_PACKAGES = frozenset({"tensorflow", "keras", "np2tf"})


def is_host(value: Any) -> bool:
    """Whether no tensor, nor an array of ours, is `value` or in it (lists, tuples and dicts are looked into)."""
    kind = type(value)
    if kind in HOST:
        return True
    if issubclass(kind, (list, tuple)):
        return HOST.issuperset(map(type, value)) or all(map(is_host, value))
    if issubclass(kind, dict):
        return all(map(is_host, value.values()))
    if any(base.__module__.partition(".")[0] in _TENSOR_PACKAGES for base in kind.__mro__):
        return False
    if len(HOST) < _MOST:
        HOST.add(kind)
    return True


def are_host(values: Iterable[Any]) -> bool:
    """Whether all of `values` are the host's."""
    return all(type(value) in HOST or is_host(value) for value in values)


def new_arrays_are_tensors() -> bool:
    """Whether a new array must be a tensor for TensorFlow's sake, whatever np2tf's settings.

    That is so in a graph, while a gradient tape records, and in a device scope that names an accelerator.
    """
    context = sys.modules.get("tensorflow.python.eager.context")
    record = sys.modules.get("tensorflow.python.eager.record")
    if context is None or record is None or not hasattr(context, "executing_eagerly"):
        return False  # not imported, or being imported by another thread
    if not context.executing_eagerly() or record.could_possibly_record():
        return True
    return names_accelerator()


def names_accelerator() -> bool:
    """Whether the device scope that this thread is in names something else than a CPU."""
    context = sys.modules["tensorflow.python.eager.context"]
    spec = context.context().device_spec
    return spec.device_type not in (None, "CPU")
