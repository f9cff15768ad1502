"""What a caller may choose about a translation."""

from __future__ import annotations

from dataclasses import dataclass

LINE_LENGTH = 99
"""How long a line may be that the translator makes."""


@dataclass(frozen=True)
class Options:
    """Options of `convert`."""

    jit: bool = True
    """Decorate functions fit for staging with `@np2tf.jit`, and lower their control flow."""
    everything: bool = False
    """Stage what is fit for it whether or not it seems worth it: something staged calls it."""
    line_length: int = LINE_LENGTH
    """Calls of operators (`np2tf.cond(…)`) that would be longer are broken. Other lines are the source's."""
    target: str = "np2tf"
    """What the translation runs on: `np2tf`, or `tf` for TensorFlow alone."""
