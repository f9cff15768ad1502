"""The time that a run of a loop takes on the host."""

from __future__ import annotations

from time import thread_time

from np2tf.runtime.environment.clock import Stopwatch, clock


class LoopTimer:
    """Times a run of a loop on the host."""

    def __init__(self) -> None:
        self._seconds_before, self._stopwatch, self._processor = (
            clock.host_seconds,
            Stopwatch(),
            thread_time(),
        )

    @property
    def seconds(self) -> float:
        """The seconds since the timer was made, without compiling."""
        return self._stopwatch.seconds

    @property
    def own_seconds(self) -> float:
        """The seconds that compiling the loop could save: neither waiting, nor most of the long calls
        of jitted functions.
        """
        return max(min(self._stopwatch.own_seconds, thread_time() - self._processor), 0.0)

    def note_spent(self, seconds: float) -> None:
        """Record that the host has spent `seconds` since the timer was made."""
        clock.host_seconds = max(clock.host_seconds, self._seconds_before + seconds)
