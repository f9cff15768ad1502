"""What "staging" a program into a graph can run into: the one error class of the run time."""

from __future__ import annotations


class StagingError(RuntimeError):
    """Code that cannot become part of a graph with NumPy's meaning kept.

    `np2tf.jit` catches it and runs the function unjitted, with a warning; under ``NP2TF_JIT=strict`` it
    reaches the caller. `code` is the diagnostic's code, `np2tf explain CODE` tells the remedy.
    """

    def __init__(self, message: str, code: str = "NP2TF501") -> None:
        super().__init__(message)
        self.code = code
