"""Definite assignment: the names that are certainly bound behind statements, within one function."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.facts.dataflow.reads_writes import Names, block, writes


def bound_after(statements: Sequence[cst.CSTNode], before: Names) -> Names | None:
    """Return the names certainly bound behind `statements`; None where control never gets there."""
    names: Names | None = before
    for statement in statements:
        if names is None:
            return None
        names = _bound_out(statement, names)
    return names


def _bound_out(node: cst.CSTNode, before: Names) -> Names | None:
    if type(node) is cst.SimpleStatementLine:
        return bound_after(node.body, before)
    if type(node) in (cst.Return, cst.Raise, cst.Break, cst.Continue):
        return None
    if type(node) is cst.If:
        bound_in_body, bound_otherwise = (
            bound_after(block(node.body), before),
            bound_after(block(node.orelse), before),
        )
        if bound_in_body is None or bound_otherwise is None:
            return bound_otherwise if bound_in_body is None else bound_in_body
        return bound_in_body & bound_otherwise
    if type(node) is cst.With:
        return bound_after(block(node.body), before | writes(node.items))
    if type(node) is cst.Match and _takes_all(node.cases[-1]):
        ends = [bound_after(block(case.body), before | writes((case.pattern,))) for case in node.cases]
        reachable_ends = [end for end in ends if end is not None]
        return reachable_ends[0].intersection(*reachable_ends) if reachable_ends else None
    if type(node) is cst.Try:
        return _bound_behind_try(node, before)
    if type(node) in (cst.While, cst.For, cst.TryStar, cst.Match):
        return before
    if type(node) is cst.Del:
        return before - writes((node,))
    if type(node) in (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.FunctionDef, cst.ClassDef):
        return before | writes((node,))
    if type(node) in (cst.Import, cst.ImportFrom):
        return before | writes((node,))
    return before


def _bound_behind_try(node: cst.Try, before: Names) -> Names | None:
    ends = [bound_after([*block(node.body), *block(node.orelse)], before)]
    ends += [bound_after(block(handler.body), before) for handler in node.handlers]
    reachable_ends = [end for end in ends if end is not None]
    final = bound_after(
        block(node.finalbody), reachable_ends[0].intersection(*reachable_ends) if reachable_ends else before
    )
    return final if reachable_ends else None


def _takes_all(case: cst.MatchCase) -> bool:
    """Return whether a case matches every subject: `case _` or `case name` without a guard."""
    return type(case.pattern) is cst.MatchAs and case.pattern.pattern is None and case.guard is None
