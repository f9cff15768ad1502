"""The choice between the host, the code that there is, and a new trace: of measurements alone.

`np2tf.staging.compile` asks for calls, `np2tf.staging.host` for loops. Nothing here knows the program, so
that histories of measurements can be replayed (`tests/staging/tiers/test_replayed_histories.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.ledger import TRIAL, XLA, ledger
from np2tf.staging.tiers.outlook import is_in_candidate

if TYPE_CHECKING:
    from np2tf.staging.tiers.budget import Budget
    from np2tf.staging.tiers.comparison import Comparison
    from np2tf.staging.tiers.history import FunctionRecord


def stays_on_host(timing: Comparison, budget: Budget) -> bool:
    """Return whether calls stay on the host because compiled code was slower. From time to time they are
    compared again.
    """
    if timing.on_host and timing.is_due_on_host(budget.own_seconds):
        timing.reconsider()
        budget.slower.discard(timing)
    return timing.on_host


def prefers_host(
    timing: Comparison, budget: Budget, has_code: bool, advice: bool | None, was_traced: bool
) -> bool:
    """Return whether a call that could run as compiled code runs on the host for now.

    Args:
        has_code: whether there is code for it.
        advice: whether to compile it according to earlier processes; None if they say nothing.
        was_traced: whether the function has been traced for other calls.
    """
    if has_code:
        return timing.wants_host
    if is_in_candidate():
        return True
    if advice is not None:
        return not advice
    # Only a trace shows which attributes of objects matter. Before it, comparisons are too many if attributes
    # that the function does not read change from call to call.
    return not budget.is_due(timing if was_traced else None)


def note_host_call(timing: Comparison, seconds: float, own_seconds: float) -> None:
    """Record a call that ran on the host for comparison, or before there was code for it."""
    timing.add_host_time(seconds, own_seconds)
    if timing.usual_compiled:
        ledger.note(TRIAL, max(seconds - timing.usual_compiled, 0.0))


def note_compiled_call(
    timing: Comparison, budget: Budget, seconds: float, compiling: float, is_warm: bool, is_new: bool
) -> None:
    """Record a call of compiled code.

    Args:
        compiling: those of the seconds of a first call in which XLA compiled; 0.0 if that is not known.
        is_warm: whether the code has run before; XLA compiles in its first call.
        is_new: whether the code was traced for this call.
    """
    if is_warm:
        # As long as this call, the first call ran.
        ledger.note(XLA, -min(seconds, timing.cold))
        timing.cold = 0.0
    else:
        known = min(compiling, seconds)
        budget.note_first_call(known or seconds)
        if not known:
            timing.cold = seconds
            timing.count_compiled_call(seconds, is_warm=False)
            return
        seconds -= known
    budget.note_gain(seconds, timing.usual_host)
    if is_warm and not timing.is_settled and not is_new:
        timing.add_compiled_time(seconds)
    timing.count_compiled_call(seconds, is_warm=True)


def lose(timing: Comparison, budget: Budget) -> bool:
    """Record that compiled code was slower than the host, and return whether that was not known."""
    if timing in budget.slower:
        return False
    budget.slower.add(timing)
    ledger.lost += 1
    return True


def loop_pays(seconds_left: float, cost: float, saving: float, record: FunctionRecord | None) -> bool:
    """Return whether a running loop is worth compiling.

    Args:
        seconds_left: the seconds that the host would still take.
        cost: the seconds of compiling the loop.
        saving: the share of the host's time that compiled code is expected to save.
        record: what an earlier process has measured, if it says how fast the compiled loop is.
    """
    if record is not None:
        return ledger.allows(seconds_left * (1.0 - record.ratio), cost)
    compiled = max(seconds_left - constants.XLA_BESIDE, 0.0)
    return ledger.allows(compiled * saving, cost, constants.REST_FACTOR * constants.EXPECTED_SAVING)
