"""References of expressions to objects in other files, as plain data that does not need the file's tree."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.classes import Classes, decorators
from np2tf.facts.dataflow.reads_writes import block
from np2tf.linking.summary import UNKNOWN, ClassSummary, Ref
from np2tf.tree.names import dotted_name
from np2tf.tree.walk import walk

#: The largest number of elements of a table that are recorded.
_WIDEST = 64
_DISPLAYS = (cst.Dict, cst.List, cst.Tuple, cst.Set)
_FIELD = frozenset({"field", "dataclasses.field"})


class References:
    """Analyses the expressions of one module."""

    def __init__(self, facts: Facts, classes: Classes) -> None:
        self._facts = facts
        self._classes = classes
        self._visits: set[cst.CSTNode] = set()

    # -- expressions ----------------------------------------------------------------------------------------

    def of(self, node: cst.CSTNode) -> Ref:
        """Return a reference to the object that an expression refers to."""
        if node in self._visits:
            return UNKNOWN
        self._visits.add(node)
        try:
            return self._of(node)
        finally:
            self._visits.discard(node)

    def _of(self, node: cst.CSTNode) -> Ref:
        if type(node) is cst.Name:
            return self._name(node)
        if type(node) is cst.Attribute:
            return self._below("attribute", node.value, node.attr.value)
        if type(node) is cst.Subscript:
            return self._below("item", node.value)
        if type(node) is cst.Call:
            return self._call(node)
        if type(node) is cst.IfExp:
            return Ref("any", "", (self.of(node.body), self.of(node.orelse)))
        if type(node) is cst.BooleanOperation:
            return Ref("any", "", (self.of(node.left), self.of(node.right)))
        if isinstance(node, _DISPLAYS) and len(node.elements) <= _WIDEST:
            return Ref("table", "", tuple(self.of(element.value) for element in node.elements))
        return UNKNOWN

    def _below(self, kind: str, base: cst.CSTNode, name: str = "") -> Ref:
        ref = self.of(base)
        return UNKNOWN if ref is UNKNOWN else Ref(kind, name, (ref,))

    def _call(self, node: cst.Call) -> Ref:
        if type(node.func) is cst.Name and node.func.value == "super" and not node.args:
            kind = self._class_around(node)
            return UNKNOWN if kind is None else Ref("super", kind.name.value)
        func = self.of(node.func)
        if func is UNKNOWN:
            return UNKNOWN
        first = [self.of(arg.value) for arg in node.args[:1] if not arg.star and arg.keyword is None]
        return Ref("call", "", (func, *first))

    def _class_around(self, node: cst.CSTNode) -> cst.ClassDef | None:
        for up in self._facts.parents.above(node):
            kind = self._classes.class_of(up) if type(up) is cst.FunctionDef else None
            if kind is not None:
                return kind
        return None

    def _name(self, node: cst.Name) -> Ref:
        name, scopes = node.value, self._facts.scopes
        owner = scopes.of(node).owner_of(name)
        if owner is None:
            # A builtin, unless a star import brings the name.
            return Ref("top", name) if self._facts.imports.other_stars else UNKNOWN
        if owner.is_module:
            return Ref("top", name)
        bindings = owner.bindings[name]
        if len(bindings) != 1 or type(owner.node) is not cst.FunctionDef:
            return UNKNOWN
        if type(bindings[0]) is cst.Param:
            return self._parameter(bindings[0], owner.node, node)
        return self.reference_of(bindings[0])

    def _parameter(self, param: cst.Param, function: cst.FunctionDef, node: cst.Name) -> Ref:
        kind = self._classes.class_of(function)
        if kind is not None and "staticmethod" not in decorators(function) and param is _first(function):
            return Ref("class" if "classmethod" in decorators(function) else "self", kind.name.value)
        if param.annotation is not None:
            return self._object(param.annotation.annotation)
        inside = self._facts.scopes.function_of(node)
        return UNKNOWN if inside is function else Ref("around", param.name.value)

    def _object(self, annotation: cst.BaseExpression) -> Ref:
        if type(annotation) is cst.SimpleString:
            name = str(annotation.evaluated_value)
            return Ref("object", "", (Ref("top", name),)) if name.isidentifier() else UNKNOWN
        plain = type(annotation) in (cst.Name, cst.Attribute)
        return self._below("object", annotation) if plain else UNKNOWN

    # -- bindings -------------------------------------------------------------------------------------------

    def reference_of(self, binding: cst.CSTNode) -> Ref:
        """Return a reference to the object that a binding gives its name."""
        if type(binding) is cst.ImportAlias:
            return self._import_ref(binding)
        top = self._facts.parents[binding]
        if type(top) is cst.Module or self._facts.scopes.of(binding).is_module:
            if type(binding) is cst.FunctionDef:
                return Ref("function", binding.name.value)
            if type(binding) is cst.ClassDef:
                return Ref("class", binding.name.value)
        value = self._assigned_value(binding)
        return UNKNOWN if value is None else self.of(value)

    def _assigned_value(self, binding: cst.CSTNode) -> cst.BaseExpression | None:
        target = self._facts.parents[binding]
        if type(target) is cst.AnnAssign:
            return target.value
        assign = self._facts.parents[target] if type(target) is cst.AssignTarget else None
        return assign.value if type(assign) is cst.Assign else None

    def _import_ref(self, alias: cst.ImportAlias) -> Ref:
        around = self._facts.parents[alias]
        if type(around) is cst.ImportFrom:
            return Ref("attribute", alias.evaluated_name, (module_of(around),))
        whole = alias.evaluated_name
        return Ref("module", whole if alias.asname is not None else whole.partition(".")[0])

    # -- classes --------------------------------------------------------------------------------------------

    def class_summary(self, node: cst.ClassDef) -> ClassSummary:
        """Return the summary of a class at the top of the module."""
        bases = [arg.value.value if type(arg.value) is cst.Subscript else arg.value for arg in node.bases]
        refs_by_name: dict[str, list[Ref]] = {}
        for name, ref in self._assignments(node):
            refs_by_name.setdefault(name, []).append(ref)
        attributes = {
            name: refs[0] if len(refs) == 1 else Ref("any", "", tuple(refs))
            for name, refs in refs_by_name.items()
        }
        methods = frozenset(
            method.name.value for method in block(node.body) if type(method) is cst.FunctionDef
        )
        return ClassSummary(node.name.value, tuple(map(self.of, filter(_brings, bases))), methods, attributes)

    def _assignments(self, node: cst.ClassDef) -> Iterator[tuple[str, Ref]]:
        for statement in block(node.body):
            for part in statement.body if type(statement) is cst.SimpleStatementLine else ():
                if type(part) is cst.Assign:
                    names = [
                        assign_target.target.value
                        for assign_target in part.targets
                        if type(assign_target.target) is cst.Name
                    ]
                    yield from ((name, self.of(part.value)) for name in names)
                elif type(part) is cst.AnnAssign and type(part.target) is cst.Name:
                    yield part.target.value, self._field(part)
            if type(statement) is cst.FunctionDef:
                yield from self._set_by(statement)

    def _field(self, node: cst.AnnAssign) -> Ref:
        """Return a reference for a field of a dataclass or a named tuple: its default factory, or its
        annotation.
        """
        if type(node.value) is cst.Call and dotted_name(node.value.func) in _FIELD:
            for arg in node.value.args:
                if arg.keyword is not None and arg.keyword.value == "default_factory":
                    return self._below("call", arg.value)
        return self._object(node.annotation.annotation)

    def _set_by(self, method: cst.FunctionDef) -> Iterator[tuple[str, Ref]]:
        first = _first(method)
        if first is None or {"staticmethod", "classmethod"}.intersection(decorators(method)):
            return
        for part in walk(method.body):
            for target, value in _stores(part):
                base = target.value if type(target) is cst.Attribute else None
                if type(base) is cst.Name and base.value == first.name.value:
                    yield target.attr.value, UNKNOWN if value is None else self.of(value)  # type: ignore[attr-defined]


def _stores(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression | None]]:
    """Yield the targets of an assignment, each with the assigned expression if the text shows it."""
    if type(node) is cst.Assign:
        yield from ((assign_target.target, node.value) for assign_target in node.targets)
    elif type(node) is cst.AnnAssign:
        yield node.target, node.value
    elif type(node) is cst.AugAssign:
        yield node.target, None


def module_of(node: cst.ImportFrom) -> Ref:
    """Return the module that a `from … import` statement names."""
    return Ref("module", "." * len(node.relative) + (dotted_name(node.module) or ""))


def _brings(base: cst.BaseExpression) -> bool:
    return not (type(base) is cst.Name and base.value == "object")


def _first(function: cst.FunctionDef) -> cst.Param | None:
    params = [*function.params.posonly_params, *function.params.params]
    return params[0] if params else None
