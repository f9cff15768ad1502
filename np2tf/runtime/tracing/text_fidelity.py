"""Checks that a trace makes the same text of values as NumPy.

A variable that is an integer on one path and a float on another has one type in a graph. For arithmetic that
makes no difference, for text it does: "0" becomes "0.0". So a trace that makes text must not have such a
variable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from np2tf.staging import TextNeededError, TextTypeError
from np2tf.tnp._warnings.user_lines import user_location

if TYPE_CHECKING:
    from np2tf.runtime.structures.carried_values import Carried


@dataclass
class ShownText:
    """The record of one trace.

    Attributes:
        text: the place where text is first made of staged values.
        exact: the kinds of numbers for which the text shows whether they are Python's or NumPy's.
        has_widened: whether a variable has got a type that it does not have on every path.
        mixed_kinds: the kinds of numbers of which a number is Python's on one path and NumPy's on another.
            Booleans are a kind of their own, because lowered loops have flags.
        descriptions: the places where Python has asked for the text of a staged value, and got a description.
    """

    text: tuple[str, int] | None = None
    exact: set[bool] = field(default_factory=set)
    has_widened: bool = False
    mixed_kinds: set[bool] = field(default_factory=set)
    descriptions: list[tuple[str, int]] = field(default_factory=list)

    def make_text(self) -> None:
        """Record that text is made of staged values."""
        if self.text is None:
            self.text = user_location()

    def describe(self) -> None:
        """Record that Python asks for text that is not known yet."""
        self.descriptions.append(user_location())

    def join(self, form: Carried | None, common: Carried | None) -> None:
        """Record that a value of one form is carried in another form.

        A number whose type depends on the path keeps its type.
        """
        if form is not None and common is not None and common.path_dependent is None:
            self.has_widened |= form.dtype != common.dtype
            if form.weak is not common.weak or form.number is not common.number:
                self.mixed_kinds.add(form.dtype.kind == "b")

    def check(self) -> None:
        """Check the record at the end of the trace.

        Raises:
            StagingError: if text would differ from NumPy's.
        """
        if self.descriptions:
            message = "the text of a staged value is needed while staging"
            raise TextNeededError(message, self.descriptions[0])
        if self.text and (self.has_widened or self.exact & self.mixed_kinds):
            raise TextTypeError(
                "text is made of numbers in a function where a variable is of one type on one path and of "
                "another on another",
                self.text,
            )
