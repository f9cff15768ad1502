"""The ledger of this process: the seconds that np2tf has spent to make the program faster, against the
seconds that this has saved; and whether more may be spent.

What has been spent beyond what has been saved is the debt. Compiling is always a wager on what the program
will still do. A debt of up to a small share of the program's time is borne; beyond that, what the next wager
is expected to save must repay the debt that earlier wagers have left, several times, and twice as often after
each wager that was lost. So a wrong prediction costs what it costs once, and a series of them ends soon.
"""

from __future__ import annotations

from time import perf_counter, process_time

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.clock import clock

#: What seconds are spent on: importing TensorFlow, translating, tracing, first calls, in which XLA compiles,
#: trials of compiled code that was given up, and calls of compiled code that took longer than on the host.
IMPORT, TRANSLATE, TRACE, XLA, TRIAL, SLOWER = "import", "translate", "trace", "xla", "trial", "slower"
_COMPILING = frozenset({IMPORT, TRANSLATE, TRACE, XLA})


class Ledger:
    """What is spent and saved.

    Attributes:
        spent: the seconds by kind.
        saved: the seconds that compiled calls and iterations took less than they would have on the host.
        lost: the number of wagers that were lost since the debt was last one that is borne.
    """

    def __init__(self) -> None:
        self.spent = dict.fromkeys((IMPORT, TRANSLATE, TRACE, XLA, TRIAL, SLOWER), 0.0)
        self.saved, self.lost = 0.0, 0
        self._start, self._processor = perf_counter(), process_time()

    def note(self, kind: str, seconds: float) -> None:
        """Record seconds that were spent, or, if negative, that turn out not to have been."""
        self.spent[kind] += seconds
        if kind in _COMPILING and seconds > 0.0:
            clock.compile_seconds += seconds

    def note_gain(self, host_seconds: float, seconds: float) -> None:
        """Record what compiled code took, and what the same would have taken on the host."""
        if seconds > host_seconds:
            self.spent[SLOWER] += seconds - host_seconds
            return
        self.saved += host_seconds - seconds
        if self.lost and self.debt <= self.allowance:
            self.lost = 0

    @property
    def total(self) -> float:
        """The seconds spent on everything."""
        return sum(self.spent.values())

    @property
    def debt(self) -> float:
        """The seconds spent beyond those saved; at least 0."""
        return max(self.total - self.saved, 0.0)

    @property
    def allowance(self) -> float:
        """The debt that is borne without a prediction: a share of the time that the program has run."""
        # A program that waits, or in which other threads work, has run for no longer than either clock says.
        run = min(perf_counter() - self._start, process_time() - self._processor)
        return constants.ALLOWED_SHARE * run + constants.ALLOWED_SECONDS

    def allows(self, saving: float, cost: float, factor: float | None = None) -> bool:
        """Return whether to spend `cost` seconds, given the seconds that are expected to be saved.

        Args:
            factor: how many times its cost the wager must be expected to save; FIRST_CALL_GAIN by default.
        """
        factor = constants.FIRST_CALL_GAIN if factor is None else factor
        # Importing TensorFlow is a part of the first wagers, until one of them is lost.
        pending = 0.0 if self.lost else self.spent[IMPORT]
        unpaid = max(self.debt - self.allowance - pending, 0.0)
        repayments = constants.DEBT_FACTOR * 2.0 ** min(self.lost, constants.MOST_IN_VAIN)
        return saving >= factor * cost + repayments * unpaid


ledger = Ledger()
