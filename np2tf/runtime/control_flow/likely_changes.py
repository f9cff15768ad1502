"""Which variables a loop is likely to change: a guess that saves tracing its body once more.

The body of a loop is traced until it is known what an iteration changes (`while_loops`). A loop within a loop
is staged once for every trace of the outer one's body, and again for every signature; what has been found out
once is a good guess then. The first time the variables that the loop binds are.
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
_found: WeakKeyDictionary[types.CodeType, list[bool]] = WeakKeyDictionary()


class Likely:
    """A guess of what a loop changes.

    Args:
        step: an iteration, as the program has it.
        bound: how many variables, the first ones, it binds.

    Attributes:
        code: that of the iteration, None where there is none.
    """

    def __init__(self, step: Callable[..., Any] | None, bound: int = 0) -> None:
        self.code: types.CodeType | None = getattr(step, "__code__", None)
        self._bound = bound

    def forms(self, leaves: Sequence[Any]) -> list[Carried | None]:
        """How the variables are carried that are likely to change; None for each of the others."""
        if self.code is None:
            return [None] * len(leaves)
        known = _found.get(self.code)
        if known is None or len(known) != len(leaves):
            known = self._at_first(leaves, self.code)
        return [
            form_of(leaf) if one and not isinstance(leaf, Undefined) else None
            for one, leaf in zip(known, leaves, strict=True)
        ]

    def _at_first(self, leaves: Sequence[Any], code: types.CodeType) -> list[bool]:
        # Where elements are written, arrays stay the same ones as a rule.
        writes = "at" in all_names(code)
        return [
            k < self._bound and not (writes and is_array(leaf) and type(leaf) is not scalar)
            for k, leaf in enumerate(leaves)
        ]

    def remember(self, forms: Sequence[Carried | None]) -> None:
        """Note what has turned out to change."""
        if self.code is not None:
            _found[self.code] = [form is not None for form in forms]


NOTHING_LIKELY = Likely(None)
