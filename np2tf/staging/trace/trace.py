"""A trace: one function while it is staged into a graph, and the arrays that are its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import array_over, storage_of
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.tensors.graphs import new_graph
from np2tf.arrays.tensors.storage import StagingScope, Storage
from np2tf.arrays.tensors.trace import Shortcut
from np2tf.core.errors import HiddenInputError
from np2tf.staging.host.recursion import TracedCalls
from np2tf.staging.objects.user_code import depth
from np2tf.staging.random.streams import Draws
from np2tf.staging.trace.operations import check_limit
from np2tf.staging.values.array_stand_in import host_value
from np2tf.staging.values.output import Effects
from np2tf.staging.values.text import ShownText


@dataclass
class ThrowAway:
    """A graph that is traced only for information. The results of loops and branches inside are predicted.

    Attributes:
        ops: the ops of the branches inside; None for a loop, and for a branch that is not made by selection.
        graphs: this graph, and the graphs of the iterations and branches inside.
    """

    graph: tf.Graph
    ops: list[tf.Operation | None] = field(default_factory=list)
    graphs: list[tf.Graph] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graphs.append(self.graph)


class _ConstantStorage(Storage):
    """The storage of an array on the host that a foreign graph reads: a constant of the graph."""

    __slots__ = ("buffer",)

    buffer: np.ndarray

    def write(self, value: tf.Tensor) -> None:
        """Raise HiddenInputError, because the graph cannot change an array on the host."""
        raise HiddenInputError("the code writes to an array that it neither received nor made")


class Violations(Storage):
    """The storage of a trace's violations.

    Attributes:
        refusal: what is raised at a violation where none is expected; None if violations are expected.
        is_refused: whether it has been raised.
    """

    __slots__ = ("is_refused", "refusal")

    def __init__(self, value: tf.Tensor) -> None:
        super().__init__(value)
        self.refusal: BaseException | None = None
        self.is_refused = False

    def write(self, value: tf.Tensor) -> None:
        """Note that the call may be discarded."""
        if self.refusal is not None:
            self.is_refused = True
            raise self.refusal
        super().write(value)


@dataclass
class StagedLoops:
    """What a trace does with loops.

    Attributes:
        may_be_compiled: whether XLA may compile loops inside a graph that it does not compile.
        uncompiled: the code of the loops that XLA should not compile.
        exact_types: whether a number must not have a wider type in the first iteration of a loop.
        how: for each staged loop "xla" or "graph".
        graphs: the code of the loops staged for XLA, with the graphs of an iteration.
        have_collectives: whether the staged code waits for other devices.
    """

    may_be_compiled: bool = False
    uncompiled: set[CodeType] = field(default_factory=set)
    exact_types: bool = False
    how: list[str] = field(default_factory=list)
    graphs: dict[CodeType, list[tf.Graph]] = field(default_factory=dict)
    have_collectives: bool = False


@dataclass
class Surroundings:
    """What the code that is traced can reach besides the values that it makes.

    Attributes:
        follows: returns whether the names that a function reads are known, so that their values are inputs or
            constants.
        instances: the staged counterparts of the objects among the arguments, and objects read by name.
        attributes_are_named: whether code reads every attribute by its name, so that no code lists
            attributes.
        has_unknown_lengths: whether there are arrays whose lengths are known only at run time.
    """

    follows: Callable[[Any], bool] = lambda function: True
    instances: Sequence[Any] = ()
    attributes_are_named: bool = False
    has_unknown_lengths: bool = False


@dataclass
class Inputs:
    """The arrays that the staged code is given.

    Attributes:
        arrays: the staged arrays, by the ids of the arrays on the host.
        need: begins the trace again if a tensor depends only on arrays that may become constants.
    """

    arrays: dict[int, Any] = field(default_factory=dict)
    need: Callable[[tf.Tensor], None] = lambda tensor: None


class Trace:
    """The data that the scopes of one staged function share.

    Attributes:
        depth: the number of frames on the stack when the trace began.
        root: the scope that is neither in a staged loop nor in a branch.
        xla: whether XLA will compile the code that is being staged now.
        device: the kind of device that the code is for; by default that on which TensorFlow runs work here.
        handles: whether the code handles exceptions, so that it must not miss any that NumPy raises.
        surroundings: what the code can reach besides the values that it makes.
        at_once: whether the code that is being staged now stands for all iterations of a loop at once.
        throw_aways: the throw-away graphs of loops and branches that are being traced, the innermost last.
        is_foreign: whether the code is a loop or branch in a graph that np2tf does not build.
        is_compiled_later: whether other code than np2tf's decides what compiles the graph.
        calls: the calls of jitted functions that have been entered.
        gaps: the elements outside of valid parts, whose gradients may be NaN. They must not be computed if a
            tape may ask for gradients of the staged code.
        assumptions: assumptions about the data; a call that finds one wrong is repeated without them.
        violations: a boolean storage that becomes true at run time if NumPy would have raised an error.
        may_call_numpy: whether the code may call NumPy, because it stays in this process and on the CPU.
        effects: the prints and other effects of the code.
        draws: the random draws; None if there can be none.
        shown_text: the record of values that are shown as text.
        inputs: the arrays that stand for arrays on the host.
    """

    def __init__(
        self,
        xla: bool,
        loops: StagedLoops | None = None,
        is_foreign: bool = False,
        device: str | None = None,
    ) -> None:
        self.device = device or device_kind()
        self.depth = depth()
        self.root: StagingScope | None = None
        self.xla, self.at_once = xla, False
        self.loops = loops or StagedLoops()
        self.handles = self.may_call_numpy = False
        self.gaps, self.assumptions = Shortcut(is_allowed=True), Shortcut(is_allowed=False)
        self.surroundings = Surroundings(has_unknown_lengths=is_foreign)
        self.throw_aways: list[ThrowAway] = []
        self.is_foreign = self.is_compiled_later = is_foreign
        self.calls = TracedCalls()
        self.violations: Storage = Violations(tf.constant(False))
        self.effects = Effects()
        self.draws: Draws | None = None
        self.shown_text = ShownText()
        self.inputs = Inputs()

    def need(self, tensor: tf.Tensor) -> None:
        """Begin the trace again if a tensor, whose value is needed, depends only on arrays that may become
        constants.
        """
        self.inputs.need(tensor)

    def check_deadline(self) -> None:
        """Give up a trace that takes too long."""
        check_limit()

    @contextmanager
    def throwing_away(self) -> Iterator[ThrowAway]:
        """Trace into a graph for information only, and predict the loops and branches inside."""
        throw_away = ThrowAway(new_graph("discovery"))
        self.throw_aways.append(throw_away)
        try:
            with throw_away.graph.as_default():
                yield throw_away
        finally:
            self.throw_aways.pop()

    def add_input(self, buffer: np.ndarray, array: Any) -> None:
        """Let `array` stand for the array on the host wherever the staged code uses it."""
        self.inputs.arrays[id(buffer)] = array

    def array_of(self, buffer: np.ndarray | None) -> Any:
        """Return the staged array of an array on the host; refuse one that is no input of this trace."""
        buffer = host_value(buffer)
        array = self.inputs.arrays.get(id(buffer))
        if array is None and self.is_foreign and isinstance(buffer, np.ndarray):
            # As everywhere in a plain tf.function, the array is the constant that it is now.
            with tf.init_scope():
                storage = _ConstantStorage(tf.constant(buffer))
            storage.buffer = buffer  # so that its id stays valid
            array = array_over(storage)
            self.add_input(buffer, array)
        if array is None:
            raise HiddenInputError(
                "the code reads an array that is neither an argument nor a global or closure variable"
            )
        return array

    def capture(self, buffer: np.ndarray | None) -> Storage:
        """Return the storage of a host array; refuse one that is no input: a graph would freeze its value."""
        storage: Storage = storage_of(self.array_of(buffer))
        return storage

    @contextmanager
    def stage_for_xla(self) -> Iterator[None]:
        """Stage for XLA within the with block."""
        before, self.xla = self.xla, True
        try:
            yield
        finally:
            self.xla = before

    @contextmanager
    def all_at_once(self) -> Iterator[None]:
        """Stage for `tf.vectorized_map` within the with block."""
        before, self.at_once = self.at_once, True
        try:
            yield
        finally:
            self.at_once = before


def trace_of(scope: StagingScope) -> Trace:
    """Return the trace that a staging scope belongs to."""
    trace = scope.trace
    assert isinstance(trace, Trace)  # only this class implements the protocol
    return trace
