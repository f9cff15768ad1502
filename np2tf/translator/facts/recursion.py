"""Functions that call themselves, also through others: the recursive calls, and counting parameters.

While such a function is staged, its recursive calls become part of the graph, so values known while staging
must end the recursion. A parameter that changes by whole numbers from call to call is treated as a counter,
and a test on it as a Python condition.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.dataflow import Names, parameters
from np2tf.translator.facts.effects import Effects
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import walk

_STEPS = (cst.Add, cst.Subtract, cst.FloorDivide, cst.RightShift)
_EXTRACTIONS = frozenset({cst.Subscript, cst.Attribute, cst.Call})
_REDUCTIONS = frozenset({"sum", "max", "min", "mean", "any", "all", "prod", "std", "var"})


class Recursion:
    """Analyses the functions of one module."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects
        self._facts: Facts = effects.facts

    def calls(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Return the calls in a function that lead back to it, or to an inner function that they stand in."""
        calls = [call for call in _calls(function) if self._leads_to(call, function)]
        for inner in walk(function):
            if type(inner) is cst.FunctionDef and inner is not function:
                calls += [call for call in _calls(inner) if self._is_inner(call.func, inner)]
        return calls

    def counters(self, function: cst.FunctionDef) -> Names:
        """Return the parameters that recursive calls change by whole numbers: `f(x, n - 1)`."""
        steps = (arg.value for call in self.calls(function) for arg in call.args)
        step_names = {name for step in steps for name in [_stepped_name(step)] if name is not None}
        if not step_names:
            return frozenset()
        arrays = {name for node in walk(function) for name in self._taken_for_array(node)}
        inner = [node for node in walk(function) if type(node) is cst.FunctionDef]
        return frozenset(name for function in inner for name in parameters(function.params)) & (
            step_names - arrays
        )

    def ends_by_data(self, function: cst.FunctionDef) -> cst.Call | None:
        """Return the first direct recursive call if only the values of arrays can end the recursion."""
        calls = [call for call in _calls(function) if self._effects.module_function(call.func) is function]
        if not calls:
            return None
        nodes = list(walk(function))
        tests = [node.test for node in nodes if isinstance(node, (cst.If, cst.IfExp, cst.While))]
        loops = (cst.For, cst.CompFor, cst.Match, cst.BooleanOperation)
        if not tests or any(isinstance(node, loops) for node in nodes):
            return None
        return calls[0] if all(map(self._is_data, tests)) else None

    def _leads_to(self, call: cst.Call, function: cst.FunctionDef) -> bool:
        callee = self._effects.module_function(call.func)
        starts = [callee] if callee is not None else self._effects.classes.called_methods(call.func)
        functions: set[cst.FunctionDef] = set()
        stack = list(starts)
        while stack:
            top = stack.pop()
            if top is function:
                return True
            if top not in functions:
                functions.add(top)
                stack.extend(self._effects.callees(top))
        return False

    def _is_inner(self, func: cst.CSTNode, inner: cst.FunctionDef) -> bool:
        if type(func) is not cst.Name or func.value != inner.name.value:
            return False
        owner = self._facts.scopes.owner(func)
        return owner is not None and owner.bindings[func.value] == [inner]

    def _taken_for_array(self, node: cst.CSTNode) -> Iterator[str]:
        """Yield the names that a node can only use as arrays."""
        if type(node) not in _EXTRACTIONS:
            return
        operand: cst.CSTNode | None = None
        if isinstance(node, (cst.Subscript, cst.Attribute)):
            operand = node.value
        elif type(node) is cst.Call and node.args and self._facts.imports.numpy_name(node.func):
            rule = rules.find(self._facts.imports.numpy_name(node.func) or "")
            operand = node.args[0].value if rule is not None and not rule.creates else None
        if type(operand) is cst.Name:
            yield operand.value

    def _is_data(self, test: cst.CSTNode) -> bool:
        """Return whether a test visibly depends on the elements of arrays."""
        for call in _calls(test):
            name = call.func.attr.value if type(call.func) is cst.Attribute else ""
            full_name = self._facts.imports.numpy_name(call.func)
            if name in _REDUCTIONS and (full_name is None or full_name.startswith("numpy.")):
                return True
        return False


def _calls(node: cst.CSTNode) -> Iterator[cst.Call]:
    return (part for part in walk(node) if type(part) is cst.Call)  # type: ignore[misc]


def _stepped_name(step: cst.CSTNode) -> str | None:
    """Return the name in `name - 1`, `name // 2` and similar expressions."""
    if type(step) is not cst.BinaryOperation or not isinstance(step.operator, _STEPS):
        return None
    pairs = ((step.left, step.right), (step.right, step.left))
    names = [node.value for node, by in pairs if type(node) is cst.Name and type(by) is cst.Integer]
    return names[0] if names else None
