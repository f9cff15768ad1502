"""Lists and dicts that staged code changes in place, and that must be the same objects afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from types import FunctionType
from typing import Any

from np2tf.runtime.structures.carried_values import flatten
from np2tf.staging import ContainerChangeError
from np2tf.tnp._array.sequences import StackableSequence

#: The way from a structure to a list or dict inside it.
Path = tuple[Any, ...]


def containers(value: Any, path: Path = ()) -> dict[Path, Any]:
    """The lists and dicts in a structure."""
    found = {path: value} if type(value) in (list, dict) or isinstance(value, StackableSequence) else {}
    if type(value) is dict:
        items = list(value.items())
    else:
        items = list(enumerate(value)) if type(value) is list or isinstance(value, tuple) else []
    for key, item in items:
        found.update(containers(item, (*path, key)))
    return found


def copy_containers(value: Any) -> Any:
    """The same leaves in lists and dicts of their own."""
    leaves, rebuild, _ = flatten(value)
    return rebuild(leaves)


def kept_containers(before: Any, after: Any) -> dict[Path, Path]:
    """Which lists and dicts of `after` are those of `before`: place in `after` -> place in `before`."""
    places = {id(one): path for path, one in containers(before).items()}
    return {path: places[id(one)] for path, one in containers(after).items() if id(one) in places}


def put_back(result: Any, originals: dict[Path, Any], places: dict[Path, Path], path: Path = ()) -> Any:
    """`result` with the original lists and dicts in it, which get its contents."""
    if isinstance(result, StackableSequence):
        target = originals.get(places.get(path, ()))
        return target.take(result) if isinstance(target, StackableSequence) else result
    if type(result) is list:
        items = [put_back(item, originals, places, (*path, k)) for k, item in enumerate(result)]
        target = originals[places[path]] if path in places else result
        target[:] = items
        return target
    if type(result) is dict:
        entries = {key: put_back(item, originals, places, (*path, key)) for key, item in result.items()}
        target = originals[places[path]] if path in places else result
        target.clear()
        target.update(entries)
        return target
    if isinstance(result, tuple):
        items = [put_back(item, originals, places, (*path, k)) for k, item in enumerate(result)]
        return tuple(items) if type(result) is tuple else type(result)(*items)
    return result


class Unchanged:
    """Refuses a change of the lists and dicts in `value`, made in place and not to be seen in a result."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.leaves, _, self.outline = flatten(value)

    def check(self, except_for: dict[Path, Path] | None = None) -> None:
        """Compare with what was there at first.

        Raises:
            StagingError: something has changed that is not in a list or dict of `except_for`.
        """
        if except_for and set(except_for.values()) >= set(containers(self.value)):
            return
        leaves, _, outline = flatten(self.value)
        if outline != self.outline or any(a is not b for a, b in zip(self.leaves, leaves)):
            raise ContainerChangeError.of()


class Untouched:
    """Lists and dicts that functions know from around them, which a staged loop or branch must leave
    alone.
    """

    def __init__(self, *functions: Any) -> None:
        self._lists = {id(one): (one, one.copy()) for one in _captured(functions, set())}

    def check(self) -> None:
        """Put back what has been changed.

        Raises:
            StagingError: something had been: the trace happens once only.
        """
        changed = False
        for one, before in self._lists.values():
            if not _same_items(one, before):
                _fill(one, before)
                changed = True
        if changed:
            raise ContainerChangeError.of()


def _captured(functions: Iterable[Any], seen: set[int]) -> Iterator[Any]:
    """The lists and dicts in the closures of `functions`, and of those that are found there."""
    for function in functions:
        if not isinstance(function, FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                continue
            if (function.__module__ or "").partition(".")[0] != "np2tf":  # whose lists are not the user's
                yield from containers(value).values()
            yield from _captured((value, getattr(value, "__wrapped__", None)), seen)


def _fill(one: Any, items: Any) -> None:
    if isinstance(one, StackableSequence):
        one.take(items)
        return
    one.clear()
    (one.extend if type(one) is list else one.update)(items)


class Frozen:
    """The lists and dicts that a trace must leave alone, as it happens once only."""

    def __init__(self, values: list[Any]) -> None:
        self._lists = {id(one): (one, copy(one)) for one in containers(values).values() if one is not values}

    def restore(self) -> bool:
        """Put everything back as it was; whether something had changed."""
        changed = False
        for one, before in self._lists.values():
            if not _same_items(one, before):
                _fill(one, before)
                changed = True
        return changed


def _same_items(one: Any, other: Any) -> bool:
    if isinstance(one, StackableSequence):
        return all(a is b for a, b in zip(flatten(one)[0], flatten(other)[0], strict=True))
    if type(one) is dict:
        one, other = list(one.items()), list(other.items())
        return len(one) == len(other) and all(a[0] == b[0] and a[1] is b[1] for a, b in zip(one, other))
    return len(one) == len(other) and all(a is b for a, b in zip(one, other))
