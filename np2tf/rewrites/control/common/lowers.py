"""The protocol of the lowering of a function, as its constructs use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from np2tf.facts.dataflow.reads_writes import Names
from np2tf.rewrites.control.common.closures import Closures
from np2tf.rewrites.control.common.marks import Marks
from np2tf.rewrites.control.common.naming import Naming
from np2tf.rewrites.control.common.scope import Scope
from np2tf.tree.templates import Statement


class Lowers(Protocol):
    """The lowering of one function."""

    marks: Marks
    naming: Naming
    closures: Closures

    def scope_body(
        self, body: Sequence[Statement], after: Names, scope: Scope, tail: bool
    ) -> list[Statement]:
        """Return the lowered statements of a whole scope."""
