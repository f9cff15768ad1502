"""Draws in the graph itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from np2tf.runtime.random.arguments import Form

if TYPE_CHECKING:
    from np2tf.runtime.random.streams import Stream


def draw(
    stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], form: Form
) -> tf.Tensor | None:
    """What the method draws, in operations on integers; None where there are none for it."""
    return None
