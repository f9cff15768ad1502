"""Guards of containers that a trace must not change, because it runs once and the program continues with
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from np2tf.pytree.containers import Container
from np2tf.staging import ContainerChangeError


class MutationGuard:
    """Detects changes of containers in place, and undoes them.

    Args:
        containers: the guarded containers with their kinds, as from
            `np2tf.pytree.registry.Registry.reachable`. Immutable containers are ignored.
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
        """Restore the containers.

        Raises:
            StagingError: if a container had changed.
        """
        if self.restore():
            raise ContainerChangeError.of()
