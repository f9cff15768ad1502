"""What "staging" a program into a graph can run into: the one error class of the run time."""

from __future__ import annotations


class StagingError(RuntimeError):
    """Code that cannot become part of a graph with NumPy's meaning kept.

    `np2tf.jit` catches it and runs the function unjitted, with a warning; under ``NP2TF_JIT=strict`` it
    reaches the caller. `code` is the diagnostic's code, `np2tf explain CODE` tells the remedy; `place` the
    file and line of the user's code, where these are not those that it is raised at.
    """

    def __init__(self, message: str, code: str = "NP2TF501", place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.place = place
