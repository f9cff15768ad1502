"""The scope in which statements are being lowered: a function, or one of the helpers made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from np2tf.facts.dataflow.binding import bound_after
from np2tf.facts.dataflow.flow import Names, ordered_writes, writes
from np2tf.options import LINE_LENGTH


@dataclass
class Scope:
    """What is known about names while the statements of one scope are lowered, in order."""

    locals: Names
    """The names that are local to the user's function: only these can be state."""
    bound: Names
    """The names certainly bound here."""
    maybe: Names = frozenset()
    """The names that some path may have bound."""
    depth: int = 1
    """How deep the statements are indented, counted from the user's function."""
    width: int = LINE_LENGTH
    """How long a line may be, counted from there as well."""
    presets: list[str] = field(default_factory=list)
    """The names to set to `undefined` at the scope's start."""
    added: Names = frozenset()
    """The flags and results that lowering added."""
    counters: Names = frozenset()
    """The names that are plain numbers wherever they are bound."""
    foreign: Names = frozenset()
    """The names among the local ones that are declared nonlocal: they belong to a function around it."""

    def passed(self, statements: Sequence[cst.CSTNode]) -> None:
        """Take note of statements that have been emitted."""
        self.maybe |= writes(statements)
        after = bound_after(statements, self.bound)
        if after is not None:
            self.bound = after

    def written(self, nodes: Sequence[cst.CSTNode]) -> list[str]:
        """The function's own names that `nodes` write, in order of first writing, added ones last."""
        names = [name for name in ordered_writes(nodes) if name in self.locals]
        return sorted(names, key=lambda name: name in self.added)

    def value(self, name: str) -> str:
        """The expression for a name's value here: itself, or `undefined` where nothing was bound yet."""
        if name in self.bound:
            return name
        if name not in self.maybe:
            return f'np2tf.undefined("{name}")'
        # Bound on some paths only: give it a value on all of them, from the scope's start.
        self.presets.append(name)
        self.bound |= {name}
        return name

    def helper(self, body: Sequence[cst.CSTNode], params: Sequence[str]) -> Scope:
        """The scope of a helper function with this body."""
        given = frozenset(params)
        own = writes(body)
        return Scope(
            self.locals,
            (self.bound - own) | given,
            given,
            self.depth + 1,
            self.width,
            added=self.added,
            counters=self.counters,
            foreign=self.foreign,
        )

    def inner(self, maybe: Names = frozenset()) -> Scope:
        """The scope as a plain Python block inside it sees it."""
        return replace(self, maybe=self.maybe | maybe, depth=self.depth + 1)
