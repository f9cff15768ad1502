"""Whether the host may run a call: TensorFlow, tapes, graphs, tensors and arrays around it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from np2tf.arrays.front import tensorflow_loading
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.numpy_functions import Function
from np2tf.arrays.front.residency import CONTAINERS, Kinds, device_kind, holds, surroundings
from np2tf.core import operators
from np2tf.core.containers import SEARCHED_CONTAINERS
from np2tf.core.late import installation
from np2tf.core.settings import config
from np2tf.staging.objects.code_names import all_names
from np2tf.staging.objects.user_objects import INSTANCE
from np2tf.staging.process.tensorflow_import import program, when_programs
from np2tf.staging.tiers.ledger import IMPORT, ledger

# -- call context --------------------------------------------------------------------------------------------
# The context of a call: whether TensorFlow is imported, a tape records, a graph is built, or a tensor is an
# argument.
#
# Only `load` loads TensorFlow. A program that has not imported it has no tensors and no tapes. Once
# TensorFlow is imported, `tensorflow` stores the objects that every call needs.


class _NoGraphs:
    stack: tuple[Any, ...] = ()


class _TensorFlow:
    """The objects of TensorFlow that every call needs.

    Attributes:
        is_known: whether TensorFlow is imported, so that the other attributes are valid.
        is_followed: whether the half of np2tf that needs TensorFlow is loaded, and its types are added.
        tensors: the types of tensors and of arrays on tensors.
        suspects: these types, and the containers that may hold such values. Before the program itself has
            imported TensorFlow no container does, and long lists need not be searched.
        no_tape: returns whether no gradient tape records in this thread.
        graphs: holds the graphs that this thread builds in its attribute `stack`.
    """

    __slots__ = ("graphs", "is_followed", "is_known", "no_tape", "suspects", "tensors")

    def __init__(self) -> None:
        self.is_known = self.is_followed = False
        self.tensors = Kinds()
        self.suspects: set[type] = set()
        self.no_tape: Any = lambda: True
        self.graphs: Any = _NoGraphs()

    def look(self) -> None:
        """Record TensorFlow's types, if the program has imported it, and np2tf's types, if they are
        loaded.
        """
        try:
            if not self.is_known and surroundings.has_tensorflow():
                self._note_tensorflow()
            if fast_flags.tensors and not self.is_followed:
                self._note_own()
        except Exception as error:  # a part of TensorFlow is missing
            installation.note(error)
            installation.warn()

    def _note_tensorflow(self) -> None:
        from tensorflow.python.framework import ops
        from tensorflow.python.ops.ragged.ragged_tensor import RaggedTensor
        from tensorflow.python.ops.resource_variable_ops import ResourceVariable

        self.no_tape, self.graphs = surroundings.has_no_tape, surroundings.graphs
        self._add({ops.EagerTensor, ops.SymbolicTensor, ResourceVariable, RaggedTensor})
        self.is_known = True

    def _note_own(self) -> None:
        from np2tf.arrays.array.ndarray import ndarray, scalar
        from np2tf.arrays.ragged import RaggedArray

        self._add({ndarray, scalar, RaggedArray})
        self.is_followed = True

    def _add(self, types: Iterable[type]) -> None:
        self.tensors.add(types)
        self.suspect()

    def suspect(self) -> None:
        """Record the types whose values may be or hold tensors."""
        may_hold = program.has_tensorflow or surroundings.device_kind != "cpu"
        self.suspects = self.tensors.these | CONTAINERS if may_hold else self.tensors.these


tensorflow = _TensorFlow()
when_programs(tensorflow.suspect)


class _Tier:
    """The settings that keep calls from the host, in the form that every call reads.

    Attributes:
        is_auto: whether calls may stay on the host.
    """

    __slots__ = ("is_auto",)

    is_auto: bool

    def follow(self, _: str) -> None:
        """Update `is_auto` from the settings."""
        self.is_auto = config.tier == "auto" and config.promotion == "numpy"


tier = _Tier()
config.follow("tier", tier.follow)
config.follow("promotion", tier.follow)


tensorflow_loading.when_loaded(operators.use_staging)


def load() -> None:
    """Load TensorFlow, and the half of np2tf that needs it, or raise TensorFlowMissingError."""
    if not fast_flags.tensors:
        start = perf_counter()
        tensorflow_loading.load()
        ledger.note(IMPORT, perf_counter() - start)
    tensorflow.look()


def is_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether NumPy itself may run a call with these arguments: no tensor, tape or graph is
    involved.
    """
    return fast_flags.host and is_on_numpy(args, kwargs)


def is_on_numpy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return the same, even if calls of the op library may be intercepted because a report is made."""
    if not fast_flags.numpy:
        return False
    if not tensorflow.is_followed:
        if "tensorflow" not in sys.modules:
            return True
        tensorflow.look()
    if not tensorflow.no_tape() or tensorflow.graphs.stack:
        return False
    return not has_tensor(args) and not (kwargs and has_tensor(kwargs.values()))


def has_tensor(values: Collection[Any]) -> bool:
    """Return whether a tensor, or an array on a tensor, is among the values or in a list, tuple or dict
    there (see `holds`).
    """
    return not tensorflow.suspects.isdisjoint(map(type, values)) and holds(values, tensorflow.tensors)


def compiles_at_once() -> bool:
    """Return whether calls must not run on the host: it is slower than the accelerator, or a tape does not
    see it.
    """
    return is_recording() or device_kind() != "cpu"


def is_recording() -> bool:
    """Return whether a gradient tape may be recording."""
    return not tensorflow.no_tape()


# -- array search --------------------------------------------------------------------------------------------
# Finds out whether a call involves arrays: a function whose text shows no arrays may be called with any
# values.

#: The depth of the search in the arguments, and the number of items of each container.
DEEPEST, WIDEST = 3, 16


def names_numpy(values: Iterable[Any]) -> bool:
    """Return whether the values that a function reads by name include NumPy, np2tf.tnp or their functions."""
    return any(
        isinstance(value, (Function, np.ufunc))
        or (isinstance(value, types.ModuleType) and value.__name__ in ("np2tf.tnp", "numpy"))
        for value in values
    )


def code_names_numpy(function: Callable[..., Any]) -> bool:
    """Return whether the function's own code reads such a value."""
    code, space = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    return code is not None and names_numpy(space.get(name) for name in all_names(code))


def holds_array(values: Iterable[Any], depth: int = DEEPEST) -> bool:
    """Return whether the values, or containers and objects among them, include a NumPy array."""
    return any(_is_or_holds(value, depth) for value in islice(values, WIDEST))


def _is_or_holds(value: Any, depth: int) -> bool:
    if isinstance(value, np.ndarray):
        return True
    if depth == 0 or value is None or isinstance(value, (str, int, float)):
        return False
    if isinstance(value, types.MethodType):
        return _is_or_holds(value.__self__, depth)
    return holds_array(_SEARCHED_CONTAINERS.items(value), depth - 1)


_SEARCHED_CONTAINERS = SEARCHED_CONTAINERS | (INSTANCE,)
