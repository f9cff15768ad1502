"""Calls in a row that had to run on the host, after which some run there without a check."""

from __future__ import annotations

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
