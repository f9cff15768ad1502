"""What a caller may choose about a translation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of `convert`."""

    jit: bool = True
    """Decorate functions fit for staging with `@np2tf.jit`, and lower their control flow."""
    everything: bool = False
    """Stage what is fit for it whether or not it seems worth it: something staged calls it."""
