"""How long the program is going to go on, and whether compiling can pay in that time.

Compiled code pays only if the program goes on for long enough. The loops that are running tell how long that
is: a loop that has done 30 of 1,000 iterations in a second will take another half a minute, with all
functions that it calls. Where no loop tells, a function is expected to take as long again as it has taken
(Gott, "Implications of the Copernican principle for our future prospects", 1993).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter, process_time
from types import GeneratorType
from typing import Any
from weakref import ref

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.ledger import ledger


class Progress:
    """The progress of a running loop.

    Attributes:
        position: the number of iterations that have ended.
        share: the share of the loop that is done, for a loop whose iterations cannot be counted; 0.0 if it is
            not known.
        is_candidate: whether the loop may still be compiled, with what it calls.

    Args:
        count: the number of iterations; None if it is not known.
        may_end_early: whether the loop may end before that many, by a `break` or `return`.
    """

    __slots__ = (
        "_count",
        "_distance",
        "_may_end_early",
        "_samples",
        "_start",
        "is_candidate",
        "position",
        "share",
    )

    def __init__(self, count: int | None, may_end_early: bool = False) -> None:
        self._count, self._may_end_early, self._start = count, may_end_early, perf_counter()
        self.position, self.share, self._distance = 0, 0.0, 0.0
        self.is_candidate = False
        # Earlier seconds and shares, each after twice the seconds of the one before.
        self._samples: list[tuple[float, float]] = []

    @property
    def is_over(self) -> bool:
        """True if the loop has ended and is still among those that run, because nothing has told its end."""
        return False

    @property
    def comes_first(self) -> bool:
        """True if the loop may be compiled, and its iterations are short enough to wait for that."""
        if not self.is_candidate:
            return False
        return (
            self.position > constants.LOADING_ROUNDS or perf_counter() - self._start < constants.FIRST_ROUNDS
        )

    def note_distance(self, left: float) -> None:
        """Record what is left of a loop without a number of iterations, in a measure of its own."""
        if not self._distance:
            self._distance = left
            return
        self.share = max(1.0 - left / self._distance, 0.0)
        passed = perf_counter() - self._start
        if self.share and (not self._samples or passed >= 2.0 * self._samples[-1][0]):
            self._samples.append((passed, self.share))

    def seconds_left(self, inner: float | None) -> float | None:
        """Return the seconds that the loop will take; None if nothing tells.

        Args:
            inner: the seconds that a loop inside its present iteration will take.
        """
        passed = perf_counter() - self._start
        if self._count is None and not self.share:
            return inner
        if self._count is None or self.position:
            left = passed * self.multiple_left(self.position)
            return left if inner is None else max(left, inner)
        return (
            None if inner is None else self._limited((passed + inner) * self._count / passed - 1.0) * passed
        )

    def multiple_left(self, rounds: int) -> float:
        """Return what is left of the loop as a multiple of what is done.

        Args:
            rounds: the number of iterations that count as done.
        """
        if self._count is not None:
            return self._limited(max(self._count - self.position, 0) / rounds)
        return self._limited(1.0 / self.share - 1.0) if self.share > 0.0 else 1.0

    @property
    def _is_steady(self) -> bool:
        """True if a loop of unknown count has come as far in each second as before."""
        samples = pairwise(self._samples[-constants.STEADY_SAMPLES :])
        rates = [(share - share_before) / (now - before) for (before, share_before), (now, share) in samples]
        return len(rates) >= constants.STEADY_SAMPLES - 1 and max(rates) <= constants.STEADY * min(rates)

    def _limited(self, multiple: float) -> float:
        if self._may_end_early:
            return min(multiple, constants.MOST_LEFT)
        if self._count is not None:
            return multiple
        return min(multiple, constants.MOST_LEFT_STEADY if self._is_steady else constants.MOST_LEFT)


class IteratorProgress(Progress):
    """The progress of a loop that runs over a generator which passes on the elements of an iterator.

    No reference keeps the generator alive: it ends with the loop.

    Args:
        elements: the generator.
        count: the number of elements.
        left_of: returns how many elements an iterator has left.
    """

    __slots__ = ("_elements", "_left_of")

    def __init__(
        self,
        elements: GeneratorType[Any, None, None],
        count: int,
        may_end_early: bool,
        left_of: Callable[[Any], int],
    ) -> None:
        super().__init__(count, may_end_early)
        self._elements, self._left_of = ref(elements), left_of

    @property
    def _left(self) -> int:
        elements = self._elements()
        iterator = None if elements is None else elements.gi_yieldfrom
        return 0 if iterator is None else self._left_of(iterator)

    @property
    def is_over(self) -> bool:
        """True if the loop has ended, or is in its last iteration."""
        return not self._left

    def seconds_left(self, inner: float | None) -> float | None:
        """Return the seconds that the loop will take, as it is now; None if nothing tells."""
        assert self._count is not None
        self.position = max(self._count - self._left - 1, 0)
        return super().seconds_left(inner)


class _Running(threading.local):
    """The loops that are running in this thread.

    Attributes:
        loops: the loops, the outermost first, and some whose end nothing has told.
    """

    def __init__(self) -> None:
        self.loops: list[Progress] = []

    def follow(self, progress: IteratorProgress) -> None:
        """Add a loop whose end nothing will tell."""
        self.loops = [*(other for other in self.loops if not other.is_over), progress]


running = _Running()


def seconds_left() -> float | None:
    """Return the seconds that the loops of this thread will still take; None if nothing tells."""
    left = None
    for progress in reversed(running.loops):
        if not progress.is_over:
            left = progress.seconds_left(left)
    return left


def seconds_left_of(own_seconds: float, since: float) -> float:
    """Return the seconds that code will still take on the host, given those that it has taken.

    Args:
        since: the processor's seconds of this process before the code ran for the first time.
    """
    left = seconds_left()
    if left is None:
        return own_seconds
    passed = max(process_time() - since, own_seconds, 1e-9)
    return left * own_seconds / passed


def is_in_candidate() -> bool:
    """Return whether this thread is in a loop that may be compiled, and is soon measured or has been: what it
    calls becomes a part of its code, and is not worth compiling by itself.
    """
    return any(progress.comes_first for progress in running.loops)


def pays(own_seconds: float, since: float, cost: float, saving: float = constants.EXPECTED_SAVING) -> bool:
    """Return whether code that has taken `own_seconds` on the host is expected to save what compiling costs.

    Args:
        since: the processor's seconds of this process before the code ran for the first time.
        cost: the seconds of compiling it.
        saving: the share of the host's time that compiled code is expected to save.
    """
    return ledger.allows(seconds_left_of(own_seconds, since) * saving, cost)
