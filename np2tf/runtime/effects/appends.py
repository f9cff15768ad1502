"""Lists that staged code only appends to. Each `append` is an effect, which happens when the call is
accepted.

So neither the length nor the items of such a list matter: the code is the same for every length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from np2tf.runtime.effects.output import AppendEffect, put_in_order
from np2tf.runtime.effects.text import CapturedValues
from np2tf.tnp._array.ndarray import scalar
from np2tf.tnp._front.operand_kinds import PLAIN
from np2tf.tnp._tensor.storage import current_scope


class ListIsRead(Exception):
    """Raised if a list that code seemed only to append to is read, or gets a mutable item. The trace begins
    again.

    Attributes:
        attribute: the name under which the code has the list.
    """

    def __init__(self, attribute: str) -> None:
        super().__init__(f"the list `{attribute}` is read")
        self.attribute = attribute


class AppendedList:
    """Stands for a list of the caller's while a function is traced.

    Args:
        place: the list's index among the lists, dicts and objects of the call.
        attribute: the name under which the code has the list.
    """

    __slots__ = ("_attribute", "_place")

    def __init__(self, place: int, attribute: str) -> None:
        self._place, self._attribute = place, attribute

    def append(self, item: Any) -> None:
        """Append a number, a string, or a tuple of these to the list at every run.

        Raises:
            ListIsRead: if the item is an array, list or object, which may change later.
            StagingError: if the effects of this code cannot be collected.
        """
        if not _is_immutable(item):
            _refuse_use(self)
        captures = CapturedValues((item,))
        scope = current_scope()
        assert scope is not None

        def make(values: Sequence[np.ndarray]) -> AppendEffect:
            return AppendEffect(self._place, captures.of([np.array(value) for value in values])[0])

        put_in_order(scope.trace, captures, make, is_text=False)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse_use(self)


def _refuse_use(self: AppendedList, *args: Any) -> NoReturn:
    raise ListIsRead(self._attribute)


_READS = (
    "len bool iter getitem setitem delitem contains reversed add radd iadd mul rmul imul "
    "eq ne lt le gt ge repr str format array copy deepcopy reduce_ex reduce"
)
for _name in _READS.split():
    setattr(AppendedList, f"__{_name}__", _refuse_use)


def _is_immutable(item: Any) -> bool:
    if isinstance(item, tuple):
        return type(item) is tuple and all(map(_is_immutable, item))
    return type(item) is scalar or type(item) in PLAIN or isinstance(item, np.generic)
