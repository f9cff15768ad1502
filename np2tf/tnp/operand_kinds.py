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
HOST: set[Any] = {*PLAIN, np.ndarray, np.dtype}
#: So many classes may join; a program that makes classes without end does not fill the memory.
_MOST = 10_000
#: Packages whose classes are, or may hold, tensors; and modules in them whose classes do not.
_TENSOR_PACKAGES = frozenset({"tensorflow", "keras", "np2tf"})
_WITHOUT_TENSORS = frozenset({"np2tf.runtime.jit", "np2tf.tnp.front"})


def is_host(value: Any) -> bool:
    """Whether neither `value` nor an item of it, if it is a list, tuple or dict, is on TensorFlow."""
    kind = type(value)
    if kind in HOST:
        return True
    if issubclass(kind, (list, tuple)):
        return HOST.issuperset(map(type, value)) or all(map(is_host, value))
    if issubclass(kind, dict):
        return all(map(is_host, value.values()))
    return is_host_type(kind)


def is_host_type(kind: type) -> bool:
    """Whether no object of a class is a tensor or an array of ours; containers may hold some."""
    if kind in HOST:
        return True
    modules = {base.__module__ for base in kind.__mro__} - _WITHOUT_TENSORS
    if any(module.partition(".")[0] in _TENSOR_PACKAGES for module in modules):
        return False
    if len(HOST) < _MOST and not issubclass(kind, (list, tuple, dict)):
        HOST.add(kind)
    return True


def are_host(values: Iterable[Any]) -> bool:
    """Whether all of `values` are the host's."""
    for value in values:  # noqa: SIM110  # takes half the time of `all` over a generator
        if type(value) not in HOST and not is_host(value):
            return False
    return True


class _Surroundings:
    """TensorFlow's state of this thread, once somebody has imported TensorFlow."""

    __slots__ = ("context", "has_no_tape")

    def __init__(self) -> None:
        self.context: Any = None
        self.has_no_tape: Any = None

    def found(self) -> bool:
        """Whether TensorFlow has been imported, and not only begun to be."""
        contexts = sys.modules.get("tensorflow.python.eager.context")
        records = sys.modules.get("tensorflow.python.eager.record")
        if not hasattr(sys.modules.get("tensorflow"), "GradientTape") or contexts is None or records is None:
            return False
        self.has_no_tape = records.pywrap_tfe.TFE_Py_TapeSetIsEmpty
        self.context = contexts.context()
        return True


_surroundings = _Surroundings()
_ON_HOST = (None, "CPU")


def new_arrays_are_tensors() -> bool:
    """Whether a new array must be a tensor for TensorFlow's sake, whatever np2tf's settings.

    That is so in a graph, while a gradient tape records, and in a device scope that names an accelerator.
    """
    if _surroundings.context is None and ("tensorflow" not in sys.modules or not _surroundings.found()):
        return False
    thread = _surroundings.context._thread_local_data
    if not thread.is_eager or not _surroundings.has_no_tape():
        return True
    return thread.device_spec.device_type not in _ON_HOST


def names_accelerator() -> bool:
    """Whether the device scope that this thread is in names something else than a CPU."""
    if _surroundings.context is None and not _surroundings.found():
        return False
    return _surroundings.context._thread_local_data.device_spec.device_type not in _ON_HOST
