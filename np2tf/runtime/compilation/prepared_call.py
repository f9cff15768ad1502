"""One prepared call of a jitted function: its signature, and the function that is traced for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from np2tf.runtime.arguments.signature import Signature
from np2tf.runtime.arguments.traced_arguments import TracedArguments, is_plain
from np2tf.runtime.compilation.open_arrays import Pattern
from np2tf.runtime.introspection.user_objects import is_instance
from np2tf.runtime.staged_operators.unknown_lengths import of_unknown_lengths
from np2tf.runtime.tracing.trace import trace_of
from np2tf.tnp._tensor.storage import current_scope


class PreparedCall:
    """One prepared call.

    Attributes:
        captured_values: the values that the function reads as globals and closure variables.
        by_name: the objects among these values.
        open_pattern: the axes of arrays whose lengths are inputs.
        is_accepted: whether the call has run as compiled code and its effects have begun, so that it must not
            be repeated.

    Args:
        follows: returns whether the names that another function reads are known.
        changing_places: the places of arguments that are inputs if they are numbers.
        may_open_lists: whether lists of numbers may be given to the code with lengths that vary.
    """

    def __init__(
        self,
        signature: Signature,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        captured_values: Sequence[Any],
        follows: Callable[[Any], bool],
        changing_places: Collection[int] = (),
        may_open_lists: bool = False,
    ) -> None:
        self.captured_values = captured_values
        self._follows = follows
        self.signature = signature
        self.by_name = [value for value in captured_values if is_instance(value)]
        self.args = args
        self.kwargs = kwargs
        self.changing_places = changing_places
        self.may_open_lists = may_open_lists
        self.is_plain = True
        self.is_accepted = False
        self.open_pattern: Pattern = {}

    def accept(self) -> None:
        """Record that the effects of the call begin."""
        self.is_accepted = True

    def body(self, function: Callable[..., Any], unknown_lengths: bool = False) -> Callable[..., Any]:
        """Return the function to trace, which takes staged arrays and numbers.

        Args:
            function: the jitted function.
            unknown_lengths: whether there are arrays whose lengths are known only at run time.
        """
        version = of_unknown_lengths(function) if unknown_lengths else function

        def run(arrays: Any, numbers: Any) -> Any:
            staged_arguments = TracedArguments(self.signature, arrays, numbers)
            args, kwargs = staged_arguments.of((self.args, self.kwargs))
            scope = current_scope()
            assert scope is not None
            # Objects that are read by name must not change, but one branch of a conditional may try to change
            # them.
            trace = trace_of(scope)
            trace.follows = self._follows
            trace.instances = [*staged_arguments.instances, *self.by_name]
            trace.attributes_are_named = self.signature.attributes_are_named
            trace.unknown_lengths = unknown_lengths
            outcome = staged_arguments.outcome(version(*args, **kwargs))
            self.is_plain = is_plain(outcome)
            return outcome.result if self.is_plain else outcome

        return run
