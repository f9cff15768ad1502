"""The kinds of containers: tuples, lists, dicts, slices, partial applications, bound methods.

Objects of the user's classes are another kind (`np2tf.runtime.introspection.user_objects`), and so are staged
lists (`np2tf.runtime.structures.carried_values`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

#: Makes a container of items.
Builder = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Container:
    """One kind of containers.

    Attributes:
        of: the class of such containers; a function of classes where there are several.
        keys: container -> the keys of its items, in order: indices, keys of a dict, names of attributes.
        items: container -> its items, in the same order.
        builder: container -> a function that makes another one like it, of other items. The function keeps
            no item of the container alive.
        fill: (container, other container) gives the first one the items of the other one; None where the
            containers are immutable.
        outline: container -> what must be equal, beside the class, where two containers are alike in
            structure; the keys if it is None.
        is_ordered: whether containers with other orders of the same keys differ.
    """

    of: type | Callable[[type], bool]
    keys: Callable[[Any], Collection[Any]]
    items: Callable[[Any], Collection[Any]]
    builder: Callable[[Any], Builder]
    fill: Callable[[Any, Any], None] | None = None
    outline: Callable[[Any], Any] | None = None
    is_ordered: bool = True

    def outline_of(self, value: Any) -> Any:
        """What containers that are alike in structure have in common."""
        return type(value), tuple(self.keys(value)) if self.outline is None else self.outline(value)

    def copy(self, value: Any) -> Any:
        """Another container of the same items."""
        return self.builder(value)(list(self.items(value)))

    def has_items_of(self, value: Any, other: Any) -> bool:
        """Whether two containers hold the very same items under the same keys."""
        mine, others = list(self.keys(value)), list(self.keys(other))
        if mine == others:
            return all(map(is_, self.items(value), self.items(other)))
        if self.is_ordered or len(mine) != len(others):
            return False
        found = dict(zip(others, self.items(other), strict=True))
        pairs = zip(mine, self.items(value), strict=True)
        return all(key in found and found[key] is item for key, item in pairs)


def make_tuple(kind: type, items: Iterable[Any]) -> Any:
    """A tuple of a class: named tuples, and other classes derived from tuple, take their items one by one."""
    return tuple(items) if kind is tuple else kind(*items)


def _places(value: Any) -> range:
    return range(len(value))


def _identity(value: Any) -> Any:
    return value


def _fill_list(target: list[Any], source: list[Any]) -> None:
    target[:] = source


def _fill_other(target: Any, source: Any) -> None:
    target.clear()
    target.update(source)


def _make_partial(keywords: Sequence[str], items: Sequence[Any]) -> functools.partial[Any]:
    count = len(items) - len(keywords)
    return functools.partial(items[0], *items[1:count], **dict(zip(keywords, items[count:], strict=True)))


LIST = Container(list, _places, _identity, lambda value: list, _fill_list, len)
DICT = Container(
    dict,
    keys=_identity,
    items=dict.values,
    builder=lambda value: functools.partial(_make_dict, list(value)),
    fill=_fill_other,
)
#: Tuples of every class, named tuples among them.
TUPLE = Container(
    lambda kind: issubclass(kind, tuple),
    keys=_places,
    items=_identity,
    builder=lambda value: functools.partial(make_tuple, type(value)),
    outline=len,
)
#: Tuples of no class of its own.
BARE_TUPLE = Container(tuple, _places, _identity, lambda value: tuple, outline=len)
#: Sets in the order that they have: their copy is a dict, as a copy of a set may have another order.
SET = Container(set, _places, tuple, lambda value: dict.fromkeys, _fill_other)
SLICE = Container(
    slice,
    keys=lambda value: ("start", "stop", "step"),
    items=lambda value: (value.start, value.stop, value.step),
    builder=lambda value: lambda items: slice(*items),
)
#: Partial applications: the function, its arguments and its keyword arguments.
PARTIAL = Container(
    functools.partial,
    keys=lambda value: (*range(len(value.args) + 1), *value.keywords),
    items=lambda value: (value.func, *value.args, *value.keywords.values()),
    builder=lambda value: functools.partial(_make_partial, tuple(value.keywords)),
    outline=lambda value: (len(value.args), *value.keywords),
)
#: Bound methods, of which the object that they are bound to is an item, and the function a part.
METHOD = Container(
    types.MethodType,
    keys=lambda value: ("__self__",),
    items=lambda value: (value.__self__,),
    builder=lambda value: functools.partial(_make_method, value.__func__),
    outline=lambda value: value.__func__,
)


def _make_dict(keys: Sequence[Any], items: Iterable[Any]) -> dict[Any, Any]:
    return dict(zip(keys, items, strict=True))


def _make_method(function: Any, items: Sequence[Any]) -> types.MethodType:
    return types.MethodType(function, *items)


def _refuse_to_build(value: Any) -> Builder:
    raise TypeError(f"a {type(value).__name__} cannot be made of its items alone")


#: Lists and dicts of derived classes too, for searches only: nobody knows how they are made.
ANY_LIST = Container(lambda kind: issubclass(kind, list), _places, _identity, _refuse_to_build)
ANY_DICT = Container(lambda kind: issubclass(kind, dict), _identity, dict.values, _refuse_to_build)
ANY_SET = Container(lambda kind: issubclass(kind, (set, frozenset)), _places, _identity, _refuse_to_build)
