"""What calls of one kind take on the host and as compiled code, and which of the two is faster."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import process_time

from np2tf.staging.tiers import constants


@dataclass(eq=False)
class Comparison:
    """The timings of calls that share code, and the choice that they make between the host and this code.

    Attributes:
        on_host: whether the calls stay on the host from now on.
        own_seconds: the seconds on the host, without long calls of other jitted functions.
        since: the processor's seconds of this process before the first of the calls.
        is_settled: whether the tiers have been compared well enough.
        seen_host: the seconds of the fastest call on the host in earlier comparisons.
        trial_seconds: the seconds of the warm compiled calls of the latest comparison, some of which may take
            far longer than the best.
        discarded_calls: the number of compiled calls that the host has repeated, for functions that handle
            exceptions.
        known_host: the seconds of a call on the host in an earlier process; 0.0 if unknown.
        assumed_host: the seconds of the function's calls on the host when the code was made.
        calls: the number of compiled calls in this process.
        cold: the seconds of the latest call in which XLA compiled, until a warm call tells how many of them
            it ran.
        seconds: the seconds of these calls without the first, in which XLA compiles.
        recent, recent_calls: the seconds and the number of these calls since the choice of the tier was last
            considered.
        last_review: the seconds that the calls of the chosen tier had taken when its choice was last
            considered: of compiled code this object's own seconds, of the host the function's. None if the
            host was chosen and no call has come since.
        reviews: how often the choice has been considered since it was made for the first time.
    """

    on_host: bool = False
    own_seconds: float = 0.0
    since: float = field(default_factory=process_time)
    host_calls: int = 0
    best_host: float = float("inf")
    seen_host: float = float("inf")
    best_compiled: float = float("inf")
    warm_calls: int = 0
    trial_seconds: float = 0.0
    discarded_calls: int = 0
    is_settled: bool = False
    known_host: float = 0.0
    assumed_host: float = 0.0
    calls: int = 0
    cold: float = 0.0
    seconds: float = 0.0
    recent: float = 0.0
    recent_calls: int = 0
    last_review: float | None = 0.0
    reviews: int = 0

    @property
    def wants_host(self) -> bool:
        """True if the next call should run on the host for comparison, although there is code for it."""
        if self.is_settled:
            return self.seconds - (self.last_review or 0.0) > self._reconsider_factor * self.best_host
        is_long = self.warm_calls > 0 and self.best_compiled > constants.LONG_WARM_CALL
        enough = self.warm_calls >= constants.WARM_CALLS or (is_long and not self.host_calls)
        return enough and not self._is_compared

    def is_due_on_host(self, host_seconds: float) -> bool:
        """Return whether compiled code that was slower than the host should be compared again.

        Args:
            host_seconds: the seconds that the calls of the function have taken on the host so far.
        """
        if self.last_review is None:
            self.last_review = host_seconds
        cost = max(constants.WARM_CALLS * self.best_compiled, self.trial_seconds)
        is_due = host_seconds - self.last_review > self._reconsider_factor * cost
        return is_due and self.discarded_calls <= self.warm_calls

    @property
    def _reconsider_factor(self) -> float:
        doublings = min(self.reviews, constants.MOST_DOUBLINGS)
        return min(constants.FIRST_RECONSIDER_FACTOR * 2.0**doublings, constants.RECONSIDER_FACTOR)

    def reconsider(self) -> None:
        """Start a new comparison of the tiers; other processes may have disturbed the first comparison."""
        self.reviews += 1
        self.is_settled = self.on_host = False
        self.host_calls = self.warm_calls = self.discarded_calls = 0
        self.seen_host = min(self.seen_host, self.best_host)
        self.best_host = self.best_compiled = float("inf")
        self.trial_seconds = 0.0

    @property
    def _is_compared(self) -> bool:
        """True if there have been enough calls on the host.

        These are a few calls, or one call that is far faster, or two that are far slower, or none if an
        earlier process found the host clearly slower. In the last case, one call is measured later.
        """
        if self.host_calls >= (constants.MANY_HOST_CALLS if self._is_near else constants.WARM_CALLS):
            return True
        if not self.host_calls and self.known_host >= constants.HOPELESS_FACTOR * self.best_compiled:
            return self.seconds < constants.REVIEW_FACTOR * self.known_host
        if self.best_compiled >= constants.CLEARLY_SLOWER * self.best_host:
            return self.host_calls > 0
        # Of calls that differ by much, those on the host may be of the slow sort.
        is_even = self.trial_seconds <= constants.UNUSUAL * self.warm_calls * self.best_compiled
        is_even = is_even and self.best_host <= constants.UNUSUAL * self.seen_host
        is_clear = self.best_host >= constants.CLEARLY_FASTER * self.best_compiled
        return self.host_calls > 1 and is_clear and is_even

    @property
    def _is_near(self) -> bool:
        faster, slower = sorted((self.best_host, self.best_compiled))
        return slower < constants.NEAR * faster

    @property
    def _is_hopeless(self) -> bool:
        limit = max(constants.LONG_WARM_CALL, constants.HOPELESS_FACTOR * self.best_host)
        return self.warm_calls > 0 and self.best_compiled > limit

    def add_host_time(self, seconds: float, own_seconds: float | None = None) -> None:
        """Record the seconds of a call on the host, and without long calls of other jitted functions."""
        self.own_seconds += seconds if own_seconds is None else own_seconds
        if self.is_settled and not self.on_host:
            # This may be a call that takes far longer than others, on either tier.
            is_doubtful = seconds * self.recent_calls < constants.NEAR * self.recent
            self._begin_review()
            if not is_doubtful:
                self.reviews += 1
                self.best_host = seconds
                return
            self.reconsider()
        self.host_calls += 1
        self.best_host = min(self.best_host, seconds)
        self._choose_tier()

    def add_compiled_time(self, seconds: float) -> None:
        """Record the seconds of a warm compiled call."""
        self.warm_calls += 1
        self.trial_seconds += seconds
        self.best_compiled = min(self.best_compiled, seconds)
        self._choose_tier()

    def count_compiled_call(self, seconds: float, is_warm: bool) -> None:
        """Count a compiled call. XLA compiles in a call that is not warm."""
        self.calls += 1
        if is_warm:
            self.seconds += seconds
            self.recent += seconds
            self.recent_calls += 1

    @property
    def usual_host(self) -> float:
        """The seconds of a call on the host, as far as known."""
        return self.best_host if self.host_calls else self.known_host or self.assumed_host

    @property
    def usual_compiled(self) -> float:
        """The seconds of a compiled call; 0.0 if only the first is known."""
        return self.best_compiled if self.warm_calls else 0.0

    def note_discarded_call(self) -> None:
        """Count a discarded call. If most calls are discarded, the calls stay on the host."""
        self.discarded_calls += 1
        if (
            not self.is_settled
            and self.discarded_calls >= constants.WARM_CALLS
            and self.discarded_calls > self.warm_calls
        ):
            self.is_settled = self.on_host = True

    def _choose_tier(self) -> None:
        """Choose the faster tier once both have been measured well enough."""
        enough = self.warm_calls >= (constants.MANY_WARM_CALLS if self._is_near else constants.WARM_CALLS)
        if (enough and self._is_compared and self.host_calls) or self._is_hopeless:
            self.is_settled = True
            self.on_host = self.best_compiled > self.best_host
            # The cache does not know the host's seconds; the next call brings them.
            self._begin_review()
            self.last_review = None if self.on_host else self.seconds

    def _begin_review(self) -> None:
        self.last_review, self.recent, self.recent_calls = self.seconds, 0.0, 0

    @property
    def decision(self) -> str:
        """The tier of calls from now on, in words."""
        if self.on_host and self.discarded_calls > self.warm_calls:
            return "host: exceptions are handled there in most calls"
        if self.on_host:
            return "host: faster than compiled code"
        return "compiled: faster than NumPy" if self.is_settled else "compiled: not yet compared with NumPy"
