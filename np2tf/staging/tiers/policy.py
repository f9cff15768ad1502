"""Choices of tier that follow from a few numbers: calls that nobody looks at, and the parts of a loop."""

from __future__ import annotations

from collections.abc import Generator

from np2tf.core.counts import Fallback
from np2tf.staging.tiers import constants


class HostStreak:
    """Calls in a row that had to run on the host: the more there were, the more run there without a check.

    Attributes:
        unchecked: the number of calls that will run there without a check.
        reason: why the latest call ran there; None if the host is faster.
    """

    def __init__(self) -> None:
        self.unchecked = self._calls = 0
        self.reason: Fallback | None = None

    def note(self, reason: Fallback | None) -> None:
        """Count a call that had to run on the host."""
        self.reason = reason
        self._calls += 1
        if self._calls >= constants.ASKED_AT_LEAST:
            self.unchecked = 2 ** min(self._calls - constants.ASKED_AT_LEAST, constants.TRUSTED_AT_MOST)

    def end(self) -> None:
        """Check the next call."""
        self.unchecked = self._calls = 0


def part_sizes(size: int) -> Generator[int, float | None, None]:
    """Yield the numbers of iterations that compiled code runs at once, and receive the seconds of each part.

    The first part has `size` iterations. The parts become longer, and shorter before an iteration that only
    the host can run. They end if not even the smallest part can run, for which None is received.
    """
    least = size
    while True:
        seconds = yield size
        if seconds is not None:
            growth = min(constants.PART_GROWTH, constants.LONGEST_PART / max(seconds, 1e-9))
            size = max(int(size * growth), 1)
            least = min(least, size)
        elif size > least:
            size = max(size // constants.PART_GROWTH, least)
        else:
            return
