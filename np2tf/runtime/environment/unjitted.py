"""Warnings that a function runs as Python, with the reason and its place."""

from __future__ import annotations

import warnings

from np2tf.counts import Fallback
from np2tf.runtime.environment.clock import TOO_LONG_TO_TRACE
from np2tf.tnp._front.rebound_names import CODE as REBOUND

#: The code of errors about a callee that must run on the host.
CALLEE = "NP2TF539"
#: The codes that cause no warning under NumPy's promotion rules.
QUIET = (CALLEE, REBOUND, TOO_LONG_TO_TRACE)
#: The codes that do not predict anything for the next process.
OF_THE_MOMENT = (TOO_LONG_TO_TRACE, REBOUND, "NP2TF503")


class UnjittedWarning(UserWarning):
    """Warns that a function which should be compiled runs as Python."""


def tell(why: Fallback, more: str = "") -> None:
    """Warn at the place of the reason."""
    told = f"{why.code} {why.path}:{why.line}: {why.function} runs unjitted: {why.reason}{more}"
    warnings.warn_explicit(told, UnjittedWarning, why.path, why.line)
