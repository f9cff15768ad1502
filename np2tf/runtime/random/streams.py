"""The streams of random numbers that a staged function draws from: inputs and results of its graph.

The state of a generator is read when a call begins, handed to the graph, and written back when the call has
been accepted: a call that is discarded has drawn nothing. What the function draws first, and independently of
data, is drawn by NumPy before the graph runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.runtime.random import drawing, states
from np2tf.runtime.random.arguments import is_known
from np2tf.runtime.random.sources import SOURCES, Source
from np2tf.runtime.random.stand_in import GeneratorStandIn, generator_stand_in
from np2tf.staging import StagingError
from np2tf.tnp.cells import Cell, Region, current_region
from np2tf.tnp.promotion import has_tf_dtype

#: So many draws of a stream, at most, are made before the graph runs.
MOST_AHEAD = 64


@dataclass
class Stream:
    """One stream in one trace.

    Attributes:
        find: the generator, given those of the call.
        like: a generator of the same kind, for drawing on the host from states that the graph knows.
        lasts: whether the caller sees the state after the call.
        cells: the state in the graph, by the names of its parts.
        parts: the names of the parts of NumPy's state that change.
        ahead: what is drawn before the graph runs.
        begun: whether the graph itself has drawn, so that nothing may be drawn ahead of it any more.
    """

    find: Callable[[Sequence[Any]], Any]
    like: Any
    lasts: bool
    cells: dict[str, Cell] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    ahead: list[Callable[[Any], Any]] = field(default_factory=list)
    begun: bool = False
    lock: Any = field(default_factory=threading.Lock)

    @property
    def source(self) -> type[Source]:
        """What makes the bits in the graph."""
        return SOURCES.get(self.kind[1].__name__, Source)

    @property
    def kind(self) -> tuple[type, type]:
        """The classes of the generator and of its bit generator."""
        return type(self.like), type(states.bit_generator(self.like))

    def draw(self, parts: dict[str, np.ndarray], draw: Callable[[Any], Any]) -> tuple[dict[str, Any], Any]:
        """Draw on the host from a state; the state after that, and what has been drawn."""
        with self.lock:
            states.put(self.like, parts)
            drawn = draw(self.like)
            return states.pack(states.state_of(self.like)), drawn

    def sample(self, draw: Callable[[Any], Any]) -> Any:
        """What such a draw returns, with other numbers."""
        with self.lock:
            return draw(self.like)

    def state(self) -> dict[str, tf.Tensor]:
        """The state as the graph knows it here; from now on the graph draws."""
        self.begun = True
        return {name: cell.value for name, cell in self.cells.items()}

    def numpys_state(self) -> dict[str, tf.Tensor]:
        """The same as NumPy has it."""
        return self.source.folded(self.state())

    def store(self, parts: dict[str, tf.Tensor]) -> None:
        """Replace the state; every part counts as changed that a draw may change."""
        parts = parts if self.cells.keys() <= parts.keys() else self.source.unfolded(parts)
        for name, cell in self.cells.items():
            if name not in states.FIXED:
                cell.write(parts.get(name, cell.value))


class Draws:
    """What one trace draws, and from which streams.

    Attributes:
        streams: in the order in which they were met.
    """

    def __init__(self, generators: Sequence[Any]) -> None:
        self.streams: list[Stream] = []
        self._generators = list(generators)
        self._known: dict[int, Stream] = {}
        self._kept: list[Any] = []
        self._specs: list[tf.TensorSpec] = []
        self._values: list[tuple[int, Any]] = []
        self._running = threading.local()

    def begin(self, root: Region) -> None:
        """Draw in the graph that is being built now."""
        self._root, self._graph = root, tf.compat.v1.get_default_graph()

    # -- while tracing ---------------------------------------------------------------------------------------

    def draw(self, generator: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Let the staged function draw from a generator by the method of this name.

        Raises:
            StagingError: it cannot be drawn as NumPy draws it.
        """
        entered = current_region()
        assert entered is not None
        if config.floats != "float64":
            raise StagingError("random numbers of 32 bits are drawn on the host", "NP2TF506")
        if entered.trace.at_once:
            raise StagingError("it draws from a stream, one iteration after the other", "NP2TF506")
        return drawing.draw(self, self.stream(generator), name, args, kwargs)

    def draw_globally(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The same by a function of `numpy.random`.

        Raises:
            StagingError: it does something else to the global state.
        """
        if name in ("seed", "get_state", "set_state"):
            raise StagingError(f"`numpy.random.{name}` in staged code", "NP2TF506")
        name = {"sample": "random_sample", "ranf": "random_sample"}.get(name, name)
        return self.draw(states.global_state(), name, *args, **kwargs)

    def make(self, kind: Callable[..., Any], args: tuple[Any, ...], fresh: bool) -> Any:
        """A generator that the staged function makes; `fresh` if it is another one at every call.

        Raises:
            StagingError: its seed is staged, or it is to be made afresh more than once in a call.
        """
        entered = current_region()
        if args and type(args[0]) is GeneratorStandIn and kind is np.random.default_rng:
            return args[0]
        if not is_known(args):
            raise StagingError("a generator is made from a seed that is known at run time only", "NP2TF506")

        def make() -> Any:
            return kind(*args)

        if fresh and entered is not self._root:
            raise StagingError("a generator without a seed is made in a loop or branch", "NP2TF506")
        made = make()
        self._kept.append(made)
        self._add(made, (lambda _: make()) if fresh else (lambda _: made), lasts=False)
        return generator_stand_in(made)

    def stream(self, generator: Any) -> Stream:
        """The stream of a generator that is met while staging.

        Raises:
            StagingError: it is neither an argument nor a global or closure variable.
        """
        key = id(states.bit_generator(generator))
        known = self._known.get(key)
        if known is not None:
            if known.kind[0] is not type(states.numpys(generator)):
                raise StagingError("two kinds of generators share one stream", "NP2TF506")
            return known
        for place, given in enumerate(self._generators):
            if id(states.bit_generator(given)) == key:
                return self._add(generator, itemgetter(place), lasts=True)
        if generator is states.global_state():
            return self._add(generator, lambda _: states.global_state(), lasts=True)
        raise StagingError("a generator is met that is no argument, global or closure variable", "NP2TF506")

    def _add(self, generator: Any, find: Callable[[Sequence[Any]], Any], lasts: bool) -> Stream:
        stream = Stream(find, states.new_like(generator), lasts)
        number = len(self.streams)
        self.streams.append(stream)
        self._known[id(states.bit_generator(generator))] = stream
        given = {
            name: self.input(number, name, tf.TensorSpec(part.shape, part.dtype))
            for name, part in states.pack(states.state_of(stream.like)).items()
        }
        with self._graph.as_default():
            unfolded = stream.source.unfolded(given)
        for name, part in unfolded.items():
            cell = stream.cells[name] = Cell(part)
            if lasts:
                cell.birth = self._root
        stream.parts = [name for name in given if name not in states.FIXED]
        return stream

    def input(self, number: int, what: Any, spec: tf.TensorSpec) -> tf.Tensor:
        """A tensor that every call gives a value to: a part of a state, or what is drawn ahead."""
        place = len(self._values)
        self._values.append((number, what))
        self._specs.append(spec)
        return self._graph.capture_call_time_value(lambda: self._value(place), spec)

    def draw_ahead(self, stream: Stream, draw: Callable[[Any], Any], sample: Any) -> tf.Tensor | None:
        """A draw of which all is known, made by NumPy before the graph runs; None if it is too late."""
        like = np.asarray(sample)
        late = stream.begun or len(stream.ahead) >= MOST_AHEAD or current_region() is not self._root
        if late or not has_tf_dtype(like.dtype):
            return None
        stream.ahead.append(draw)
        spec = tf.TensorSpec(like.shape, like.dtype)
        return self.input(self.streams.index(stream), len(stream.ahead) - 1, spec)

    @property
    def finals(self) -> list[tf.Tensor]:
        """The states after the function, of those streams that the graph has drawn from."""
        found = []
        for stream in self._lasting():
            parts = stream.numpys_state()
            found += [parts[name] for name in stream.parts]
        return found

    def _lasting(self) -> list[Stream]:
        return [stream for stream in self.streams if stream.begun and stream.lasts]

    # -- at a call -------------------------------------------------------------------------------------------

    def _value(self, place: int) -> tf.Tensor:
        values = getattr(self._running, "values", None)
        # Nobody runs it: the graph is looked at.
        return (
            tf.zeros(self._specs[place].shape, self._specs[place].dtype) if values is None else values[place]
        )

    @contextmanager
    def drawing(self, generators: Sequence[Any]) -> Iterator[Accept]:
        """For one call: hold the generators, draw ahead; what is yielded takes the states after the call."""
        found = [stream.find(generators) for stream in self.streams]
        locks = {id(lock): lock for lock in (states.bit_generator(one).lock for one in found)}
        with ExitStack() as held:
            for key in sorted(locks):
                held.enter_context(locks[key])
            known: list[dict[Any, np.ndarray]] = []
            for stream, generator in zip(self.streams, found, strict=True):
                parts: dict[Any, np.ndarray] = states.pack(states.state_of(generator))
                drawn: dict[Any, np.ndarray] = {}
                for k, draw in enumerate(stream.ahead):
                    parts, drawn[k] = stream.draw(parts, draw)
                known.append({**parts, **drawn})
            outer = getattr(self._running, "values", None)
            self._running.values = [
                tf.constant(known[number][what], spec.dtype)
                for (number, what), spec in zip(self._values, self._specs, strict=True)
            ]
            try:
                yield lambda outputs: self._accept(found, known, outputs)
            finally:
                self._running.values = outer

    def _accept(
        self, found: Sequence[Any], known: Sequence[dict[Any, np.ndarray]], outputs: Sequence[tf.Tensor]
    ) -> None:
        finals = iter(outputs)
        for stream, generator, parts in zip(self.streams, found, known, strict=True):
            if not stream.lasts or not (stream.begun or stream.ahead):
                continue
            after = dict(parts)
            if stream.begun:
                after.update((name, next(finals).numpy()) for name in stream.parts)
            states.put(generator, after)


#: Takes the states that the graph has returned.
Accept = Callable[[Sequence[tf.Tensor]], None]
