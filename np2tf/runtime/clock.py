"""What the host has spent in jitted functions, against which the cost of compiling is held."""

from __future__ import annotations

#: What importing TensorFlow takes, in seconds: compiling must have a prospect of gaining as much.
IMPORT_SECONDS = 3.0
#: What compiling a function is expected to take as long as this process has compiled nothing.
COMPILE_SECONDS = 0.5
#: The code of the error by which a trace ends that takes longer than it may.
TOO_LONG_TO_TRACE = "NP2TF540"


class _Clock:
    """The time that this process has spent in jitted functions on the host.

    Attributes:
        spent: in seconds; calls within calls, and calls side by side in threads, count once.
    """

    __slots__ = ("spent",)

    def __init__(self) -> None:
        self.spent = 0.0


clock = _Clock()
