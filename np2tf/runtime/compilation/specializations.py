"""The compiled code for calls that differ in numbers only, and timings that choose it or the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from np2tf.counts import Fallback
from np2tf.runtime.arguments.signature import Signature, number_key
from np2tf.runtime.compilation.concrete_function import ConcreteFunction
from np2tf.runtime.compilation.open_arrays import Bounds, bounds_of
from np2tf.runtime.decisions.decisions import CallRecord
from np2tf.staging import TooManyTracesError, XlaShapeError

#: So many warm calls are timed before a way is chosen, and so many on the host, unless compiled code is
#: slower or faster by these factors: the first call on the host was a cold one, others may have been at work.
WARM_CALLS = 3
BEHIND, AHEAD = 2.0, 20.0
#: Code that seems to be a little slower, by no more than this factor, is given so many warm calls: the best
#: of many on the host is held against the best of few.
A_LITTLE, MANY_WARM_CALLS = 1.5, 12
#: One warm call is enough where it took more seconds than this, and so many times as long as on the host:
#: calls that are long do not vary as much.
LONG, WORSE = 0.02, 1.5
#: What an earlier process has found out is measured again once compiled calls have taken so many times what
#: that costs.
REVIEWED = 10.0
#: A choice is looked at again once the chosen tier has taken so many times what the look costs.
RECONSIDERED = 100.0
_INTEGERS = (int, np.integer, np.bool_)
#: A function that keeps needing new code is not compiled any more.
MAX_TRACES = 16


@dataclass
class SpecializationCache:
    """The compiled code for all calls that differ in numbers only, and how long they have taken.

    Attributes:
        compiled: the code by the numbers that are constants of it.
        on_host: whether the calls stay on the host from now on.
        discarded: how many compiled calls have been repeated on the host, where exceptions are handled.
        fallback: why they cannot be compiled, if they cannot.
        bounded: the inputs that are integers of which XLA needs to know how large they can be.
        own_seconds: what they have taken on the host, without long calls of other jitted functions.
        digest: the word for calls like these, once there is code for them.
        known_host: what they took on the host in an earlier process; 0.0 if that is not known.
        assumed_host: what calls of the function took on the host when the code was made.
        calls: how many compiled ones there have been, in this process.
        seconds: what these have taken but for the first, in which XLA compiles.
        recent: what the fastest of them has taken since the choice of the tier was considered.
        considered: what the calls of the chosen tier had taken when its choice was considered.
    """

    compiled: dict[Any, ConcreteFunction] = field(default_factory=dict)
    on_host: bool = False
    fallback: Fallback | None = None
    own_seconds: float = 0.0
    host_calls: int = 0
    best_host: float = float("inf")
    best_compiled: float = float("inf")
    warm_calls: int = 0
    discarded: int = 0
    settled: bool = False
    seen: list[Any] = field(default_factory=list)
    varying: set[int] = field(default_factory=set)
    integers: set[int] = field(default_factory=set)
    changing: set[int] = field(default_factory=set)
    pinned: set[int] = field(default_factory=set)
    bounded: set[int] = field(default_factory=set)
    digest: str = ""
    known_host: float = 0.0
    assumed_host: float = 0.0
    calls: int = 0
    seconds: float = 0.0
    recent: float = float("inf")
    considered: float = 0.0

    @property
    def wants_host(self) -> bool:
        """Whether the next call had better run on the host, for comparison, although there is code for it."""
        if self.settled:
            return self.seconds - self.considered > RECONSIDERED * self.best_host
        return self.warm_calls >= WARM_CALLS and not self._is_compared

    def is_due_on_host(self, host_seconds: float) -> bool:
        """Return whether compiled code, which was slower than the host, is due to be compared again.

        Args:
            host_seconds: what the calls of the function have taken on the host so far.
        """
        can_run = self.fallback is None and bool(self.compiled) and self.discarded <= self.warm_calls
        cost = WARM_CALLS * self.best_compiled
        return can_run and host_seconds - self.considered > RECONSIDERED * cost

    def reconsider(self) -> None:
        """Compare the tiers anew: other work on the machine may have disturbed the first comparison."""
        self.settled = self.on_host = False
        self.host_calls = self.warm_calls = self.discarded = 0
        self.best_host = self.best_compiled = float("inf")

    @property
    def _is_compared(self) -> bool:
        """Whether there have been enough calls on the host: a few, or one where it is far ahead or behind, or
        none where it was clearly behind in an earlier process; one call tells later whether it still is.
        """
        if self.host_calls >= WARM_CALLS:
            return True
        if not self.host_calls and self.known_host >= WORSE * self.best_compiled:
            return self.seconds < REVIEWED * self.known_host
        far = self.best_compiled >= BEHIND * self.best_host or self.best_host >= AHEAD * self.best_compiled
        return self.host_calls > 0 and far

    @property
    def _is_hopeless(self) -> bool:
        return self.warm_calls > 0 and self.best_compiled > max(LONG, WORSE * self.best_host)

    def add_host_time(self, seconds: float, own: float | None = None) -> None:
        """Note how long a call took on the host, and without long calls of other jitted functions."""
        self.own_seconds += seconds if own is None else own
        if self.settled and not self.on_host:
            is_wrong = seconds < self.recent
            self.considered, self.recent = self.seconds, float("inf")
            if not is_wrong:
                self.best_host = seconds
                return
            self.reconsider()
        self.host_calls += 1
        self.best_host = min(self.best_host, seconds)
        self._choose_tier()

    def add_compiled_time(self, seconds: float) -> None:
        """Note how long a warm call took compiled."""
        self.warm_calls += 1
        self.best_compiled = min(self.best_compiled, seconds)
        self._choose_tier()

    def start_from(self, way: CallRecord | None, signature: Signature) -> None:
        """Begin with what an earlier process has found out about calls like these."""
        if way is None:
            return
        self.known_host = way.host
        if way.numbers == len(signature.numbers):
            self.varying, self.pinned = set(way.varying), set(way.pinned)
            self.integers = {k for k in self.varying if isinstance(signature.numbers[k], _INTEGERS)}

    def count_compiled_call(self, seconds: float, is_warm: bool) -> None:
        """Count a compiled call; XLA compiles in one that is not warm."""
        self.calls += 1
        if is_warm:
            self.seconds += seconds
            self.recent = min(self.recent, seconds)

    @property
    def usual_host(self) -> float:
        """Seconds that a call takes on the host, as far as that is known."""
        return self.best_host if self.host_calls else self.known_host or self.assumed_host

    @property
    def usual_compiled(self) -> float:
        """Seconds that a compiled call takes; 0.0 where only the first is known."""
        return self.best_compiled if self.warm_calls else 0.0

    def note_discarded_call(self) -> None:
        """Note that a compiled call has been in vain; where most are, the calls stay on the host."""
        self.discarded += 1
        if not self.settled and self.discarded >= WARM_CALLS and self.discarded > self.warm_calls:
            self.settled = self.on_host = True

    def _choose_tier(self) -> None:
        """Choose the faster way once both have been measured well enough."""
        is_little = self.best_host < self.best_compiled < A_LITTLE * self.best_host
        enough = self.warm_calls >= (MANY_WARM_CALLS if is_little else WARM_CALLS)
        if (enough and self._is_compared and self.host_calls) or self._is_hopeless:
            self.settled = True
            self.on_host = self.best_compiled > self.best_host
            self.considered, self.recent = self.seconds, float("inf")

    def notice(self, signature: Signature) -> None:
        """Learn which numbers vary."""
        self.changing.update(signature.changing)
        keys = list(map(number_key, signature.numbers))
        if not self.seen:
            self.seen = keys
        elif keys != self.seen:
            new = {k for k, key in enumerate(keys) if key != self.seen[k]} - self.varying
            self.varying |= new
            self.integers |= {k for k in new if isinstance(signature.numbers[k], _INTEGERS)}

    def inputs(self) -> tuple[int, ...]:
        """The numbers that are to be inputs of the next code."""
        return tuple(sorted((self.varying | self.changing) - self.pinned))

    def check_inputs(self, inputs: tuple[int, ...], made: ConcreteFunction) -> None:
        """Refuse code whose integers had better be known: with these, shapes are known.

        Raises:
            StagingError: XLA compiles the function if the integers are constants.
        """
        known = self.compiled.values()
        if self.integers & set(inputs) and made.how != "xla" and any(one.how == "xla" for one in known):
            raise XlaShapeError("XLA needs to know the integers")

    def bound(self, inputs: tuple[int, ...], signature: Signature) -> bool:
        """Let the integers among the inputs be bounded; whether there are any that have not been."""
        new = {k for k in inputs if bounds_of(signature.numbers[k]) is not None} - self.bounded
        self.bounded |= new
        return bool(new)

    def bounds(self, inputs: tuple[int, ...], signature: Signature) -> dict[int, Bounds]:
        """The bounds of the bounded inputs: powers of 2, so that there are few of them."""
        bounds = {k: bounds_of(signature.numbers[k]) for k in inputs if k in self.bounded}
        return {k: bound for k, bound in bounds.items() if bound is not None}

    def pin(self, inputs: tuple[int, ...], signature: Signature) -> None:
        """Some of these inputs must be known while staging: the integers as a rule, else all of them."""
        integers = {k for k in inputs if isinstance(signature.numbers[k], _INTEGERS)}
        self.pinned |= integers if integers else set(inputs)

    def key(self, signature: Signature, inputs: tuple[int, ...]) -> Any:
        """What the code for these numbers is found by."""
        fixed = [number_key(number) for k, number in enumerate(signature.numbers) if k not in inputs]
        return inputs, tuple(fixed), signature.constants, tuple(self.bounds(inputs, signature).items())

    def find(self, signature: Signature) -> ConcreteFunction | None:
        """The code for a call, if there is any."""
        inputs = self.inputs()
        found = self.compiled.get(self.key(signature, inputs))
        return found if found is not None or not inputs else self.compiled.get(self.key(signature, ()))

    def check_growth(self) -> None:
        """Refuse to compile without end.

        Raises:
            StagingError: there have been too many traces.
        """
        if len(self.compiled) >= MAX_TRACES:
            raise TooManyTracesError.of()

    @property
    def decision(self) -> str:
        """Where calls run from now on, in words."""
        if self.fallback is not None:
            return "host: cannot be compiled"
        if self.on_host and self.discarded > self.warm_calls:
            return "host: exceptions are handled there in most calls"
        if self.on_host:
            return "host: faster than compiled code"
        if not self.compiled:
            return "host: has not taken enough time to be worth compiling"
        return (
            "compiled: faster than the host" if self.settled else "compiled: not yet compared with the host"
        )
