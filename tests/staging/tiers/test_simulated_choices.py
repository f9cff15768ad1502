"""The choice of tier needs no TensorFlow: it is simulated, by calls and loops that take so many seconds."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from itertools import pairwise

import pytest

from np2tf.staging.host.replacement import part_sizes
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.host_streak import HostStreak


def test_the_choice_needs_no_tensorflow() -> None:
    program = (
        "import sys\n"
        "from np2tf.staging.tiers import budget, call_context, clock, comparison, history, host_streak\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("seconds", [1e-7, 1e-4, 1e-2, 1.0])
def test_parts_become_as_long_as_handlers_may_wait(seconds: float) -> None:
    """Whatever an iteration takes, parts soon take LONGEST_PART, or one iteration where that is longer."""
    sizes = part_sizes(1)
    size = next(sizes)
    parts = [size]
    while len(parts) < 30:
        size = sizes.send(size * seconds)
        parts.append(size)
    assert all(b <= constants.PART_GROWTH * a for a, b in pairwise(parts))
    assert parts[-1] == 1 or parts[-1] * seconds == pytest.approx(constants.LONGEST_PART, rel=0.1)


def test_parts_end_at_an_iteration_that_cannot_be_compiled() -> None:
    """They become shorter before it, down to the length of the first."""
    sizes, done, last = part_sizes(10), 0, 100_000
    size = next(sizes)
    with contextlib.suppress(StopIteration):
        while True:
            fits = done + size <= last
            done += size * fits
            size = sizes.send(1e-6 * size if fits else None)
    assert last - 10 < done <= last


def test_most_calls_that_must_stay_on_the_host_are_not_looked_at() -> None:
    """Nor does counting them become slower: the number of unchecked calls is bounded."""
    streak, checked, calls = HostStreak(), 0, 100_000
    for _ in range(calls):
        if streak.unchecked:
            streak.unchecked -= 1
        else:
            streak.note(None)
            checked += 1
        assert streak.unchecked <= 2**constants.TRUSTED_AT_MOST
    assert checked < 0.01 * calls
    for in_a_row in (constants.ASKED_AT_LEAST, 2000, 10**15):
        streak._calls = in_a_row
        streak.note(None)
        assert 1 <= streak.unchecked <= 2**constants.TRUSTED_AT_MOST
    streak.end()
    streak.note(None)
    assert not streak.unchecked, "a call that need not run there begins anew"
