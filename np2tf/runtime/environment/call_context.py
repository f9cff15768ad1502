"""The context of a call: whether TensorFlow is imported, a tape records, a graph is built, or a tensor is an
argument.

Only `load` loads TensorFlow. A program that has not imported it has no tensors and no tapes. Once TensorFlow
is imported, `tensorflow` stores the objects that every call needs.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from time import perf_counter
from typing import Any

from np2tf.config import config
from np2tf.installation import installation
from np2tf.operators import in_use as operators
from np2tf.runtime.environment.clock import clock
from np2tf.runtime.environment.tensorflow_import import program, when_programs
from np2tf.tnp._front import loading
from np2tf.tnp._front.fast_flags import fast_flags
from np2tf.tnp._front.operand_kinds import CONTAINERS, device_kind, holds, surroundings


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
        self.tensors: frozenset[type] = frozenset()
        self.suspects: frozenset[type] = frozenset()
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
        from np2tf.tnp._array.ndarray import ndarray, scalar
        from np2tf.tnp._ragged.ragged_array import RaggedArray

        self._add({ndarray, scalar, RaggedArray})
        self.is_followed = True

    def _add(self, types: Iterable[type]) -> None:
        self.tensors = self.tensors.union(types)
        self.suspect()

    def suspect(self) -> None:
        """Record the types whose values may be or hold tensors."""
        may_hold = program.has_tensorflow or surroundings.device_kind != "cpu"
        self.suspects = self.tensors | CONTAINERS if may_hold else self.tensors


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


loading.when_loaded(operators.use_staging)


def load() -> None:
    """Load TensorFlow, and the half of np2tf that needs it.

    Raises:
        TensorFlowMissingError: if TensorFlow cannot be imported.
    """
    if not fast_flags.tensors:
        start = perf_counter()
        loading.load()
        clock.compile_seconds += perf_counter() - start
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
