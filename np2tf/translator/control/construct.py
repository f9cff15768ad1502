"""What a construct is: whether an occurrence is lowered, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import libcst as cst

from np2tf.translator.control.layout import Naming
from np2tf.translator.control.scope import Closures, Marks, Scope
from np2tf.translator.facts.dataflow import Names, reads
from np2tf.translator.tree.templates import Statement

# -- lowers --------------------------------------------------------------------------------------------------
# The protocol of the lowering of a function, as its constructs use it.


class Lowers(Protocol):
    """The lowering of one function."""

    marks: Marks
    naming: Naming
    closures: Closures

    def scope_body(
        self, body: Sequence[Statement], after: Names, scope: Scope, tail: bool
    ) -> list[Statement]:
        """Return the lowered statements of a whole scope."""


# -- construct -----------------------------------------------------------------------------------------------
# The interfaces of a construct: one function decides which occurrences are lowered, another lowers them.


class KnownExpressions(Protocol):
    """Tells which expressions are known while a function is staged."""

    def __call__(self, node: cst.CSTNode) -> bool:
        """Return whether the value of `node` is known while the function is staged."""

    def probably(self, node: cst.CSTNode) -> bool:
        """Return whether `node` is known while staging, provided that number parameters are."""


class Judge(Protocol):
    """The facts about the function in which constructs are lowered.

    Attributes:
        counters: the parameters that count the function's calls of itself: tests on them stay Python's.
    """

    counters: Names

    @property
    def static(self) -> KnownExpressions:
        """Tells which expressions are known while the function is staged."""

    def reason(self, node: cst.If | cst.While | cst.For) -> str | None:
        """Return the reason against lowering `node`, in words; None if there is none."""

    def check(self, node: cst.If | cst.While | cst.For) -> None:
        """Check that `node` can be lowered.

        Raises:
            CannotLower: if `node` contains a part that cannot be lowered.
        """

    def may_iterate(self, node: cst.BaseExpression) -> bool:
        """Return whether a loop over an expression may run over an array or many numbers."""

    def stays_plain(self, node: cst.For) -> bool:
        """Return whether a loop has been found to stay Python."""

    def is_setting(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression consists of unchanged parameters and their attributes."""

    def is_long_range(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression is a range of more numbers than a loop that stays Python may have."""


@dataclass(frozen=True)
class StatementConstruct:
    """A kind of statement that contains blocks.

    Attributes:
        is_lowered: whether one of its occurrences is lowered.
        lower: the statements that it becomes; `live` are the names that are needed behind it, and `tail` says
            that nothing follows it in the function.
    """

    is_lowered: Callable[[Judge, Any], bool]
    lower: Callable[[Lowers, Any, Names, Scope, bool], list[Statement]]


@dataclass(frozen=True)
class SmallConstruct:
    """A kind of statement without blocks.

    Attributes:
        is_lowered: whether one of its occurrences is lowered.
        lower: the statements that it becomes, the first of which has the given empty lines above it.
    """

    is_lowered: Callable[[Judge, Any], bool]
    lower: Callable[[Lowers, Any, Scope, Sequence[cst.EmptyLine]], list[Statement]]


@dataclass(frozen=True)
class ExpressionConstruct:
    """A kind of expression.

    Attributes:
        is_lowered: whether one of its occurrences is lowered.
        edit: the expression that it becomes.
    """

    is_lowered: Callable[[Judge, Any], bool]
    edit: Callable[[Any], cst.BaseExpression]


# -- counting ------------------------------------------------------------------------------------------------
# Tests on parameters that count a function's recursive calls: they end the recursion and stay Python.


def counts(judge: Judge, test: cst.BaseExpression) -> bool:
    """Return whether a test is on a parameter that counts the function's calls of itself."""
    return bool(reads(test) & judge.counters) and judge.static.probably(test)
