"""The removed names of NumPy in a file: told by a finding, and mended by `np2tf check --fix`.

Mending writes the names that NumPy has now, with the same results, and translates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

import libcst as cst

from np2tf.core import rules
from np2tf.core.diagnostics import Report
from np2tf.core.rules import Rule
from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites import removed_names
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.rewrites.uses import Use, has_moved, is_target, uses
from np2tf.translator.tree.nodes import bound_name, name_node
from np2tf.translator.tree.templates import statement

CODE = "NP2TF008"
Place = tuple[int, int]


@dataclass(frozen=True, eq=False)
class RemovedName:
    """A removed name that NumPy now spells in another way, with the same result.

    Attributes:
        node: the use, or the alias that imports the name.
        name: the name as the file spells it.
        new: what is written instead, for a message.
        is_mendable: whether the new spelling fits where the name stands. The name of a from-import that is no
            plain name any more would need another import.
    """

    node: cst.Name | cst.Attribute | cst.ImportAlias
    rule: Rule
    name: str
    new: str
    is_mendable: bool


def removed_uses(facts: Facts) -> Sequence[RemovedName]:
    """Return the removed names that a file uses or imports, except in code for other versions of NumPy."""
    return facts.get(_removed_uses)


def is_told(facts: Facts, use: Use) -> bool:
    """Return whether a use of a name that NumPy has moved, or that an import brings in, is told here."""
    return has_moved(facts, use) or _is_imported_anew(facts, use)


def _is_imported_anew(facts: Facts, use: Use) -> bool:
    return use.node is use.name and use.name.value in facts.get(_imported_anew)


def _imported_anew(facts: Facts) -> frozenset[str]:
    aliases = (found.node for found in facts.get(_aliases))
    return frozenset(bound_name(alias) for alias in aliases if type(alias) is cst.ImportAlias)


def _removed_uses(facts: Facts) -> Sequence[RemovedName]:
    assigned = {use.qualified_name for use in uses(facts) if is_target(facts, use.node)}
    found = [*facts.get(_aliases)]
    for use in uses(facts):
        is_elsewhere = _is_imported_anew(facts, use) or use.qualified_name in assigned
        if not is_elsewhere and _is_replaced(facts, use):
            assert use.rule is not None
            new = removed_names.told(facts, use.node, use.rule)
            is_mendable = type(use.node) is cst.Attribute
            found.append(RemovedName(use.node, use.rule, facts.code(use.node), new, is_mendable))
    return found


def _is_replaced(facts: Facts, use: Use) -> bool:
    rule = use.rule
    if rule is None or not removed_names.has_replacement(facts, use.node, rule):
        return False
    return not removed_names.is_for_other_versions(facts, use.node)


def _aliases(facts: Facts) -> Sequence[RemovedName]:
    """Return the removed names that from-imports of NumPy bring in, and that NumPy still has under another
    name. If that is in another module, only an import of nothing else is mended.
    """
    found = []
    for numpy_import in facts.imports.statements:
        node = numpy_import.node
        if type(node) is not cst.ImportFrom or node.relative or numpy_import.module != "numpy":
            continue
        for alias in numpy_import.aliases:
            rule = rules.find(facts.imports.qualified_binding(alias) or "")
            if rule is None or not _can_be_imported(rule):
                continue
            if not removed_names.is_for_other_versions(facts, node):
                is_mendable = len(numpy_import.aliases) == 1 or "." not in rule.new_name
                found.append(RemovedName(alias, rule, rule.name, f"numpy.{rule.new_name}", is_mendable))
    return found


def _can_be_imported(rule: Rule) -> bool:
    """Return whether an import of the new name binds the same object."""
    is_name = rule.removed and bool(rule.new_name) and not rule.builtin and not rule.negated
    return is_name and not removed_names.is_call_needed(rule)


def report(facts: Facts, report: Report) -> None:
    """Report the removed names, each with what is written instead."""
    for found in removed_uses(facts):
        line, column, end = facts.place(found.node)
        report.add(CODE, line, column, end, found.is_mendable, name=found.name, new=found.new)


def mend(facts: Facts, plan: Plan, places: Set[Place]) -> None:
    """Plan the new spelling of the removed names that begin at these lines and columns.

    Raises:
        ValueError: at one of the places there is no name that can be mended.
    """
    mendables = {facts.position(found.node): found for found in removed_uses(facts) if found.is_mendable}
    if not places <= mendables.keys():
        raise ValueError(f"no removed name at {sorted(places - mendables.keys())}")
    for place in sorted(places):
        found = mendables[place]
        if type(found.node) is cst.ImportAlias:
            _import_anew(facts, plan, found.node, found.rule)
        elif type(found.node) is cst.Attribute:
            removed_names.replace(facts, plan, found.node, found.rule, None)


def _import_anew(facts: Facts, plan: Plan, alias: cst.ImportAlias, rule: Rule) -> None:
    """Plan the import of the new name, under the name that the file uses."""
    module, _, name = rule.new_name.rpartition(".")
    used_name = bound_name(alias)
    line = statement(f"from numpy import {name}" + (f" as {used_name}" if used_name != name else ""))
    assert type(line) is cst.SimpleStatementLine
    assert type(line.body[0]) is cst.ImportFrom
    assert not isinstance(line.body[0].names, cst.ImportStar)
    (new_alias,) = line.body[0].names
    plan.add(alias, lambda updated_node: new_alias.with_changes(comma=updated_node.comma))
    around = facts.parents[alias]
    if module and around is not None:
        path = name_node(f"numpy.{module}")
        plan.add(around, lambda updated_node: updated_node.with_changes(module=path))
