"""The names of a loop's or branch's variables, and the lines that bind them, for messages of errors.

The helpers of translated code show both: the parameters of an iteration are the loop's variables, and the
line that calls the operator binds the results of a branch. Names and lines are looked up only for an error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from np2tf.arrays.array.sequences import StackableSequence
from np2tf.staging.objects.code_names import last_line, return_line, targets
from np2tf.staging.objects.user_code import innermost, is_own
from np2tf.staging.values.carried_values import Carried, Undefined, describe_form, flatten

#: The end that the translator (`np2tf.translator.control.layout`) gives to the name of a variable that inner
#: functions see.
_SHARED_SUFFIX = "_now"


class Label(NamedTuple):
    """The name of a value in a message.

    Attributes:
        text: how a message names it.
        word: the variable or attribute that code binds to it; empty if there is none.
    """

    text: str
    word: str


@dataclass(frozen=True)
class Variables:
    """The variables of one loop or branch.

    Attributes:
        sides: the functions that bind the variables: the iteration of a loop, or the two sides of a branch.
        names: the names in the state of a loop, in order; None for a branch, whose caller binds the results.
        instances: the objects whose attributes are variables as well.
    """

    sides: tuple[Callable[..., Any], ...] = ()
    names: tuple[str, ...] | None = None
    instances: Sequence[Any] | None = field(default=None, compare=False)

    @classmethod
    def of_loop(cls, step: Callable[..., Any], first: int = 0) -> Variables:
        """Return the variables of a loop.

        Args:
            first: the number of parameters before the state.
        """
        return cls((step,), parameters(step)[first:])

    def behind_one(self) -> Variables:
        """Return the variables of a loop whose state begins with a variable that has no parameter."""
        return replace(self, names=("", *(self.names or ())))

    @property
    def body(self) -> Callable[..., Any] | None:
        """The function of the program for an iteration of a loop; None if there is none."""
        return self.sides[0] if self.sides else None

    # -- names of values -------------------------------------------------------------------------------------

    def label(self, value: Any, k: int) -> Label:
        """Return the name of a leaf of a state or of a branch's result."""
        labels = [
            label_of_leaf for label, item in self.items(value) for label_of_leaf in _leaves(item, label)
        ]
        return labels[k] if k < len(labels) else _label("")

    def items(self, value: Any) -> list[tuple[Label, Any]]:
        """Return the variables in a state or result with their names; attributes come last."""
        if self.instances is None:
            return self._items(value)
        value, states = value
        pairs = self._items(value)
        for instance, state in zip(self.instances, states, strict=True):
            kind = type(instance).__name__
            pairs += [
                (Label(f"the attribute `{name}` of a {kind}", name), item) for name, item in state.items()
            ]
        return pairs

    def place(self, value: Any, path: Sequence[Any]) -> Label:
        """Return the item at a place in a branch's result, which is a list or dict."""
        names, whole = self._names()
        if whole or not isinstance(value, tuple):
            label = _label(names[0] if names else "")
        else:
            label, path = _label(names[path[0]] if path[0] < len(names) else ""), path[1:]
        for key in path:
            label = _part(label, f"[{key!r}]")
        return label

    def _items(self, value: Any) -> list[tuple[Label, Any]]:
        names, whole = self._names()
        if whole or not isinstance(value, tuple):
            return [(_label(names[0] if names else ""), value)]
        names += ("",) * (len(value) - len(names))
        return [(_label(name), item) for name, item in zip(names, value, strict=False)]

    def _names(self) -> tuple[tuple[str, ...], bool]:
        """Return the names, and whether the first name is bound to the whole value."""
        if self.names is not None:
            return self.names, False
        frame = innermost()
        return ((), True) if frame is None else targets(frame)

    # -- lines that bind variables ---------------------------------------------------------------------------

    def before(self, label: Label) -> str:
        """Return the line that binds a loop's variable before the loop."""
        frame = innermost()
        if frame is None:
            return ""
        return _at(last_line(frame.f_code, label.word, frame.f_lasti) or frame.f_lineno)

    def within(self, label: Label, side: int = 0) -> str:
        """Return the line of an iteration, or of one side of a branch, that binds a variable."""
        code = getattr(self.sides[side], "__code__", None) if side < len(self.sides) else None
        # The result of an operand of `and` or `or` has no binding.
        if code is None or is_own(code):
            return ""
        return _at(last_line(code, label.word) or return_line(code))

    def in_loop(self, label: Label, before: str, after: str) -> str:
        """Return the sentence about a loop's variable: its value before the loop and after an iteration."""
        start, end = self.before(label), self.within(label)
        return f"{label.text} is {before} before the loop{start} and {after} after an iteration{end}"

    def in_branch(self, label: Label, then: str, otherwise: str) -> str:
        """Return the sentence about a variable that the two sides of a branch bind."""
        if self.names is not None:  # an iteration of a loop, which is made only if the test holds
            return self.in_loop(label, otherwise, then)
        lines = self.within(label, 0), self.within(label, 1)
        return (
            f"{label.text} is {then} on one side of a branch{lines[0]} and {otherwise} on the other{lines[1]}"
        )

    def two_names(self, first: Label, second: Label) -> str:
        """Return two names of a loop that may be the same array, with the lines that bind them."""
        return f"{first.text}{self.within(first)} and {second.text}{self.within(second)}"


NO_VARIABLES = Variables()


def describe(value: Any, form: Carried | None) -> str:
    """Return a description of a value: its kind, type and shape."""
    if isinstance(value, Undefined):
        return "unbound"
    if form is None:
        return "None" if value is None else f"a {type(value).__name__}"
    return describe_form(form)


def structure(value: Any) -> str:
    """Return in words the structure of a value."""
    if isinstance(value, StackableSequence):
        return "a list"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(repr, value))}" if value else "an empty dict"
    return describe(value, None) if value is None or isinstance(value, (str, Undefined)) else "one value"


def parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that a helper's parameters stand for."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    names = {f"{name}{_SHARED_SUFFIX}": name for name in (*code.co_freevars, *code.co_cellvars)}
    return tuple(names.get(name, name) for name in code.co_varnames[: code.co_argcount])


def _label(name: str) -> Label:
    return Label(f"`{name}`", name) if name else Label("a value", "")


def _leaves(value: Any, label: Label) -> list[Label]:
    """The labels of the leaves, in the order of `flatten`."""
    if isinstance(value, StackableSequence):
        return [label] * len(flatten(value)[0])
    if type(value) is dict:
        parts = [(f"[{key!r}]", item) for key, item in value.items()]
    elif type(value) is list or isinstance(value, tuple):
        fields = getattr(type(value), "_fields", None)
        parts = [(f".{fields[k]}" if fields else f"[{k}]", item) for k, item in enumerate(value)]
    else:
        return [label]
    return [leaf for part, item in parts for leaf in _leaves(item, _part(label, part))]


def _part(label: Label, part: str) -> Label:
    if not label.word:
        return label
    if label.text.endswith("`"):
        return Label(f"{label.text[:-1]}{part}`", label.word)
    return Label(f"`{part.lstrip('.')}` of {label.text}", label.word)


def _at(line: int) -> str:
    return f" (line {line})"
