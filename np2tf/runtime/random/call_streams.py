"""The streams of one call: the inputs of its graph, and the changes of the generators afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.random import snapshots, states
from np2tf.runtime.random.locks import lend_lock
from np2tf.runtime.random.word_buffers import MAX_WORDS, buffer_of, take

if TYPE_CHECKING:
    from np2tf.runtime.random.streams import Stream

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
        """Return whether the buffer was too short. If so, it is replaced by a longer buffer.

        Raises:
            OutOfWords: if no buffer is long enough.
        """
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
        # Writing the state takes 100 µs.
        if self.stream.looks_beside and not np.array_equal(final[1:], self._position[1:]):
            parts = np.split(final[1:], np.cumsum([*beside.values()])[:-1])
            states.put_state(self.generator, dict(zip(beside, parts, strict=True)))


class StreamsOfCall:
    """The streams of one call.

    Args:
        drawn: the streams in this call.
        enter: gives the graph its inputs.
    """

    def __init__(self, draws: list[StreamDraws], enter: Callable[[Sequence[StreamDraws]], None]) -> None:
        self._streams = draws
        self._enter = enter
        enter(draws)

    def call_again(self, outputs: Sequence[tf.Tensor]) -> bool:
        """Return whether a discarded call has lacked words. If so, the graph is given more words.

        Args:
            outputs: the states after the call.

        Raises:
            OutOfWords: if no buffer is long enough.
        """
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
