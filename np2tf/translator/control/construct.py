"""What a construct is: whether an occurrence is lowered, and what it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import libcst as cst

from np2tf.translator.control.scope import Scope
from np2tf.translator.facts.dataflow import Names, reads
from np2tf.translator.tree.templates import Statement

if TYPE_CHECKING:
    from np2tf.translator.control.decide import Decider
    from np2tf.translator.control.lower import Lowering

# -- construct -----------------------------------------------------------------------------------------------
# The interfaces of a construct: one function decides which occurrences are lowered, another lowers them.


@dataclass(frozen=True)
class StatementConstruct:
    """A kind of statement that contains blocks.

    `lower` gets the names that are live behind it, and as `tail` whether it ends the function.
    """

    is_lowered: Callable[[Decider, Any], bool]
    lower: Callable[[Lowering, Any, Names, Scope, bool], list[Statement]]


@dataclass(frozen=True)
class SmallConstruct:
    """A kind of statement without blocks; `lower` gets the empty lines above it."""

    is_lowered: Callable[[Decider, Any], bool]
    lower: Callable[[Lowering, Any, Scope, Sequence[cst.EmptyLine]], list[Statement]]


@dataclass(frozen=True)
class ExpressionConstruct:
    """A kind of expression."""

    is_lowered: Callable[[Decider, Any], bool]
    edit: Callable[[Any], cst.BaseExpression]


# -- counting ------------------------------------------------------------------------------------------------
# Tests on parameters that count a function's recursive calls: they end the recursion and stay Python.


def counts(judge: Decider, test: cst.BaseExpression) -> bool:
    """Return whether a test is on a parameter that counts the function's calls of itself."""
    return bool(reads(test) & judge.counters) and judge.static.probably(test)
