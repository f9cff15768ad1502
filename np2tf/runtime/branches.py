"""Staged branches: both sides of an ``if`` over mutable arrays become one `tf.cond`.

Each side is first traced into a throw-away graph, to learn what it returns and which cells it writes. The two
results are then widened to a common form, as NumPy would; cells written on either side become results as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from np2tf.runtime.trace import Trace
from np2tf.runtime.values import Carried, Undefined, carried, flatten, join, same
from np2tf.staging import StagingError
from np2tf.tnp.bounds import record_violation
from np2tf.tnp.cells import Cell, link_aliases, region
from np2tf.tnp.ndarray import is_array

Branch = Callable[[], Any]

_CHEAP_OPS = 60
_SMALL = range(5)
_BLOCKS = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
)


class _Side:
    """What one side returns and writes, learnt from a throw-away trace.

    Attributes:
        error: the exception that this side raises, if it does.
    """

    def __init__(self, trace: Trace, branch: Branch) -> None:
        self.error: Exception | None = None
        self.leaves: list[Any] = []
        self.forms: list[Carried | None] = []
        with tf.__internal__.FuncGraph("discovery").as_default() as graph, region(trace) as entered:
            try:
                self.leaves, self.rebuild, self.outline = flatten(branch())
                self.forms = [carried(leaf) for leaf in self.leaves]
            except StagingError:
                raise
            except Exception as error:
                self.error = error
            finally:
                self.written: list[Cell] = list(entered.written)
                entered.undo()
        self.ops = graph.get_operations()


def stage_branches(trace: Trace, test: tf.Tensor, then: Branch, otherwise: Branch) -> Any:
    """`then()` or `otherwise()` as one `tf.cond`.

    A side that raises is never taken in the graph: that it should have been is recorded as a violation, upon which the
    whole call is discarded and repeated on the host, where the exception comes up as it does in NumPy.

    Raises:
        StagingError: the two sides have no common form, or both raise.
    """
    sides = _Side(trace, then), _Side(trace, otherwise)
    if sides[0].error is not None and sides[1].error is not None:
        raise StagingError(f"both sides of a branch raise: {sides[0].error}", "NP2TF515") from sides[0].error
    if sides[0].error is not None:
        record_violation(test)
        return otherwise()
    if sides[1].error is not None:
        record_violation(tf.logical_not(test))
        return then()
    if sides[0].outline != sides[1].outline:
        raise StagingError("the two sides of a branch return different structures", "NP2TF516")
    forms = [
        _common(a, b, f, g)
        for a, b, f, g in zip(sides[0].leaves, sides[1].leaves, sides[0].forms, sides[1].forms, strict=True)
    ]
    if trace.xla and any(form is not None and None in form.shape for form in forms):
        raise StagingError(
            "an array has another shape on each side of a branch that XLA should compile", "NP2TF514"
        )
    cells = list(dict.fromkeys(sides[0].written + sides[1].written))
    sources: list[set[Cell]] = [set() for _ in forms]

    def side(branch: Branch) -> list[tf.Tensor]:
        before = [cell.value for cell in cells]
        with region(trace) as entered:
            leaves, _, _ = flatten(branch())
            results = [
                form.tensor(leaf) for leaf, form in zip(leaves, forms, strict=True) if form is not None
            ]
            results += [cell.value for cell in cells]
            for k, leaf in enumerate(leaves):
                if is_array(leaf) and leaf._cell is not None and leaf._cell.birth is not entered:
                    sources[k].add(leaf._cell)
        for cell, value in zip(cells, before, strict=True):
            cell.rebase(value)
        return results

    if trace.xla and all(map(_is_cheap, sides)) and all(cell.value.shape.rank == 0 for cell in cells):
        pairs = zip(side(then), side(otherwise), strict=True)
        results = [tf.where(test, yes, no) for yes, no in pairs]
    else:
        results = tf.cond(test, lambda: side(then), lambda: side(otherwise))
    rest = iter(results if isinstance(results, (list, tuple)) else [results])
    leaves = list(sides[0].leaves)
    for k, form in enumerate(forms):
        if form is not None:
            leaves[k] = form.value(next(rest))
            if not form.number:
                link_aliases(leaves[k]._cell, sources[k])
    for cell in cells:
        cell.write(next(rest))
    return sides[0].rebuild(leaves)


def _is_cheap(side: _Side) -> bool:
    """Whether XLA had better compute both sides and choose: few ops, all of them on numbers."""
    if len(side.ops) > _CHEAP_OPS:
        return False
    return all(
        op.type not in _BLOCKS
        and all(out.shape.rank is not None and out.shape.num_elements() in _SMALL for out in op.outputs)
        for op in side.ops
        if op.type != "Placeholder"
    )


def _common(a: Any, b: Any, form_a: Carried | None, form_b: Carried | None) -> Carried | None:
    """How a result is carried out of the branch; None where both sides give the very same value."""
    if same(a, b):
        return None
    for leaf in (a, b):
        if isinstance(leaf, Undefined):
            raise StagingError(f"{leaf.name!r} is bound on one side of a branch only", "NP2TF511")
    if form_a is None or form_b is None:
        raise StagingError(
            f"a variable is {type(a).__name__} on one side of a branch and {type(b).__name__} on the other",
            "NP2TF516",
        )
    return join(form_a, form_b, "a variable set in a branch")
