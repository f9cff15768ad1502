"""The errors of gradients and batches (`np2tf.transforms`): one class per diagnostic code.

The errors are for the user: np2tf does not catch them, and does not repeat the call on the host. Each class
is also a class of Python's: the class that JAX raises in the same case, as far as NumPy does not catch it.
All of the right column may import this package, which imports nothing of np2tf.
"""

from __future__ import annotations

from typing import ClassVar


class TransformError(Exception):
    """Raised by a transform that cannot give the right result. Only subclasses are raised.

    Args:
        message: names the value or operation, the reason, and the remedy.
        place: the file and line of the user's code; None if the error's own traceback shows it.

    Attributes:
        code: the code of the diagnostic; `np2tf explain CODE` prints the remedy.
        place: the argument `place`.
    """

    code: ClassVar[str] = ""

    def __init__(self, message: str, place: tuple[str, int] | None = None) -> None:
        where = f"{place[0]}:{place[1]}: " if place is not None else ""
        super().__init__(f"{where}{message} [{self.code}]")
        self.place = place


class InputDtypeError(TransformError, TypeError):
    """A transform differentiates floating-point or complex inputs, and got other inputs."""

    code = "NP2TF701"


class OutputKindError(TransformError, TypeError):
    """A gradient is asked of a result that is no real floating-point number."""

    code = "NP2TF702"


class NoDerivativeError(TransformError, TypeError):
    """An operation has no derivative in TensorFlow."""

    code = "NP2TF703"


class LeftTensorFlowError(TransformError, RuntimeError):
    """A value that is being differentiated leaves TensorFlow, where its derivative would be lost."""

    code = "NP2TF704"


class TransformArgumentError(TransformError, TypeError, ValueError):
    """The arguments of a transform, or the values it works on, do not fit together."""

    code = "NP2TF705"


class AxisNameError(TransformError, NameError):
    """A collective names an axis that no vmap around it has."""

    code = "NP2TF706"


class CustomRuleError(TransformError, TypeError, AttributeError):
    """A custom derivative rule is missing, or returns values of another structure."""

    code = "NP2TF707"


class CheckGradsError(TransformError, AssertionError):
    """A derivative differs from what finite differences give."""

    code = "NP2TF708"


class CarryTypeError(TransformError, TypeError):
    """The carried value of a scan changes its structure, shape or dtype."""

    code = "NP2TF709"


class ReplicaError(TransformError, ValueError):
    """A result that should be the same in all replicas depends on the replica."""

    code = "NP2TF710"


class ClusterError(TransformError, RuntimeError):
    """The processes of a distributed program cannot be joined."""

    code = "NP2TF711"


class LostWorkerError(TransformError, RuntimeError):
    """Another process of a distributed program has ended, or does not answer."""

    code = "NP2TF712"
