"""Where operands live: on the host or on TensorFlow, by exact types and without TensorFlow; whether new
arrays are tensors.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Iterable, Set
from typing import Any, TypeVar

import numpy as np

from np2tf.arrays.front.flags import transform_depth
from np2tf.core.late import installation

#: Types whose values neither are arrays nor hold arrays.
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
#: Types whose values NumPy takes unchanged. `is_host_type` adds classes when it first sees them.
HOST: set[Any] = {*PLAIN, np.ndarray, np.dtype}
#: The containers of Python's own into which calls look for tensors.
CONTAINERS: frozenset[type] = frozenset({list, tuple, dict})
#: The kinds of devices that are not CPUs, the preferred one first.
ACCELERATORS = ("tpu", "gpu")
#: The largest number of classes to remember, so that a program that keeps making classes has memory left.
_MAX_CLASSES = 10_000
#: Packages whose objects are tensors or may hold tensors, and classes of these packages whose objects do not.
_TENSOR_PACKAGES = frozenset({"tensorflow", "keras", "np2tf"})
_without_tensors: set[type] = set()
_Class = TypeVar("_Class", bound=type)


def without_tensors(kind: _Class) -> _Class:
    """Declare that no object of one of np2tf's classes holds a tensor."""
    _without_tensors.add(kind)
    return kind


def is_host(value: Any) -> bool:
    """Return whether a value, and each item of a list, tuple or dict, is not on TensorFlow."""
    kind = type(value)
    if kind is list or kind is tuple or issubclass(kind, (list, tuple)):
        return HOST.issuperset(map(type, value)) or all(map(is_host, value))
    if issubclass(kind, dict):
        return all(map(is_host, value.values()))
    return is_host_type(kind)


def is_host_type(kind: type) -> bool:
    """Return whether no object of a class is a tensor or an array on TensorFlow. Containers may hold some."""
    if kind in HOST:
        return True
    modules = {base.__module__ for base in kind.__mro__ if base not in _without_tensors}
    if any(module.partition(".")[0] in _TENSOR_PACKAGES for module in modules):
        return False
    if len(HOST) < _MAX_CLASSES and not issubclass(kind, (list, tuple, dict)):
        HOST.add(kind)
    return True


def holds(values: Collection[Any], kinds: Set[type]) -> bool:
    """Return whether a value is of one of the classes, or an item of a list, tuple or dict among the values.

    All items count, at any depth, so that the answer does not depend on the place of an item. Containers of
    derived classes are not looked into. The classes of a container's items are compared as a set, so that a
    long list of numbers costs some nanoseconds an item.
    """
    if not kinds.isdisjoint(map(type, values)):
        return True
    if CONTAINERS.isdisjoint(map(type, values)):
        return False
    seen: set[int] = set()  # a container may hold itself
    unseen = [value for value in values if type(value) in CONTAINERS]
    while unseen:
        container = unseen.pop()
        if id(container) in seen:
            continue
        seen.add(id(container))
        items = container.values() if type(container) is dict else container
        found = set(map(type, items))
        if not kinds.isdisjoint(found):
            return True
        if not CONTAINERS.isdisjoint(found):
            unseen += [item for item in items if type(item) in CONTAINERS]
    return False


def operands_in(key: Any) -> list[Any]:
    """Return the operands in a key: its parts, and the ends and steps of its slices."""
    parts = key if isinstance(key, tuple) else (key,)
    ends = ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,) for part in parts)
    return [end for ends_of_part in ends for end in ends_of_part]


def are_host(values: Iterable[Any]) -> bool:
    """Return whether all of `values` are on the host."""
    for value in values:  # noqa: SIM110  # takes half the time of `all` over a generator
        if type(value) not in HOST and not is_host(value):
            return False
    return True


class _Surroundings:
    """TensorFlow's state of this thread, once the process has imported TensorFlow.

    Attributes:
        graphs: the stack of the graphs that this thread builds, as its attribute `stack`.
        has_no_tape: returns whether no gradient tape records in this thread.
        device_kind: the kind of device on which TensorFlow runs work: "cpu", "gpu" or "tpu".
    """

    __slots__ = ("_context", "device_kind", "graphs", "has_no_tape")

    def __init__(self) -> None:
        self.graphs: Any = None
        self.has_no_tape: Any = None
        self.device_kind = "cpu"
        self._context: Any = None

    def has_tensorflow(self) -> bool:
        """Return whether the import of TensorFlow has been completed, and remember its state objects."""
        if self.graphs is not None:
            return True
        tf = sys.modules.get("tensorflow")
        if tf is None or not hasattr(tf, "GradientTape") or not hasattr(tf, "config"):
            return False
        if installation.problem:
            return False
        try:
            self._note_tensorflow(tf)
        except Exception as error:  # something of this name that is not TensorFlow, or only a part of it
            installation.note(error)
            installation.warn()
        return self.graphs is not None

    def _note_tensorflow(self, tf: Any) -> None:
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.eager import context
        from tensorflow.python.framework import ops

        self.has_no_tape = pywrap_tfe.TFE_Py_TapeSetIsEmpty
        kinds = {device.device_type.lower() for device in tf.config.get_visible_devices()}
        self.device_kind = next((kind for kind in ACCELERATORS if kind in kinds), "cpu")
        self._context = context.context()
        importlib.import_module("np2tf.arrays.front.tape_advice")
        self.graphs = ops._default_graph_stack

    def names_accelerator(self) -> bool:
        """Return whether the device scope of this thread names a device other than a CPU."""
        return self._context.device_spec.device_type not in (None, "CPU")


surroundings = _Surroundings()


def device_kind() -> str:
    """Return the kind of device on which TensorFlow runs work here: "cpu", "gpu" or "tpu".

    Code that is being staged may be for another device: its trace has the attribute `device`.
    """
    surroundings.has_tensorflow()
    return surroundings.device_kind


def new_arrays_are_tensors() -> bool:
    """Return whether TensorFlow requires that a new array is a tensor, whatever np2tf's settings.

    This is so in a graph, while a gradient tape records or a transform runs, and in a device scope that
    names an accelerator.
    """
    if surroundings.graphs is None and ("tensorflow" not in sys.modules or not surroundings.has_tensorflow()):
        return False
    if surroundings.graphs.stack or transform_depth.depth or not surroundings.has_no_tape():
        return True
    return surroundings.device_kind != "cpu" and surroundings.names_accelerator()
