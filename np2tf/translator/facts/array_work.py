"""Signs that a function works on arrays or draws numbers, and that staging it pays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.dataflow import parameters
from np2tf.translator.facts.effects import Effects
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.facts.recursion import Recursion
from np2tf.translator.facts.texts import is_call
from np2tf.translator.sources.candidates import ENOUGH
from np2tf.translator.tree.nodes import children, walk

# -- draws ---------------------------------------------------------------------------------------------------
# Recognises calls that may draw random numbers which staged code draws as NumPy does.

#: Names of drawing methods that many other objects have, too.
_COMMON = frozenset({"f", "power", "sample", "default_rng", "RandomState"})


def looks_like_a_draw(node: cst.CSTNode) -> bool:
    """Return whether a call is of a method whose name is common for generators and rare for other objects."""
    if type(node) is not cst.Call or type(node.func) is not cst.Attribute:
        return False
    return node.func.attr.value in rules.draws() - _COMMON


# -- array work ----------------------------------------------------------------------------------------------
# Evidence in a function's text that it works on arrays: it uses arrays, loops over them, or is worth
# staging.

_NUMERIC = (
    *(cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply, cst.Subtract),
    *(cst.BitXor, cst.BitAnd, cst.LeftShift, cst.RightShift),
)
_LITERALS = (cst.BaseString, cst.List, cst.Tuple, cst.Integer)
#: The classes of nodes that are asked about. `isinstance` is slow for libcst's classes, which are abstract.
_REPEATS = frozenset({cst.ListComp, cst.GeneratorExp, cst.While, cst.For})
_WORK_NODES = frozenset({
    cst.Subscript, cst.Attribute, cst.BinaryOperation, cst.Assign, cst.AugAssign, cst.UnaryOperation,
    cst.Call,
})  # fmt: skip
_COMPUTES = (cst.BinaryOperation, cst.AugAssign, cst.Subscript, cst.Comparison, cst.Call)


class ArrayWorks:
    """Analyses the functions of a module, each once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._works: dict[cst.FunctionDef, ArrayWork] = {}

    def of(self, function: cst.FunctionDef) -> ArrayWork:
        """Return the analysis of a function."""
        if function not in self._works:
            self._works[function] = ArrayWork(function, self._facts, self)
        return self._works[function]


class ArrayWork:
    """Analyses one function. The function's tree is walked once."""

    def __init__(self, function: cst.FunctionDef, facts: Facts, works: ArrayWorks) -> None:
        self.function = function
        self._facts = facts
        self._effects = facts.get(Effects)
        self._works = works
        self._nodes = list(walk(function))

    @cached_property
    def uses_arrays(self) -> bool:
        """Return whether the function visibly uses arrays."""
        holds = self._effects.classes.holds_array
        return any(self._shows_arrays(node) or holds(node) for node in self._nodes)

    @cached_property
    def loops(self) -> bool:
        """Return whether a loop may compute with arrays, if only by arithmetic on what the caller gives."""
        if not self.uses_arrays:
            return any(map(_calculates, self._nodes))
        bodies = (body for node in self._nodes for body in _repeated_part(node)[:1])
        return any(any(isinstance(node, _COMPUTES) for node in self._walk_unprinted(body)) for body in bodies)

    @cached_property
    def repeats(self) -> bool:
        """Return whether the function has a loop that calls functions of the module which use arrays."""
        return any(
            self._works.of(callee).is_reached
            for loop in self._nodes
            for part in _repeated_part(loop)
            for node in walk(part)
            for callee in self._effects.callees_at(node)
        )

    @property
    def is_reached(self) -> bool:
        """Return whether the function, or a function of the module that it calls, uses arrays."""
        stack, functions = [self.function], {self.function}
        while stack:
            function = stack.pop()
            if self._works.of(function).uses_arrays:
                return True
            new = [callee for callee in self._effects.callees(function) if callee not in functions]
            functions.update(new)
            stack += new
        return False

    @property
    def is_about_own_lists(self) -> bool:
        """Return whether the function only works on lists, dicts and numbers that it makes itself."""
        if self.uses_arrays or self.repeats:
            return False
        bases = [node.value for node in self._nodes if type(node) is cst.Subscript]
        return bool(bases) and all(map(self._is_own_list, bases))

    def _is_own_list(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression visibly is a list or dict, also as `[0] * n`."""
        if self._facts.kinds.kind(node) is Kind.CONTAINER:
            return True
        if type(node) is cst.BinaryOperation and type(node.operator) is cst.Multiply:
            return isinstance(node.left, cst.List) or isinstance(node.right, cst.List)
        owner = self._facts.scopes.owner(node) if type(node) is cst.Name else None
        if type(node) is not cst.Name or owner is None:
            return False
        values = [self._facts.parents.given_value(binding) for binding in owner.bindings[node.value]]
        return all(
            value is not None and type(value) is not cst.Name and self._is_own_list(value) for value in values
        )

    @property
    def pays(self) -> bool:
        """Return whether staging pays: a loop or recursion that computes, or a few array operations."""
        if self.loops or self.repeats:
            return True
        if not self.uses_arrays or not self._takes_arrays():
            return False
        if Recursion(self._effects).calls(self.function):
            return True
        if sum(map(self._is_operation, self._nodes)) < ENOUGH:
            return False
        slices = sum(
            type(node) is cst.BinaryOperation and _calculates_with_slices(node) for node in self._nodes
        )
        return slices >= ENOUGH or any(map(self._is_numpy_call, self._nodes))

    def _walk_unprinted(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield `node` and the nodes below it, without the arguments of `print` calls."""
        if not is_call(self._facts, node, ("print",)):
            yield node
            for child in children(node):
                yield from self._walk_unprinted(child)

    def _shows_arrays(self, node: cst.CSTNode) -> bool:
        """Return whether a node can only be about arrays."""
        if type(node) not in _WORK_NODES:
            return False
        if type(node) is cst.Subscript:
            return len(node.slice) > 1 and not self._is_of_a_type(node)
        if type(node) is cst.Attribute:
            return node.attr.value in ("T", "shape", "ndim", "dtype")
        if type(node) is cst.BinaryOperation:
            return type(node.operator) is cst.MatrixMultiply or _calculates_with_slices(node)
        if isinstance(node, (cst.Assign, cst.AugAssign, cst.UnaryOperation)):
            return _changes_slices(node)
        return looks_like_a_draw(node) or self._is_numpy_call(node)

    def _is_of_a_type(self, node: cst.Subscript) -> bool:
        """Return whether a subscript is part of a type annotation: `x: Optional[Dict[str, int]]`."""
        up = self._facts.parents[node]
        while isinstance(up, (cst.SubscriptElement, cst.Index, cst.Subscript, cst.BinaryOperation)):
            up = self._facts.parents[up]
        return type(up) is cst.Annotation

    def _is_numpy_call(self, node: cst.CSTNode) -> bool:
        if type(node) is not cst.Call:
            return False
        full_name = self._facts.imports.numpy_name(node.func)
        rule = rules.find(full_name) if full_name is not None else None
        return rule is not None and (rule.kind == "native" or rule.random)

    def _is_operation(self, node: cst.CSTNode) -> bool:
        """Return whether a node is an operation on an array, on a result of NumPy, or on a slice."""
        if type(node) not in _WORK_NODES:
            return False
        if type(node) is cst.BinaryOperation:
            if type(node.operator) is cst.MatrixMultiply or self._is_array(node):
                return True
            return any(self._is_operand(side) for side in (node.left, node.right))
        if type(node) is cst.Subscript:
            return self._is_operand(node) or len(node.slice) > 1 or self._is_array(node.value)
        return self._is_computed(node)

    def _is_operand(self, node: cst.BaseExpression) -> bool:
        """Return whether an operand is a result of NumPy, a slice, or an operation on such operands."""
        if type(node) is cst.BinaryOperation:
            return self._is_operand(node.left) or self._is_operand(node.right)
        if type(node) is cst.Subscript:
            return any(type(element.slice) is cst.Slice for element in node.slice)
        return self._is_computed(node)

    def _is_computed(self, node: cst.CSTNode) -> bool:
        """Return whether a node is a call of a NumPy function that does not return a size or a shape."""
        if type(node) is not cst.Call or not self._is_numpy_call(node):
            return False
        return self._facts.kinds.kind(node) is not Kind.STATIC

    def _is_array(self, node: cst.BaseExpression) -> bool:
        return self._facts.kinds.kind(node) is Kind.ARRAY

    def _takes_arrays(self) -> bool:
        """Return whether a parameter is used as an array, not only as a size or number for making arrays."""
        names = set(parameters(self.function.params))
        return any(
            type(node) is cst.Name and node.value in names and self._is_used_as_array(node)
            for node in self._nodes
        )

    def _is_used_as_array(self, node: cst.Name) -> bool:
        up = self._facts.parents[node]
        if isinstance(up, (cst.Subscript, cst.Attribute)) and up.value is node:
            return True
        if type(up) is cst.BinaryOperation and type(up.operator) is cst.MatrixMultiply:
            return True
        call = self._facts.parents[up] if type(up) is cst.Arg else None
        if type(call) is not cst.Call or up is not call.args[0]:
            return False
        full_name = self._facts.imports.numpy_name(call.func) or ""
        rule = rules.find(full_name)
        return rule is not None and (not rule.creates or full_name.endswith(("_like", "array")))


def _calculates(loop: cst.CSTNode) -> bool:
    """Return whether a loop does arithmetic as on numbers or arrays, not as on strings."""
    if type(loop) is not cst.For and type(loop) is not cst.While:
        return False
    for node in walk(loop.body):
        if type(node) is cst.BinaryOperation and isinstance(node.operator, _NUMERIC):
            if not any(isinstance(side, _LITERALS) for side in (node.left, node.right)):
                return True
            if type(node.operator) in (cst.Divide, cst.Power, cst.Multiply) and not any(
                isinstance(side, (cst.BaseString, cst.List, cst.Tuple)) for side in (node.left, node.right)
            ):
                return True
        if type(node) is cst.AugAssign and type(node.operator) in (cst.MultiplyAssign, cst.DivideAssign):
            return True
    return False


def _repeated_part(node: cst.CSTNode) -> list[cst.CSTNode]:
    """Return what every iteration of a loop or comprehension evaluates: its body, the test of a `while`."""
    if type(node) not in _REPEATS:
        return []
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        return [node.elt]
    if type(node) is cst.While:
        return [node.body, node.test]
    return [node.body] if type(node) is cst.For else []


def _calculates_with_slices(node: cst.BinaryOperation) -> bool:
    """Return whether an operation subtracts, divides or scales slices, which lists and strings cannot."""
    if type(node.operator) in (cst.Subtract, cst.Divide, cst.Power):
        return _is_sliced(node.left) or _is_sliced(node.right)
    if type(node.operator) is not cst.Multiply:
        return False
    operand, partner = (node.left, node.right) if _is_sliced(node.left) else (node.right, node.left)
    return _is_sliced(operand) and (type(partner) is cst.Float or _is_sliced(partner))


def _changes_slices(node: cst.Assign | cst.AugAssign | cst.UnaryOperation) -> bool:
    """Return whether a node negates slices, sets them to a number, or uses operators that lists lack."""
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Minus) and _is_sliced(node.expression)
    if isinstance(node, cst.Assign):
        return isinstance(node.value, cst.BaseNumber) and any(
            _is_sliced(assign_target.target) for assign_target in node.targets
        )
    if isinstance(node.operator, (cst.SubtractAssign, cst.DivideAssign, cst.PowerAssign)):
        return _is_sliced(node.target)
    return isinstance(node.operator, cst.MatrixMultiplyAssign)


def _is_sliced(node: cst.CSTNode) -> bool:
    """Return whether an expression is a slice, or a sum of slices."""
    if type(node) is cst.BinaryOperation and type(node.operator) is cst.Add:
        return _is_sliced(node.left) or _is_sliced(node.right)
    return type(node) is cst.Subscript and any(type(element.slice) is cst.Slice for element in node.slice)
