"""Tests that are known while a function is staged; every other test may depend on an array."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.tree.nodes import dotted_name

# -- lengths -------------------------------------------------------------------------------------------------
# Finds arrays whose length depends on values: selections by a mask, results of `unique`, `nonzero` …


class Lengths:
    """Analyses expressions, and the expressions assigned to names in them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def selects_by_value(self, node: cst.CSTNode) -> bool:
        """Return whether an expression selects elements by value, so that its length depends on them."""
        return any(self._picks(value) for value in self._values(node))

    def _values(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return the expressions that `node` may stand for: itself, or those assigned to its name."""
        values, names, stack = [], set[str](), [node]
        while stack:
            top = stack.pop()
            if type(top) is not cst.Name:
                values.append(top)
            elif top.value not in names:
                names.add(top.value)
                owner = self._facts.scopes.owner(top)
                candidates = (
                    [self._assigned_value(binding) for binding in owner.bindings[top.value]] if owner else []
                )
                stack.extend(value for value in candidates if value is not None)
        return values

    def _assigned_value(self, binding: cst.CSTNode) -> cst.BaseExpression | None:
        element = self._facts.parents[binding]
        row = self._facts.parents[element] if type(element) is cst.Element else None  # of `i, j = …`
        return self._facts.parents.assigned_value(binding if row is None else row)

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


# -- static --------------------------------------------------------------------------------------------------
# Finds tests that are known while a function is staged: on None, types, strings, shapes, lengths and
# literals.
#
# Every other test may depend on an array, so it is lowered and decides at run time.

_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "__name__", "kind"})
_CALLS = frozenset(["len", "isinstance", "issubclass", "hasattr", "callable", "type", "id"])
# fmt: off
_OF_STATIC = frozenset({
    "int", "float", "bool", "str", "min", "max", "abs", "sum", "round", "range", "tuple", "list", "sorted",
    "any", "all", "divmod", "zip", "enumerate", "reversed", "repr",
})
_NUMPY = frozenset({
    "shape", "ndim", "size", "iscomplexobj", "isrealobj", "isscalar", "issubdtype", "can_cast", "result_type",
    "dtype", "finfo", "iinfo", "promote_types",
})
# fmt: on
_MODULE_FUNCTIONS = ("math.", "operator.")
_TRUTHS = frozenset({"True", "False"})


def asks_for_truth(node: cst.Comparison) -> bool:
    """Return whether this is `a is True`, `a is False`, or the negation of one of them."""
    part = node.comparisons[0]
    is_identity = len(node.comparisons) == 1 and type(part.operator) in (cst.Is, cst.IsNot)
    return is_identity and type(part.comparator) is cst.Name and part.comparator.value in _TRUTHS


class Static:
    """Decides for one function which expressions are known while staging.

    The caller gives the names in it that may hold a computed value.
    """

    def __init__(self, facts: Facts, dynamic: Collection[str], numbers: Collection[str] = ()) -> None:
        self._facts = facts
        self._lengths = Lengths(facts)
        self.dynamic = set(dynamic)
        self._parameters = frozenset(dynamic)
        self._numbers = frozenset(numbers)
        """Parameters that visibly are numbers: dynamic, but usually known while the function is staged."""

    def probably(self, node: cst.CSTNode) -> bool:
        """Return whether `node` is known while staging, provided that number parameters are."""
        static = Static(self._facts, self.dynamic - self._numbers)
        static._parameters = self._parameters
        return static(node)

    def __call__(self, node: cst.CSTNode) -> bool:
        """Return whether the value of `node` is known while the function is staged."""
        if type(node) is cst.Name:
            return self._name(node)
        if isinstance(node, (cst.BaseNumber, cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)):
            return True
        if type(node) is cst.Ellipsis:
            return True
        if type(node) is cst.Attribute:
            return self._attribute(node)
        if type(node) is cst.Call:
            return self._call(node)
        if type(node) is cst.Comparison:
            return self._comparison(node)
        if type(node) is cst.Subscript:
            return self(node.value) and all(self._index(element.slice) for element in node.slice)
        return self._parts(node)

    def _parts(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
            return self(node.left) and self(node.right)
        if isinstance(node, cst.UnaryOperation):
            return self(node.expression)
        if isinstance(node, cst.IfExp):
            return all(self(part) for part in (node.test, node.body, node.orelse))
        if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
            return all(self(element.value) for element in node.elements)
        return isinstance(node, cst.Dict)

    def _name(self, node: cst.Name) -> bool:
        if node.value in ("None", "True", "False"):
            return True
        owner = self._facts.scopes.owner(node)
        if owner is None:
            return True
        if not owner.is_module:
            return node.value not in self.dynamic
        # A name of the module is known if it is bound to a literal, an import or a definition.
        bindings = owner.bindings[node.value]
        return all(self._module_binding(binding) for binding in bindings)

    def _module_binding(self, binding: cst.CSTNode) -> bool:
        if type(binding) is not cst.Name:
            return True
        value = self._facts.parents.assigned_value(binding)
        return value is not None and self._literal(value)

    def _literal(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.BinaryOperation,)):
            return self._literal(node.left) and self._literal(node.right)
        if type(node) is cst.UnaryOperation:
            return self._literal(node.expression)
        if type(node) is cst.Name:
            return node.value in ("None", "True", "False")
        return isinstance(node, (cst.BaseNumber, cst.SimpleString))

    def _attribute(self, node: cst.Attribute) -> bool:
        if self._facts.imports.numpy_name(node) is not None:
            return True
        if node.attr.value in _ATTRIBUTES:
            return not (node.attr.value in ("size", "shape") and self._lengths.selects_by_value(node.value))
        path = dotted_name(node)
        return path is not None and path.startswith(_MODULE_FUNCTIONS)

    def _call(self, node: cst.Call) -> bool:
        qualified_name = self._facts.imports.numpy_name(node.func)
        if qualified_name is not None:
            return qualified_name.rpartition(".")[2] in _NUMPY
        name = dotted_name(node.func) or ""
        if name == "len" and node.args and self._grows(node.args[0].value):
            return False
        if name in _CALLS:
            return not (name == "len" and node.args and self._lengths.selects_by_value(node.args[0].value))
        arguments = all(self(arg.value) for arg in node.args)
        if name in _OF_STATIC or name.startswith(_MODULE_FUNCTIONS):
            return arguments
        if type(node.func) is cst.Attribute and node.func.attr.value in (
            "get",
            "lower",
            "upper",
            "startswith",
        ):
            return arguments and self(node.func.value)
        return False

    def _grows(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a list whose length a staged loop or branch may change."""
        return type(node) is cst.Name and node.value in self.dynamic and self.is_container(node)

    def _comparison(self, node: cst.Comparison) -> bool:
        operators = [part.operator for part in node.comparisons]
        if asks_for_truth(node):
            # A parameter that is compared so is an option.
            is_option = type(node.left) is cst.Name and node.left.value in self._parameters
            return is_option or self(node.left)
        if all(type(operator) in (cst.Is, cst.IsNot) for operator in operators):
            return True
        sides = [node.left, *(part.comparator for part in node.comparisons)]
        if any(type(side) in (cst.SimpleString, cst.ConcatenatedString) for side in sides):
            return True
        if any(type(operator) in (cst.In, cst.NotIn) for operator in operators):
            return True  # np2tf has no operator for `in`; Python itself refuses it on a graph value
        return all(self(side) for side in sides)

    def _index(self, index: cst.BaseSlice) -> bool:
        if type(index) is cst.Index:
            return self(index.value)
        parts = (
            [part for part in (index.lower, index.upper, index.step) if part]
            if type(index) is cst.Slice
            else []
        )
        return all(self(part) for part in parts)

    def is_container(self, node: cst.CSTNode) -> bool:
        """Return whether an expression visibly is a list, dict, set or tuple, or text."""
        return self._facts.kinds.kind(node) is Kind.CONTAINER or type(node) in (cst.SimpleString, cst.Dict)
