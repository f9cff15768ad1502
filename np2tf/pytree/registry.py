"""Registries of containers: walks over nested values use a registry instead of a case for each kind.

Walks enter different kinds of containers, so there are several registries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import is_
from typing import Any

from np2tf.pytree.containers import ANY_DICT, ANY_LIST, BARE_TUPLE, DICT, LIST, TUPLE, Container

#: A value that is nested deeper is not divided.
DEEPEST = 12
#: The way from a value to a container inside it: the key of an item at each level.
Path = tuple[Any, ...]
#: (leaves, a function that makes the value of other leaves, an outline that is equal for like values)
FlatValue = tuple[list[Any], Callable[[Sequence[Any]], Any], Any]


class Registry:
    """The kinds of containers that a walk enters.

    Args:
        containers: the kinds, which exclude each other.
    """

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
