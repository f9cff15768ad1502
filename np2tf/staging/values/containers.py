"""Lists and dicts that staged code changes in place: guarded, copied for each side, and put back as the same
objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

from np2tf.arrays.array.sequences import StackableSequence
from np2tf.core.containers import Container, Path
from np2tf.core.errors import ContainerChangeError
from np2tf.staging.objects.user_objects import wrapped_function
from np2tf.staging.values.carried_values import STATE

# -- mutation guard ------------------------------------------------------------------------------------------
# Guards of containers that a trace must not change, because it runs once and the program continues with
# them.


class MutationGuard:
    """Detects changes of containers in place, and undoes them.

    Args:
        containers: the guarded containers with their kinds, as from
            `np2tf.core.containers.Registry.reachable`. Immutable containers are ignored.
        is_ours: (kind, container, former contents) -> whether the trace may have made a change; other threads
            have made the other changes, which stay.
    """

    def __init__(
        self,
        containers: Iterable[tuple[Container, Any]],
        is_ours: Callable[[Container, Any, Any], bool] = lambda kind, container, before: True,
    ) -> None:
        self._is_ours = is_ours
        self._before = [
            (kind, container, kind.copy(container)) for kind, container in containers if kind.fill is not None
        ]

    def restore(self) -> bool:
        """Restore the containers, and return whether any had changed."""
        changes = [
            (kind, container, before)
            for kind, container, before in self._before
            if not kind.has_items_of(container, before) and self._is_ours(kind, container, before)
        ]
        for kind, container, before in changes:
            assert kind.fill is not None
            kind.fill(container, before)
        return bool(changes)

    def check(self) -> None:
        """Restore the containers, and raise StagingError if one had changed."""
        if self.restore():
            raise ContainerChangeError.of()


# -- containers ----------------------------------------------------------------------------------------------
# Lists and dicts that staged code changes in place, and that must be the same objects afterwards.


def containers(value: Any) -> dict[Path, Any]:
    """Return the lists and dicts in a structure, by their paths."""
    return {path: container for path, container in STATE.nodes(value) if not isinstance(container, tuple)}


def copy_containers(value: Any) -> Any:
    """Return the same leaves in new lists and dicts."""
    return STATE.map_items(copy_containers, value)


def kept_containers(before: Any, after: Any) -> dict[Path, Path]:
    """Return the lists and dicts that `after` shares with `before`: path in `after` -> path in
    `before`.
    """
    places = {id(container): path for path, container in containers(before).items()}
    return {
        path: places[id(container)]
        for path, container in containers(after).items()
        if id(container) in places
    }


def put_back(result: Any, originals: dict[Path, Any], places: dict[Path, Path], path: Path = ()) -> Any:
    """Return `result` with the original lists and dicts in it, which get its contents."""
    kind = STATE.find(result)
    if kind is None:
        return result
    items = [
        put_back(item, originals, places, (*path, key))
        for key, item in zip(kind.keys(result), kind.items(result), strict=True)
    ]
    # A staged list has more state than its items.
    structure = result if isinstance(result, StackableSequence) else kind.builder(result)(items)
    target = originals.get(places[path]) if path in places else None
    is_staged_anew = structure is result and not isinstance(target, StackableSequence)
    if kind.fill is None or target is None or is_staged_anew:
        return structure
    kind.fill(target, structure)
    return target


def guard_closures(*functions: Any) -> MutationGuard:
    """Return a guard of the lists and dicts in the closures of functions, which a staged loop or branch must
    not change.
    """
    return MutationGuard(STATE.reachable(_closure_values(functions, set())))


def _closure_values(functions: Iterable[Any], seen_ids: set[int]) -> Iterator[Any]:
    """Yield the values in the closures of `functions`, and in the closures of functions among these
    values.
    """
    for function in functions:
        if type(function) is not FunctionType or id(function) in seen_ids:
            continue
        seen_ids.add(id(function))
        for cell in function.__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # not bound yet
                continue
            if (function.__module__ or "").partition(".")[0] != "np2tf":  # its lists are not the user's
                yield value
            yield from _closure_values((value, wrapped_function(value)), seen_ids)
