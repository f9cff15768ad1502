"""Turns `np.sin` into `tnp.sin` wherever it is NumPy's. Names that NumPy 2 removed get their new names."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.core import rules
from np2tf.core.diagnostics import Report
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.numpy_imports import NumpyImport
from np2tf.translator.rewrites import mending, removed_names
from np2tf.translator.rewrites.plan import EditedNode, Plan
from np2tf.translator.rewrites.uses import (
    MODULES,
    ON_NUMPY,
    Use,
    compared_expression,
    comparison_target,
    has_moved,
    is_target,
    numpys_own,
    quoted_annotations,
    stays,
    uses,
)
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import name_node
from np2tf.translator.tree.templates import expression


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Rename every use that has a translation, and report the other uses."""
    target_names = {use.qualified_name for use in uses(facts) if is_target(facts, use.node)}
    compared_expressions: set[cst.BaseExpression | None] = {None}
    for use in uses(facts):
        target = comparison_target(facts, use)
        if use.name in facts.imports.assigned_from and (target is not None or stays(facts, use)):
            # The assigned name is np2tf's, and its use means NumPy.
            plan.add(use.name, _renamer(facts.imports.assigned_from[use.name].value))
        compared = compared_expression(facts, use)
        if (
            compared is not None
            and compared not in compared_expressions
            and use.name not in facts.compiler_nodes
        ):
            compared_expressions.add(compared)
            plan.require(runtime=True)
            plan.add(compared, lambda compared: expression("np2tf.numpy_function({f})", f=compared))
        if target is not None and use.name not in facts.compiler_nodes:
            plan.add(target, _extend_comparison(plan, use))
        elif stays(facts, use):
            if use.rule is not None and has_moved(facts, use):
                removed_names.replace(facts, plan, use.node, use.rule, None)
        elif use.rule is not None and use.rule.removed and use.qualified_name not in target_names:
            removed_names.replace(facts, plan, use.node, use.rule, name_node(plan.tnp_name))
        else:
            plan.add(use.name, _renamer(plan.tnp_name + use.stands_for[len("numpy") :]))
            if use.qualified_name.endswith(".at") and type(use.node) is cst.Attribute:
                plan.add(use.node, _at_function)
    for string, text in quoted_annotations(facts, plan.tnp_name):
        plan.add(string, _string_replacer(text))
    report_only(facts, report)


def report_only(facts: Facts, report: Report) -> None:
    """Report the uses that stay on NumPy, with the reasons."""
    for use in uses(facts):
        place = facts.place
        if use.on_numpy or use.name in facts.compiler_nodes or mending.is_told(facts, use):
            continue
        if use.rule is not None and use.rule.kind == "no":
            report.add("NP2TF003", *place(use.node), name=facts.code(use.node), reason=use.rule.reason)
        elif not use.is_known:
            report.add("NP2TF002", *place(use.node), name=facts.code(use.node))
        elif is_target(facts, use.node):
            report.add("NP2TF006", *place(use.node), name=facts.code(use.node))
        elif stays(facts, use) and not use.is_module and not numpys_own(facts, use):
            report.add("NP2TF007", *place(use.node), name=facts.code(use.node))
        elif use.is_module and _passed_on(facts, use.node):
            report.add("NP2TF004", *place(use.node))
    _report_parts(facts, report)
    mending.report(facts, report)
    for name, text in facts.imports.ambiguous.items():
        report.add("NP2TF001", *facts.place(name), name=text)
    for statement in facts.imports.statements:
        _report_import(facts, report, statement)


def _report_parts(facts: Facts, report: Report) -> None:
    """Report the names of parts of NumPy that np2tf does not have, each where it is used first.

    A class stands for its methods.
    """
    told = set()
    for use in uses(facts):
        if not use.on_numpy or use.name in facts.compiler_nodes:
            continue
        node, name = use.node, use.qualified_name
        longer = facts.parents[node]
        while type(longer) is cst.Attribute and longer.value is node and name in rules.kept_modules():
            node, name = longer, f"{name}.{longer.attr.value}"
            longer = facts.parents[node]
        reason = rules.reason_to_stay(name)
        if reason and name not in told:
            told.add(name)
            report.add("NP2TF009", *facts.place(node), name=facts.code(node), reason=reason)


def _report_import(facts: Facts, report: Report, numpy_import: NumpyImport) -> None:
    """Report the imported names that np2tf does not know."""
    if numpy_import.star and numpy_import.module in MODULES and facts.imports.other_stars:
        report.add("NP2TF005", *facts.place(numpy_import.node), module=numpy_import.module)
    reason = rules.reason_to_stay(numpy_import.module) if numpy_import.star else ""
    if reason:
        name = f"{numpy_import.module}.*"
        report.add("NP2TF009", *facts.place(numpy_import.node), name=name, reason=reason)
    for alias in numpy_import.aliases if type(numpy_import.node) is cst.ImportFrom else ():
        full = facts.imports.qualified_binding(alias) or ""
        if full not in MODULES and full.split(".")[1] not in ON_NUMPY and rules.find(full) is None:
            report.add("NP2TF002", *facts.place(alias), name=full)


def _passed_on(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a module is an argument of a call other than getattr and hasattr."""
    up = facts.parents[node]
    call = facts.parents[up] if type(up) is cst.Arg else None
    return type(call) is cst.Call and not (
        type(call.func) is cst.Name and call.func.value in ("getattr", "hasattr", "setattr", "dir", "vars")
    )


def _renamer(path: str) -> Callable[[cst.Name], cst.BaseExpression]:
    def edit(updated_node: cst.Name) -> cst.BaseExpression:
        return name_node(path).with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    return edit


def _extend_comparison(plan: Plan, use: Use) -> Callable[[cst.CSTNode], EditedNode]:
    """Return an edit: `x is np` -> `x in (tnp, np)`, and `x in (np, other)` -> `x in (tnp, np, other)`."""

    def edit(updated_node: cst.CSTNode) -> EditedNode:
        tnp_function = name_node(plan.tnp_name + use.qualified_name[len("numpy") :])
        if type(updated_node) is cst.Element:
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            return cst.FlattenSentinel([cst.Element(tnp_function, comma), updated_node])
        assert type(updated_node) is cst.ComparisonTarget
        negated = type(updated_node.operator) in (cst.IsNot, cst.NotEqual)
        template = expression("x not in (y)" if negated else "x in (y)")
        pair = expression("({tnp}, {numpy})", tnp=tnp_function, numpy=updated_node.comparator)
        assert type(template) is cst.Comparison
        return updated_node.with_changes(operator=template.comparisons[0].operator, comparator=pair)

    return edit


def _at_function(updated_node: cst.Attribute) -> cst.BaseExpression:
    """Return `tnp.add_at` for `tnp.add.at`."""
    base = updated_node.value
    if type(base) is cst.Attribute:
        function = base.with_changes(attr=base.attr.with_changes(value=f"{base.attr.value}_at"))
        return function.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)
    return updated_node


def _string_replacer(value: str) -> Callable[[cst.SimpleString], cst.SimpleString]:
    return lambda updated_node: updated_node.with_changes(value=value)
