"""Finds arrays whose length depends on values: selections by a mask, results of `unique`, `nonzero` …"""

from __future__ import annotations

import libcst as cst

from np2tf import rules
from np2tf.facts import Facts


class Lengths:
    """Analyses expressions, and the expressions assigned to names in them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def selects_by_value(self, node: cst.CSTNode) -> bool:
        """Return whether an expression selects elements by their values, so that its length depends on
        them.
        """
        return any(self._picks(value) for value in self._values(node))

    def _values(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return the expressions that `node` may stand for: itself, or the expressions assigned to its
        name.
        """
        values, names, stack = [], set[str](), [node]
        while stack:
            top = stack.pop()
            if type(top) is not cst.Name:
                values.append(top)
            elif top.value not in names:
                names.add(top.value)
                owner = self._facts.scopes.of(top).owner_of(top.value)
                candidates = (
                    [self._assigned_value(binding) for binding in owner.bindings[top.value]] if owner else []
                )
                stack.extend(value for value in candidates if value is not None)
        return values

    def _assigned_value(self, binding: cst.CSTNode) -> cst.BaseExpression | None:
        target = self._facts.parents[binding]
        if type(target) is cst.Element:  # of `i, j = np.nonzero(mask)`
            row = self._facts.parents[target]
            target = self._facts.parents[row] if row is not None else None
        assign = self._facts.parents[target] if type(target) is cst.AssignTarget else None
        return assign.value if type(assign) is cst.Assign else None

    def _picks(self, node: cst.CSTNode) -> bool:
        if type(node) is cst.Call:
            rule = rules.find(self._facts.imports.numpy_name(node.func) or "")
            return rule is not None and rule.dynamic_shape
        if type(node) is not cst.Subscript or len(node.slice) != 1:
            return False
        if type(node.value) is cst.Call and self._gives_places(node.value):
            return True
        index = node.slice[0].slice
        return type(index) is cst.Index and any(_is_mask(value) for value in self._values(index.value))

    def _gives_places(self, node: cst.Call) -> bool:
        """Return whether a call returns a tuple of the indices where a condition is true."""
        name = self._facts.imports.numpy_name(node.func)
        if name is None:
            return type(node.func) is cst.Attribute and node.func.attr.value == "nonzero"
        return name == "numpy.nonzero" or (name == "numpy.where" and len(node.args) == 1)


def _is_mask(node: cst.CSTNode) -> bool:
    if type(node) is cst.BinaryOperation:
        return type(node.operator) in (cst.BitAnd, cst.BitOr)
    if type(node) is cst.UnaryOperation:
        return type(node.operator) is cst.BitInvert
    return type(node) is cst.Comparison
