"""The kinds of containers, and the registries that walks over nested values ask."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any

# -- containers ----------------------------------------------------------------------------------------------
# The kinds of containers: tuples, lists, dicts, slices, partial applications, bound methods.
#
# Objects of the user's classes are another kind (`np2tf.staging.objects.user_objects`), and so are staged
# lists (`np2tf.staging.values.carried_values`).

#: Makes a container from items.
Builder = Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class Container:
    """One kind of containers.

    Attributes:
        of: the class of the containers, or a function that accepts a class if there are several classes.
        keys: container -> the keys of its items, in order: indices, keys of a dict, names of attributes.
        items: container -> its items, in the same order.
        builder: container -> a function that makes a container of the same kind from other items. The
            function keeps no item of the container alive.
        fill: (container, other container) -> None; gives the first container the items of the other
            container. None if the containers are immutable.
        outline: container -> the value that must be equal, besides the class, if two containers have the same
            structure. If it is None, the keys must be equal.
        is_ordered: whether containers that differ only in the order of their keys are different.
    """

    of: type | Callable[[type], bool]
    keys: Callable[[Any], Collection[Any]]
    items: Callable[[Any], Collection[Any]]
    builder: Callable[[Any], Builder]
    fill: Callable[[Any, Any], None] | None = None
    outline: Callable[[Any], Any] | None = None
    is_ordered: bool = True

    def outline_of(self, value: Any) -> Any:
        """Return a value that is equal for containers of the same structure."""
        return type(value), tuple(self.keys(value)) if self.outline is None else self.outline(value)

    def copy(self, value: Any) -> Any:
        """Return a new container with the same items."""
        return self.builder(value)(list(self.items(value)))

    def has_items_of(self, value: Any, other_value: Any) -> bool:
        """Return whether two containers hold the same objects under the same keys."""
        own_keys, other_keys = list(self.keys(value)), list(self.keys(other_value))
        if own_keys == other_keys:
            return all(map(is_, self.items(value), self.items(other_value)))
        if self.is_ordered or len(own_keys) != len(other_keys):
            return False
        other_items = dict(zip(other_keys, self.items(other_value), strict=True))
        pairs = zip(own_keys, self.items(value), strict=True)
        return all(key in other_items and other_items[key] is item for key, item in pairs)


def make_tuple(kind: type, items: Iterable[Any]) -> Any:
    """Return a tuple of the class `kind`. Named tuples, and other classes derived from tuple, take their
    items as separate arguments.
    """
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
#: Tuples of the class `tuple` itself.
BARE_TUPLE = Container(tuple, _places, _identity, lambda value: tuple, outline=len)
#: Sets in their own order: the copy of a set is a dict, as a copied set may have another order.
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
#: Bound methods: the object is the only item, and the function is part of the structure.
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
    raise TypeError(f"a {type(value).__name__} cannot be rebuilt from its items alone")


#: Lists and dicts, also of derived classes, for searches only: it is unknown how to make them.
ANY_LIST = Container(lambda kind: issubclass(kind, list), _places, _identity, _refuse_to_build)
ANY_DICT = Container(lambda kind: issubclass(kind, dict), _identity, dict.values, _refuse_to_build)
ANY_SET = Container(lambda kind: issubclass(kind, (set, frozenset)), _places, _identity, _refuse_to_build)


# -- registry ------------------------------------------------------------------------------------------------
# Registries of containers: walks over nested values use a registry instead of a case for each kind.
#
# Walks enter different kinds of containers, so there are several registries.

#: A value that is nested deeper is not divided.
DEEPEST = 12
#: The way from a value to a container inside it: the key of an item at each level.
Path = tuple[Any, ...]
#: (leaves, a function that makes the value of other leaves, an outline that is equal for like values)
FlatValue = tuple[list[Any], Callable[[Sequence[Any]], Any], Any]


class Registry:
    """The kinds of containers that a walk enters; they exclude each other."""

    def __init__(self, *containers: Container) -> None:
        self._containers = containers
        self._of_class = {
            container.of: container for container in containers if isinstance(container.of, type)
        }
        self._tests = [
            (container.of, container) for container in containers if not isinstance(container.of, type)
        ]

    def __or__(self, containers: tuple[Container, ...]) -> Registry:
        """Return a registry that also has the given kinds."""
        return Registry(*self._containers, *containers)

    def find(self, value: Any) -> Container | None:
        """Return the kind of container of a value; None for a leaf."""
        kind = type(value)
        result = self._of_class.get(kind)
        if result is None:
            for holds, container in self._tests:
                if holds(kind):
                    return container
        return result

    def items(self, value: Any) -> Collection[Any]:
        """Return the items of a container; nothing for a leaf."""
        container = self.find(value)
        return () if container is None else container.items(value)

    def map_items(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Return a container like `value` with `function` applied to each item; a leaf itself."""
        container = self.find(value)
        if container is None:
            return value
        return container.builder(value)([function(item) for item in container.items(value)])

    def replace_items(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Return the same as `map_items`, or `value` itself if `function` returns every item unchanged."""
        container = self.find(value)
        if container is None:
            return value
        items = list(map(function, container.items(value)))
        return value if all(map(is_, items, container.items(value))) else container.builder(value)(items)

    def zip_items(self, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        """Return a container like `a` with the items ``function(item of a, item of b)``; `a` itself if the
        structures differ.
        """
        container = self.find(a)
        if container is None or type(a) is not type(b) or container.outline_of(a) != container.outline_of(b):
            return a
        return container.builder(a)(list(map(function, container.items(a), container.items(b))))

    def flatten(self, value: Any) -> FlatValue:
        """Return the leaves of a nested value in order, a function that makes the value from other leaves,
        and an outline that is equal for values of the same structure.
        """
        container = self.find(value)
        if container is None:
            return [value], _only, "leaf"
        parts = [self.flatten(item) for item in container.items(value)]
        build = container.builder(value)

        def rebuild(leaves: Sequence[Any]) -> Any:
            items, start = [], 0
            for part, count in zip(builders, counts, strict=True):
                items.append(part(leaves[start : start + count]))
                start += count
            return build(items)

        builders, counts = [part[1] for part in parts], [len(part[0]) for part in parts]
        outline = (*container.outline_of(value), tuple(part[2] for part in parts))
        return [leaf for part in parts for leaf in part[0]], rebuild, outline

    def nodes(self, value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
        """Yield the containers in a nested value with their paths, outer containers first."""
        container = self.find(value)
        if container is not None:
            yield path, value
            for key, item in zip(container.keys(value), container.items(value), strict=True):
                yield from self.nodes(item, (*path, key))

    def reachable(self, values: Iterable[Any], deepest: float = math.inf) -> Iterator[tuple[Container, Any]]:
        """Yield the containers among `values` and inside them, each once, down to the depth `deepest`."""
        ids: set[int] = set()
        level, depth = list(values), 0
        while level and depth <= deepest:
            depth += 1
            inner: list[Any] = []
            for value in level:
                container = self.find(value)
                if container is not None and id(value) not in ids:
                    ids.add(id(value))
                    yield container, value
                    inner += container.items(value)
            level = inner


def _only(leaves: Sequence[Any]) -> Any:
    return leaves[0]


#: Lists, dicts and tuples of Python's own classes.
DISPLAYS = Registry(LIST, DICT, BARE_TUPLE)
#: Lists, dicts, and tuples of all classes.
STRUCTURES = Registry(LIST, DICT, TUPLE)
#: Lists, dicts and tuples of all classes, which are searched for arrays and not made again.
SEARCHED_CONTAINERS = Registry(ANY_LIST, ANY_DICT, TUPLE)
