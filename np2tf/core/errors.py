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


class TraceAgain(Exception):
    """Raised if a trace has found out what it should have known at its beginning, and begins again."""


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
    """Raised for code that a graph cannot express with NumPy's meaning.

    `np2tf.jit` catches the error and runs the function unjitted, with a warning; under ``NP2TF_JIT=strict``
    the error reaches the caller. Only subclasses of this class are raised.

    Args:
        message: names the value or construct, and the reason.
        place: the file and line of the user's code, if they differ from the place of the `raise`.

    Attributes:
        code: the code of the diagnostic; `np2tf explain CODE` prints the remedy.
        template: the message of an error that several places raise, with holes for `of` to fill.
        is_quiet: the function belongs on NumPy, so no warning is needed under NumPy's promotion rules.
        is_momentary: the error says nothing about the next process.
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
    """The function cannot be compiled: …."""

    code = "NP2TF501"


# -- operations, and facts that they need --------------------------------------------------------------------


class NoGraphFormError(StagingError):
    """An operation cannot run in a graph with NumPy's meaning."""

    code = "NP2TF503"
    template = "{name} runs only on NumPy"
    is_momentary = True


class ErrstateError(StagingError):
    """Functions run on NumPy while np.errstate is set to raise."""

    code = "NP2TF547"
    template = "functions run on NumPy while np.errstate is set to raise"
    is_momentary = True


class UnsupportedDtypeError(StagingError):
    """TensorFlow has no such dtype."""

    code = "NP2TF504"
    template = "TensorFlow has no dtype {dtype}"


class ArrayClassError(StagingError):
    """An object's own class decides what NumPy's functions do with it."""

    code = "NP2TF546"
    template = "a {kind}, whose own class decides what NumPy does"


class DuplicateIndicesError(StagingError):
    """An assignment under XLA uses an index array that may hold duplicates."""

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
    """The memory layout of an array is needed, which compiled code does not have."""

    code = "NP2TF545"


class RandomUseError(StagingError):
    """A random number generator is used in a way that a graph cannot express."""

    code = "NP2TF506"


class RangeStepError(StagingError):
    """A range has a step that is known only at run time."""

    code = "NP2TF517"


class IntegerGrowthError(StagingError):
    """A Python integer grows in a compiled loop and may exceed 64 bits."""

    code = "NP2TF512"


class PathTypeError(StagingError):
    """A number's type depends on the path, but one type is needed."""

    code = "NP2TF534"


class GradientLostError(StagingError):
    """A tensor that a gradient tape follows is written into a NumPy array."""

    code = "NP2TF535"


class MissedExceptionError(StagingError):
    """A graph might miss an exception that the code handles."""

    code = "NP2TF533"


# -- variables of loops and branches -------------------------------------------------------------------------


class RankChangeError(StagingError):
    """A variable has a different number of dimensions on another path."""

    code = "NP2TF510"


class LoopTypeError(StagingError):
    """A loop variable has a different type or structure after an iteration than before."""

    code = "NP2TF548"


class BranchTypeError(StagingError):
    """The two sides of a branch give values of different kinds."""

    code = "NP2TF516"


class BranchDtypeError(StagingError):
    """The two sides of a branch assign arrays of different dtypes to one name."""

    code = "NP2TF549"


class ListGrowthError(StagingError):
    """A list that grows in compiled code is used in a way that a graph cannot express."""

    code = "NP2TF544"


class AliasingError(StagingError):
    """Two names may refer to the same array, depending on data."""

    code = "NP2TF513"


class ContainerChangeError(StagingError):
    """Compiled code changes or replaces a list or dict from outside."""

    code = "NP2TF550"
    template = "compiled code changes a list or dict from outside"


class AttributeChangeError(StagingError):
    """An attribute is deleted, or set where a graph cannot set it."""

    code = "NP2TF551"
    template = "compiled code deletes the attribute {name}"


class TraceDifferenceError(StagingError):
    """The code behaves differently when it is traced again."""

    code = "NP2TF557"


class RaggedError(StagingError, TypeError):
    """A ragged array is used in a way that needs its row lengths, or is not defined for rows."""

    code = "NP2TF565"
    is_certain = True


#: The message of a RaggedError about a function of dense arrays.
OF_ROWS = "a function for dense arrays got a ragged array; apply it to each row: np2tf.vmap(f)(ragged)"


# -- what comes in and goes out ------------------------------------------------------------------------------


class ArgumentError(StagingError):
    """An argument is nested too deeply, or has a type that np2tf cannot compare quickly."""

    code = "NP2TF520"
    is_certain = True


class SharedMemoryError(StagingError):
    """Two arguments share memory."""

    code = "NP2TF521"
    is_certain = True


class HiddenInputError(StagingError):
    """The code reads an array that cannot become an input of the graph."""

    code = "NP2TF552"


class VariableChangeError(StagingError):
    """Compiled code changes a global or closure variable, or a set."""

    code = "NP2TF553"


class ShapeChangeError(StagingError):
    """The shape of an argument, or of an array in a loop or branch, is set in place."""

    code = "NP2TF554"


class ReturnedViewError(StagingError):
    """The function returns a view whose position is known only at run time."""

    code = "NP2TF507"


class ReturnedValueError(StagingError):
    """A value is returned that a graph cannot return."""

    code = "NP2TF555"
    is_certain = True


class TextTypeError(StagingError):
    """An array is turned into text, but its type depends on the path."""

    code = "NP2TF530"


class TextNeededError(StagingError):
    """The text of a value is needed before the value is known."""

    code = "NP2TF531"


class EffectError(StagingError):
    """An effect works only in a graph, not in an XLA program."""

    code = "NP2TF556"


class ExportError(StagingError):
    """A function cannot be saved, because it needs this process."""

    code = "NP2TF558"
    is_quiet = is_certain = True


# -- the function as a whole ---------------------------------------------------------------------------------


class TooManyTracesError(StagingError):
    """The function needs new code for nearly every call."""

    code = "NP2TF522"
    template = "the function needs new code for nearly every call"


class RecursionLimitError(StagingError):
    """Calls, loops or branches are nested too deeply for a graph."""

    code = "NP2TF523"


class UnrollingError(StagingError):
    """A loop whose arrays change shape would become a very large graph."""

    code = "NP2TF559"
    is_quiet = is_certain = True


class CalleeError(StagingError):
    """A call cannot be compiled, because the callee has side effects."""

    code = "NP2TF539"
    is_quiet = is_certain = True


class TracingTimeError(StagingError):
    """Tracing the function takes longer than it has run so far."""

    code = "NP2TF540"
    is_quiet = is_momentary = is_certain = True


class TraceSizeError(StagingError):
    """The function's graph would become very large."""

    code = "NP2TF567"
    is_quiet = True


class PollingError(StagingError):
    """A loop waits for a change by another thread, process or signal."""

    code = "NP2TF568"
    is_quiet = is_certain = True


class LongCallError(StagingError):
    """A compiled call keeps signals, or other threads and processes, waiting."""

    code = "NP2TF569"
    is_quiet = is_momentary = is_certain = True


class ReboundNameError(StagingError):
    """The program has rebound one of NumPy's names."""

    code = "NP2TF541"
    template = "the program has rebound NumPy's `{names}`"
    is_quiet = is_momentary = is_certain = True


#: code -> the class of its errors.
KINDS: dict[str, type[StagingError]] = {kind.code: kind for kind in StagingError.__subclasses__()}


def class_of_code(code: str) -> type[StagingError]:
    """Return the error class that has the given code, or the base class if no class has it."""
    return KINDS.get(code, StagingError)


class PromotionError(CodedError, TypeError):
    """Raised for operands of different dtypes that `np2tf.config.promotion` does not promote.

    The error is for the user: np2tf does not catch it, and does not repeat the call on NumPy.
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
# The errors are for the user: np2tf does not catch them or repeat the call on NumPy. Each class is also one
# of Python's: the one that JAX raises in the same case, unless NumPy would catch it.


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
    """A transform can differentiate only floating-point or complex inputs."""

    code = "NP2TF701"


class OutputKindError(TransformError, TypeError):
    """Only a real floating-point result has a gradient."""

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
    """A custom derivative rule is missing or returns the wrong structure."""

    code = "NP2TF707"


class CheckGradsError(TransformError, AssertionError):
    """A derivative differs from finite differences."""

    code = "NP2TF708"


class CarryTypeError(TransformError, TypeError):
    """The carried value of a scan changes its structure, shape or dtype."""

    code = "NP2TF709"


class ReplicaError(TransformError, ValueError):
    """A result that must be the same in all replicas differs."""

    code = "NP2TF710"


class ClusterError(TransformError, RuntimeError):
    """The processes of a distributed program cannot connect."""

    code = "NP2TF711"


class LostWorkerError(TransformError, RuntimeError):
    """Another process of a distributed program has ended, or does not answer."""

    code = "NP2TF712"


class RaggedRowsError(TransformError, TypeError, ValueError):
    """The rows of an object array, or the results for the rows, do not fit into one ragged tensor."""

    code = "NP2TF714"
