"""The streams of a staged function and of each of its calls: buffers of words, inputs and results of the
graph, the generator's stand-in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import StagingScope, Storage, current_scope
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import RandomUseError
from np2tf.core.settings import config
from np2tf.staging.random import drawing, states
from np2tf.staging.random import states as snapshots
from np2tf.staging.random.drawing import is_known
from np2tf.staging.random.sources import BUFFERED_SOURCES, SOURCES, WORD_COUNT, Source
from np2tf.staging.random.states import copy_words, hold_locks, lend_lock, snapshot
from np2tf.staging.values.array_stand_in import STAND_INS, stand_in
from np2tf.staging.xla.calls import borrow_memory

# -- word buffers --------------------------------------------------------------------------------------------
# Buffers of raw words of bit generators. NumPy draws the words ahead, and calls take them in order.

#: The number of words that a call gets at first, and at most. XLA compiles a program for every length, and
#: makes slower code for loops whose variables take many bytes (see `compiler_options`).
FIRST_WORDS, MAX_WORDS = 2**13, 2**25
#: The number of buffers that are kept, and their maximal length.
_MAX_KEPT_BUFFERS, _MAX_KEPT_LENGTH = 4, 2**20


@dataclass
class Buffer:
    """Words that a bit generator will make.

    Attributes:
        words: the words, of shape (length,).
        position: the position of the next word.
        state: the state of the bit generator at this position.
    """

    words: tf.Tensor
    position: int
    state: Any

    def fits(self, state: Any, length: int) -> bool:
        """Return whether the buffer has this length, continues from this state, and is at most half used."""
        return self.state == state and self.words.shape[0] == length and self.position <= length // 2


#: id of a bit generator -> the bit generator and its buffer; the latest entry is the last.
_buffers: dict[int, tuple[Any, Buffer]] = {}
_lock = threading.Lock()


def buffer_of(bits: Any, spare: Any, length: int, dtype: tf.DType) -> Buffer:
    """Return a buffer of this length whose position is in its first half.

    Args:
        bits: the bit generator, whose lock the caller holds.
        spare: another bit generator of its class, whose state may change.
    """
    state = snapshot(bits)
    _, old_buffer = _buffers.get(id(bits), (None, None))
    if old_buffer is not None and old_buffer.fits(state, length):
        return old_buffer
    copy_words(bits, spare)
    buffer = Buffer(
        borrow_memory(spare.random_raw(length).astype(dtype.as_numpy_dtype, copy=False)), 0, state
    )
    with _lock:
        _buffers.pop(id(bits), None)
        if length <= _MAX_KEPT_LENGTH:
            _buffers[id(bits)] = bits, buffer
        if len(_buffers) > _MAX_KEPT_BUFFERS:
            del _buffers[next(iter(_buffers))]
    return buffer


def take(bits: Any, buffer: Buffer, position: int) -> None:
    """Move the bit generator to `position` of its buffer."""
    skip(bits, position - buffer.position)
    buffer.position, buffer.state = position, snapshot(bits)


def skip(bits: Any, count: int) -> None:
    """Skip `count` words. A stored half word may be lost."""
    if count and isinstance(bits, (np.random.PCG64, np.random.PCG64DXSM)):
        bits.advance(count)
    elif count:
        with lend_lock(bits):
            bits.random_raw(count, output=False)


# -- call streams --------------------------------------------------------------------------------------------
# The streams of one call: the inputs of its graph, and the changes of the generators afterwards.

#: Names of inputs: the buffer of words, and the position in it with the stored rest of words taken before.
WORDS, POSITION = "words", "position"


class OutOfWords(Exception):
    """Raised if a call has taken more words than a buffer can have; nothing has been written back yet."""


class StreamDraws:
    """One stream in one call.

    Attributes:
        inputs: the values of the inputs, by name; draws ahead of the graph, by number.
        undo: undoes the draws ahead of the graph, unless the call is accepted.
    """

    def __init__(self, stream: Stream, generator: Any) -> None:
        self.stream = stream
        self.generator = generator
        self.inputs: dict[Any, Any] = {}
        self.undo: Callable[[], None] | None = None

    def begin(self) -> None:
        """Make the draws ahead of the graph, and read the state."""
        stream, generator = self.stream, self.generator
        if stream.ahead:
            self.undo = snapshots.restorer(generator, {name for name, _ in stream.ahead})
        for k, (_, draw) in enumerate(stream.ahead):
            with lend_lock(states.bit_generator(generator)):
                self.inputs[k] = draw(states.numpys(generator))
        if stream.words is not None:
            self._fill()
        elif stream.has_begun:
            self._parts = states.pack(states.state_of(generator))
            self.inputs.update(self._parts)

    def _fill(self) -> None:
        """Give the graph words from the present position of the generator."""
        stream = self.stream
        with stream.lock:
            bits, spare = states.bit_generator(self.generator), states.bit_generator(stream.like)
            assert stream.words is not None
            self._buffer = buffer_of(bits, spare, stream.length, stream.words.dtype)
        self._start = self._buffer.position
        self.inputs[WORDS] = self._buffer.words
        self._position = np.concatenate([np.array([self._start], np.uint64), *self._beside()])
        self.inputs[POSITION] = self._position

    def _beside(self) -> list[np.ndarray]:
        """Return the stored rest of words taken before; zeros if the graph does not read it."""
        beside = self.stream.beside
        if not self.stream.looks_beside:
            return [np.zeros(size, np.uint64) for size in beside.values()]
        parts = states.pack(states.state_of(self.generator))
        return [parts[name] for name in beside]

    def lacks_words(self, outputs: Sequence[tf.Tensor]) -> bool:
        """Return whether the buffer was too short. If so, make a longer one, or raise OutOfWords."""
        if self.stream.words is None:
            return False
        stop, length = int(outputs[0].numpy()[0]), self.stream.length
        if stop <= length:
            return False
        word_count = 2 * (stop - self._start)
        if word_count > MAX_WORDS:
            raise OutOfWords
        while length < word_count:
            length *= 2
        self.stream.length = length
        self._fill()
        return True

    def accept(self, outputs: Sequence[tf.Tensor]) -> None:
        """Give the generator its state after the call."""
        stream = self.stream
        if not stream.lasts:
            return
        self.undo = None
        if stream.words is not None:
            self._take(outputs[0].numpy())
        elif stream.has_begun:
            names = [name for name in self._parts if name not in states.CONSTANT_PARTS]
            states.put_state(
                self.generator, {n: part.numpy() for n, part in zip(names, outputs, strict=True)}
            )

    def _take(self, final: np.ndarray) -> None:
        beside = self.stream.beside
        take(states.bit_generator(self.generator), self._buffer, int(final[0]))
        # Writing the state takes 100 µs. Skipping words loses half a word, even if the call has not used it.
        before = self._position[1:]
        if self.stream.looks_beside and (before.any() or not np.array_equal(final[1:], before)):
            parts = np.split(final[1:], np.cumsum([*beside.values()])[:-1])
            states.put_state(self.generator, dict(zip(beside, parts, strict=True)))


class StreamsOfCall:
    """The streams of one call; `enter` gives the graph its inputs."""

    def __init__(self, draws: list[StreamDraws], enter: Callable[[Sequence[StreamDraws]], None]) -> None:
        self._streams = draws
        self._enter = enter
        enter(draws)

    def call_again(self, outputs: Sequence[tf.Tensor]) -> bool:
        """Return whether a discarded call lacked words. If so, give the graph more, or raise OutOfWords."""
        again = [draws.lacks_words(part) for draws, part in self._parts_of(outputs)]
        if any(again):
            self._enter(self._streams)
        return any(again)

    def accept(self, outputs: Sequence[tf.Tensor]) -> None:
        """Give the generators their states after the call."""
        for draws, part in self._parts_of(outputs):
            draws.accept(part)

    def _parts_of(self, outputs: Sequence[tf.Tensor]) -> Iterator[tuple[StreamDraws, Sequence[tf.Tensor]]]:
        outputs_left = list(outputs)
        for draws in self._streams:
            count = draws.stream.final_count
            yield draws, outputs_left[:count]
            outputs_left = outputs_left[count:]


# -- stand in ------------------------------------------------------------------------------------------------
# The stand-in of a generator in a traced function: its methods draw in the graph.

#: Methods and attributes that read the state, or change it without drawing.
_NO_DRAWS = frozenset({"bit_generator", "get_state", "set_state", "seed", "spawn"})


class GeneratorStandIn:
    """Stands for a NumPy generator. Only the thread that traces gets methods that draw in the graph."""

    __slots__ = ("__weakref__", "_np2tf_buffer")

    def __init__(self, generator: Any) -> None:
        object.__setattr__(self, "_np2tf_buffer", generator)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the generator, for ``isinstance``."""
        return type(self._np2tf_buffer)

    def __getattr__(self, name: str) -> Any:
        generator = self._np2tf_buffer
        attribute = getattr(generator, name)
        scope = current_scope()
        if scope is None:
            return attribute
        if name in _NO_DRAWS or name.startswith("_") or not callable(attribute):
            raise RandomUseError(f"the code reads a generator's `{name}`")
        assert scope.trace.draws is not None
        return partial(scope.trace.draws.draw, generator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._np2tf_buffer, name, value)


STAND_INS.add(GeneratorStandIn)


def generator_stand_in(generator: Any) -> GeneratorStandIn:
    """Return the single stand-in for a generator, which the stand-in keeps alive."""
    return stand_in(generator, GeneratorStandIn)  # type: ignore[no-any-return]


# -- streams -------------------------------------------------------------------------------------------------
# The streams of random numbers that a staged function draws from: inputs and results of its graph.
#
# The state of a generator is read when a call begins, passed to the graph, and written back when the call
# is accepted: a discarded call has drawn nothing. NumPy makes the first draws before the graph runs, if
# they do not depend on data. An XLA program gets words that NumPy has drawn, and counts the words that it
# takes. A graph that draws by calls back to the host gets the whole state.

#: The maximal number of draws of a stream that are made before the graph runs.
MOST_AHEAD = 64


@dataclass
class Stream:
    """One stream in one trace.

    Attributes:
        find: returns the generator, given the generators of the call.
        like: a generator of the same kind, for drawing on the host from states of the graph.
        lasts: whether the caller sees the state after the call.
        birth: the scope that the state belongs to: each run of the scope begins with the initial state.
        is_buffered: whether the graph gets words instead of the state, if the bit generator has raw words.
        make_inputs: makes the inputs of the state when the graph begins to draw; sets `initial` and `words`.
        initial: the initial state, by the names of its parts.
        storages: the state in the graph, by the same names.
        words: the buffer of raw words that a buffered stream takes from.
        beside: the parts of the state besides the position in the buffer: names, and the number of numbers in
            each.
        looks_beside: whether a call must read and write these parts.
        length: the length of the buffer in the next call.
        ahead: the draws before the graph runs: the name of the method, and a function that calls it.
        has_begun: whether the graph itself has drawn, so that no further draw can be made ahead of it.
        final_count: the number of outputs of the graph that hold the final state.
    """

    find: Callable[[Sequence[Any]], Any]
    like: Any
    lasts: bool
    birth: StagingScope | None
    is_buffered: bool
    make_inputs: Callable[[Stream], None]
    initial: dict[str, tf.Tensor] = field(default_factory=dict)
    storages: dict[str, Storage] = field(default_factory=dict)
    words: tf.Tensor | None = None
    beside: dict[str, int] = field(default_factory=dict)
    looks_beside: bool = False
    length: int = FIRST_WORDS
    ahead: list[tuple[str, Callable[[Any], Any]]] = field(default_factory=list)
    has_begun: bool = False
    final_count: int = 0
    lock: Any = field(default_factory=threading.Lock)

    @property
    def kind(self) -> tuple[type, type]:
        """The classes of the generator and of its bit generator."""
        return type(self.like), type(states.bit_generator(self.like))

    def draw(self, parts: dict[str, np.ndarray], draw: Callable[[Any], Any]) -> tuple[dict[str, Any], Any]:
        """Draw on the host from a state, and return the state after the draw and the result."""
        with self.lock:
            states.put_state(self.like, parts)
            result = draw(self.like)
            return states.pack(states.state_of(self.like)), result

    def sample(self, draw: Callable[[Any], Any]) -> Any:
        """Return a result of the draw with other numbers."""
        with self.lock:
            return draw(self.like)

    @property
    def bits_name(self) -> str:
        """The name of NumPy's bit generator; empty for a bit generator of another library."""
        kind = self.kind[1]
        return kind.__name__ if kind.__module__.startswith("numpy.") else ""

    @property
    def makes_bits(self) -> bool:
        """True if `bits` can make bits in the graph for this generator."""
        return self.bits_name in (BUFFERED_SOURCES if self.is_buffered else SOURCES)

    def bits(self) -> Source:
        """Return the source of bits in the graph, from the present state. From now on the graph draws."""
        if not self.has_begun:
            self.make_inputs(self)
            self.has_begun = True
        parts = {name: storage.value for name, storage in self.storages.items()}
        if self.words is not None:
            return BUFFERED_SOURCES[self.bits_name](parts, [self.words])
        return SOURCES.get(self.bits_name, Source)(parts)

    def numpys_state(self) -> dict[str, tf.Tensor]:
        """Return the state in NumPy's format, for a stream that is not buffered."""
        source = self.bits()
        return source.fold(source.parts)

    def store(self, parts: dict[str, tf.Tensor]) -> None:
        """Replace the state by the state after a draw."""
        parts = parts if self.storages.keys() <= parts.keys() else self.bits().unfold(parts)
        for name, storage in self.storages.items():
            if name not in states.CONSTANT_PARTS and parts[name] is not storage.value:
                storage.write(parts[name])

    def stop_late(self) -> None:
        """Stop the loops of a call that takes more words than any buffer has."""
        if self.words is not None:
            record_violation(self.storages[WORD_COUNT].value > MAX_WORDS)

    def final(self) -> list[tf.Tensor]:
        """Return the outputs that a call needs of the final state. The graph ends here."""
        outputs = self._final()
        self.final_count = len(outputs)
        return outputs

    def _final(self) -> list[tf.Tensor]:
        if not self.has_begun or (self.words is None and not self.lasts):
            return []
        if self.words is None:
            state = self.numpys_state()
            return [state[name] for name in state if name not in states.CONSTANT_PARTS]
        values = {name: storage.value for name, storage in self.storages.items()}
        # Reading and writing the second normal number of a `RandomState` takes 70 µs. Half a word is cheap to
        # read, and skipping words loses it.
        changed = any(values[name] is not self.initial[name] for name in self.beside)
        self.looks_beside = changed or "has_uint32" in self.beside
        record_violation(values[WORD_COUNT] > tf.size(self.words, tf.int64))
        position = tf.bitcast(values.pop(WORD_COUNT), tf.uint64)
        return [tf.concat([position[None], *values.values()], 0)]


class Draws:
    """The draws of one trace, and their streams.

    Args:
        generators: the generators of the call that is traced.
        buffered: whether the graph gets words instead of states, if the bit generator has raw words.

    Attributes:
        streams: the streams in the order of their first draws.
    """

    def __init__(self, generators: Sequence[Any], buffered: bool) -> None:
        self.streams: list[Stream] = []
        self._are_buffered = buffered
        self._generators = list(generators)
        self._streams: dict[int, Stream] = {}
        self._kept_generators: list[Any] = []
        self._specs: list[tf.TensorSpec] = []
        self._values: list[tuple[int, Any]] = []
        self._thread = threading.local()

    def begin(self, root: StagingScope) -> None:
        """Begin to draw in the present graph."""
        self._root, self._graph = root, default_graph()

    # -- while tracing ---------------------------------------------------------------------------------------

    def draw(self, generator: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Let the staged function draw from a generator by this method as NumPy draws, or refuse."""
        scope = current_scope()
        assert scope is not None
        if config.floats != "float64":
            raise RandomUseError("NumPy draws 32-bit random numbers")
        if scope.trace.at_once:
            raise RandomUseError("it draws from a stream, one iteration after another")
        return drawing.draw(self, self.stream(generator), name, args, kwargs)

    def draw_globally(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Draw by a function of `numpy.random`; refuse one that sets or reads the state without drawing."""
        if name in ("seed", "get_state", "set_state"):
            raise RandomUseError(f"`numpy.random.{name}` in compiled code")
        name = {"sample": "random_sample", "ranf": "random_sample"}.get(name, name)
        return self.draw(states.global_state(), name, *args, **kwargs)

    def make(self, kind: Callable[..., Any], args: tuple[Any, ...], fresh: bool) -> Any:
        """Return a generator that the staged function makes; `fresh` if every call makes a new generator.

        Raises:
            StagingError: if its seed is staged, or a fresh generator is made in a loop or branch.
        """
        scope = current_scope()
        if args and type(args[0]) is GeneratorStandIn and kind is np.random.default_rng:
            return args[0]
        if not is_known(args):
            raise RandomUseError("a generator is made from a seed that is known only at run time")

        def make() -> Any:
            return kind(*args)

        if fresh and scope is not self._root:
            raise RandomUseError("a generator without a seed is made in a loop or branch")
        generator = make()
        self._kept_generators.append(generator)
        self._add(generator, (lambda _: make()) if fresh else (lambda _: generator), lasts=False)
        return generator_stand_in(generator)

    def stream(self, generator: Any) -> Stream:
        """Return the stream of a generator; refuse one that is no argument, global or closure variable."""
        key = id(states.bit_generator(generator))
        stream = self._streams.get(key)
        if stream is not None:
            if stream.kind[0] is not type(states.numpys(generator)):
                raise RandomUseError("two kinds of generators share one stream")
            return stream
        for place, candidate in enumerate(self._generators):
            if id(states.bit_generator(candidate)) == key:
                return self._add(generator, itemgetter(place), lasts=True)
        if generator is states.global_state():
            return self._add(generator, lambda _: states.global_state(), lasts=True)
        raise RandomUseError("the code uses a generator that is not an argument, global or closure variable")

    def _add(self, generator: Any, find: Callable[[Sequence[Any]], Any], lasts: bool) -> Stream:
        birth = self._root if lasts else current_scope()
        stream = Stream(find, states.new_like(generator), lasts, birth, self._are_buffered, self._open)
        self.streams.append(stream)
        self._streams[id(states.bit_generator(generator))] = stream
        return stream

    def _open(self, stream: Stream) -> None:
        """Make the inputs of the graph that the stream draws from."""
        parts = states.pack(states.state_of(stream.like))
        with self._graph.as_default():
            if stream.is_buffered and stream.makes_bits:
                dtype = BUFFERED_SOURCES[stream.bits_name].dtype
                stream.words = self._input(stream, WORDS, tf.TensorSpec([None], dtype))
                stream.beside = {name: parts[name].size for name in states.BESIDE if name in parts}
                stream.initial = self._position_and_beside(stream)
            else:
                inputs = {
                    name: self._input(stream, name, tf.TensorSpec(part.shape, part.dtype))
                    for name, part in parts.items()
                }
                stream.initial = SOURCES.get(stream.bits_name, Source).unfold(inputs)
        for name, part in stream.initial.items():
            storage = stream.storages[name] = Storage(part)
            storage.birth = stream.birth

    def _position_and_beside(self, stream: Stream) -> dict[str, tf.Tensor]:
        """Return the state of a buffered stream, which is a single input."""
        sizes = [1, *stream.beside.values()]
        position, *parts_beside = tf.split(
            self._input(stream, POSITION, tf.TensorSpec([sum(sizes)], tf.uint64)), sizes
        )
        return {
            WORD_COUNT: tf.bitcast(position, tf.int64)[0],
            **dict(zip(stream.beside, parts_beside, strict=True)),
        }

    def _input(self, stream: Stream, part: Any, spec: tf.TensorSpec) -> tf.Tensor:
        """Return a tensor whose value every call provides: a part of a state, words, or a draw ahead of the
        graph.
        """
        place = len(self._values)
        self._values.append((self.streams.index(stream), part))
        self._specs.append(spec)
        return self._graph.capture_call_time_value(lambda: self.values()[place], spec)

    def draw_ahead(
        self, stream: Stream, name: str, draw: Callable[[Any], Any], sample: Any
    ) -> tf.Tensor | None:
        """Return a draw with known arguments, which NumPy makes before the graph runs; None if the graph has
        begun.

        Args:
            draw: a function that draws from a generator.
            sample: a result of the function.
        """
        like = np.asarray(sample)
        late = stream.has_begun or len(stream.ahead) >= MOST_AHEAD or current_scope() is not self._root
        if late or not has_tf_dtype(like.dtype):
            return None
        stream.ahead.append((name, draw))
        spec = tf.TensorSpec(like.shape, like.dtype)
        return self._input(stream, len(stream.ahead) - 1, spec)

    def finals(self) -> list[tf.Tensor]:
        """Return the final states of the streams. A call whose buffer is too short is discarded."""
        return [tensor for stream in self.streams for tensor in stream.final()]

    # -- at a call -------------------------------------------------------------------------------------------

    def values_of_call(self) -> Sequence[tf.Tensor]:
        """Return the values of the inputs in the present thread's call, in the order of the captures."""
        return self._thread.values if self._specs else ()

    def values(self) -> Sequence[tf.Tensor]:
        """Return the values of the inputs; zeros where the graph is inspected and does not run."""
        values: list[tf.Tensor] | None = getattr(self._thread, "values", None)
        if values is not None:
            return values
        return [tf.zeros([size or 1 for size in spec.shape], spec.dtype) for spec in self._specs]

    @contextmanager
    def draw_call(self, generators: Sequence[Any]) -> Iterator[StreamsOfCall]:
        """For one call, hold the generators' locks and give the graph its inputs."""
        stream_generators = [stream.find(generators) for stream in self.streams]
        with hold_locks([states.bit_generator(stream) for stream in stream_generators]):
            outer = getattr(self._thread, "values", None)
            stream_draws = list(map(StreamDraws, self.streams, stream_generators))
            try:
                for draws in stream_draws:
                    draws.begin()
                yield StreamsOfCall(stream_draws, self._enter)
            finally:
                self._thread.values = outer
                for draws in stream_draws:
                    if draws.undo is not None:
                        draws.undo()

    def _enter(self, all_draws: Sequence[StreamDraws]) -> None:
        self._thread.values = [
            _as_input(all_draws[number].inputs[part], spec)
            for (number, part), spec in zip(self._values, self._specs, strict=True)
        ]


def _as_input(value: Any, spec: tf.TensorSpec) -> tf.Tensor:
    if isinstance(value, tf.Tensor):
        return value
    # No other object shares the memory.
    return borrow_memory(np.asarray(value, spec.dtype.as_numpy_dtype))
