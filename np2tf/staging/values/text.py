"""Text of staged values, made on the host when they are known, and the check that it is NumPy's text."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, ndarray, scalar
from np2tf.arrays.front.residency import PLAIN
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.operands.numpy_warnings import user_location
from np2tf.arrays.operands.path_dependent import Alternatives
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.containers import DISPLAYS
from np2tf.core.errors import TextNeededError, TextTypeError

if TYPE_CHECKING:
    from np2tf.staging.values.carried_values import Carried


# -- text ----------------------------------------------------------------------------------------------------
# Text of staged values. The host makes the text from NumPy's arrays and numbers when the values are known.
#
# `np2tf.text("{:.2f}", x)` is ``"{:.2f}".format(x)``. While staging, the result is a `DeferredText`, which
# may only be printed, returned, and concatenated.

#: Types whose text does not change, and that hold no staged values.
_CONSTANT = (np.generic, np.dtype, type, range)


class DeferredText:
    """Text that is made when the values in it are known.

    Attributes:
        make: makes the text from NumPy's arrays and numbers in the place of `values`.
    """

    __slots__ = ("make", "values")

    def __init__(self, make: Callable[[Any], builtins.str], values: CapturedValues) -> None:
        self.make = make
        self.values = values

    def of(self, values: Sequence[np.ndarray]) -> builtins.str:
        """Return the text for the values of the tensors."""
        return self.make(self.values.of(values))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class `str`, for ``isinstance``, because this object becomes a str."""
        return builtins.str

    def __add__(self, other: Any) -> Any:
        return staged_text(lambda values: values[0] + values[1], (self, other), 1)

    def __radd__(self, other: Any) -> Any:
        return staged_text(lambda values: values[0] + values[1], (other, self), 1)

    def __getattr__(self, name: builtins.str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(self)


def _refuse(self: DeferredText, *args: Any) -> NoReturn:
    raise TextNeededError("text of values known only at run time is used during compilation")


_USES = "str repr format bool len iter getitem contains mul rmul mod rmod hash eq ne lt le gt ge"
for _name in _USES.split():
    setattr(DeferredText, f"__{_name}__", _refuse)


class CapturedValues:
    """Values whose staged parts are taken out, to be replaced by NumPy's values when these are known."""

    def __init__(self, value: Any, depth: int = 0) -> None:
        """Take the staged parts out of `value`.

        Args:
            depth: the nesting depth to which a number is shown by ``str``; in a printed list ``repr`` shows
                it.
        """
        self.tensors: list[tf.Tensor] = []
        self._inside = -depth
        self._make = self._take(value)

    def of(self, values: Sequence[np.ndarray]) -> Any:
        """Return the values for the values of the tensors."""
        return self._make(iter(values))

    def _take(self, value: Any) -> Callable[[Iterator[np.ndarray]], Any]:
        kind = type(value)
        if is_array(value):
            return self._take_staged(value)
        if kind is DeferredText:
            builder = self._take(value.values)
            return lambda values: value.make(builder(values))
        if kind is CapturedValues:
            self.tensors += value.tensors
            return value._make
        display = DISPLAYS.find(value)
        if display is not None:
            build, items = display.builder(value), self._take_all(display.items(value))
            return lambda values: build([make(values) for make in items])
        if kind in PLAIN or isinstance(value, _CONSTANT):
            return lambda values: value
        raise TextNeededError(f"the text contains a {kind.__name__}, which may change")

    def _take_all(self, values: Any) -> list[Callable[[Iterator[np.ndarray]], Any]]:
        self._inside += 1
        items = [self._take(item) for item in values]
        self._inside -= 1
        return items

    def _take_staged(self, value: ndarray) -> Callable[[Iterator[np.ndarray]], Any]:
        if type(value) is scalar and value.alternatives is not None:
            return self._take_alternatives(value.alternatives)
        self.tensors.append(value.tensor)
        if type(value) is not scalar:
            return lambda arrays: np.asarray(next(arrays))
        if self._inside > 0:
            _note_exact(value.dtype.kind == "b")
        weak = value.weak
        return lambda arrays: np.asarray(next(arrays))[()] if weak is None else weak(next(arrays))

    def _take_alternatives(self, alternatives: Alternatives) -> Callable[[Iterator[np.ndarray]], Any]:
        tensors = alternatives.all_tensors()
        self.tensors += tensors

        def make(arrays: Iterator[np.ndarray]) -> Any:
            value, weak = alternatives.kinds.chosen([next(arrays) for _ in tensors])
            return np.asarray(value)[()] if weak is None else weak(value)

        return make


def text(template: builtins.str, /, *args: Any, **kwargs: Any) -> Any:
    """Return ``template.format(*args, **kwargs)``; for staged values, text that is made when they are known.

    Args:
        template: a template of `str.format`.
        *args, **kwargs: any values; arrays and numbers may be staged.

    See https://docs.python.org/3/library/stdtypes.html#str.format.
    """
    if _is_eager():
        return template.format(*args, **kwargs)
    if "!r" in template or "!a" in template:
        _note_exact()
    return staged_text(lambda values: template.format(*values[0], **values[1]), (args, kwargs), 2)


def percent(template: builtins.str, values: Any) -> Any:
    """Return ``template % values``; for staged values, text that is made when they are known.

    Args:
        template: a format string.
        values: a value, or a tuple or dict of values; arrays and numbers may be staged.

    Returns:
        A str; for staged values a `DeferredText`.

    See https://docs.python.org/3/library/stdtypes.html#printf-style-string-formatting.
    """
    if _is_eager():
        return template % to_numpy(values, may_leave=True)
    if "%r" in template or "%a" in template:
        _note_exact()
    return staged_text(lambda values: template % values, values, type(values) is tuple)


def str(*args: Any, **kwargs: Any) -> Any:
    """Return ``str(x)``; for a staged value, text that is made when it is known.

    See https://docs.python.org/3/library/stdtypes.html#str.
    """
    if _is_eager() or len(args) != 1 or kwargs:
        return builtins.str(*args, **kwargs)
    return staged_text(builtins.str, args[0])


def repr(value: Any) -> Any:
    """Return ``repr(x)``; for a staged value, text that is made when it is known.

    See https://docs.python.org/3/library/functions.html#repr.
    """
    if _is_eager():
        return builtins.repr(value)
    return staged_text(lambda values: builtins.repr(values[0]), [value])


def _is_eager() -> bool:
    return current_scope() is None and tf.executing_eagerly()


def _note_exact(*kinds: bool) -> None:
    """Record that text will show whether numbers are Python's or NumPy's: truth values, others, or both."""
    scope = current_scope()
    if scope is not None:
        scope.trace.shown_text.exact.update(kinds or (True, False))


def staged_text(make: Callable[[Any], builtins.str], values: Any, depth: int = 0) -> Any:
    """Return the text if it has no staged values, else a `DeferredText`."""
    captures = CapturedValues(values, depth)
    if not captures.tensors:
        return make(captures.of(()))
    scope = current_scope()
    if scope is not None:
        scope.trace.shown_text.make_text()
    return DeferredText(make, captures)


# -- text fidelity -------------------------------------------------------------------------------------------
# Checks that a trace makes the same text of values as NumPy.
#
# A variable that is an integer on one path and a float on another has one type in a graph. For arithmetic
# that makes no difference, for text it does: "0" becomes "0.0". So a trace that makes text must not have
# such a variable.


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

    text: tuple[builtins.str, int] | None = None
    exact: set[bool] = field(default_factory=set)
    has_widened: bool = False
    mixed_kinds: set[bool] = field(default_factory=set)
    descriptions: list[tuple[builtins.str, int]] = field(default_factory=list)

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
        """Refuse, at the end of the trace, text that would differ from NumPy's."""
        if self.descriptions:
            message = "the text of a value known only at run time is needed during compilation"
            raise TextNeededError(message, self.descriptions[0])
        if self.text and (self.has_widened or self.exact & self.mixed_kinds):
            raise TextTypeError(
                "the function turns numbers into text, and one of its variables has different types on "
                "different paths",
                self.text,
            )
