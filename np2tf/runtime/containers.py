"""Lists and dicts that staged code changes in place, and that must be the same objects afterwards."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from np2tf.runtime.values import flatten
from np2tf.staging import StagingError

#: The way from a structure to a list or dict inside it.
Path = tuple[Any, ...]


def containers(value: Any, path: Path = ()) -> dict[Path, Any]:
    """The lists and dicts in a structure."""
    found = {path: value} if type(value) in (list, dict) else {}
    if type(value) is dict:
        items = list(value.items())
    else:
        items = list(enumerate(value)) if type(value) is list or isinstance(value, tuple) else []
    for key, item in items:
        found.update(containers(item, (*path, key)))
    return found


def copied(value: Any) -> Any:
    """The same leaves in lists and dicts of their own."""
    leaves, rebuild, _ = flatten(value)
    return rebuild(leaves)


def kept(before: Any, after: Any) -> dict[Path, Path]:
    """Which lists and dicts of `after` are those of `before`: place in `after` -> place in `before`."""
    places = {id(one): path for path, one in containers(before).items()}
    return {path: places[id(one)] for path, one in containers(after).items() if id(one) in places}


def put_back(result: Any, originals: dict[Path, Any], places: dict[Path, Path], path: Path = ()) -> Any:
    """`result` with the original lists and dicts in it, which get its contents."""
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
            raise StagingError("a list or dict from outside is changed by staged code", "NP2TF513")


class Frozen:
    """What a trace must leave alone, as it happens once only: lists, dicts, arrays of NumPy itself."""

    def __init__(self, values: list[Any]) -> None:
        self._lists = {id(one): (one, copy(one)) for one in containers(values).values() if one is not values}
        leaves = [leaf for leaf in flatten(values)[0] if type(leaf) is np.ndarray]
        self._arrays = {id(leaf): (leaf, leaf.copy()) for leaf in leaves}

    def restore(self) -> bool:
        """Put everything back as it was; whether something had changed."""
        changed = False
        for array, before in self._arrays.values():
            if array.tobytes() != before.tobytes():
                array[...] = before
                changed = True
        for one, before in self._lists.values():
            if not _same_items(one, before):
                one.clear()
                (one.extend if type(one) is list else one.update)(before)
                changed = True
        return changed


def _same_items(one: Any, other: Any) -> bool:
    if type(one) is dict:
        one, other = list(one.items()), list(other.items())
        return len(one) == len(other) and all(a[0] == b[0] and a[1] is b[1] for a, b in zip(one, other))
    return len(one) == len(other) and all(a is b for a, b in zip(one, other))
