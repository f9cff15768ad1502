"""What "staging" a program into a graph can run into: the error classes of the run time."""

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


class PromotionError(TypeError):
    """Operands of different dtypes, in a mode of `np2tf.config.promotion` that does not let them meet.

    It is meant for the user: np2tf does not handle it, and does not repeat a call on the host because of it.
    """

    code = "NP2TF536"
    #: AutoGraph makes another error of those that it does not know, unless they have this attribute.
    ag_pass_through = True

    def __init__(self, message: str, place: tuple[str, int]) -> None:
        super().__init__(message)
        self.place = place
