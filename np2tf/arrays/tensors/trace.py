"""The trace of a staged function, as far as arrays use it.

`np2tf.staging.trace.trace.Trace` implements it. Code above the traces gets the whole trace by `trace_of`,
which is beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from np2tf.arrays.tensors.storage import StagingScope, Storage


@dataclass
class Shortcut:
    """What a trace may do because the function can be traced again without it, and whether it has done it."""

    is_allowed: bool
    is_taken: bool = False


class TextRecord(Protocol):
    """The record of values that are shown as text."""

    exact: set[bool]

    def make_text(self) -> None:
        """Note that staged values have become text."""

    def describe(self) -> None:
        """Note that an array has been described instead of shown."""

    def join(self, form: Any, common: Any) -> None:
        """Note that a value is carried in the form that it has in common with other values."""


class RandomDraws(Protocol):
    """The random draws of a staged function."""

    def draw(self, generator: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Draw from a generator by the method of this name."""


class TraceContext(Protocol):
    """The trace that staging scopes belong to.

    Attributes:
        xla: whether the code that is being staged is for XLA.
        at_once: whether it stands for all iterations of a loop at once.
        device: the kind of device that the code is for: "cpu", "gpu" or "tpu".
        handles: whether the code handles exceptions, so that it must not miss any that NumPy raises.
        gaps: the elements outside of valid parts, whose gradients may be NaN. They must not be computed if a
            tape may ask for gradients of the staged code.
        violations: a boolean storage that becomes true at run time if NumPy would have raised an error.
        may_call_numpy: whether the code may call NumPy, because it stays in this process and on the CPU.
        assumptions: assumptions about the data; a call that finds one wrong is repeated without them.
        root: the outermost scope; None before it has been entered.
        is_compiled_later: whether other code than np2tf's decides what compiles the graph.
        throw_aways: the throw-away graphs that are being traced, which tell what loops and branches do.
    """

    xla: bool
    at_once: bool
    device: str
    handles: bool
    gaps: Shortcut
    is_compiled_later: bool
    violations: Storage
    may_call_numpy: bool
    assumptions: Shortcut
    root: StagingScope | None
    throw_aways: list[Any]

    @property
    def shown_text(self) -> TextRecord:
        """The record of values that are shown as text."""

    @property
    def draws(self) -> RandomDraws | None:
        """The random draws; None if there can be none."""

    def need(self, tensor: Any) -> None:
        """Begin the trace again if a tensor, whose value is needed, depends only on arrays that may become
        constants.
        """

    def check_deadline(self) -> None:
        """Give up a trace that takes too long."""

    def array_of(self, buffer: Any) -> Any:
        """Return the array that stands for an array on the host that staged code uses."""

    def capture(self, buffer: Any) -> Storage:
        """Return the storage of a host array that staged code uses."""
