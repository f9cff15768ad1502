"""Where operands live: on the host or on TensorFlow, by exact types and without TensorFlow; whether new
arrays are tensors.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Iterable
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


class Kinds:
    """Classes for which `holds` searches.

    Args:
        rule: returns whether a class is one of them; it is asked once for each class that is seen.
        derived: whether the search looks into containers of derived classes, too. NumPy does so; calls of
            the program's functions do not.

    Attributes:
        others: all classes seen whose objects neither are of these classes nor hold such objects.
    """

    def __init__(self, rule: Callable[[type], bool] = lambda _: False, derived: bool = False) -> None:
        self._rule = rule
        self.derived = derived
        self.these: set[type] = set()
        self.others: set[Any] = set(PLAIN)

    def add(self, kinds: Iterable[type]) -> None:
        """Add classes."""
        self.these.update(kinds)
        self.others -= self.these

    def include(self, kind: type) -> bool:
        """Return whether a class is one of these, and remember the answer."""
        if kind in self.others:
            return False
        is_one = self._rule(kind)
        known = self.these if is_one else self.others
        if len(known) < _MAX_CLASSES and not issubclass(kind, (list, tuple, dict)):
            known.add(kind)
        return is_one


def holds(values: Collection[Any], kinds: Kinds, seen: dict[int, Any] | None = None) -> bool:
    """Return whether a value is of one of the classes, or an item of a list, tuple or dict among the values.

    All items count, at any depth, so that the answer does not depend on the place of an item. A long list of
    numbers costs some nanoseconds an item.
    """
    others = kinds.others
    if others.issuperset(map(type, values)):
        return False
    for value in values:
        kind = type(value)
        if kind not in CONTAINERS:
            if kind in others:
                continue
            if kind in kinds.these:
                return True
            if not kinds.derived or not issubclass(kind, (list, tuple, dict)):
                if kinds.include(kind):
                    return True
                continue
        items = value.values() if kind is not list and issubclass(kind, dict) else value
        if not others.issuperset(map(type, items)):
            seen = {} if seen is None else seen
            if id(value) not in seen:
                seen[id(value)] = value
                if holds(items, kinds, seen):
                    return True
    return False


def _is_foreign(kind: type) -> bool:
    modules = {base.__module__ for base in kind.__mro__ if base not in _without_tensors}
    return any(module.partition(".")[0] in _TENSOR_PACKAGES for module in modules)


#: Classes whose objects may be tensors or arrays on TensorFlow. Containers may hold some.
FOREIGN = Kinds(_is_foreign, derived=True)
#: Types whose values NumPy takes unchanged.
HOST = FOREIGN.others
HOST |= {np.ndarray, np.dtype}


def is_host(value: Any) -> bool:
    """Return whether a value, and each item of a list, tuple or dict, is not on TensorFlow."""
    kind = type(value)
    is_flat = (kind is list or kind is tuple) and HOST.issuperset(map(type, value))  # the usual case, faster
    return is_flat or not holds((value,), FOREIGN)


def are_host(values: Iterable[Any]) -> bool:
    """Return whether all of `values` are on the host."""
    for value in values:  # noqa: SIM110  # takes half the time of `all` over a generator
        if type(value) not in HOST and not is_host(value):
            return False
    return True


def operands_in(key: Any) -> list[Any]:
    """Return the operands in a key: its parts, and the ends and steps of its slices."""
    parts = key if isinstance(key, tuple) else (key,)
    ends = ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,) for part in parts)
    return [end for ends_of_part in ends for end in ends_of_part]


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
            self._note_tensorflow()
        except Exception as error:  # something of this name that is not TensorFlow, or only a part of it
            installation.note(error)
            installation.warn()
        return self.graphs is not None

    def _note_tensorflow(self) -> None:
        from tensorflow.python import pywrap_tfe
        from tensorflow.python.eager import context
        from tensorflow.python.framework import config, ops

        self.has_no_tape = pywrap_tfe.TFE_Py_TapeSetIsEmpty
        kinds = {device.device_type.lower() for device in config.get_visible_devices()}
        self.device_kind = next((kind for kind in ACCELERATORS if kind in kinds), "cpu")
        self._context = context.context()
        importlib.import_module("np2tf.arrays.front.watch_error")
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
