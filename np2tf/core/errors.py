"""The errors of staging, which np2tf.jit catches, and of transforms, which the user sees: one class
per code.
"""

from __future__ import annotations

from typing import ClassVar, TypeVar

# -- staging -------------------------------------------------------------------------------------------------
# The errors of staging: one class per diagnostic code.
#
# Each class has its own code, so that `except` and `isinstance` can distinguish the errors. The first line
# of a class's docstring is the title of its code in rules/diagnostics.toml, which has the reason and the
# remedy. A class has a `template` if several places raise the error with the same sentence.

_Error = TypeVar("_Error", bound="StagingError")


class CodedError(Exception):
    """An error with the code of a diagnostic, which its text ends with."""

    code: ClassVar[str] = ""

    def __str__(self) -> str:
        return f"{self.reason} [{self.code}]"

    @property
    def reason(self) -> str:
        """The message without the code."""
        return super().__str__()


class StagingError(CodedError, RuntimeError):
    """Raised for code that cannot become part of a graph with NumPy's meaning kept.

    `np2tf.jit` catches the error and runs the function unjitted, with a warning; under ``NP2TF_JIT=strict``
    the error reaches the caller. Only subclasses of this class are raised.

    Args:
        message: names the value or construct, and the reason.
        place: the file and line of the user's code, if they differ from the place of the `raise`.

    Attributes:
        code: the code of the diagnostic; `np2tf explain CODE` prints the remedy.
        template: the message of errors that are raised in several places, with holes for `of`.
        is_quiet: the host is the right place for the function, so that no warning is needed under NumPy's
            promotion rules.
        is_momentary: the error predicts nothing for the next process.
        is_certain: the error also occurs if more numbers are constants of the trace.
        place: the argument `place`.
    """

    code: ClassVar[str] = "NP2TF501"
    template: ClassVar[str] = ""
    is_quiet: ClassVar[bool] = False
    is_momentary: ClassVar[bool] = False
    is_certain: ClassVar[bool] = False

    def __init__(self, message: str, place: tuple[str, int] | None = None) -> None:
        super().__init__(message)
        self.place = place

    @classmethod
    def of(cls: type[_Error], **words: object) -> _Error:
        """Return an error whose message is the class's template, filled with `words`."""
        return cls(cls.template.format_map(words))


class NotStagedError(StagingError):
    """The function cannot be staged: …."""

    code = "NP2TF501"


# -- operations, and facts that they need --------------------------------------------------------------------


class NoGraphFormError(StagingError):
    """An operation has no graph form with NumPy's meaning."""

    code = "NP2TF503"
    template = "{name} runs on the host only"
    is_momentary = True


class ErrstateError(StagingError):
    """Under np.errstate that raises, functions run on the host."""

    code = "NP2TF547"
    template = "under np.errstate that raises, functions run on the host"
    is_momentary = True


class UnsupportedDtypeError(StagingError):
    """TensorFlow has no such dtype."""

    code = "NP2TF504"
    template = "TensorFlow has no dtype {dtype}"


class ArrayClassError(StagingError):
    """An object of a class of its own decides what NumPy's functions do to it."""

    code = "NP2TF546"
    template = "a {kind}, which NumPy asks what to do"


class DuplicateIndicesError(StagingError):
    """An index array that may hold duplicates is assigned through under XLA."""

    code = "NP2TF505"


class ValueNeededError(StagingError):
    """A value is needed that is known only at run time."""

    code = "NP2TF542"
    template = "{what} known only at run time"


class ShapeNeededError(StagingError):
    """A shape, a length or a number of dimensions is needed that is known only at run time."""

    code = "NP2TF543"
    template = "{what} is known only at run time"


class XlaShapeError(StagingError):
    """XLA needs a shape or a number that varies."""

    code = "NP2TF514"


class MemoryLayoutError(StagingError):
    """The place of elements in memory is needed, which staged arrays do not have."""

    code = "NP2TF545"


class RandomUseError(StagingError):
    """A generator of random numbers is used as no graph can use it."""

    code = "NP2TF506"


class RangeStepError(StagingError):
    """A range whose step is known only at run time."""

    code = "NP2TF517"


class IntegerGrowthError(StagingError):
    """A Python integer grows in a staged loop and may exceed 64 bits."""

    code = "NP2TF512"


class PathTypeError(StagingError):
    """A number's type depends on the path, where one type is needed."""

    code = "NP2TF534"


class GradientLostError(StagingError):
    """A tensor that a gradient tape follows is written into an array on the host."""

    code = "NP2TF535"


class MissedExceptionError(StagingError):
    """An exception that is handled might be missed in a graph."""

    code = "NP2TF533"


# -- variables of loops and branches -------------------------------------------------------------------------


class RankChangeError(StagingError):
    """A variable has another number of dimensions on another path."""

    code = "NP2TF510"


class LoopTypeError(StagingError):
    """A variable of a loop has another type or structure after an iteration than before."""

    code = "NP2TF548"


class BranchTypeError(StagingError):
    """The two sides of a branch give values of different kinds."""

    code = "NP2TF516"


class BranchDtypeError(StagingError):
    """The two sides of a branch write arrays of different dtypes to one name."""

    code = "NP2TF549"


class ListGrowthError(StagingError):
    """A list that grows in staged code is used as no graph can use it."""

    code = "NP2TF544"


class AliasingError(StagingError):
    """Two names may be the same array, and data decide whether they are."""

    code = "NP2TF513"


class ContainerChangeError(StagingError):
    """A list or dict from outside is changed or exchanged by staged code."""

    code = "NP2TF550"
    template = "a list or dict from outside is changed by staged code"


class AttributeChangeError(StagingError):
    """An attribute is deleted, or set where a graph cannot set it."""

    code = "NP2TF551"
    template = "staged code deletes the attribute {name}"


class TraceDifferenceError(StagingError):
    """Staged code does something else when it is traced again."""

    code = "NP2TF557"


class RaggedError(StagingError, TypeError):
    """A ragged array is used in a way that needs the lengths of its rows, or is not defined for rows."""

    code = "NP2TF565"
    is_certain = True


#: The message of a RaggedError about a function of dense arrays.
OF_ROWS = "a function of dense arrays gets a ragged array; apply it to each row: np2tf.vmap(f)(ragged)"


# -- what comes in and goes out ------------------------------------------------------------------------------


class ArgumentError(StagingError):
    """An argument is nested too deeply, or is of a kind that cannot be told apart quickly."""

    code = "NP2TF520"
    is_certain = True


class SharedMemoryError(StagingError):
    """Two arguments share memory."""

    code = "NP2TF521"
    is_certain = True


class HiddenInputError(StagingError):
    """An array is read that cannot become an input of the graph."""

    code = "NP2TF552"


class VariableChangeError(StagingError):
    """A global or closure variable, or a set, is changed by staged code."""

    code = "NP2TF553"


class ShapeChangeError(StagingError):
    """The shape of an argument, or of an array in a loop or branch, is set in place."""

    code = "NP2TF554"


class ReturnedViewError(StagingError):
    """A view whose place is known only at run time is returned."""

    code = "NP2TF507"


class ReturnedValueError(StagingError):
    """A value is returned that no graph can return."""

    code = "NP2TF555"
    is_certain = True


class TextTypeError(StagingError):
    """Text is made where the type of an array depends on the path."""

    code = "NP2TF530"


class TextNeededError(StagingError):
    """Text of a value is needed before the value is known."""

    code = "NP2TF531"


class EffectError(StagingError):
    """An effect takes place only in a graph, and not in an XLA program."""

    code = "NP2TF556"


class ExportError(StagingError):
    """A function that is to be saved needs this process."""

    code = "NP2TF558"
    is_quiet = is_certain = True


# -- the function as a whole ---------------------------------------------------------------------------------


class TooManyTracesError(StagingError):
    """The function needs new code for nearly every call."""

    code = "NP2TF522"
    template = "the function needs new code for nearly every call"


class RecursionLimitError(StagingError):
    """Calls, loops or branches stand too deep within one another for a graph."""

    code = "NP2TF523"


class UnrollingError(StagingError):
    """A loop whose arrays change their shapes would become a very large graph."""

    code = "NP2TF559"
    is_quiet = is_certain = True


class CalleeError(StagingError):
    """Something is called that only runs on the host."""

    code = "NP2TF539"
    is_quiet = is_certain = True


class TracingTimeError(StagingError):
    """Tracing the function takes longer than it has run so far."""

    code = "NP2TF540"
    is_quiet = is_momentary = is_certain = True


class TraceSizeError(StagingError):
    """The graph of a function would become very large."""

    code = "NP2TF567"
    is_quiet = True


class PollingError(StagingError):
    """A loop waits for what another thread, process or signal changes."""

    code = "NP2TF568"
    is_quiet = is_certain = True


class LongCallError(StagingError):
    """A compiled call keeps signals, or other threads and processes, waiting."""

    code = "NP2TF569"
    is_quiet = is_momentary = is_certain = True


class ReboundNameError(StagingError):
    """A name of NumPy's has been bound anew by the program."""

    code = "NP2TF541"
    template = "NumPy's `{names}` has been bound anew by the program"
    is_quiet = is_momentary = is_certain = True


#: code -> the class of its errors.
KINDS: dict[str, type[StagingError]] = {kind.code: kind for kind in StagingError.__subclasses__()}


def class_of_code(code: str) -> type[StagingError]:
    """Return the error class that has the given code, or the base class if no class has it."""
    return KINDS.get(code, StagingError)


class PromotionError(CodedError, TypeError):
    """Raised for operands of different dtypes that the mode of `np2tf.config.promotion` does not
    promote.

    The error is for the user: np2tf does not catch it, and does not repeat the call on the host.
    """

    code = "NP2TF536"
    #: AutoGraph replaces errors of classes that it does not know, unless they have this attribute.
    ag_pass_through = True

    def __init__(self, message: str, place: tuple[str, int]) -> None:
        super().__init__(message)
        self.place = place


# -- transform_errors ----------------------------------------------------------------------------------------
# The errors of gradients and batches (`np2tf.transforms`): one class per diagnostic code.
#
# The errors are for the user: np2tf does not catch them, and does not repeat the call on the host. Each
# class is also a class of Python's: the class that JAX raises in the same case, as far as NumPy does not
# catch it.


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


class RaggedRowsError(TransformError, TypeError, ValueError):
    """The rows of an object array, or the results for the rows, do not fit into one ragged tensor."""

    code = "NP2TF714"
