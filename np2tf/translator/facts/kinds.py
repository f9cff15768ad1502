"""The visible kind of an expression: an array, a Python number, a container, static data, or unknown.

The analysis ignores the order of statements within a scope: a name has a kind only if every value bound to it
in its scope has that kind.
"""

from __future__ import annotations

from enum import Enum

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.numpy_imports import Imports
from np2tf.translator.facts.scopes import Scopes
from np2tf.translator.tree.nodes import Parents, dotted_name, words


class Kind(Enum):
    """The kind of value that an expression visibly has."""

    ARRAY = "array"
    NUMBER = "number"
    CONTAINER = "container"
    STATIC = "static"
    UNKNOWN = "unknown"


_STATIC_ATTRIBUTES = words("shape ndim size dtype itemsize nbytes __name__")
_STATIC_CALLS = words("len isinstance issubclass hasattr callable type str repr id")
_FACTORIES = words("defaultdict OrderedDict Counter deque ChainMap")
_CONTAINER_CALLS = _FACTORIES | words("list dict set tuple frozenset bytearray sorted")
_CONTAINER_TYPES = _CONTAINER_CALLS | words(
    "Dict List Set Tuple Mapping MutableMapping MutableSequence DefaultDict"
)
_CONTAINERS = (cst.List, cst.Dict, cst.Set, cst.Tuple, cst.ListComp, cst.SetComp, cst.DictComp)
_STRINGS = (cst.SimpleString, cst.FormattedString, cst.ConcatenatedString)
_REAL_NUMBER = (cst.Integer, cst.Float, cst.Imaginary)


class Kinds:
    """The kind of any expression of a module."""

    def __init__(self, scopes: Scopes, imports: Imports, parents: Parents) -> None:
        self._scopes, self._imports, self._parents = scopes, imports, parents
        self._kinds: dict[cst.CSTNode, Kind] = {}

    def kind(self, node: cst.CSTNode) -> Kind:
        """Return the kind of one expression."""
        kind = self._kinds.get(node)
        if kind is None:
            self._kinds[node] = Kind.UNKNOWN  # the kind that a circular definition sees
            kind = self._kinds[node] = self._find(node)
        return kind

    def is_array(self, node: cst.CSTNode) -> bool:
        """Return whether an expression visibly is an array."""
        return self.kind(node) is Kind.ARRAY

    def _find(self, node: cst.CSTNode) -> Kind:
        if type(node) is cst.Name:
            return self._name(node)
        if isinstance(node, _CONTAINERS):
            return Kind.CONTAINER
        if isinstance(node, _REAL_NUMBER):
            return Kind.NUMBER
        if isinstance(node, _STRINGS):
            return Kind.STATIC
        if type(node) is cst.Call:
            return self._call(node)
        if type(node) is cst.Attribute:
            return self._attribute(node)
        if type(node) is cst.Subscript:
            return self._subscript(node)
        if type(node) is cst.UnaryOperation:
            return Kind.UNKNOWN if type(node.operator) is cst.Not else self.kind(node.expression)
        if type(node) is cst.BinaryOperation:
            return _join_kinds(self.kind(node.left), self.kind(node.right))
        if type(node) is cst.Comparison:
            return self._comparison(node)
        if type(node) is cst.NamedExpr:
            return self.kind(node.value)
        if type(node) is cst.IfExp:
            kinds = {self.kind(node.body), self.kind(node.orelse)}
            return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN
        if type(node) is cst.BooleanOperation:
            operand_kinds = {self.kind(node.left), self.kind(node.right)}
            return Kind.STATIC if operand_kinds == {Kind.STATIC} else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _name(self, node: cst.Name) -> Kind:
        if node.value in ("None", "True", "False"):
            return Kind.STATIC
        scope = self._scopes.of(node)
        owner = scope.owner_of(node.value)
        if owner is None or owner.node is not scope.node or owner.is_module != scope.is_module:
            return Kind.UNKNOWN
        kinds = {self._binding_kind(binding) for binding in owner.bindings[node.value]}
        if kinds == {Kind.ARRAY, Kind.NUMBER}:
            return Kind.UNKNOWN
        return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN

    def _binding_kind(self, binding: cst.CSTNode) -> Kind:
        """Return the kind of the value that one binding gives its name."""
        if type(binding) is cst.Param:
            return _annotation_kind(binding.annotation)
        value = self._parents.given_value(binding)
        if value is not None:
            return self.kind(value)
        up = self._parents[binding]
        if type(up) is cst.NamedExpr:
            return self.kind(up.value)
        if type(up) is cst.AugAssign:
            # `x += v` keeps an array an array and a list a list; a number may become anything.
            return _join_kinds(self._other_kinds(binding), self.kind(up.value))
        if type(up) is cst.For and type(up.iter) is cst.Call:
            return Kind.NUMBER if self._builtin(up.iter) == "range" else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _other_kinds(self, binding: cst.CSTNode) -> Kind:
        assert type(binding) is cst.Name
        owner = self._scopes.owner(binding)
        if owner is None:
            return Kind.UNKNOWN
        plain = [b for b in owner.bindings[binding.value] if type(self._parents[b]) is not cst.AugAssign]
        kinds = {self._binding_kind(binding) for binding in plain}
        return kinds.pop() if len(kinds) == 1 else Kind.UNKNOWN

    def _builtin(self, call: cst.Call) -> str | None:
        """Return the name of the called builtin; None if the callee is no builtin, or is shadowed."""
        if type(call.func) is not cst.Name:
            return None
        name = call.func.value
        return name if self._scopes.of(call.func).owner_of(name) is None else None

    def _call(self, node: cst.Call) -> Kind:
        full_name = self._imports.numpy_name(node.func)
        if full_name is not None:
            return _result_of(full_name)
        name = self._builtin(node)
        if type(node.func) is cst.Attribute and node.func.attr.value in _FACTORIES:
            return Kind.CONTAINER
        if name in _STATIC_CALLS:
            return Kind.STATIC
        if name in _CONTAINER_CALLS:
            return Kind.CONTAINER
        if type(node.func) is cst.Attribute and self.kind(node.func.value) is Kind.ARRAY:
            return _result_of(f"numpy.ndarray.{node.func.attr.value}")
        return Kind.UNKNOWN

    def _attribute(self, node: cst.Attribute) -> Kind:
        full_name = self._imports.numpy_name(node)
        if full_name is not None:
            rule = rules.find(full_name)
            return Kind.NUMBER if rule is not None and rule.number else Kind.UNKNOWN
        if node.attr.value in _STATIC_ATTRIBUTES:
            return Kind.STATIC
        if node.attr.value in ("T", "real", "imag"):
            return Kind.ARRAY if self.kind(node.value) is Kind.ARRAY else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _subscript(self, node: cst.Subscript) -> Kind:
        base = self.kind(node.value)
        if base is Kind.STATIC:
            return Kind.STATIC
        sliced = any(type(element.slice) is cst.Slice for element in node.slice)
        return Kind.ARRAY if base is Kind.ARRAY and sliced else Kind.UNKNOWN

    def _comparison(self, node: cst.Comparison) -> Kind:
        if all(type(part.operator) in (cst.Is, cst.IsNot) for part in node.comparisons):
            return Kind.STATIC
        sides = [self.kind(node.left), *(self.kind(part.comparator) for part in node.comparisons)]
        if any(type(part.operator) in (cst.In, cst.NotIn) for part in node.comparisons):
            return Kind.STATIC if sides[0] is Kind.STATIC else Kind.UNKNOWN
        if Kind.ARRAY in sides and len(sides) == 2 and Kind.UNKNOWN not in sides:
            return Kind.ARRAY
        return (
            Kind.STATIC if set(sides) <= {Kind.STATIC, Kind.NUMBER} and Kind.STATIC in sides else Kind.UNKNOWN
        )


def _annotation_kind(annotation: cst.Annotation | None) -> Kind:
    """Return the kind that an annotation promises.

    Only annotations of containers are trusted, because an argument annotated `float` may be an array.
    """
    head: cst.CSTNode | None = annotation.annotation if annotation is not None else None
    if type(head) is cst.Subscript:
        head = head.value
    name = dotted_name(head)
    return Kind.CONTAINER if name is not None and name.split(".")[-1] in _CONTAINER_TYPES else Kind.UNKNOWN


def _result_of(qualified_name: str) -> Kind:
    """Return the kind of a NumPy function's result."""
    rule = rules.find(qualified_name)
    if rule is None or rule.kind == "no":
        return Kind.UNKNOWN
    return Kind.STATIC if rule.static else Kind.ARRAY if rule.returns_array else Kind.UNKNOWN


def _join_kinds(left: Kind, right: Kind) -> Kind:
    """Return the kind of arithmetic on two kinds."""
    if Kind.UNKNOWN in (left, right):
        return Kind.UNKNOWN
    if Kind.ARRAY in (left, right):
        return Kind.ARRAY
    if left is right:
        return left
    return Kind.STATIC if {left, right} == {Kind.STATIC, Kind.NUMBER} else Kind.UNKNOWN
