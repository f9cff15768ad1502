"""Calls that mean something else in translated code: a `buffer` for an array, `stacklevel` of warnings."""

from __future__ import annotations

import libcst as cst

from np2tf.core.diagnostics import Report
from np2tf.translator.facts.classes import Classes
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.foreign_values import nodes_left
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import dotted_name
from np2tf.translator.tree.templates import expression

# -- buffers -------------------------------------------------------------------------------------------------
# Rewrites `super().__new__(cls, shape, dtype, x)` in classes derived from np.ndarray, because tensors have
# no memory.

#: The parameter of `np.ndarray.__new__(cls, shape, dtype, buffer, …)` that gives the memory of the new array.
_POSITION, _KEYWORD = 3, "buffer"


def plan_buffers(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan that every argument `buffer` of the constructor is an array on the host.

    A local variable is rebound to it, so that later writes to the variable show in the new array.
    """
    for call in facts.nodes(cst.Call):
        if (
            call in facts.get(nodes_left)
            or not _constructs(facts, call)
            or any(arg.star for arg in call.args)
        ):
            continue
        for k, arg in enumerate(call.args):
            if arg.keyword.value == _KEYWORD if arg.keyword else k == _POSITION:
                plan.require(runtime=True)
                plan.add(arg, _rebound if _is_local(facts, arg.value) else _on_host)


def _on_host(updated_node: cst.Arg) -> cst.Arg:
    return updated_node.with_changes(value=expression("np2tf.host_memory({x})", x=updated_node.value))


def _rebound(updated_node: cst.Arg) -> cst.Arg:
    value = expression("({x} := np2tf.host_memory({x}))", x=updated_node.value)
    return updated_node.with_changes(value=value)


def _is_local(facts: Facts, node: cst.BaseExpression) -> bool:
    """Return whether an expression is a variable of the function that it is in."""
    if type(node) is not cst.Name:
        return False
    owner = facts.scopes.owner(node)
    return owner is not None and owner.is_function and owner is facts.scopes.of(node)


def _constructs(facts: Facts, call: cst.Call) -> bool:
    """Return whether a call is of `np.ndarray.__new__`, in a class derived from np.ndarray in this module."""
    new = call.func
    if type(new) is not cst.Attribute or new.attr.value != "__new__":
        return False
    if facts.imports.numpy_name(new.value) == "numpy.ndarray":
        return True
    if type(new.value) is not cst.Call or dotted_name(new.value.func) != "super":
        return False
    around = facts.parents.nearest(call, cst.ClassDef)
    if around is None:
        return False
    bases = [arg.value for class_def in facts.get(Classes).lineage(around) for arg in class_def.bases]
    return any(facts.imports.numpy_name(base) == "numpy.ndarray" for base in bases)


# -- stack levels --------------------------------------------------------------------------------------------
# Turns `warnings.warn(…, stacklevel=2)` into `np2tf.warn(…)`, which does not count the frames of np2tf.


def plan_stack_levels(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan the calls of `warnings.warn` that report another line than their own."""
    for call in facts.nodes(cst.Call):
        if call in facts.get(nodes_left) or facts.imports.imported_name(call.func) != "warnings.warn":
            continue
        if _tells_of_another_line(call):
            plan.add(call.func, lambda func: expression("np2tf.warn"))
            plan.require(runtime=True)


def _tells_of_another_line(call: cst.Call) -> bool:
    keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    if "skip_file_prefixes" in keywords:
        return False
    positional = [arg.value for arg in call.args if arg.keyword is None]
    level = keywords.get("stacklevel", positional[2] if len(positional) > 2 else None)
    if any(arg.star for arg in call.args):
        return True
    return level is not None and not (type(level) is cst.Integer and level.value == "1")
