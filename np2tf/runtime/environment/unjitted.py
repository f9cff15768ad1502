"""Telling that a function runs as Python: why, and where that stands."""

from __future__ import annotations

import warnings

from np2tf.counts import Fallback
from np2tf.runtime.environment.clock import TOO_LONG_TO_TRACE
from np2tf.tnp._front.rebound_names import CODE as REBOUND

#: The code of errors that tell of a callee that belongs on the host.
CALLEE = "NP2TF539"
#: The codes that are no fault to be told of, where NumPy's rules hold.
QUIET = (CALLEE, REBOUND, TOO_LONG_TO_TRACE)
#: The codes that say nothing of the next process.
OF_THE_MOMENT = (TOO_LONG_TO_TRACE, REBOUND, "NP2TF503")


class UnjittedWarning(UserWarning):
    """A function that should be compiled runs as Python."""


def tell(why: Fallback, more: str = "") -> None:
    """Warn at the place that is the reason."""
    told = f"{why.code} {why.path}:{why.line}: {why.function} runs unjitted: {why.reason}{more}"
    warnings.warn_explicit(told, UnjittedWarning, why.path, why.line)
