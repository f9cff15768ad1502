"""Guesses which variables a loop changes, which saves tracing its body once more.

The body of a loop is traced until it is known what an iteration changes (`while_loops`). An inner loop is
staged once for every trace of the outer loop's body, and again for every signature. The result of an earlier
trace is a good guess then; in the first trace, the guess is the set of variables that the loop binds.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from np2tf.runtime.introspection.code_names import all_names
from np2tf.runtime.structures.carried_values import Carried, Undefined, form_of
from np2tf.tnp._array.ndarray import is_array, scalar

#: The code of an iteration -> which of its variables were carried when it was staged.
_changes_of_code: WeakKeyDictionary[types.CodeType, list[bool]] = WeakKeyDictionary()


class Likely:
    """A guess of the variables that a loop changes.

    Args:
        step: an iteration, as the program has it.
        bound: the number of variables that it binds; they come first.

    Attributes:
        code: the code of the iteration; None if there is none.
    """

    def __init__(self, step: Callable[..., Any] | None, rebound_count: int = 0) -> None:
        self.code: types.CodeType | None = getattr(step, "__code__", None)
        self._rebound_count = rebound_count

    def forms(self, leaves: Sequence[Any]) -> list[Carried | None]:
        """Return the forms of the variables that are likely to change; None for each other variable."""
        if self.code is None:
            return [None] * len(leaves)
        changes = _changes_of_code.get(self.code)
        if changes is None or len(changes) != len(leaves):
            changes = self._at_first(leaves, self.code)
        return [
            form_of(leaf) if is_known and not isinstance(leaf, Undefined) else None
            for is_known, leaf in zip(changes, leaves, strict=True)
        ]

    def _at_first(self, leaves: Sequence[Any], code: types.CodeType) -> list[bool]:
        # If elements are written, arrays usually stay the same objects.
        writes = "at" in all_names(code)
        return [
            k < self._rebound_count and not (writes and is_array(leaf) and type(leaf) is not scalar)
            for k, leaf in enumerate(leaves)
        ]

    def remember(self, forms: Sequence[Carried | None]) -> None:
        """Record the variables that have turned out to change."""
        if self.code is not None:
            _changes_of_code[self.code] = [form is not None for form in forms]


NOTHING_LIKELY = Likely(None)
