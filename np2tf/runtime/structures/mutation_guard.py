"""Containers that a trace must leave as they are, as it happens once, and the program goes on with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from np2tf.pytree.containers import Container
from np2tf.staging import ContainerChangeError


class MutationGuard:
    """Notices what is changed in place, and takes it back.

    Args:
        containers: what is guarded, as `np2tf.pytree.registry.Registry.reachable` gives it. Containers that
            nobody can change in place are passed over.
    """

    def __init__(self, containers: Iterable[tuple[Container, Any]]) -> None:
        self._before = [(kind, one, kind.copy(one)) for kind, one in containers if kind.fill is not None]

    def restore(self) -> bool:
        """Put everything back as it was; whether something had changed."""
        changed = [
            (kind, one, before) for kind, one, before in self._before if not kind.has_items_of(one, before)
        ]
        for kind, one, before in changed:
            assert kind.fill is not None
            kind.fill(one, before)
        return bool(changed)

    def check(self) -> None:
        """Put everything back as it was.

        Raises:
            StagingError: something had changed.
        """
        if self.restore():
            raise ContainerChangeError.of()
