"""Warnings that a function runs as Python, with the reason and its place."""

from __future__ import annotations

from np2tf.core.counts import Fallback
from np2tf.core.own_warnings import warn_at


class UnjittedWarning(UserWarning):
    """Warns that a function which should be compiled runs as Python."""


def tell(why: Fallback, more: str = "") -> None:
    """Warn at the place of the reason."""
    message = f"{why.code} {why.path}:{why.line}: {why.function} runs unjitted: {why.reason}{more}"
    warn_at(message, UnjittedWarning, why.path, why.line)
