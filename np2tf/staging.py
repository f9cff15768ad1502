"""The error classes of the run time for code that cannot be staged."""

from __future__ import annotations


class StagingError(RuntimeError):
    """Raised for code that cannot become part of a graph with NumPy's meaning kept.

    `np2tf.jit` catches the error and runs the function unjitted, with a warning; under ``NP2TF_JIT=strict``
    the error reaches the caller.

    Args:
        message: names the value or construct, and the reason.
        code: the code of the diagnostic; `np2tf explain CODE` tells the remedy.
        place: the file and line of the user's code, if they differ from the place of the `raise`.
    """

    def __init__(self, message: str, code: str = "NP2TF501", place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.place = place


class PromotionError(TypeError):
    """Raised for operands of different dtypes that the mode of `np2tf.config.promotion` does not combine.

    The error is meant for the user: np2tf does not catch it, and does not repeat a call on the host because
    of it.
    """

    code = "NP2TF536"
    #: AutoGraph replaces unknown errors by an error of its own, unless they have this attribute.
    ag_pass_through = True

    def __init__(self, message: str, place: tuple[str, int]) -> None:
        super().__init__(message)
        self.place = place
