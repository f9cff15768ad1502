"""Names that NumPy 2 removed, and what NumPy's migration guide writes instead, with the same result."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from np2tf.core.rules import Rule
from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.tree.templates import expression

# -- calls ---------------------------------------------------------------------------------------------------
# A function that was replaced by one with other arguments can be replaced in its calls only.

#: Builtin types that are dtypes.
_TYPES = frozenset(("float", "complex"))


def is_call_needed(rule: Rule) -> bool:
    """Return whether the new function does the same only with other arguments."""
    return bool(rule.flattens or rule.arguments or rule.keywords)


def is_called_alike(facts: Facts, node: cst.CSTNode, rule: Rule) -> bool:
    """Return whether a use is a call that can be written as a call of the new function."""
    call = facts.parents[node]
    if type(call) is not cst.Call or call.func is not node or not call.args:
        return False
    first, *others = call.args
    if first.star or first.keyword is not None or type(first.value) is cst.GeneratorExp:
        return False
    stars = {arg.star for arg in others} - {""}
    if "**" in stars or (stars and rule.arguments):
        return False
    return not rule.dtypes or not others or (len(others) == 1 and _is_dtype(facts, others[0].value, rule))


def _is_dtype(facts: Facts, value: cst.BaseExpression, rule: Rule) -> bool:
    """Return whether an expression certainly is one of the dtypes that the old function took."""
    if type(value) is cst.SimpleString:
        return value.evaluated_value in rule.dtypes
    if type(value) is cst.Name and value.value in _TYPES:
        return facts.scopes.owner(value) is None
    name = facts.imports.numpy_name(value)
    return name is not None and name.removeprefix("numpy.") in rule.dtypes


def _call_of(rule: Rule) -> Callable[[cst.Call], cst.Call]:
    """Return an edit that gives the new function the arguments with which it does what the old one did."""

    def edit(updated_node: cst.Call) -> cst.Call:
        assert type(updated_node.func) is cst.Attribute
        module = updated_node.func.value
        renamed = dict(rule.keywords)
        args = [
            arg.with_changes(keyword=arg.keyword.with_changes(value=renamed[arg.keyword.value]))
            if arg.keyword is not None and arg.keyword.value in renamed
            else arg
            for arg in updated_node.args
        ]
        if rule.flattens:
            first = args[0]
            args[0] = first.with_changes(
                value=expression("{module}.ravel({value})", module=_copy(module), value=first.value)
            )
        call = expression(f"f({', '.join(_additions(rule, updated_node))})", module=_copy(module))
        assert type(call) is cst.Call
        comma = args[-1].comma
        if call.args and (isinstance(comma, cst.MaybeSentinel) or comma.whitespace_after.empty):
            args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
        return updated_node.with_changes(args=[*args, *call.args])

    return edit


def _additions(rule: Rule, call: cst.Call) -> list[str]:
    """Return the arguments that a call of the new function also needs; `{module}` stands for the module."""
    given = () if rule.dtypes and len(call.args) > 1 else rule.arguments
    values = (f"{{module}}.{value}" if isinstance(value, str) else repr(value) for _, value in given)
    return [f"{name}={value}" for (name, _), value in zip(given, values)]


def _copy(module: cst.BaseExpression) -> cst.BaseExpression:
    copy = module.deep_clone()
    assert isinstance(copy, cst.BaseExpression)
    return copy


# -- names ---------------------------------------------------------------------------------------------------

#: A test of which NumPy is installed: the code under it is for one of several versions.
_VERSION_TEST = re.compile(r"hasattr|version|VERSION|Version|NUMPY|NP_")
#: The errors of a name that NumPy does not have.
_ERRORS = re.compile(r"\b(?:AttributeError|ImportError|ModuleNotFoundError)\b")


def is_for_other_versions(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether code asks before a name is used if NumPy has it, or goes on where NumPy has not."""
    for up in facts.parents.above(node):
        if type(up) is cst.Try:
            caught = [handler.type for handler in up.handlers if handler.type is not None]
            if any(_ERRORS.search(facts.code(error)) for error in caught):
                return True
        elif isinstance(up, (cst.If, cst.IfExp)) and _VERSION_TEST.search(facts.code(up.test)):
            return True
    return False


def has_replacement(facts: Facts, node: cst.CSTNode, rule: Rule) -> bool:
    """Return whether a use of a removed name can be written anew with the same result."""
    if not rule.removed or not (rule.new_name or rule.expression):
        return False
    return not is_call_needed(rule) or is_called_alike(facts, node, rule)


def replace(
    facts: Facts, plan: Plan, node: cst.Name | cst.Attribute, rule: Rule, module: cst.BaseExpression | None
) -> None:
    """Plan what is written instead of a removed name.

    Args:
        module: the expression of the module that has the new name; None for the one that had the old name.
    """
    plan.add(node, _replacer(rule, replacement(facts, node, rule), module))
    call = facts.parents[node]
    if is_call_needed(rule) and type(call) is cst.Call:
        plan.add(call, _call_of(rule))


def replacement(facts: Facts, node: cst.CSTNode, rule: Rule) -> str:
    """Return what is written instead of a removed name: `{}.` stands for the module, if there is one."""
    if rule.expression:
        return rule.expression
    if not rule.builtin:
        return f"{{}}.{rule.new_name}"
    owner = facts.scopes.of(node).owner_of(rule.new_name)
    bindings = owner.bindings[rule.new_name] if owner is not None else []
    is_hidden = any(facts.imports.qualified_binding(binding) is None for binding in bindings)
    return f"{{}}.{rule.when_hidden}" if is_hidden else rule.new_name


def _replacer(
    rule: Rule, text: str, module: cst.BaseExpression | None
) -> Callable[[cst.Name | cst.Attribute], cst.BaseExpression]:
    def edit(updated_node: cst.Name | cst.Attribute) -> cst.BaseExpression:
        owner = module
        if owner is None:
            assert type(updated_node) is cst.Attribute
            if text == f"{{}}.{rule.new_name}" and "." not in rule.new_name and not rule.negated:
                return updated_node.with_changes(attr=updated_node.attr.with_changes(value=rule.new_name))
            owner = updated_node.value
        new = expression(text.replace("{}", "{module}"), module=_copy(owner))
        if rule.negated or text.startswith("-"):
            return expression("(-{new})", new=new) if rule.negated else expression(f"({text})")
        return new.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    return edit


def told(facts: Facts, node: cst.Name | cst.Attribute, rule: Rule) -> str:
    """Return what is written instead of a removed name, for a message."""
    module = facts.code(node.value) if type(node) is cst.Attribute else "np"
    text = replacement(facts, node, rule).replace("{}", module)
    call = facts.parents[node]
    if is_call_needed(rule) and type(call) is cst.Call:
        given = [f"{module}.ravel(…)" if rule.flattens else "…", *["…"] * (len(call.args) > 1)]
        additions = (addition.format(module=module) for addition in _additions(rule, call))
        text += f"({', '.join([*given, *additions])})"
    return f"-{text}" if rule.negated else text
