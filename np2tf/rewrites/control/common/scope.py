"""The scope whose statements are being lowered: a function, or a helper made for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from np2tf.facts.dataflow.binding import bound_after
from np2tf.facts.dataflow.reads_writes import Names, ordered_writes, writes
from np2tf.options import LINE_LENGTH


@dataclass
class Scope:
    """The state of names while the statements of one scope are lowered, in order."""

    locals: Names
    """The names that are local to the user's function. Only these names can be state."""
    bound_names: Names
    """The names that are certainly bound at the present statement."""
    maybe: Names = frozenset()
    """The names that may be bound on some path."""
    depth: int = 1
    """The indentation depth of the statements, relative to the user's function."""
    width: int = LINE_LENGTH
    """The maximal line length, counted from the same indentation."""
    presets: list[str] = field(default_factory=list)
    """The names to set to `undefined` at the scope's start."""
    added_names: Names = frozenset()
    """The flags and results that lowering added."""
    counters: Names = frozenset()
    """The names that are plain numbers in every binding."""
    outer_names: Names = frozenset()
    """The local names that are declared nonlocal, and so belong to a function around this one."""

    def record(self, statements: Sequence[cst.CSTNode]) -> None:
        """Record that statements have been emitted."""
        self.maybe |= writes(statements)
        after = bound_after(statements, self.bound_names)
        if after is not None:
            self.bound_names = after

    def written_names(self, nodes: Sequence[cst.CSTNode]) -> list[str]:
        """Return the function's own names that `nodes` write, in order of first writing, with added names
        last.
        """
        names = [name for name in ordered_writes(nodes) if name in self.locals]
        return sorted(names, key=lambda name: name in self.added_names)

    def value(self, name: str) -> str:
        """Return the expression for a name's value here: the name, or `undefined` if it is not bound yet."""
        if name in self.bound_names:
            return name
        if name not in self.maybe:
            return f'np2tf.undefined("{name}")'
        # The name is bound on some paths only: the scope's start gives it a value on all paths.
        self.presets.append(name)
        self.bound_names |= {name}
        return name

    def helper(self, body: Sequence[cst.CSTNode], params: Sequence[str]) -> Scope:
        """Return the scope of a helper function with this body."""
        parameter_names = frozenset(params)
        written_names = writes(body)
        return Scope(
            self.locals,
            (self.bound_names - written_names) | parameter_names,
            parameter_names,
            self.depth + 1,
            self.width,
            added_names=self.added_names,
            counters=self.counters,
            outer_names=self.outer_names,
        )

    def inner(self, maybe: Names = frozenset()) -> Scope:
        """Return the scope for a plain Python block inside this scope."""
        return replace(self, maybe=self.maybe | maybe, depth=self.depth + 1)
