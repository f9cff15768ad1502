"""Turns `np.sin` into `tnp.sin` wherever it is NumPy's. Names that NumPy 2 removed get their new names."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.core import rules
from np2tf.core.diagnostics import Report
from np2tf.core.rules import Rule
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.numpy_imports import NumpyImport
from np2tf.translator.rewrites.plan import EditedNode, Plan
from np2tf.translator.rewrites.uses import (
    MODULES,
    ON_NUMPY,
    Use,
    compared_expression,
    comparison_target,
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
            continue
        elif use.rule is not None and use.rule.removed and use.qualified_name not in target_names:
            _report_removed(facts, plan, use, use.rule)
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
        if use.on_numpy or use.name in facts.compiler_nodes:
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
    for name, text in facts.imports.ambiguous.items():
        report.add("NP2TF001", *facts.place(name), name=text)
    for statement in facts.imports.statements:
        _report_import(facts, report, statement)


def _report_import(facts: Facts, report: Report, numpy_import: NumpyImport) -> None:
    """Report the imported names that np2tf does not know."""
    if numpy_import.star and numpy_import.module in MODULES and facts.imports.other_stars:
        report.add("NP2TF005", *facts.place(numpy_import.node), module=numpy_import.module)
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


def _report_removed(facts: Facts, plan: Plan, use: Use, rule: Rule) -> None:
    """Plan the new name, and changed arguments, for a name that NumPy 2 no longer has."""
    new = f"{plan.tnp_name}.{rule.new_name}"
    if rule.builtin:
        owner = facts.scopes.of(use.name).owner_of(rule.new_name)
        bound_to = owner.bindings[rule.new_name] if owner is not None else []
        hidden = any(facts.imports.qualified_binding(binding) is None for binding in bound_to)
        new = f"{plan.tnp_name}.{rule.when_hidden}" if hidden else rule.new_name

    def rename(updated_node: cst.Name | cst.Attribute) -> cst.BaseExpression:
        if rule.negated:
            return expression("(-{new})", new=name_node(new))
        return name_node(new).with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    plan.add(use.node, rename)
    call = facts.parents[use.node]
    if type(call) is cst.Call and call.func is use.node and (rule.flattens or rule.arguments):
        plan.add(call, _call_of(rule, plan.tnp_name))


def _call_of(rule: Rule, tnp: str) -> Callable[[cst.Call], cst.Call]:
    """Return an edit that adds the arguments with which the new function does what the old function did."""

    def edit(updated_node: cst.Call) -> cst.Call:
        args = list(updated_node.args)
        if rule.flattens:
            first = args[0]
            flat = expression("{tnp}.ravel({value})", tnp=name_node(tnp), value=first.value)
            args[0] = first.with_changes(value=flat)
        call = expression("f(" + ", ".join(f"{name}={value!r}" for name, value in rule.arguments) + ")")
        assert type(call) is cst.Call
        if call.args and isinstance(args[-1].comma, cst.MaybeSentinel):
            args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return updated_node.with_changes(args=[*args, *call.args])

    return edit


def _string_replacer(value: str) -> Callable[[cst.SimpleString], cst.SimpleString]:
    return lambda updated_node: updated_node.with_changes(value=value)
