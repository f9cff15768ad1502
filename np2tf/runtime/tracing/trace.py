"""A trace: one function on its way into a graph, and the arrays that are its inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.effects.effect_log import EffectLog
from np2tf.runtime.effects.output import Output
from np2tf.runtime.host.recursion import TracedCalls
from np2tf.runtime.introspection.user_frames import depth
from np2tf.runtime.random.streams import Draws
from np2tf.runtime.structures.array_stand_in import host_value
from np2tf.runtime.tracing.text_fidelity import ShownText
from np2tf.staging import HiddenInputError, TracingTimeError
from np2tf.tnp._array.ndarray import storage_of
from np2tf.tnp._tensor.storage import StagingScope, Storage


@dataclass
class ThrowAway:
    """A graph that is only learnt from; the loops and branches inside are foreseen.

    Attributes:
        graph: the graph.
        ops: those of the branches inside; None for a loop, and for a branch that is not made by choosing.
        graphs: this one, and those of the iterations and sides inside.
    """

    graph: tf.Graph
    ops: list[tf.Operation | None] = field(default_factory=list)
    graphs: list[tf.Graph] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.graphs.append(self.graph)


class Trace:
    """What the scopes of one staged function share.

    Attributes:
        deadline: when, by `time.monotonic`, tracing has taken longer than it may bring; None for never.
        depth: how many frames were on the stack when the trace began.
        root: the scope that is neither in a staged loop nor in a branch.
        xla: whether the code being staged now will be compiled by XLA.
        compile_loops: whether loops may be compiled by themselves inside a graph that is not.
        uncompiled_loops: the code of the loops that have turned out not to be such.
        loop_graphs: the code of the loops staged for XLA, and the graphs that an iteration consists of.
        exact_types: whether a number must not be of a wider type in the first iteration of a loop.
        handles: whether the code handles exceptions, so that none that NumPy raises may be missed.
        instances: the staged counterparts of the objects among the arguments, and objects read by name.
        attributes_are_named: whether code reads every attribute by its name, so that none asks which are set.
        loops: for each staged loop "xla" or "graph".
        at_once: whether the code being staged now stands for all iterations of a loop at once.
        throw_aways: the throw-away graphs of loops and branches that are traced into now, the innermost last.
        unknown_lengths: whether there are arrays whose lengths are known only at run time.
        calls: the calls of jitted functions that have been entered.
        follows: whether it is known what a function reads by name, so that this is an input or a constant.
        gradients: whether a tape may ask for gradients of what is staged.
        on_cpu: whether the code runs on a CPU.
        gapped: whether elements that do not count have been computed with, of which a gradient may be NaN.
        violations: a boolean storage that becomes true at run time where NumPy would have raised an error.
        printed: a storage that every print reads and writes, which keeps them in order.
        log: the effects of code that XLA compiles; None as long as there are none.
        options: NumPy's for printing, when the trace began.
        output: where the compiled function's prints go, None if nobody takes them.
        draws: what it draws of random numbers; None where there are no calls.
        shown: what is known of the values whose text is asked for.
    """

    def __init__(self, xla: bool, compile_loops: bool = False, exact_types: bool = False) -> None:
        self.deadline: float | None = None
        self.depth = depth()
        self.root: StagingScope | None = None
        self.xla, self.at_once = xla, False
        self.compile_loops = compile_loops
        self.uncompiled_loops: set[CodeType] = set()
        self.loop_graphs: dict[CodeType, list[tf.Graph]] = {}
        self.exact_types = exact_types
        self.handles = self.gradients = self.gapped = self.on_cpu = False
        self.instances: list[Any] = []
        self.attributes_are_named = False
        self.loops: list[str] = []
        self.throw_aways: list[ThrowAway] = []
        self.unknown_lengths = False
        self.calls = TracedCalls()
        self.follows: Callable[[Any], bool] = lambda function: True
        self.violations = Storage(tf.constant(False))
        self.printed = Storage(tf.constant(0))
        self.log: EffectLog | None = None
        self._graph = tf.compat.v1.get_default_graph()
        self.options: dict[str, Any] = {**np.get_printoptions()}
        self.output: Output | None = None
        self.draws: Draws | None = None
        self.shown = ShownText()
        self._inputs: dict[int, Any] = {}

    def check_deadline(self) -> None:
        """Give up what takes too long.

        Raises:
            StagingError: it does.
        """
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise TracingTimeError("tracing it takes longer than it has run so far")

    @contextmanager
    def throwing_away(self) -> Iterator[ThrowAway]:
        """Trace into a graph to learn from it, and foresee the loops and branches inside."""
        made = ThrowAway(tf.__internal__.FuncGraph("discovery"))
        self.throw_aways.append(made)
        try:
            with made.graph.as_default():
                yield made
        finally:
            self.throw_aways.pop()

    def effect_log(self) -> EffectLog:
        """The log of the effects of code that XLA compiles."""
        if self.log is None:
            self.log = EffectLog(self._graph)
        return self.log

    def add_input(self, buffer: np.ndarray, array: Any) -> None:
        """Let `array` stand for the array on the host wherever the staged code meets it."""
        self._inputs[id(buffer)] = array

    def array_of(self, buffer: np.ndarray | None) -> Any:
        """The array that stands for one on the host, met while staging.

        Raises:
            StagingError: it is no input of this trace, so its value would be frozen into the graph.
        """
        array = self._inputs.get(id(host_value(buffer)))
        if array is None:
            raise HiddenInputError(
                "an array is read that is neither an argument nor a global or closure variable"
            )
        return array

    def capture(self, buffer: np.ndarray | None) -> Storage:
        """The storage of a host array met while staging.

        Raises:
            StagingError: it is no input of this trace, so its value would be frozen into the graph.
        """
        storage: Storage = storage_of(self.array_of(buffer))
        return storage

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Within the with block, stage for XLA."""
        before, self.xla = self.xla, True
        try:
            yield
        finally:
            self.xla = before

    @contextmanager
    def all_at_once(self) -> Iterator[None]:
        """Within the with block, stage for `tf.vectorized_map`."""
        before, self.at_once = self.at_once, True
        try:
            yield
        finally:
            self.at_once = before
